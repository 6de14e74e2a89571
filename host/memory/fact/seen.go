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
}

// newest is the newest entry of its room that something rests on, 0 where nobody knows.
func newest(turns []uint64, upto uint64) uint64 {
	if len(turns) == 0 {
		return upto
	}
	return slices.Max(turns)
}

// place says where something was said by which something else is no longer so.
func (f *Fact) place() *entry.Place { return &entry.Place{Room: f.Room, Turn: f.newest, By: f.ID} }

// In gives what is remembered by its id as it is known in a room with this past, where it is. What it refers to is not to be changed.
func (t *Table) In(p *lineage.Past, id string) (Fact, bool) {
	f := t.facts[id]
	if f == nil || !p.Lived(f.Room, f.newest) {
		return Fact{}, false
	}
	if p == nil || len(f.marks) == 0 {
		return *f, true
	}
	seen := *f
	seen.Turns, seen.Confirmed = f.turns, f.SaidAt
	for _, m := range f.marks {
		if !m.closes && p.Lived(m.room, m.turn) {
			seen.again(entry.Again{Room: m.room, Turn: m.turn, At: m.at})
		}
	}
	seen.ValidTo, seen.ClosedBy = t.closed(p, f)
	return seen, true
}

// closed says since when something is no longer so in a room with this past, and by what.
func (t *Table) closed(p *lineage.Past, f *Fact) (at time.Time, by string) {
	if len(f.marks) == 0 || !f.until.IsZero() {
		return f.until, ""
	}
	return t.end(p, f, nil)
}

// end is closed by what was said. What fills a slot is also closed by what came in the place of what closed it elsewhere: that
// it was so before is written nowhere else.
func (t *Table) end(p *lineage.Past, f *Fact, gone map[*Fact]bool) (at time.Time, by string) {
	earlier := func(m time.Time, of string) {
		if at.IsZero() || m.Before(at) || m.Equal(at) && of > by {
			at, by = m, of
		}
	}
	for _, m := range f.marks {
		if !m.closes {
			continue
		}
		if p.Lived(m.room, m.turn) {
			earlier(m.at, m.by)
			continue
		}
		next := t.facts[m.by]
		if next == nil || f.Slot == "" || next.Slot != f.Slot || next.SaidBy != f.SaidBy || gone[next] {
			continue
		}
		if gone == nil {
			gone = map[*Fact]bool{f: true}
		}
		gone[next] = true
		if then, of := t.end(p, next, gone); !then.IsZero() {
			earlier(then, of)
		}
	}
	return at, by
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

// thin lets go of the oldest time that it was said again, where there are too many.
func (f *Fact) thin() {
	n, first := 0, -1
	for i, m := range f.marks {
		if !m.closes {
			if n++; first < 0 {
				first = i
			}
		}
	}
	if n >= mostAgains {
		f.marks = slices.Delete(slices.Clone(f.marks), first, first+1)
	}
}

// orphan notes that what closed a fact there is to be erased, and gives false where nothing did.
func (f *Fact) orphan(room string, turn uint64, at time.Time) bool {
	i := slices.IndexFunc(f.marks, func(m mark) bool { return m.closes && m.room == room && m.turn == turn && m.at.Equal(at) })
	if i < 0 {
		return false
	}
	f.marks = slices.Clone(f.marks)
	f.marks[i].by = ""
	return true
}

// settled says that a person said until when it is so: what was said before of that counts no more.
func (f *Fact) settled(until time.Time) {
	f.until, f.ValidTo, f.ClosedBy = until, until, ""
	f.marks = slices.DeleteFunc(slices.Clone(f.marks), func(m mark) bool { return m.closes })
}

// closable says whether something new that is so since then is to close it also where it is no longer so
// for whoever knows everything: what closed it there is gone, or came later.
func (t *Table) closable(f *Fact, since time.Time) bool {
	if !f.until.IsZero() {
		return false
	}
	live, late := false, false
	for _, m := range f.marks {
		live = live || m.closes && t.facts[m.by] != nil
		late = late || m.closes && m.at.After(since)
	}
	return !live || late
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
