package votes_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/glance"
	"github.com/companiond/companiond/host/room/looptest"
	"github.com/companiond/companiond/host/room/votes"
)

// table is a room with three companions who were not asked yet.
type table struct {
	*looptest.Room
	*votes.Votes
	running call.Running
}

// play runs a test in fake time. Votes that came early, and backchannels, are looked after
// as a room does.
func play(t *testing.T, f func(*testing.T, *table)) {
	synctest.Test(t, func(t *testing.T) {
		w := &table{Room: looptest.New(t), running: call.Running{}}
		w.Votes = votes.New(votes.Config{Loop: w.Loop, Running: w.running, Board: new(glance.Board), NewID: func() string { return "nod" }})
		w.Room.Settle = func() {
			w.CastEarly()
			w.SayBackchannels()
		}
		defer w.Start("aya", "kyoko", "momo")()
		f(t, w)
	})
}

// ask asks those who are due.
func (w *table) ask() (who []string) {
	w.Do(func() { who = w.Votes.Due() })
	return who
}

var (
	wants   = abi.Vote{State: abi.Speak, Importance: 5}
	listens = abi.Vote{State: abi.Listen}
)

// Each is asked once a round, by a call that a STOP ends, and anew in the next.
func TestEachIsAskedOnce(t *testing.T) {
	play(t, func(t *testing.T, w *table) {
		if got := w.ask(); got != nil {
			t.Errorf("%v are asked before anybody spoke", got)
		}
		w.Say("taro", "hello")
		all := []string{"aya", "kyoko", "momo"}
		if got := w.ask(); !slices.Equal(got, all) || !w.running.Has(call.VoteID("aya")) {
			t.Errorf("asked %v, running %v", got, w.running)
		}
		if got := w.ask(); got != nil {
			t.Errorf("%v are asked twice", got)
		}
		round := w.State().Round.ID
		w.Do(func() { w.Take(round, "aya", abi.Vote{}, abi.Errorf(abi.CodeInternal, "broke down")) })
		if w.running.Has(call.VoteID("aya")) || w.ask() != nil {
			t.Errorf("aya failed and is asked again, running %v", w.running)
		}
		w.Do(func() {
			w.Take(round, "kyoko", listens, nil)
			w.Take(round, "momo", listens, nil)
		})
		if fs := looptest.Bodies[entry.Failed](w.Room, entry.KindFailed); len(fs) != 1 || fs[0].Who != "aya" || fs[0].Code != abi.CodeInternal {
			t.Errorf("failed: %+v", fs)
		}
		w.Say("taro", "nobody?")
		if got := w.ask(); !slices.Equal(got, all) {
			t.Errorf("the next round asks %v", got)
		}
	})
}

// A vote of a round that nobody decides counts for none, whatever came of it.
func TestAVoteOfNoRoundIsNone(t *testing.T) {
	play(t, func(t *testing.T, w *table) {
		w.Say("taro", "hello")
		w.ask()
		round := w.State().Round.ID
		w.Give("aya")
		n := len(looptest.Bodies[entry.Voted](w.Room, entry.KindVote))
		w.Do(func() {
			w.Take(round+100, "kyoko", wants, nil)
			w.Take(round+100, "momo", abi.Vote{}, abi.Errorf(abi.CodeTimeout, "slow"))
		})
		if got := len(looptest.Bodies[entry.Voted](w.Room, entry.KindVote)); got != n || len(looptest.Bodies[entry.Failed](w.Room, entry.KindFailed)) != 0 {
			t.Errorf("%d votes, want %d", got, n)
		}
	})
}

// A vote about a message that has not come waits for it; what cannot count is refused.
func TestVotesFromOutside(t *testing.T) {
	play(t, func(t *testing.T, w *table) {
		cast := func(about uint64, who string, v abi.Vote) (err error) {
			w.Do(func() { err = w.Cast(about, who, v) })
			return err
		}
		next := w.State().Head + 1
		if err := cast(next, "kyoko", wants); err != nil || w.State().Round != nil {
			t.Errorf("early: %v", err)
		}
		if err := cast(next, "ghost", wants); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("stranger: %v", err)
		}
		w.Say("taro", "hello")
		round := w.State().Round
		if round == nil || round.About != next || round.Awaits("kyoko") {
			t.Fatalf("the early vote is not counted: %+v", round)
		}
		if err := cast(next, "kyoko", listens); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("twice: %v", err)
		}
		if err := cast(next-1, "aya", wants); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("about something else: %v", err)
		}
		if err := cast(next, "aya", listens); err != nil || w.State().Round.Awaits("aya") {
			t.Errorf("aya: %v", err)
		}
	})
}

// A line that was begun with a vote is wanted until it is decided that another speaks, and
// of those that are not wanted each is named once.
func TestUnwanted(t *testing.T) {
	play(t, func(t *testing.T, w *table) {
		unwanted := func() (who []string) {
			w.Do(func() { who = w.Votes.Unwanted() })
			slices.Sort(who)
			return who
		}
		w.Say("taro", "hello")
		w.ask()
		round := w.State().Round.ID
		w.Do(func() { w.Take(round, "kyoko", listens, nil) })
		if got := unwanted(); got != nil {
			t.Errorf("undecided, and %v are unwanted", got)
		}
		w.Do(func() {
			w.Take(round, "momo", listens, nil)
			w.Take(round, "aya", wants, nil)
		})
		if f := w.State().Floor; f == nil || f.Who != "aya" {
			t.Fatalf("the floor is %+v", f)
		}
		if got := unwanted(); !slices.Equal(got, []string{"kyoko", "momo"}) {
			t.Errorf("%v are unwanted", got)
		}
		if n, _ := w.Remembered(); n != 1 || unwanted() != nil {
			t.Errorf("%d are remembered", n)
		}
		w.Do(func() { w.Speaks("aya") })
		if n, _ := w.Remembered(); n != 0 {
			t.Errorf("%d are remembered though aya is asked for its line", n)
		}
	})
}

// Where there is no pool nobody nods, and it is not kept for later either.
func TestBackchannelsAreNotKept(t *testing.T) {
	play(t, func(t *testing.T, w *table) {
		w.Say("taro", "hello")
		w.ask()
		round := w.State().Round.ID
		w.Do(func() { w.Take(round, "kyoko", abi.Vote{State: abi.Listen, Backchannel: "うん"}, nil) })
		if _, n := w.Remembered(); n != 1 {
			t.Errorf("%d are kept while the round is open", n)
		}
		w.Do(func() {
			w.Take(round, "momo", listens, nil)
			w.Take(round, "aya", wants, nil)
		})
		if _, n := w.Remembered(); n != 0 || len(looptest.Bodies[entry.Said](w.Room, entry.KindSaid)) != 1 {
			t.Errorf("%d are kept, said %+v", n, looptest.Bodies[entry.Said](w.Room, entry.KindSaid))
		}
	})
}
