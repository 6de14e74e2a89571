package forget

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget/scrub"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/room/rules"
)

// track goes along the entries of one room, takes out what has to go, and folds what is left.
type track struct {
	s    *Service
	w    *work
	room string
	all  bool        // the person's own entries, too
	st   *fold.State // nil: it is no room, or not to be folded
	at   uint64
	seqs []uint64 // that lost words by this order, whenever that was
	told bool     // the room has been told of all of them
	dry  bool     // nothing is taken out, only counted
	lost bool     // something was taken out now

	trimmed bool // the room's beginning is not there any more

	grants map[string]uint64 // where lines were granted
	given  uint64            // the newest entry when the order was given
	first  uint64            // seq of the entry by which the room was first told of the order, 0: it was not
	last   uint64            // and last

	book history.Book // what became of the room's history so far

	lines   *scrub.Lines // nil: it is no room
	scanned uint64       // lines have read so far

	memory bool  // it is what a companion remembers
	counts tally // of seqs, and what other people said that stays
}

// begin finds where the room's entries begin. What a room whose beginning was trimmed knows of
// that is in its snapshot alone.
func (t *track) begin(ctx context.Context) error {
	first, err := t.s.cfg.Journal.Read(ctx, t.room, 0, 1)
	if err != nil || len(first) == 0 || first[0].Seq == 1 {
		t.st = fold.New()
		return err
	}
	t.trimmed = true
	_, blob, err := t.s.cfg.Journal.GetSnapshot(ctx, t.room)
	if err != nil {
		return err
	}
	if !t.w.late { // else it has what people say anew; what companions made of the rest is no part of it for long
		blob, _ = t.w.words.JSON(blob)
	}
	if t.st, err = fold.Decode(blob); err == nil {
		t.at, t.book = t.st.Head, t.st.History
	}
	return err
}

// upTo goes on to an entry.
func (t *track) upTo(ctx context.Context, head uint64) error {
	if err := t.scan(ctx, head); err != nil {
		return err
	}
	return t.s.entries(ctx, t.room, t.at, head, func(es []entry.Entry) error {
		bodies := map[uint64][]byte{}
		for i, e := range es {
			if t.w.late && t.st == nil && e.At.After(t.w.done) { // of a stream
				continue
			}
			if e.Kind == entry.KindHistory {
				t.drafted(e)
			}
			if !t.all && t.w.words.Own(e) || t.new(e) {
				continue
			}
			if t.memory && e.Kind != entry.KindRevised && e.Kind != entry.KindErased {
				continue
			}
			left, lost := t.left(e)
			if e.Kind == entry.KindHistory {
				left, lost = t.undrafted(e, left, lost)
			}
			if !lost && t.w.whole && t.all {
				left, lost = t.wholly(e)
			}
			if lost {
				e.Body, e.Blank, t.told = left, true, false
			}
			if lost && !t.dry {
				es[i] = entry.Entry{Seq: e.Seq, Epoch: e.Epoch, At: e.At, Kind: e.Kind, ID: e.ID, V: e.V, Body: left, Blank: true}
				bodies[e.Seq] = left
				t.w.lost, t.lost = t.w.lost+1, true
				if e.Kind != entry.KindCast {
					t.w.found++
				}
			}
			if lost || entry.ErasedBy(e) == t.w.order.ID {
				t.seqs = append(t.seqs, e.Seq)
				t.count(e)
			}
			if t.lines != nil && t.w.words.Stays(e) {
				t.counts.stay++
			}
		}
		if len(bodies) > 0 {
			if err := t.s.cfg.Journal.Erase(ctx, t.room, bodies); err != nil {
				return err
			}
			if err := t.s.stopped("erased"); err != nil {
				return err
			}
		}
		return t.fold(es)
	})
}

// left gives what is left of an entry.
func (t *track) left(e entry.Entry) (json.RawMessage, bool) {
	words := t.w.words.Entry
	if t.lines != nil {
		words = t.lines.Entry
	}
	left, lost := words(e)
	if e.Kind != entry.KindSaid && e.Kind != entry.KindWish || !t.w.words.Own(e) {
		return left, lost
	}
	if !lost {
		left = e.Body
	}
	left, less := t.w.known.Without(left, t.w.order.As, t.w.order.ID)
	return left, lost || less
}

// scan finds out which lines lose their texts, of all up to an entry: the pieces stand before the line.
func (t *track) scan(ctx context.Context, head uint64) error {
	if t.lines == nil {
		return nil
	}
	return t.s.entries(ctx, t.room, t.scanned, head, func(es []entry.Entry) error {
		for _, e := range es {
			t.lines.Read(e)
			t.note(e)
		}
		t.scanned = es[len(es)-1].Seq
		return nil
	})
}

// count counts an entry that lost something, where another person said it.
func (t *track) count(e entry.Entry) {
	switch other, silent := t.w.words.OfOther(e); {
	case other && silent:
		t.counts.others++
	case other:
		t.counts.renamed++
	}
}

// tally gives what was counted.
func (t *track) tally() tally {
	n := t.counts
	n.all = len(t.seqs)
	return n
}

// fold applies entries of which nothing has to go any more.
func (t *track) fold(es []entry.Entry) error {
	t.at = es[len(es)-1].Seq
	if t.st == nil {
		return nil
	}
	for _, e := range es {
		if e.Kind == entry.KindForgotten {
			if b, err := entry.Decode[entry.Forgotten](e); err == nil && b.Order == t.w.order.ID && b.Count == len(t.seqs) {
				t.told = true
			}
		}
		if err := t.st.Apply(e); err != nil {
			return fmt.Errorf("%w: %v", journal.ErrCorrupt, err)
		}
	}
	return nil
}

// maxSpans is how many spans of entries a room is told of.
const maxSpans = 200

// anew goes on to the head of a room, and gives the state there, and what the room is told.
func (t *track) anew(ctx context.Context, head uint64) (*fold.State, entry.Forgotten, error) {
	err := t.upTo(ctx, head)
	by := t.w.order.By
	if t.w.order.Done != nil && !t.w.late {
		by = "ledger"
	}
	return t.st, entry.Forgotten{
		Order: t.w.order.ID, By: by, As: t.w.order.As, Count: len(t.seqs), Upto: head, Seqs: entry.Spans(t.seqs, maxSpans),
	}, err
}

// write does what a room that runs does by itself.
func (t *track) write(ctx context.Context) error {
	j := t.s.cfg.Journal
	at := time.Now().UTC().Truncate(time.Millisecond)
	if t.st.At.After(at) {
		at = t.st.At
	}
	head, err := j.Acquire(ctx, t.room, t.s.cfg.Owner, at)
	if err != nil {
		return err
	}
	st, body, err := t.anew(ctx, head.Seq)
	if err != nil {
		return err
	}
	if err := reader.Keep(ctx, j, t.room, st); err != nil {
		return err
	}
	if err := t.s.stopped("kept"); err != nil {
		return err
	}
	m := rules.Machine{State: st}
	if err := m.Input(entry.KindForgotten, at, body); err != nil {
		return err
	}
	var news []journal.New
	for _, e := range m.Take() {
		news = append(news, journal.New{ID: e.ID, V: e.V, Kind: e.Kind, At: e.At, Body: e.Body})
	}
	_, err = j.Append(ctx, t.room, head, news...)
	return err
}
