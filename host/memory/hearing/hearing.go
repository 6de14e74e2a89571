// Package hearing is a part of a talk as it was heard: what was said, and which companions were there when.
//
// It reads no journal and never decides what is worth remembering: entries are handed to it in their order.
package hearing

import (
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
)

// Hearing is a part of a talk. Room, and Here where companions are there at its beginning, are set before the first entry.
type Hearing struct {
	Room   string
	Here   []string // companions, now
	People int      // how many turns of people somebody heard
	Upto   uint64   // seq of the newest entry that was taken
	turns  []heard  // oldest first
}

// heard is a turn with those who were there.
type heard struct {
	fact.Turn
	by   []string
	chat bool     // it was said in a chat
	to   []string // and to these
	// context says that it stands before what is gone through.
	context bool
}

// Before is how many turns of companions and agents that stand just before one of a person are told with it: a person
// may answer what they asked.
const Before = 2

// Take takes the next entry; at says when it was.
func (h *Hearing) Take(e entry.Entry, at func(entry.Entry) fact.Turn) error {
	h.Upto = e.Seq
	if e.Blank {
		return nil
	}
	switch e.Kind {
	case entry.KindOwner:
		h.Here = nil
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
func (h *Hearing) say(e entry.Entry, s entry.Said, at func(entry.Entry) fact.Turn) {
	t := at(e)
	t.Room, t.Seq, t.From, t.By, t.Text = h.Room, e.Seq, s.From, s.By, s.Text
	one := heard{Turn: t, by: slices.Clone(h.Here), chat: s.Source == entry.SourceChat, to: s.Addressed}
	one.by = slices.DeleteFunc(one.by, func(id string) bool { return !one.meant(id) })
	if n := len(h.turns); n > 0 && h.turns[n-1].chat && len(h.turns[n-1].to) == 0 {
		h.turns = h.turns[:n-1] // it addressed nobody
	}
	if s.By == abi.KindHuman && len(one.by) > 0 {
		h.People++
	}
	h.turns = append(h.turns, one)
}

// meant says whether somebody who is there hears a turn.
func (t heard) meant(id string) bool { return !t.chat || slices.Contains(t.to, id) }

// cast notes who came and who left. Whoever comes while people wait for an answer is to give it, and has
// heard them.
func (h *Hearing) cast(c entry.Cast) {
	for _, l := range c.Left {
		h.Here = slices.DeleteFunc(slices.Clone(h.Here), func(id string) bool { return id == l.ID })
	}
	if n := len(h.turns); n > 0 && c.Addressed != nil {
		h.turns[n-1].to = *c.Addressed
	}
	for _, j := range c.Joined {
		if j.Kind != abi.KindCompanion || slices.Contains(h.Here, j.ID) {
			continue
		}
		h.Here = append(slices.Clone(h.Here), j.ID)
		for i := len(h.turns) - 1; i >= 0 && h.turns[i].By == abi.KindHuman; i-- {
			if t := &h.turns[i]; t.meant(j.ID) && !slices.Contains(t.by, j.ID) {
				t.by = append(t.by, j.ID)
			}
		}
	}
}

// cut makes a line what was heard of it.
func (h *Hearing) cut(end entry.Heard) {
	i := len(h.turns) - 1
	for i >= 0 && h.turns[i].Seq > end.Of {
		i--
	}
	if i < 0 || h.turns[i].Seq != end.Of {
		return
	}
	m, some := end.Apply(abi.Message{Text: h.turns[i].Text})
	if h.turns[i].Text = m.Text; !some {
		h.turns = slices.Delete(h.turns, i, i+1)
	}
}

// Next lets go of what was gone through, but for the end of it.
func (h *Hearing) Next() {
	h.turns = tail(h.turns)
	for i := range h.turns {
		h.turns[i].context = true
	}
	h.People = 0
}

// tail gives the turns behind the last one of a person, at most so many.
func tail(turns []heard) []heard {
	n := 0
	for n < min(len(turns), Before) && turns[len(turns)-1-n].By != abi.KindHuman {
		n++
	}
	return turns[len(turns)-n:]
}

// Heard is what a companion has of a part of a talk.
type Heard struct {
	All  []fact.Turn // with those just before, whether it has gone through them or not
	Read int         // how many of All are up to where it has come
	// Left are the turns of people that it has not gone through, each with those that it may answer: what companions and
	// agents say behind the last of them, or long before the next, nobody has said anything to.
	Left []fact.Turn
}

// Of gives what a companion heard that has gone through it up to an entry.
func (h *Hearing) Of(companion string, read uint64) (all Heard) {
	said := 0 // turns of others at the end of Left
	for _, t := range h.turns {
		human := t.By == abi.KindHuman
		if !slices.Contains(t.by, companion) || human && t.context {
			continue
		}
		if all.All = append(all.All, t.Turn); t.Seq <= read && !t.context {
			all.Read = len(all.All)
		}
		switch {
		case human && t.Seq <= read:
			all.Left, said = nil, 0
		case human:
			all.Left, said = append(all.Left, t.Turn), 0
		case said == Before:
			n := len(all.Left)
			copy(all.Left[n-Before:], all.Left[n-Before+1:])
			all.Left[n-1] = t.Turn
		default:
			all.Left, said = append(all.Left, t.Turn), said+1
		}
	}
	all.Left = all.Left[:len(all.Left)-said]
	return all
}

// Companions gives everybody who heard any of it, sorted.
func (h *Hearing) Companions() (ids []string) {
	for _, t := range h.turns {
		ids = append(ids, t.by...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
