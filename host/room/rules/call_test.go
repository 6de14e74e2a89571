package rules_test

import (
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	. "github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/turn"
)

// TestAHumansCallOutlivesALine: a human calls b while a has the floor, and a's
// line comes in between: b is still called by a human and goes before everybody.
func TestAHumansCallOutlivesALine(t *testing.T) {
	rules := poolRules()
	rules.Policy = "vote"
	rules.Stale = entry.StaleAccept
	w := newTable(t, rules)
	w.join(joined("c"))
	w.human("hello")
	w.vote("a", 5)
	w.listen("b")
	w.listen("c")
	w.say(Line{Said: entry.Said{From: "taro", By: abi.KindHuman, To: []string{"b"}, Text: "and you?", Kind: abi.KindTurn}})
	w.said(w.speak("hello"))
	if r := w.m.State.Round; r == nil || r.From.ID != "taro" || len(r.Addressed) != 1 || r.Addressed[0] != "b" {
		t.Fatalf("the round is %+v\n%s", r, w)
	}
	w.vote("c", 10)
	w.vote("b", 0)
	w.listen("a")
	if d := w.last(); d.Speaker != "b" || d.Rule != entry.RuleAddressed {
		t.Errorf("%s speaks by %s: %s", d.Speaker, d.Rule, d.Reason)
	}
	f := w.m.State.Floor
	w.said(w.say(Line{Said: entry.Said{From: "b", By: abi.KindCompanion, To: []string{"c"}, Text: "and you?", Kind: abi.KindTurn, Grant: f.Token, Basis: f.Basis}}))
	if r := w.m.State.Round; r == nil || r.From.ID != "b" {
		t.Fatalf("b's call is taken for a human's: %+v\n%s", r, w)
	}
	w.vote("a", 6)
	w.vote("c", 5)
	if d := w.last(); d.Speaker != "c" || d.Rule != entry.RuleImportance || d.Ranking[0].Called != "b" {
		t.Errorf("%s speaks by %s: %s", d.Speaker, d.Rule, d.Reason)
	}
	w.replay()
}

// TestALateVoteIsAskedForItsLine: a companion that a human called and whose vote
// timed out is given the floor; one that broke down is not.
func TestALateVoteIsAskedForItsLine(t *testing.T) {
	for code, want := range map[abi.Code]entry.Outcome{abi.CodeTimeout: entry.OutcomeGrant, abi.CodeInternal: entry.OutcomeAbsent} {
		rules := poolRules()
		rules.Policy = "vote"
		w := newTable(t, rules)
		w.say(Line{Said: entry.Said{From: "taro", By: abi.KindHuman, To: []string{"b"}, Text: "hello", Kind: abi.KindTurn}})
		id := w.m.State.Round.ID
		w.input(entry.KindFailed, entry.Failed{Round: id, Who: "a", Code: abi.CodeInternal, Error: "broke down"})
		w.input(entry.KindFailed, entry.Failed{Round: id, Who: "b", Code: code, Error: "no vote"})
		if d := w.last(); d.Outcome != want || want == entry.OutcomeGrant && (d.Speaker != "b" || d.Rule != entry.RuleAddressed) {
			t.Errorf("%s: %s %s by %s: %s", code, d.Outcome, d.Speaker, d.Rule, d.Reason)
		}
		w.replay()
	}
}

// TestTwoThatCallEachOther: a and b always call each other; c, who keeps wishing to speak,
// is heard within the bound all the same. What a companion asks for takes from the others.
func TestTwoThatCallEachOther(t *testing.T) {
	rules := voteRules()
	rules.MaxTurns = 100
	w := newTable(t, rules)
	w.join(joined("c"))
	w.human("hello")
	lost := 0
	for range 40 {
		s := w.m.State
		for _, v := range s.Round.Electorate {
			w.vote(v.ID, map[string]float64{"a": 10, "b": 10, "c": 3}[v.ID])
		}
		f := s.Floor
		if f == nil {
			t.Fatalf("nobody has the floor\n%s", w)
		}
		if lost++; f.Who == "c" {
			lost = 0
		}
		if most := turn.Bound(3); lost > most {
			t.Fatalf("c lost %d rounds of at most %d\n%s", lost, most, w)
		}
		to := map[string][]string{"a": {"b"}, "b": {"a"}}[f.Who]
		w.said(w.say(Line{Said: entry.Said{From: f.Who, By: abi.KindCompanion, To: to, Text: "and you?", Kind: abi.KindTurn, Grant: f.Token, Basis: f.Basis}}))
	}
	w.replay()
}
