package bench

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
)

func sec(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// talk makes a record by hand.
type talk struct{ world.Record }

func newTalk(members ...string) *talk {
	t := &talk{}
	t.Horizon = sec(60)
	for _, id := range members {
		t.Cast.Members = append(t.Cast.Members, world.Member{ID: id})
	}
	return t
}

func (t *talk) add(u world.Turn, from, to float64) *world.Turn {
	u.N, u.Begun, u.Ended = len(t.Turns)+1, sec(from), sec(to)
	if u.Kind == "" {
		u.Kind = abi.KindTurn
	}
	if u.At = u.Begun; u.By == abi.KindHuman {
		u.At = u.Ended
	}
	if u.Basis == 0 {
		u.Basis = u.N - 1
	}
	t.Turns = append(t.Turns, &u)
	return &u
}

func (t *talk) human(from, to float64, whom ...string) *world.Turn {
	return t.add(world.Turn{From: "taro", By: abi.KindHuman, To: whom}, from, to)
}

func (t *talk) says(who string, from, to float64, wants ...string) *world.Turn {
	return t.add(world.Turn{From: who, By: abi.KindCompanion, Text: "0123456789", Wants: wants}, from, to)
}

func (t *talk) sum() Metrics { return t.within(talkCap) }

// within gives the metrics in a room where members may take so many turns since a person.
func (t *talk) within(most int) Metrics {
	all := tally{cap: most}
	all.add(t.Record)
	return all.sum()
}

func TestTiming(t *testing.T) {
	w := newTalk("a", "b")
	w.human(0, 2)
	w.says("a", 2.5, 6)                                                                  // after half a second
	w.says("b", 5, 10)                                                                   // over the last second
	w.add(world.Turn{From: "a", By: abi.KindCompanion, Kind: abi.KindBackchannel}, 7, 8) // no turn
	w.says("b", 11, 12)                                                                  // no change of speaker
	w.says("a", 14, 16)
	w.says("b", 16, 17) // at once
	m := w.sum()
	if m.GapMedian != 0 || m.GapP95 != 2000 || m.GapGood != 0.5 {
		t.Errorf("gaps of -1, 0, 0.5 and 2 s: %+v", m)
	}
	if m.TwoMouths != 1 || m.Overlap != 0.087 { // 1 of 11.5 s
		t.Errorf("overlap %g, %d at once", m.Overlap, m.TwoMouths)
	}
	if m.Turns != 5 || m.Nods != 1 || m.Minutes != 1 {
		t.Errorf("%d turns, %g nods, %g min", m.Turns, m.Nods, m.Minutes)
	}
}

func TestQuiet(t *testing.T) {
	for name, c := range map[string]struct {
		make      func(w *talk)
		air, mute float64
		dead      float64
	}{
		"a human is not answered":    {func(w *talk) { w.human(0, 2) }, 55, 55, 1},
		"nobody has anything to say": {func(w *talk) { w.human(0, 2); w.says("a", 3, 5) }, 52, 0, 0},
		"somebody has":               {func(w *talk) { w.human(0, 2); w.says("a", 3, 5, "b") }, 52, 52, 1},
		"for a while":                {func(w *talk) { w.human(0, 2); w.says("a", 3, 5, "b"); w.says("b", 10, 59) }, 2, 2, 0},
		"after a STOP":               {func(w *talk) { w.human(0, 2); w.says("a", 3, 5, "b"); w.human(5, 6).Stop = true }, 0, 0, 0},
		"after the end": {func(w *talk) {
			w.human(0, 2)
			w.says("a", 3, 5, "b")
			w.Ends = []time.Duration{sec(4)}
		}, 0, 0, 0},
		"after the cap": {func(w *talk) {
			w.human(0, 1)
			for i := range talkCap {
				w.says("a", 2+float64(i)/4, 2.2+float64(i)/4, "b")
			}
		}, 0, 0, 0},
		"after the cap, with a line that was being made as the human spoke": {func(w *talk) {
			w.says("a", 0.5, 2.2).Done = sec(2)
			w.human(0, 1)
			for i := range talkCap - 1 {
				w.says("a", 2+float64(i)/4, 2.2+float64(i)/4, "b")
			}
		}, 0, 0, 0},
		"while a human speaks": {func(w *talk) { w.human(0, 2); w.says("a", 3, 5, "b"); w.human(6, 59); w.says("a", 59, 60) }, 0, 0, 0},
	} {
		w := newTalk("a", "b")
		c.make(w)
		if m := w.sum(); m.DeadAir != c.air || m.Silence != c.mute || m.DeadRooms != c.dead {
			t.Errorf("%s: dead air %g, silence %g, dead %g", name, m.DeadAir, m.Silence, m.DeadRooms)
		}
	}
}

// Silence is no fault once members have spoken as often as they may in their room.
func TestQuietAtTheCapOfTheRoom(t *testing.T) {
	w := newTalk("a", "b")
	w.human(0, 1)
	for i := range 6 {
		w.says("a", 2+float64(i)/4, 2.2+float64(i)/4, "b")
	}
	for most, dead := range map[int]float64{0: 1, 5: 0, 6: 0, 7: 1, talkCap: 1} {
		if m := w.within(most); m.DeadRooms != dead || m.Silence > 0 != (dead > 0) || m.DeadAir > 0 != (dead > 0) || m.Waited > 10 != (dead > 0) {
			t.Errorf("max_turns %d: %+v", most, m)
		}
	}
}

func TestSharing(t *testing.T) {
	for name, c := range map[string]struct {
		make       func(w *talk)
		gini, even float64
	}{
		"equal":      {func(w *talk) { w.says("a", 0, 5); w.says("b", 5, 10) }, 0, 1},
		"one":        {func(w *talk) { w.says("a", 0, 5) }, 1, 0},
		"nobody":     {func(w *talk) { w.human(0, 5) }, 1, 0},
		"three four": {func(w *talk) { w.says("a", 0, 3); w.says("b", 3, 4) }, 0.5, 0.811},
		// b is heard for as long, but never alone.
		"over another": {func(w *talk) { w.says("a", 0, 10); w.says("b", 2, 7) }, 1, 0},
		"the dead": {func(w *talk) {
			w.says("a", 0, 5)
			w.says("b", 5, 10)
			w.Cast.Members = append(w.Cast.Members, world.Member{ID: "c", Dead: true})
		}, 0, 1},
	} {
		w := newTalk("a", "b")
		c.make(w)
		if m := w.sum(); m.Gini != c.gini || m.Even != c.even {
			t.Errorf("%s: %g, %g", name, m.Gini, m.Even)
		}
	}
}

func TestSharesAreShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0, 1000), 2, 9).Draw(t, "x")
		g, e := shared(x)
		if g < -1e-9 || g > 1+1e-9 || e < -1e-9 || e > 1+1e-9 || math.IsNaN(g+e) {
			t.Fatalf("%v: %g, %g", x, g, e)
		}
		slices.Reverse(x)
		if g2, e2 := shared(x); math.Abs(g-g2) > 1e-9 || math.Abs(e-e2) > 1e-9 {
			t.Fatalf("%v: the order counts", x)
		}
	})
}

func TestWaiting(t *testing.T) {
	w := newTalk("a", "b", "c")
	w.human(0, 2).Wants = []string{"a", "b"}
	w.says("a", 3, 5, "b")
	w.says("c", 6, 8, "a", "b")
	w.says("a", 9, 11, "b", "c")
	w.says("b", 12, 14) // waited since 2, lost three turns
	if m := w.sum(); m.Starved != 3 || m.Waited != 10 {
		t.Errorf("lost %d, waited %g s", m.Starved, m.Waited)
	}
	// A turn under another's voice ends no waiting.
	w = newTalk("a", "b")
	w.human(0, 2).Wants = []string{"a", "b"}
	w.says("a", 3, 10, "b")
	w.says("b", 4, 8, "a")
	w.says("a", 11, 12, "b")
	w.says("b", 13, 60)
	if m := w.sum(); m.Waited != 11 {
		t.Errorf("spoke in vain, waited %g s", m.Waited)
	}
	// A wish that is given up is no waiting, and nobody waits in a talk that is over.
	w = newTalk("a", "b")
	w.human(0, 2).Wants = []string{"b"}
	w.says("a", 3, 4)
	w.says("a", 5, 6, "b")
	w.human(7, 8).Stop = true
	if m := w.sum(); m.Waited != 3 || m.Starved != 1 {
		t.Errorf("gave up after %g s, lost %d", m.Waited, m.Starved)
	}
	// Nor does one wait while a talk is over.
	w = newTalk("a", "b")
	w.human(0, 2).Wants = []string{"b"}
	w.says("a", 3, 4, "b")
	w.Ends = []time.Duration{sec(4)}
	w.human(40, 42).Wants = []string{"b"}
	w.says("b", 44, 60)
	if m := w.sum(); m.Waited != 2 {
		t.Errorf("waited %g s", m.Waited)
	}
	// One whom nobody ever lets speak waits to the end.
	w = newTalk("a", "b")
	w.human(0, 2).Wants = []string{"b"}
	if m := w.sum(); m.Waited != 58 {
		t.Errorf("waited %g s", m.Waited)
	}
}

func TestPeople(t *testing.T) {
	w := newTalk("a", "b")
	w.human(0, 2, "a")
	w.says("a", 3, 8)
	w.human(4, 5, "b") // over a's voice, for four seconds
	w.says("a", 9, 10) // not b
	w.human(12, 13, "a")
	w.human(14, 15, "a") // it says more: only this one is to be answered by a
	w.says("a", 26, 27)  // too late
	m := w.sum()
	if m.Humans != 4 || m.Addressed != 3 || m.Answered != 0.333 || m.Hijacked != 0.333 || m.Unanswered != 0 {
		t.Errorf("%+v", m)
	}
	if m.AnswerP50 != 4000 || m.AnswerP95 != 13000 || m.StopP95 != 4000 {
		t.Errorf("answers %g and %g ms, stop %g ms", m.AnswerP50, m.AnswerP95, m.StopP95)
	}
}

func TestUnanswered(t *testing.T) {
	for name, c := range map[string]struct {
		make func(w *talk)
		want int
	}{
		"answered":               {func(w *talk) { w.human(0, 2); w.says("a", 3, 4) }, 0},
		"nobody":                 {func(w *talk) { w.human(0, 2) }, 1},
		"by who did not know it": {func(w *talk) { w.human(0, 1); w.says("a", 1, 4); w.human(2, 3); w.says("b", 5, 6).Basis = 2 }, 1},
		"by a backchannel":       {func(w *talk) { w.human(0, 1); w.says("a", 1, 4).Kind = abi.KindBackchannel }, 1},
		"it said more":           {func(w *talk) { w.human(0, 1); w.human(2, 3); w.says("a", 4, 5) }, 0},
		"somebody else did":      {func(w *talk) { w.human(0, 1); w.human(2, 3).From = "hana" }, 2},
		"a STOP":                 {func(w *talk) { w.human(0, 1); w.human(2, 3).Stop = true }, 0},
		"a STOP of another":      {func(w *talk) { w.human(0, 1); u := w.human(2, 3); u.From, u.Stop = "hana", true }, 0},
		"all are dead":           {func(w *talk) { w.human(0, 1); w.Cast.Members = nil }, 0},
		"after the end of time":  {func(w *talk) { w.human(0, 1); w.says("a", 61, 62) }, 1},
	} {
		w := newTalk("a", "b")
		c.make(w)
		m := w.sum()
		failed := gates(w.Record, m, "")
		if m.Unanswered != c.want || (len(failed) == 1) != (c.want > 0) {
			t.Errorf("%s: %d, %v", name, m.Unanswered, failed)
		}
	}
}

func TestEnds(t *testing.T) {
	w := newTalk("a")
	w.human(0, 1)
	w.says("a", 2, 6)
	w.human(3, 4).Stop = true
	w.says("a", 5, 6) // after the STOP
	w.human(7, 8)
	w.says("a", 9, 10)
	w.Ends = []time.Duration{sec(11)}
	w.says("a", 12, 13) // after the end
	m := w.sum()
	if m.AfterEnd != 2 {
		t.Errorf("%d lines after the end", m.AfterEnd)
	}
	if f := gates(w.Record, m, ""); len(f) != 1 || f[0].Gate != GateAfterEnd || f[0].What != "a's at 5.0 s, a's at 12.0 s" {
		t.Errorf("%v", f)
	}
}

func TestWaste(t *testing.T) {
	w := newTalk("a", "b")
	w.human(0, 1).Wants = []string{"a"}
	w.says("a", 2, 3)
	w.says("b", 4, 5).Basis = 1 // a spoke meanwhile, and b did not wish to speak
	w.Written, w.Calls = 40, 6
	m := w.sum()
	if m.Stale != 0.5 || m.Forced != 0.5 || m.Thrown != 0.5 || m.Calls != 3 {
		t.Errorf("%+v", m)
	}
	w = newTalk("a")
	w.human(0, 1)
	for i := range talkCap + 2 {
		w.says("a", float64(i)+1, float64(i)+1.5)
	}
	if m := w.sum(); m.OverCap != 2 || m.TwoMouths != 0 {
		t.Errorf("%d over the cap", m.OverCap)
	}
	for most, want := range map[int]int{0: 0, 6: talkCap + 2 - 6} {
		if m := w.within(most); m.OverCap != want {
			t.Errorf("%d over a cap of %d", m.OverCap, most)
		}
	}
}

// Voices that are measured by their ends are as long as those measured moment by moment.
func TestMeasure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var turns []*world.Turn
		var at [100]int
		for range rapid.IntRange(0, 6).Draw(t, "turns") {
			from := rapid.IntRange(0, 90).Draw(t, "from")
			to := from + rapid.IntRange(0, 9).Draw(t, "for")
			turns = append(turns, &world.Turn{Begun: sec(float64(from)), Ended: sec(float64(to))})
			for i := from; i < to; i++ {
				at[i]++
			}
		}
		var want1, want2 float64
		for _, n := range at {
			if n > 0 {
				want1++
			}
			if n > 1 {
				want2++
			}
		}
		if one, two := measure(turns); one != sec(want1) || two != sec(want2) {
			t.Fatalf("%v, %v; want %g, %g", one, two, want1, want2)
		}
	})
}

func TestQuantiles(t *testing.T) {
	var x []time.Duration
	for i := range 100 {
		x = append(x, time.Duration(i+1)*time.Millisecond)
	}
	if got := fmt.Sprint(ms(x, 0.5), ms(x, 0.95), ms(x[:1], 0.95), ms(nil, 0.5)); got != "50 95 1 0" {
		t.Error(got)
	}
}
