package memory

import (
	"context"
	"errors"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory/fact"
)

// hearing is a part of a talk as it was heard: the turns, and which companions were there.
type hearing struct {
	room   string
	here   []string // now
	turns  []heard  // oldest first
	people int      // how many of them are people's
	upto   uint64   // seq of the newest entry that was taken
}

// heard is a turn with those who were there.
type heard struct {
	fact.Turn
	by []string
	// context says that it stands before what is gone through.
	context bool
}

// before is how many turns of companions and agents before a talk are told with it: a person
// may answer what they asked.
const before = 2

// take takes the next entry.
func (h *hearing) take(e entry.Entry, at func(entry.Entry) fact.Turn) error {
	h.upto = e.Seq
	if e.Blank {
		return nil
	}
	switch e.Kind {
	case entry.KindOwner:
		h.here = nil
	case entry.KindCast:
		c, err := entry.Decode[entry.Cast](e)
		if err != nil {
			return err
		}
		h.cast(c)
	case entry.KindHeard:
		end, err := entry.Decode[entry.Heard](e)
		if err != nil {
			return err
		}
		h.cut(end)
	case entry.KindSaid:
		s, err := entry.Decode[entry.Said](e)
		if err != nil || s.Kind != abi.KindTurn {
			return err
		}
		h.say(e, s, at)
	}
	return nil
}

// say takes a turn. What is said in a chat is heard by those it is said to.
func (h *hearing) say(e entry.Entry, s entry.Said, at func(entry.Entry) fact.Turn) {
	t := at(e)
	t.Room, t.Seq, t.From, t.By, t.Text = h.room, e.Seq, s.From, s.By, s.Text
	by := slices.Clone(h.here)
	if s.Source == entry.SourceChat {
		by = slices.DeleteFunc(by, func(id string) bool { return !slices.Contains(s.Addressed, id) })
	}
	if s.By == abi.KindHuman && len(by) > 0 {
		h.people++
	}
	h.turns = append(h.turns, heard{Turn: t, by: by})
}

// cast notes who came and who left. Whoever comes while people wait for an answer is to give it, and has
// heard them.
func (h *hearing) cast(c entry.Cast) {
	for _, l := range c.Left {
		h.here = slices.DeleteFunc(slices.Clone(h.here), func(id string) bool { return id == l.ID })
	}
	for _, j := range c.Joined {
		if j.Kind != abi.KindCompanion || slices.Contains(h.here, j.ID) {
			continue
		}
		h.here = append(slices.Clone(h.here), j.ID)
		for i := len(h.turns) - 1; i >= 0 && h.turns[i].By == abi.KindHuman; i-- {
			if t := &h.turns[i]; !slices.Contains(t.by, j.ID) {
				t.by = append(t.by, j.ID)
			}
		}
	}
}

// cut makes a line what was heard of it.
func (h *hearing) cut(end entry.Heard) {
	i := slices.IndexFunc(h.turns, func(t heard) bool { return t.Seq == end.Of })
	if i < 0 {
		return
	}
	m, some := end.Apply(abi.Message{Text: h.turns[i].Text})
	if h.turns[i].Text = m.Text; !some {
		h.turns = slices.Delete(h.turns, i, i+1)
	}
}

// next lets go of what was gone through, but for the end of it.
func (h *hearing) next() {
	h.turns = tail(h.turns)
	for i := range h.turns {
		h.turns[i].context = true
	}
	h.people = 0
}

// tail gives the turns behind the last one of a person, at most so many.
func tail(turns []heard) []heard {
	n := 0
	for n < min(len(turns), before) && turns[len(turns)-1-n].By != abi.KindHuman {
		n++
	}
	return turns[len(turns)-n:]
}

// of gives the turns that a companion heard and has not gone through yet, with those just
// before; people says whether a person is among those who spoke.
func (h *hearing) of(companion string, read uint64) (turns []fact.Turn, people bool) {
	for _, t := range h.turns {
		switch {
		case !slices.Contains(t.by, companion):
		case t.Seq > read && !t.context:
			people = people || t.By == abi.KindHuman
			turns = append(turns, t.Turn)
		case t.By != abi.KindHuman:
			turns = append(turns, t.Turn)
		}
	}
	return turns, people
}

// companions gives everybody who heard any of it, sorted.
func (h *hearing) companions() (ids []string) {
	for _, t := range h.turns {
		ids = append(ids, t.by...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// errAnew says that somebody wished something forgotten while a talk was gone through: what was
// read of it may not be there any more.
var errAnew = errors.New("words were erased meanwhile")

// goThrough has everybody who was there go through a talk, to its end or a part at a time, and
// gives how far it went, and who was there then.
func (k *Keeper) goThrough(ctx context.Context, t talk) (upto uint64, here []string, err error) {
	for {
		h := &hearing{room: t.Room, here: t.Here}
		err = k.hear(ctx, t, h)
		if !errors.Is(err, errAnew) {
			if err != nil && ctx.Err() == nil {
				k.cfg.Log.Warn("a talk cannot be gone through now for what is worth remembering; it is tried again", "room", t.Room, "err", err)
			}
			return max(h.upto, t.newest), h.here, err
		}
	}
}

// hear reads a talk, and has what was said remembered.
func (k *Keeper) hear(ctx context.Context, t talk, h *hearing) error {
	erased := k.erased.Load()
	at := func(e entry.Entry) fact.Turn { return fact.Turn{At: e.At.In(k.cfg.Location)} }
	just, err := k.cfg.Journal.Said(ctx, t.Room, journal.Span{Before: t.From, Limit: before, Newest: true})
	if err != nil {
		return err
	}
	for _, e := range just {
		if err := h.take(e, at); err != nil {
			return err
		}
	}
	h.next()
	for e, err := range journal.AllEntries(ctx, k.cfg.Journal, t.Room, t.From-1) {
		if err == nil {
			err = h.take(e, at)
		}
		if err == nil && h.people == Turns {
			err = k.remember(ctx, h, erased)
			h.next()
		}
		if err != nil {
			return err
		}
	}
	return k.remember(ctx, h, erased)
}
