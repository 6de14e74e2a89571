// Package looptest runs the loop of a room for tests of what stands on one: on a journal
// in memory, with steps that do nothing but what a test gives. The daemon never uses it.
package looptest

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/rules"
)

// Room is a loop in a bubble of synctest.
type Room struct {
	*loop.Loop
	t       *testing.T
	journal *memory.Journal
	// Settle and Dispatch are the steps of these names; nil does nothing. They are set
	// before Start.
	Settle, Dispatch func()
}

// New makes the loop of a room that has not begun.
func New(t *testing.T) *Room {
	r := &Room{t: t, journal: memory.New()}
	step := func(do *func()) func() {
		return func() {
			if *do != nil {
				(*do)()
			}
		}
	}
	r.Loop = loop.New(loop.Config{
		Journal: r.journal, Room: "main", Owner: "test", Log: slog.New(slog.DiscardHandler),
		Load: func(context.Context, *fold.State) error { return nil }, Begin: func() {},
		Settle: step(&r.Settle), Dispatch: func(context.Context) { step(&r.Dispatch)() },
		Wrote: func([]entry.Entry) {}, Dropped: func(error) {}, Show: func() {},
		Next: func() time.Duration { return time.Hour }, AtRest: func() bool { return false }, Due: func() time.Time { return time.Time{} },
	})
	return r
}

// Start runs the loop until end is called, which is to be deferred; companions are in the room.
func (r *Room) Start(companions ...string) (end func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	go func() { _ = r.Run(ctx) }()
	r.Do(func() {
		r.Input(entry.KindRules, entry.Rules{
			Version: fold.Version, Policy: "vote", Seed: "test", Patience: 1000, Floor: 5000, MaxTurns: 6, Perceived: 12, Stale: entry.StaleReask,
		})
		var cast entry.Cast
		for _, id := range companions {
			cast.Joined = append(cast.Joined, entry.Joined{ID: id, Name: id, Kind: abi.KindCompanion, Engine: "test", Generation: 1})
		}
		r.Input(entry.KindCast, cast)
	})
	return func() {
		cancel()
		<-r.Gone()
	}
}

// Do does something in the loop, and returns when the loop waits again: the test may read
// then what is the loop's.
func (r *Room) Do(f func()) {
	r.t.Helper()
	if err := loop.Tell(r.t.Context(), r.Loop, func() error { f(); return nil }); err != nil {
		r.t.Errorf("the loop does not take it: %v", err)
	}
	synctest.Wait()
}

// Say has a human say something, which opens a round where it may.
func (r *Room) Say(from, text string) {
	r.t.Helper()
	r.Do(func() {
		if _, err := r.Line(rules.Line{ID: from + ": " + text, Said: entry.Said{From: from, By: abi.KindHuman, Text: text, Kind: abi.KindTurn}}); err != nil {
			r.t.Error(err)
		}
	})
}

// Give has a round end with the floor given to one of the companions: it votes for itself,
// and the others listen.
func (r *Room) Give(who string) *fold.Floor {
	r.t.Helper()
	r.Do(func() {
		round := r.State().Round
		if round == nil {
			r.t.Fatal("no round is open")
		}
		for _, v := range round.Electorate {
			vote := abi.Vote{State: abi.Listen}
			if v.ID == who {
				vote = abi.Vote{State: abi.Speak, Importance: 5}
			}
			r.Input(entry.KindVote, entry.Voted{Round: round.ID, Voter: v.ID, Vote: vote})
		}
	})
	f := r.State().Floor
	if f == nil || f.Who != who {
		r.t.Fatalf("the floor is %+v, not %s's", f, who)
	}
	return f
}

// Bodies gives those of the entries of a kind that are in the journal.
func Bodies[T any](r *Room, kind entry.Kind) (all []T) {
	r.t.Helper()
	es, err := r.journal.Read(r.t.Context(), "main", 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range es {
		if e.Kind != kind {
			continue
		}
		b, err := entry.Decode[T](e)
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}
