package rules_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/replay"
	. "github.com/companiond/companiond/host/room/rules"
)

// TestPaidTurnsAndWhatWasSaidMeanwhile: a paid turn that did not see
// somebody else's newest turn is refused, as far as it says what it has seen.
func TestPaidTurnsAndWhatWasSaidMeanwhile(t *testing.T) {
	w := newAgents(t, poolRules())
	w.said(w.turn("x"))
	w.said(w.turn("x")) // its own turn is no news to it ...
	w.said(w.late("x", 1))
	w.refused(w.late("y", 1), abi.CodeStale, "x spoke meanwhile")
	w.said(w.turn("y"))
	w.refused(w.late("x", 1), abi.CodeStale, "y spoke meanwhile")
	w.human("hello")
	w.refused(w.late("x", 1), abi.CodeStale, "taro spoke meanwhile")
	basis := w.m.State.Last.Seq
	w.said(w.late("x", basis)) // basis 0: it does not say
	w.said(w.aside("y"))       // and a backchannel is no news to anybody
	w.said(w.turn("z"))
	w.replay()

	for stale, want := range map[entry.Stale]entry.Kind{
		entry.StaleRefuse: entry.KindRefused, entry.StaleReask: entry.KindRefused, entry.StaleAccept: entry.KindSaid,
	} {
		rules := poolRules()
		rules.Stale = stale
		w := newAgents(t, rules)
		w.said(w.turn("x"))
		if e := w.late("y", 1); e.Kind != want {
			t.Errorf("stale = %s: %s", stale, replay.Show(e))
		}
		w.replay()
	}
}

// TestALateNod: a backchannel that says what it has seen is held to it too, but
// a nod that came too late is no bad luck that a turn would be kept for.
func TestALateNod(t *testing.T) {
	w := newAgents(t, poolRules())
	w.human("hello")
	w.said(w.turn("x"))
	nod := Line{Said: entry.Said{From: "y", By: abi.KindAgent, Text: "うん", Basis: w.m.State.Last.Seq - 1}}
	for range 3 {
		w.refused(w.say(nod), abi.CodeStale, "x spoke meanwhile")
	}
	w.said(w.turn("z"))
	nod.Basis = w.m.State.Last.Seq
	w.said(w.say(nod))
	w.said(w.aside("y"))
	w.replay()
}

// TestAgentsCannotTalkForEver is law 7: cap, STOP and the talk's end hold for
// those who pay, until a human speaks; and the room says so before it refuses them.
func TestAgentsCannotTalkForEver(t *testing.T) {
	rules := poolRules()
	rules.MaxTurns = 3
	w := newAgents(t, rules)
	is := func(want string) {
		t.Helper()
		if got := w.m.State.Condition(); got != want {
			t.Errorf("the room is %s, want %s", got, want)
		}
	}
	for range 3 {
		is("resting")
		w.said(w.turn("x"))
	}
	is("capped")
	w.refused(w.turn("y"), abi.CodeDenied, "3 turns were taken since a human spoke")
	w.said(w.aside("y"))
	w.human("go on")
	is("waiting") // for an answer
	w.said(w.turn("y"))

	w.input(entry.KindStop, entry.Stop{From: "taro"})
	is("stopped")
	w.refused(w.turn("x"), abi.CodeDenied, "stopped by taro")
	w.refused(w.aside("x"), abi.CodeDenied, "stopped by taro")
	w.human("go on")
	w.said(w.turn("x"))

	w.input(entry.KindClosing, entry.ClosingMoved{From: abi.ClosingNone, To: abi.ClosingTerminal})
	is("closed")
	w.refused(w.turn("x"), abi.CodeDenied, "the talk has ended")
	w.human("one more thing")
	is("waiting")
	w.said(w.turn("x"))
}

// TestBackchannelsHaveACap: five for each turn of the cap, whoever says them.
func TestBackchannelsHaveACap(t *testing.T) {
	for _, policy := range []string{"pool", "vote+pool"} {
		rules := poolRules()
		rules.Policy, rules.MaxTurns = policy, 2
		w := newAgents(t, rules)
		for i := range 10 {
			w.said(w.aside([]string{"x", "y"}[i%2]))
			w.wait(5 * time.Second)
		}
		w.refused(w.aside("z"), abi.CodeDenied, "10 backchannels")
		w.said(w.say(Line{Said: entry.Said{From: "taro", By: abi.KindHuman, Text: "うん", Kind: abi.KindBackchannel}}))
		w.refused(w.aside("z"), abi.CodeDenied, "10 backchannels") // a human's nod is no turn
		w.human("hello")
		w.said(w.aside("z"))
		w.replay()
	}
}

// TestBackchannelsNeverTakeTheFloor: a line beside a companion's leaves its
// floor, its basis, the count of turns and the kept turn alone.
func TestBackchannelsNeverTakeTheFloor(t *testing.T) {
	for _, policy := range []string{"pool", "vote+pool"} {
		rules := poolRules()
		rules.Policy = policy
		w := newTable(t, rules)
		w.human("hello")
		w.vote("a", 5)
		w.listen("b")
		f := *w.m.State.Floor
		for range 3 {
			w.said(w.aside("x"))
		}
		s := w.m.State
		if s.Floor == nil || s.Floor.Token != f.Token || s.Floor.Basis != f.Basis || s.Turns != 0 || s.Last.From != "taro" || s.Backchannels != 3 {
			t.Errorf("%s: floor %+v, %d turns, %d backchannels, newest turn of %s", policy, s.Floor, s.Turns, s.Backchannels, s.Last.From)
		}
		w.said(w.speak("hello yourself"))
		if s.Turns != 1 || s.Floor != nil {
			t.Errorf("%s: %d turns, floor %+v", policy, s.Turns, s.Floor)
		}
		w.replay()
	}
}

// TestOneTalksWhileItHasTheFloor is law 3 for those who pay.
func TestOneTalksWhileItHasTheFloor(t *testing.T) {
	w := newTable(t, poolRules())
	w.human("hello")
	w.refused(w.turn("x"), abi.CodeConflict, "votes are being counted")
	w.vote("a", 5)
	w.listen("b")
	w.refused(w.turn("y"), abi.CodeConflict, "a holds the floor")
	w.said(w.speak("はい"))
	w.quiet()
	w.said(w.turn("y"))
	w.replay()
}

// TestTheFloorIsUsedUp: an agent that won the votes and says its turn without
// naming the grant has had its turn; the others need not wait until the grant
// has run out.
func TestTheFloorIsUsedUp(t *testing.T) {
	for _, grant := range []bool{true, false} {
		w := newAgents(t, poolRules())
		w.join(entry.Joined{ID: "x", Kind: abi.KindAgent})
		w.human("hello")
		w.vote("x", 5)
		f := w.m.State.Floor
		if f == nil || f.Who != "x" {
			t.Fatalf("floor %+v", f)
		}
		l := Line{Said: entry.Said{From: "x", By: abi.KindAgent, Text: "はい", Kind: abi.KindTurn, Basis: f.Basis}}
		if grant {
			l.Grant = f.Token
		}
		w.said(w.say(l))
		if s := w.m.State; s.Floor != nil {
			t.Errorf("x has spoken (grant named: %v), and the floor is %s's", grant, s.Floor.Who)
		}
		w.said(w.turn("y"))
		w.replay()
	}
}

// TestTheFloorIsNotLostByOthers: a grant's token is no secret. A speaker that
// names one that is not its own is refused, and so is a backchannel that cannot be paid;
// the holder keeps the floor.
func TestTheFloorIsNotLostByOthers(t *testing.T) {
	for _, policy := range []string{"pool", "vote+pool", "vote"} {
		rules := poolRules()
		rules.Policy = policy
		w := newTable(t, rules)
		w.human("hello")
		w.vote("a", 5)
		w.listen("b")
		f := *w.m.State.Floor
		l := Line{Said: entry.Said{From: "x", By: abi.KindAgent, Text: "そうだね", Kind: abi.KindTurn, Grant: f.Token, Basis: f.Basis}}
		w.refused(w.say(l), abi.CodeDenied, "")
		l.From, l.By, l.Kind, l.Text = "a", abi.KindCompanion, abi.KindBackchannel, fmt.Sprintf("%011d", 1)
		if e := w.say(l); e.Kind != entry.KindRefused {
			t.Errorf("%s: %s", policy, replay.Show(e))
		}
		if got := w.m.State.Floor; got == nil || got.Token != f.Token {
			t.Fatalf("%s: the floor is %+v\n%s", policy, got, w)
		}
		w.said(w.speak("はい"))
		w.replay()
	}
}

// TestAWordWithTheFloorIsATurn: a short line without a kind is a backchannel,
// but not of somebody who was granted the floor for it.
func TestAWordWithTheFloorIsATurn(t *testing.T) {
	w := newAgents(t, poolRules())
	w.join(entry.Joined{ID: "x", Kind: abi.KindAgent})
	w.human("hello")
	w.vote("x", 5)
	f := w.m.State.Floor
	w.said(w.say(Line{Said: entry.Said{From: "x", By: abi.KindAgent, Text: "はい", Grant: f.Token, Basis: f.Basis}}))
	if s := w.m.State; s.Floor != nil || s.Last.From != "x" || s.Turns != 1 {
		t.Errorf("floor %+v, %d turns, the newest of %s", s.Floor, s.Turns, s.Last.From)
	}
	w.replay()
}

// TestTheRoundWaitsForThePool: votes that win while the pool is low stand until
// it can pay; then everybody is asked again, and the winner speaks.
func TestTheRoundWaitsForThePool(t *testing.T) {
	w := newTable(t, poolRules())
	w.said(w.long("x"))
	spent := w.at
	w.wait(time.Second)
	w.human("hello")
	w.vote("a", 5)
	w.listen("b")
	d := w.last()
	if d.Outcome != entry.OutcomeWaits || !d.Until.Equal(spent.Add(5*time.Second)) || d.Speaker != "a" || len(d.Ranking) != 2 {
		t.Fatalf("%+v", d)
	}
	if at, due, ok := w.m.State.NextDue(); !ok || due.What != entry.DuePace || !at.Equal(d.Until) {
		t.Fatalf("due: %v %v %v", at, due, ok)
	}
	if c := w.m.State.Condition(); c != "talking" {
		t.Errorf("while it waits the room is %s", c)
	}
	w.wait(4*time.Second - time.Millisecond)
	if w.m.State.Round != nil {
		t.Fatal("asked again too early")
	}
	w.wait(time.Millisecond)
	r := w.m.State.Round
	if r == nil || !r.Ballots["a"].Carried || r.About != w.m.State.Last.Seq {
		t.Fatalf("round %+v", r)
	}
	w.wait(time.Second) // nobody answers anew; the votes there are count
	w.said(w.speak("やっと話せる、ずっと待っていたんだよ"))
	if got := w.m.State.Ledger; len(got) != 1 || got[0].Cost != 60 || got[0].From != "a" {
		t.Errorf("ledger %+v", got)
	}
	w.replay()
}

// TestWhatWaitedIsOver: votes that waited for the pool are not counted for what
// is said long afterwards; everybody has a whole patience to answer that.
func TestWhatWaitedIsOver(t *testing.T) {
	for name, meanwhile := range map[string]func(w *table){
		"a human said STOP": func(w *table) { w.input(entry.KindStop, entry.Stop{From: "taro"}) },
		"all left for a while": func(w *table) {
			w.input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "a"}, {ID: "b"}}})
			w.wait(time.Minute)
			w.join(joined("a"), joined("b"))
			if r := w.m.State.Round; r == nil || !r.Due.Equal(w.at.Add(time.Second)) {
				w.t.Fatalf("everybody is back at %v, and the round is %+v", w.at, r)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTable(t, poolRules())
			w.human("hello")
			w.quiet()
			w.said(w.long("x"))
			w.vote("a", 5)
			w.listen("b")
			if d := w.last(); d.Outcome != entry.OutcomeWaits {
				t.Fatalf("%+v", d)
			}
			w.wait(time.Second)
			meanwhile(w)
			w.wait(time.Minute)
			w.human("something else")
			r := w.m.State.Round
			if r == nil || r.About != w.m.State.Last.Seq || !r.Due.Equal(w.at.Add(time.Second)) || len(r.Ballots) > 0 {
				t.Fatalf("round %+v at %v\n%s", r, w.at, w)
			}
			w.replay()
		})
	}
}

// TestALineWaitsForThePool: the floor was granted, but the line costs more than
// there is. It is asked for again when there is enough, and not handed on.
func TestALineWaitsForThePool(t *testing.T) {
	w := newTable(t, poolRules())
	w.human("hello")
	for range 5 {
		w.aside("x")
	}
	w.vote("a", 5)
	w.vote("b", 4) // 75 points are left, which are enough for a usual turn
	w.aside("x")
	long := fmt.Sprintf("%060d", 1)
	b := w.refused(w.speak(long), abi.CodeExhausted, "80 asked, 70 left")
	if d := w.last(); d.Outcome != entry.OutcomeWaits || !d.Until.Equal(b.Until) || d.Reason == "" {
		t.Fatalf("%+v", d)
	}
	w.wait(5 * time.Second)
	w.vote("a", 5)
	w.vote("b", 4)
	w.said(w.speak(long))
	w.replay()
}

// TestTheReserveIsForWhoWasAddressed, also where the one who was addressed is
// asked only after somebody else has used the floor: the points that decided
// that it may speak pay for its line.
func TestTheReserveIsForWhoWasAddressed(t *testing.T) {
	rules := poolRules()
	rules.PolicyRaw = []byte(`{"reserve":40}`)
	w := newTable(t, rules)
	w.human("hello")
	w.listen("a")
	w.vote("b", 5)
	w.human("@a and you?") // while b has the floor
	w.say(Line{Said: entry.Said{From: "b", By: abi.KindCompanion, Text: "はい", Kind: abi.KindTurn, Grant: w.m.State.Floor.Token, Basis: w.m.State.Last.Seq}})
	w.aside("x") // 90 left
	if r := w.m.State.Round; r == nil || len(r.Addressed) != 1 || r.Addressed[0] != "a" {
		t.Fatalf("round %+v\n%s", r, w)
	}
	w.vote("a", 5)
	w.listen("b")
	if f := w.m.State.Floor; f == nil || f.Who != "a" {
		t.Fatalf("floor %+v\n%s", f, w)
	}
	for range 4 {
		w.aside("x")
	}
	w.refused(w.speak(fmt.Sprintf("%060d", 1)), abi.CodeExhausted, "80 asked, 70 left")
	w.wait(5 * time.Second) // asked again, it is addressed still
	w.vote("a", 5)
	w.listen("b")
	for range 4 {
		w.aside("x")
	}
	w.said(w.speak("わたしはそう思わないけれどね、どうかな"))
	w.replay()
}

// TestReplayOfWhatWasFree: a backchannel for nothing that names a grant which
// is none stays free when it is replayed.
func TestReplayOfWhatWasFree(t *testing.T) {
	for _, policy := range []string{"pool", "vote+pool"} {
		rules := poolRules()
		rules.Policy, rules.PolicyRaw = policy, []byte(`{"pricing":"free"}`)
		w := newAgents(t, rules)
		w.said(w.say(Line{Offer: new(float64), Said: entry.Said{From: "x", By: abi.KindAgent, Text: "うん", Kind: abi.KindBackchannel, Grant: "g1"}}))
		w.replay()
	}
}
