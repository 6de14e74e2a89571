package memory

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/recall"
	"github.com/companiond/companiond/host/module"
)

// This file is what companions themselves recall, and what their modules have them remember.

// Stays is how long after a person last spoke in a room what was said elsewhere for that
// person's ears may be told there. A door does not say who is still there and reads.
const Stays = 30 * time.Minute

// lately is how many of a room's messages are looked at for who is there.
const lately = 100

// Recall gives what a companion remembers that has to do with a text, of what it may
// tell in the room of the call, the best first. Nothing is found where its settings say that it
// does not remember. Whoever asks is one of those whom it is about, unless others are named.
func (k *Keeper) Recall(ctx context.Context, c module.Caller, a abi.MemoryAsk) (found abi.Memories, err error) {
	found.Memories = []abi.Memory{}
	a.Text = a.Text[beginning(a.Text):]
	if err := a.Check(); err != nil {
		return found, err
	}
	if k.cfg.Settings(c.Companion).Off {
		return found, nil
	}
	meant := k.meant(ctx, c, a.Text)
	err = k.with(ctx, c.Companion, func(b *book) error {
		if b.table.Len() == 0 {
			return nil
		}
		now := time.Now()
		present, err := k.present(ctx, c.Room, now)
		if err != nil {
			return err
		}
		past, err := b.past(ctx, c.Room)
		if err != nil {
			return err
		}
		q := recall.Query{Text: a.Text, About: a.About, Room: c.Room, Present: present, Lived: past, Limit: a.Limit, Past: a.Past, At: now.In(k.cfg.Location), Near: b.near.Find(meant)}
		if len(q.About) == 0 && len(present) > 0 {
			q.About = present[:1]
		}
		for _, f := range b.index.Find(q) {
			found.Memories = append(found.Memories, f.Memory)
		}
		return nil
	})
	return found, err
}

// beginning is where the end of a text begins that is not too long to be looked for: several
// messages are.
func beginning(text string) int {
	i := max(0, len(text)-abi.MaxText)
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}

// present gives the people who are in a room as far as anybody can tell, whoever spoke last
// first.
func (k *Keeper) present(ctx context.Context, room string, now time.Time) (who []string, err error) {
	if room == "" {
		return nil, nil
	}
	said, err := k.cfg.Journal.Said(ctx, room, journal.Span{Limit: lately, Newest: true})
	for _, e := range slices.Backward(said) {
		if e.Blank || now.Sub(e.At) >= Stays {
			continue
		}
		if s, err := entry.Decode[entry.Said](e); err == nil && s.By == abi.KindHuman && !slices.Contains(who, s.From) {
			who = append(who, s.From)
		}
	}
	return who, err
}

// Add has a companion remember what its own module asks for: with a turn of the room, in which
// the quotation stands, what whoever said that told it, and else the module's own words.
func (k *Keeper) Add(ctx context.Context, c module.Caller, a abi.MemoryAdd) (m abi.Memory, err error) {
	if err := a.Check(); err != nil {
		return m, err
	}
	s := k.cfg.Settings(c.Companion)
	if s.Off {
		return m, abi.Errorf(abi.CodeDenied, "%s: %s is not to remember anything; to have it, write memory = \"room\" under [companion.%s] in the configuration",
			abi.HostMemoryAdd, c.Companion, c.Companion)
	}
	if c.Room == "" {
		return m, abi.Errorf(abi.CodeInvalid, "%s: this call is about no room", abi.HostMemoryAdd)
	}
	if err := k.mayAdd(c.Companion, time.Now()); err != nil {
		return m, err
	}
	n := fact.New{How: entry.HowModule, Replaces: a.Replaces, Memory: abi.Memory{
		Kind: a.Kind, Text: a.Text, Quote: a.Quote, About: a.About, Keys: a.Keys, Importance: a.Importance,
		Room: c.Room, Visibility: s.Visibility,
	}}
	if len(a.About) == 0 && n.Visibility == abi.VisiblePerson {
		n.Visibility = abi.VisibleRoom // the module's own words about nobody, whose presence could be asked for
	}
	source := ""
	if a.Turn != 0 {
		said, e, err := k.turn(ctx, c.Room, a.Turn)
		if err != nil {
			return m, err
		}
		source, n.Turns, n.SaidBy, n.SaidAt = said.Text, []uint64{a.Turn}, said.From, e.At
	} else {
		last, err := k.cfg.Journal.Said(ctx, c.Room, journal.Span{Limit: 1, Newest: true})
		if err != nil {
			return m, journal.Coded(err)
		}
		n.Upto = 1 // before anything was said
		for _, e := range last {
			n.Upto = e.Seq
		}
	}
	return k.addOne(ctx, c.Companion, n, source)
}

// turn gives a message of a room.
func (k *Keeper) turn(ctx context.Context, room string, seq uint64) (s entry.Said, e entry.Entry, err error) {
	got, err := k.cfg.Journal.Said(ctx, room, journal.Span{After: seq - 1, Before: seq + 1, Limit: 1})
	if err != nil {
		return s, e, journal.Coded(err)
	}
	if len(got) == 0 || got[0].Blank {
		return s, e, abi.Field("turn", abi.CodeNotFound, "%d is no message of this room", seq)
	}
	s, err = entry.Decode[entry.Said](got[0])
	return s, got[0], err
}

// mayAdd counts one more of the things that a module has a companion remember, and says when there were too many
// in a minute.
func (k *Keeper) mayAdd(companion string, now time.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := slices.DeleteFunc(k.adds[companion], func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if len(at) >= abi.MaxMemoryAdds {
		k.adds[companion] = at
		err := abi.Errorf(abi.CodeExhausted, "%s: at most %d a minute (MaxMemoryAdds)", abi.HostMemoryAdd, abi.MaxMemoryAdds)
		err.After = (time.Minute - now.Sub(at[0])).Milliseconds()
		return err
	}
	k.adds[companion] = append(at, now)
	return nil
}
