package fact

import (
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/lineage"
)

// This file is what a room knows of a fact. Rooms that are forks of one another have not all lived through the same: what was
// said in one of them behind where they parted, and what it closed, is not so in the others. What a person
// changed at a door is so everywhere.

// mostAgains is of how many times that something was said again a fork may know that it parted before.
const mostAgains = 64

// mark is what was said of a fact after it was remembered: that it is no longer so, or the same again.
type mark struct {
	room   string
	turn   uint64 // the newest that it rests on
	at     time.Time
	closes bool   // since at
	by     string // id of what closes it; empty where that was erased
	fills  bool   // what closes it fills the same slot
	same   bool   // it was said again in the same letters
}

// newest is the newest entry of its room that something rests on, 0 where nobody knows.
func newest(turns []uint64, upto uint64) uint64 {
	if len(turns) == 0 {
		return upto
	}
	return slices.Max(turns)
}

// end gives the mark of what is no longer so by what was said there.
func end(p entry.Place) mark {
	return mark{room: p.Room, turn: p.Turn, at: p.At, closes: true, by: p.By, fills: p.Slot}
}

// place says where something was said by which something else is no longer so since then.
func (f *Fact) place(of *Fact, at time.Time) entry.Place {
	return entry.Place{Room: f.Room, Turn: f.newest, By: f.ID, At: at, Slot: f.Slot != "" && f.Slot == of.Slot && f.SaidBy == of.SaidBy}
}

// In gives what is remembered by its id as it is known in a room with this past, where it is. What it refers to is not to be changed.
func (t *Table) In(p *lineage.Past, id string) (Fact, bool) {
	f := t.facts[id]
	if f == nil {
		return Fact{}, false
	}
	lived := p.Lived(f.Room, f.newest)
	if p == nil || len(f.marks) == 0 {
		return *f, lived
	}
	seen := *f
	seen.Turns, seen.Confirmed = f.turns, f.SaidAt
	for _, m := range f.marks {
		switch {
		case m.closes || !p.Lived(m.room, m.turn):
		case lived:
			seen.again(entry.Again{Room: m.room, Turn: m.turn, At: m.at})
		case m.same: // it was said there, as far as is known here
			lived = true
			seen.Room, seen.Turns, seen.newest, seen.SaidAt, seen.Confirmed = m.room, []uint64{m.turn}, m.turn, m.at, m.at
			seen.Quote, seen.ValidFrom, seen.Keys = "", time.Time{}, nil
		}
	}
	seen.ValidTo, seen.ClosedBy = t.closed(p, f)
	return seen, lived
}

// closed says since when something is no longer so in a room with this past, and by what.
func (t *Table) closed(p *lineage.Past, f *Fact) (at time.Time, by string) {
	if len(f.marks) == 0 || !f.until.IsZero() {
		return f.until, ""
	}
	return t.ended(p, f, false, map[*Fact]bool{f: true})
}

// ended is closed by what was said. What fills a slot is also closed by what came in the place of what closed it elsewhere: that
// it was so before is written nowhere else.
func (t *Table) ended(p *lineage.Past, f *Fact, deep bool, gone map[*Fact]bool) (at time.Time, by string) {
	for _, m := range f.marks {
		if !m.closes || deep && !m.fills {
			continue
		}
		end, of := m.at, m.by
		if !p.Lived(m.room, m.turn) {
			next := t.facts[m.by]
			if !m.fills || next == nil || gone[next] || f.left != "" { // what somebody wrote by hand has left its slot
				continue
			}
			gone[next] = true
			if end, of = next.saidElsewhere(p); end.IsZero() {
				end, of = t.ended(p, next, true, gone)
			}
		}
		if !end.IsZero() && (at.IsZero() || end.Before(at) || end.Equal(at) && of > by) {
			at, by = end, of
		}
	}
	return at, by
}

// saidElsewhere says when something that was said where nobody here was has been said where this room knows of it.
func (f *Fact) saidElsewhere(p *lineage.Past) (at time.Time, by string) {
	for _, m := range f.marks {
		if m.same && p.Lived(m.room, m.turn) {
			return m.at, f.ID
		}
	}
	return at, ""
}

// mark notes what was said of a fact.
func (t *Table) mark(f *Fact, m mark) {
	t.mention(m.room)
	if slices.Contains(f.marks, m) {
		return
	}
	if !m.closes && len(f.marks) >= mostAgains {
		f.thin()
	}
	f.marks = append(f.marks, m)
	f.ValidTo, f.ClosedBy = t.closed(nil, f)
}

// noted says whether it is known that something was said in a turn.
func (f *Fact) noted(room string, turn uint64) bool {
	return room == f.Room && slices.Contains(f.Turns, turn) || slices.ContainsFunc(f.marks, func(m mark) bool { return !m.closes && m.room == room && m.turn == turn })
}

// thin lets go of one of the times that it was said again, where there are too many: the oldest of those in other letters, or else of all.
func (f *Fact) thin() {
	n, first := 0, -1
	for i, m := range f.marks {
		if m.closes {
			continue
		}
		if n++; first < 0 || f.marks[first].same && !m.same {
			first = i
		}
	}
	if n >= mostAgains {
		f.marks = slices.Delete(slices.Clone(f.marks), first, first+1)
	}
}

// replaces puts a mark in the place of one of what was said in the same place, and gives false where there is none.
func (f *Fact) replaces(with mark) bool {
	i := slices.IndexFunc(f.marks, func(m mark) bool {
		return m.closes && m.room == with.room && m.turn == with.turn && m.at.Equal(with.at)
	})
	if i < 0 {
		return false
	}
	f.marks = slices.Clone(f.marks)
	f.marks[i].by = with.by
	return true
}

// orphaned gives the marks that a fact is to have when some that closed it are gone: where these were said, and what came in their place.
func (t *Table) orphaned(f *Fact, gone []string, fills bool) (left []mark) {
	for _, m := range f.marks {
		if !m.closes || fills && !m.fills {
			continue
		}
		was := m.by
		if was != "" && slices.Contains(gone, was) {
			m.by = ""
		}
		if next := t.facts[was]; m.by != was || fills {
			left = append(left, m)
			if m.by != was && m.fills && next != nil && f.left == "" { // as in ended
				left = append(left, t.orphaned(next, gone, true)...)
			}
		}
	}
	return left
}

// settled says that a person said until when it is so: what was said before of that counts no more.
func (f *Fact) settled(until time.Time) {
	f.until, f.ValidTo, f.ClosedBy = until, until, ""
	f.marks = slices.DeleteFunc(slices.Clone(f.marks), func(m mark) bool { return m.closes })
}

// closable says whether something new that is so since then is to close it also where it is no longer so
// for whoever knows everything: what closed it there is gone, or came later.
func (t *Table) closable(f *Fact, since time.Time) bool {
	live := slices.ContainsFunc(f.marks, func(m mark) bool { return m.closes && t.facts[m.by] != nil })
	return f.until.IsZero() && (!live || f.ValidTo.After(since))
}

// mention notes a room that facts are of.
func (t *Table) mention(room string) {
	if room != "" && !t.mentioned[room] {
		t.mentioned[strings.Clone(room)] = true
		t.rooms = append(t.rooms, room)
	}
}

// Rooms gives the rooms in which anything was said that was ever remembered here, in the order in which they came. It only grows.
func (t *Table) Rooms() []string { return t.rooms }
