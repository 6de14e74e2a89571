package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	. "github.com/companiond/companiond/host/room/rules"
)

// keepFor brings x to be refused twice in a row, so that the next turn is its.
func keepFor(w *table) {
	w.t.Helper()
	w.said(w.turn("y"))
	w.quiet()
	w.refused(w.late("x", 1), abi.CodeStale, "")
	w.said(w.turn("z"))
	w.quiet()
	w.refused(w.late("x", 1), abi.CodeStale, "")
	if k := w.m.State.Kept; k == nil || k.Who != "x" || !k.Until.Equal(w.at.Add(5*time.Second)) {
		w.t.Fatalf("refused twice, and the next turn is kept for %+v", k)
	}
	w.refused(w.turn("y"), abi.CodeConflict, "x was refused before and has the next turn")
}

// TestTheNextTurnIsKept: an agent refused twice in a row is next, until it
// speaks, its time is over, or a human says something.
func TestTheNextTurnIsKept(t *testing.T) {
	for name, end := range map[string]func(w *table){
		"it speaks":             func(w *table) { w.said(w.turn("x")) },
		"its time is over":      func(w *table) { w.wait(5 * time.Second) },
		"a human speaks":        func(w *table) { w.human("hello") },
		"it leaves":             func(w *table) { w.input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "x"}}}) },
		"another daemon has it": func(w *table) { w.taken() },
		"not that others nod":   func(w *table) { w.aside("y"); w.said(w.turn("x")) },
		"not that a human nods": func(w *table) { w.nod(); w.refused(w.turn("y"), abi.CodeConflict, ""); w.wait(5 * time.Second) },
		"not a moment too early": func(w *table) {
			w.wait(4999 * time.Millisecond)
			w.refused(w.turn("z"), abi.CodeConflict, "")
			w.wait(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newAgents(t, poolRules())
			keepFor(w)
			end(w)
			w.wait(time.Millisecond)
			w.said(w.turn("y"))
			w.replay()
		})
	}
}

func (w *table) nod() {
	w.t.Helper()
	w.said(w.say(Line{Said: entry.Said{From: "taro", By: abi.KindHuman, Text: "うん", Kind: abi.KindBackchannel}}))
}

// taken makes another daemon the owner; the agents come again.
func (w *table) taken() {
	w.t.Helper()
	s := w.m.State
	e := entry.Entry{Seq: s.Head + 1, Epoch: s.Epoch + 1, At: w.at, Kind: entry.KindOwner, ID: fmt.Sprintf("owner/%d", s.Epoch+1), Body: []byte(`{"owner":"other"}`)}
	if err := s.Apply(e); err != nil {
		w.t.Fatal(err)
	}
	w.journal = append(w.journal, e)
	w.join(agent("y"), agent("z"))
}

// TestWhatCountsAsBadLuck: only a turn that others were quicker than, twice in
// a row.
func TestWhatCountsAsBadLuck(t *testing.T) {
	tooLong := func(w *table) entry.Entry {
		return w.say(Line{Said: entry.Said{From: "x", By: abi.KindAgent, Text: fmt.Sprintf("%0101d", 1), Kind: abi.KindTurn}})
	}
	cheap := func(w *table) entry.Entry {
		return w.say(Line{Offer: new(float64), Said: entry.Said{From: "x", By: abi.KindAgent, Text: "はい", Kind: abi.KindTurn}})
	}
	for _, tc := range []struct {
		name string
		kept bool
		do   func(w *table)
	}{
		{"stale and exhausted", true, func(w *table) { w.late("x", 1); w.long("y"); w.long("x") }},
		{"once", false, func(w *table) { w.late("x", 1) }},
		{"not in a row", false, func(w *table) { w.late("x", 1); w.turn("x"); w.turn("y"); w.late("x", 1) }},
		{"others between", true, func(w *table) { w.late("x", 1); w.turn("z"); w.late("x", 1) }},
		{"its own backchannel between", true, func(w *table) { w.late("x", 1); w.aside("x"); w.late("x", 1) }},
		{"too long", false, func(w *table) { tooLong(w); tooLong(w); tooLong(w) }},
		{"too cheap", false, func(w *table) { cheap(w); cheap(w); cheap(w) }},
		{"backchannels", false, func(w *table) {
			for range 25 {
				w.aside("x")
			}
		}},
		{"two of different agents", false, func(w *table) { w.late("x", 1); w.late("z", 1) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := poolRules()
			rules.MaxTurns = 0
			w := newAgents(t, rules)
			w.turn("y")
			tc.do(w)
			if got := w.m.State.Kept != nil; got != tc.kept {
				t.Errorf("kept: %v, want %v\n%s", got, tc.kept, w)
			}
			w.replay()
		})
	}
}

// TestNothingIsKeptForWhatCannotBePaid: 80 points never are there for somebody
// whom nobody addressed. Nobody else has to wait for it.
func TestNothingIsKeptForWhatCannotBePaid(t *testing.T) {
	rules := poolRules()
	rules.PolicyRaw = []byte(`{"reserve":40}`)
	w := newAgents(t, rules)
	for range 5 {
		w.refused(w.say(Line{Said: entry.Said{From: "x", By: abi.KindAgent, Text: fmt.Sprintf("%060d", 1)}}), abi.CodeExhausted, "kept for who is addressed")
		w.said(w.turn("y"))
	}
	w.replay()
}

// TestTheOneWhoWaitsLongestIsNext: an agent that never reads is refused more
// often than all others, also while the turn is its. It stands behind those who
// had to wait for it.
func TestTheOneWhoWaitsLongestIsNext(t *testing.T) {
	w := newAgents(t, poolRules())
	keepFor(w) // and y had to wait once
	for range 20 {
		w.refused(w.late("x", 1), abi.CodeStale, "")
	}
	w.refused(w.turn("z"), abi.CodeConflict, "")
	w.refused(w.turn("y"), abi.CodeConflict, "")
	w.wait(5 * time.Second)
	w.refused(w.late("x", 1), abi.CodeStale, "")
	if k := w.m.State.Kept; k == nil || k.Who != "y" {
		t.Fatalf("the turn is kept for %+v", k)
	}
	w.said(w.turn("y"))
	w.replay()

	w = newAgents(t, poolRules())
	keepFor(w)
	w.refused(w.turn("y"), abi.CodeConflict, "")
	w.wait(11 * time.Second) // y has given up, and nobody waits for it
	w.refused(w.late("x", 1), abi.CodeStale, "")
	w.refused(w.late("x", 1), abi.CodeStale, "")
	if k := w.m.State.Kept; k == nil || k.Who != "x" {
		t.Fatalf("the turn is kept for %+v", k)
	}
	w.replay()
}

// TestCompanionsLeaveTheKeptTurn: the round about a companion's line waits until
// the agent has had its turn; a human's words are asked about at once.
func TestCompanionsLeaveTheKeptTurn(t *testing.T) {
	w := newTable(t, poolRules())
	w.human("hello")
	w.vote("a", 5)
	w.listen("b")
	w.refused(w.turn("x"), abi.CodeConflict, "a holds the floor")
	w.refused(w.turn("x"), abi.CodeConflict, "a holds the floor")
	w.said(w.speak("はい"))
	if w.m.State.Round != nil {
		t.Fatalf("the next turn is x's, and a round is open\n%s", w)
	}
	w.said(w.turn("x"))
	if w.m.State.Round == nil {
		t.Fatalf("x has spoken, and nobody is asked\n%s", w)
	}
	w.replay()

	w = newTable(t, poolRules())
	keepFor(w)
	w.human("hello")
	if r := w.m.State.Round; r == nil || r.About != w.m.State.Last.Seq {
		t.Fatalf("a human spoke, and the round is %+v", r)
	}
	w.replay()
}

// player is an agent that reads the room, thinks, says something, and reads
// again.
type player struct {
	id     string
	think  time.Duration
	next   time.Time // when it says what it thought of
	basis  uint64
	row    int // refusals in a row
	worst  int
	turns  int
	silent bool // it never reads again, so everything it says is stale
}

// TestNobodyIsRefusedForEver lets agents talk as the model in the facts does,
// where two of five turns are stale. Whoever reads before it speaks, and can
// be paid for, gets its turn after a small number of refusals, whatever the
// others do: also beside one that never reads what was said.
func TestNobodyIsRefusedForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := poolRules()
		rules.MaxTurns, rules.Floor = 0, 6000
		w := newAgents(t, rules)
		var ps []*player
		for i := range rapid.IntRange(2, 5).Draw(t, "agents") {
			p := &player{id: fmt.Sprintf("p%d", i), think: time.Duration(rapid.IntRange(50, 2500).Draw(t, "think")) * time.Millisecond}
			p.silent = i == 0 && rapid.Bool().Draw(t, "never reads")
			p.next, p.basis = w.at.Add(p.think), 1
			ps = append(ps, p)
			w.join(agent(p.id))
		}
		long := rapid.Bool().Draw(t, "long lines")
		for range 200 {
			p := ps[0]
			for _, q := range ps {
				if q.next.Before(p.next) {
					p = q
				}
			}
			w.wait(p.next.Sub(w.at))
			text := "そうだね"
			if long && p == ps[len(ps)-1] {
				text = fmt.Sprintf("%050d", 1)
			}
			e := w.say(Line{Said: entry.Said{From: p.id, By: abi.KindAgent, Text: text, Kind: abi.KindTurn, Basis: p.basis}})
			if p.row++; e.Kind == entry.KindSaid {
				p.row = 0
				p.turns++
			}
			if !p.silent {
				p.basis = max(1, w.m.State.Last.Seq)
			}
			p.worst = max(p.worst, p.row)
			p.next = p.next.Add(p.think)
			// While the turn is kept for each of the others once, and then for it.
			most := len(ps)*int(6*time.Second/p.think+3) + 3
			if p.row > most && !p.silent {
				t.Fatalf("%s thinks for %v and was refused %d times in a row, at most %d were to be expected\n%s", p.id, p.think, p.row, most, w)
			}
		}
		w.replay()
	})
}

// TestAGreedyAgentLeavesCompanionsTurns: an agent that tries a turn of 60 every
// 100 ms, day and night, beside a companion whose vote takes 300 ms. Both get
// their turns.
func TestAGreedyAgentLeavesCompanionsTurns(t *testing.T) {
	rules := poolRules()
	rules.MaxTurns, rules.Pace = 0, 700
	w := newTable(t, rules)
	w.input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "b"}, {ID: "y"}, {ID: "z"}}})
	w.human("hello")
	turns := map[string]int{}
	var asked uint64
	var answer time.Time
	for range 1200 { // two minutes
		w.wait(100 * time.Millisecond)
		if r := w.m.State.Round; r != nil && r.ID != asked {
			asked, answer = r.ID, w.at.Add(300*time.Millisecond)
		}
		if r := w.m.State.Round; r != nil && !w.at.Before(answer) {
			w.vote("a", 5)
		}
		if f := w.m.State.Floor; f != nil && w.speak(strings.Repeat("い", 50)).Kind == entry.KindSaid {
			turns["a"]++
		}
		if w.long("x").Kind == entry.KindSaid {
			turns["x"]++
		}
	}
	if turns["a"] < 6 || turns["x"] < 6 {
		t.Errorf("in two minutes: %v", turns)
	}
	w.replay()
}
