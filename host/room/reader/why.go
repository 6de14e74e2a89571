package reader

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/turn"
)

// Why is the answer to why somebody spoke, or nobody did.
type Why struct {
	Seq      uint64         `json:"seq"`     // the entry asked about
	Entry    entry.Entry    `json:"entry"`   // that entry
	Decided  uint64         `json:"decided"` // seq of the decision
	Decision entry.Decision `json:"decision"`
	About    *abi.Message   `json:"about,omitempty"`   // the message the round was about
	Message  *abi.Message   `json:"message,omitempty"` // what was said with the grant
	Handled  []Handled      `json:"handled,omitempty"` // what handlers did about its words, and about what led to it
	Text     string         `json:"text"`              // all this in words

	broken  string // why no more of the message was said
	closing string // why the talk came nearer to its end, or to it; "" where it is not about that
}

// whySpan is how far behind an entry its decision is looked for.
const whySpan = 2000

// Why explains the decision behind an entry: who got the floor for a
// companion's message, and for anything else that leads to a round, what the
// round came to.
func (r Room) Why(ctx context.Context, seq uint64) (Why, error) {
	e, err := r.entry(ctx, seq)
	if err != nil {
		return Why{}, err
	}
	w := Why{Seq: seq, Entry: shown([]entry.Entry{e})[0]}
	led := e // to the decision, or came of it
	if e.Kind == entry.KindClosing {
		if led, err = r.entry(ctx, e.Seq-1); err != nil {
			return Why{}, err
		}
		if w.closing, err = moved(e); err != nil {
			return Why{}, err
		}
	}
	found, err := r.decisionFor(ctx, led)
	if err != nil {
		return Why{}, err
	}
	w.Decided = found.Seq
	if w.Decision, err = entry.Decode[entry.Decision](found); err != nil {
		return Why{}, journal.Coded(fmt.Errorf("decode decision %d: %w", found.Seq, err))
	}
	if m, ok := led.Message(); ok && m.Seq > found.Seq {
		w.Message = &m
		if b, err := entry.Decode[entry.Said](led); err == nil {
			w.broken = b.Broken
		}
	}
	if w.Decision.Outcome == entry.OutcomeClosed && w.closing == "" {
		if w.closing, err = r.closed(ctx, found.Seq); err != nil {
			return Why{}, err
		}
	}
	if round, err := r.entry(ctx, w.Decision.Round); err == nil && round.Kind == entry.KindRound {
		if b, err := entry.Decode[entry.Round](round); err == nil {
			if about, err := r.entry(ctx, b.About); err == nil {
				if m, ok := about.Message(); ok {
					w.About = &m
				}
			}
		}
	}
	if w.Handled, err = r.handled(ctx, found.Seq, w.Decision); err != nil {
		return Why{}, err
	}
	w.Text = w.words()
	return w, nil
}

func (w Why) words() string {
	text := ""
	if m, ok := w.Entry.Message(); ok && w.Message == nil && w.About != nil && w.About.Seq != m.Seq {
		text += fmt.Sprintf("#%d %s: %s\nwhat was decided next was about another message:\n", m.Seq, m.From, m.Text)
	}
	if w.About != nil {
		text += fmt.Sprintf("#%d %s: %s\n", w.About.Seq, w.About.From, w.About.Text)
	}
	text += turn.Explain(w.Decision)
	if w.Message != nil {
		text += fmt.Sprintf("\n#%d %s: %s", w.Message.Seq, w.Message.From, w.Message.Text)
	}
	if w.broken != "" {
		text += "\nits end is missing: " + strings.Join(strings.Fields(w.broken), " ") // it may be a module's own words
	}
	for _, h := range w.Handled {
		text += h.words()
	}
	if w.closing != "" {
		text += "\n" + w.closing
	}
	return text
}

// moved says in words how a closing entry moved the talk on, and why.
func moved(e entry.Entry) (string, error) {
	b, err := entry.Decode[entry.ClosingMoved](e)
	if err != nil {
		return "", journal.Coded(err)
	}
	return fmt.Sprintf("#%d the talk moves on to %s: %s", e.Seq, b.To, b.Why(e.Seq)), nil
}

// closed says in words which lines ended the talk before an entry because they are alike,
// "" where none did, or further back than anybody looks.
func (r Room) closed(ctx context.Context, before uint64) (words string, err error) {
	var last entry.Entry
	for e, err := range journal.AllEntries(ctx, r.journal, r.name, before-min(before, whySpan)) {
		if err != nil {
			return "", journal.Coded(err)
		}
		if e.Seq >= before {
			break
		}
		if e.Kind == entry.KindClosing {
			last = e
		}
	}
	if last.Seq == 0 {
		return "", nil
	}
	if b, err := entry.Decode[entry.ClosingMoved](last); err != nil || b.To != abi.ClosingTerminal || b.Like == 0 {
		return "", journal.Coded(err)
	}
	return moved(last)
}

func (r Room) entry(ctx context.Context, seq uint64) (entry.Entry, error) {
	if seq == 0 {
		return entry.Entry{}, abi.Errorf(abi.CodeNotFound, "seq: entries are counted from 1")
	}
	got, err := r.journal.Read(ctx, r.name, seq-1, 1)
	if err != nil {
		return entry.Entry{}, journal.Coded(err)
	}
	if len(got) == 0 || got[0].Seq != seq {
		return entry.Entry{}, abi.Errorf(abi.CodeNotFound, "seq: room %s has no entry %d", r.name, seq)
	}
	return got[0], nil
}

// decisionFor finds the decision an entry came from or led to.
func (r Room) decisionFor(ctx context.Context, e entry.Entry) (entry.Entry, error) {
	var of struct {
		Grant json.RawMessage `json:"grant"`
		Round uint64          `json:"round"`
	}
	if err := json.Unmarshal(e.Body, &of); err != nil {
		return entry.Entry{}, journal.Coded(err)
	}
	var token string
	if e.Kind != entry.KindDecision && len(of.Grant) > 0 {
		if err := json.Unmarshal(of.Grant, &token); err != nil {
			return entry.Entry{}, journal.Coded(err)
		}
	}
	switch {
	case e.Kind == entry.KindDecision:
		return e, nil
	case token != "":
		var seq uint64
		if _, err := fmt.Sscanf(token, "g%d", &seq); err != nil {
			return entry.Entry{}, abi.Errorf(abi.CodeNotFound, "seq: entry %d used a grant nobody gave", e.Seq)
		}
		return r.entry(ctx, seq)
	case e.Kind == entry.KindRound:
		return r.decisionAfter(ctx, e, func(d entry.Decision) bool { return d.Round == e.Seq })
	case e.Kind == entry.KindWish:
		return r.decisionAfter(ctx, e, func(d entry.Decision) bool { return d.Wish == e.Seq })
	case of.Round > 0:
		return r.decisionAfter(ctx, e, func(d entry.Decision) bool { return d.Round == of.Round })
	case e.Kind == entry.KindSaid: // which may have ended the round about what was said before it
		return r.decisionAfter(ctx, e, func(d entry.Decision) bool {
			return d.Outcome != entry.OutcomeSuperseded || d.Round > e.Seq
		})
	case e.Kind == entry.KindStop, e.Kind == entry.KindDue:
		return r.decisionAfter(ctx, e, func(entry.Decision) bool { return true })
	}
	return entry.Entry{}, abi.Errorf(abi.CodeNotFound, "seq: entry %d (%s) led to no decision", e.Seq, e.Kind)
}

// decisionAfter finds the first decision behind an entry that fits.
func (r Room) decisionAfter(ctx context.Context, e entry.Entry, fits func(entry.Decision) bool) (entry.Entry, error) {
	for next, err := range journal.AllEntries(ctx, r.journal, r.name, e.Seq) {
		if err != nil {
			return entry.Entry{}, journal.Coded(err)
		}
		if next.Kind == entry.KindDecision {
			if d, err := entry.Decode[entry.Decision](next); err == nil && fits(d) {
				return next, nil
			}
		}
		if next.Seq >= e.Seq+whySpan {
			break
		}
	}
	return entry.Entry{}, abi.Errorf(abi.CodeNotFound, "seq: entry %d (%s) has led to no decision yet", e.Seq, e.Kind)
}
