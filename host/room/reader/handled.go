package reader

import (
	"context"
	"fmt"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// Handled is a KindHandled with its seq.
type Handled struct {
	Seq uint64 `json:"seq"`
	entry.Handled
}

// nearby is how far before a perception it is looked for what handlers did about it: others that came at the same time
// stand between.
const nearby = 16

// handled gives what handlers did about the words that were said with the grant of a decision, about those of the wish that it
// granted, and about the perception that led to the wish.
func (r Room) handled(ctx context.Context, at uint64, d entry.Decision) (all []Handled, err error) {
	if d.Grant == nil {
		return nil, nil
	}
	if d.Wish != 0 {
		if all, err = r.handledBefore(ctx, d.Wish); err != nil {
			return nil, err
		}
	}
	words, err := r.handledOf(ctx, at, at+whySpan, d.Grant.Token, func(e entry.Entry) bool { return endOf(e) == d.Grant.Token })
	return append(all, words...), err
}

// endOf gives the grant whose line an entry ends, "" where it ends none. One that is blank does not say it.
func endOf(e entry.Entry) string {
	switch e.Kind {
	case entry.KindSaid:
		b, _ := entry.Decode[entry.Said](e)
		return b.Grant
	case entry.KindFailed:
		b, _ := entry.Decode[entry.Failed](e)
		return b.Grant
	}
	return ""
}

// handledBefore gives those about the words that came with a wish, behind those about what led to it.
func (r Room) handledBefore(ctx context.Context, wish uint64) (all []Handled, err error) {
	e, err := r.entry(ctx, wish)
	if err != nil {
		return nil, err
	}
	b, err := entry.Decode[entry.Wish](e)
	if err != nil {
		return nil, journal.Coded(err)
	}
	if b.Perception != 0 {
		if all, err = r.handledAbout(ctx, b.Perception); err != nil {
			return nil, err
		}
	}
	words, err := r.handledOf(ctx, wish, wish+nearby, e.ID, func(entry.Entry) bool { return false })
	return append(all, words...), err
}

// handledAbout gives the one about a perception, which is the newest before it that has its title.
func (r Room) handledAbout(ctx context.Context, seq uint64) (all []Handled, err error) {
	e, err := r.entry(ctx, seq)
	if err != nil {
		return nil, err
	}
	p, err := entry.Decode[entry.Perceived](e)
	if err != nil {
		return nil, journal.Coded(err)
	}
	err = r.between(ctx, seq-min(seq, nearby+1), seq, func(e entry.Entry) bool {
		switch e.Kind {
		case entry.KindHandled:
			if b, err := entry.Decode[entry.Handled](e); err == nil && b.Who == p.Who && b.Title == p.Title {
				all = []Handled{{e.Seq, b}}
			}
		case entry.KindPerceived: // the one before was about this, where it has the title
			if b, err := entry.Decode[entry.Perceived](e); err == nil && b.Who == p.Who && b.Title == p.Title {
				all = nil
			}
		}
		return false
	})
	return all, err
}

// handledOf gives those with a line between two entries, up to one that ends it.
func (r Room) handledOf(ctx context.Context, after, before uint64, line string, ends func(entry.Entry) bool) (all []Handled, err error) {
	err = r.between(ctx, after, before, func(e entry.Entry) bool {
		if e.Kind == entry.KindHandled {
			if b, err := entry.Decode[entry.Handled](e); err == nil && b.Line == line {
				all = append(all, Handled{e.Seq, b})
			}
		}
		return ends(e)
	})
	return all, err
}

// between calls fn with the entries behind one and before another, until it answers true.
func (r Room) between(ctx context.Context, after, before uint64, fn func(entry.Entry) bool) error {
	for e, err := range journal.AllEntries(ctx, r.journal, r.name, after) {
		if err != nil {
			return journal.Coded(err)
		}
		if e.Seq >= before || fn(e) {
			break
		}
	}
	return nil
}

// words tells of it in lines of their own.
func (h Handled) words() (text string) {
	of := "a piece of its line"
	if h.Of == entry.OfPerception {
		of = fmt.Sprintf("the perception %q", h.Title)
	}
	for _, s := range h.Steps {
		text += fmt.Sprintf("\n#%d %s %s", h.Seq, s.Handler, s.Said(of))
	}
	return text
}
