package turn

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// rig builds a round for tests.
type rig struct {
	in Input
}

// newRig opens round 12 about a message of the human mika, electorate as given;
// "x:human" and "x:agent" give a voter that kind.
func newRig(electorate ...string) *rig {
	kinds := map[string]abi.ParticipantKind{}
	b := entry.Round{About: 11, Due: time.Unix(100, 0)}
	for _, who := range electorate {
		id, kind, ok := strings.Cut(who, ":")
		if ok {
			kinds[id] = abi.ParticipantKind(kind)
		}
		b.Electorate = append(b.Electorate, id)
	}
	return &rig{Input{
		Round: Open(12, b, Voter{"mika", abi.KindHuman}, kinds), Seed: "seed", Lost: map[string]int{}, MaxTurns: 6,
	}}
}

func speak(importance float64) abi.Vote { return abi.Vote{State: abi.Speak, Importance: importance} }
func listen(importance float64) abi.Vote {
	return abi.Vote{State: abi.Listen, Importance: importance}
}
func farewell(importance float64) abi.Vote {
	return abi.Vote{State: abi.Speak, Importance: importance, Closing: abi.ClosingTerminal}
}

func (r *rig) cast(who string, v abi.Vote) *rig { r.in.Round.Cast(who, v); return r }
func (r *rig) fail(who, why string) *rig        { r.in.Round.Fail(who, why); return r }
func (r *rig) to(who ...string) *rig            { r.in.Round.Addressed = who; return r }
func (r *rig) late(who, why string) *rig        { r.in.Round.Late(who, why); return r }
func (r *rig) lost(who string, n int) *rig      { r.in.Lost[who] = n; return r }
func (r *rig) silence() *rig                    { r.in.Round.Silence = true; return r }
func (r *rig) from(kind abi.ParticipantKind) *rig {
	r.in.Round.From.Kind = kind
	return r
}
func (r *rig) stage(c abi.Closing) *rig { r.in.Stage = c; return r }
func (r *rig) turns(n int) *rig         { r.in.Turns = n; return r }

func (r *rig) decide() Ruling { return Vote{}.Decide(r.in) }

func order(r Ruling) string {
	var s []string
	for _, c := range r.Ranking {
		s = append(s, c.Who+"="+c.Standing)
	}
	return strings.Join(s, " ")
}

// TestDecide is the table of outcomes, rules, reasons and rankings.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name    string
		rig     *rig
		outcome entry.Outcome
		speaker string
		rule    entry.Rule
		reason  string
		ranking string
	}{
		{"one wants to speak", newRig("aya", "kyoko").cast("aya", speak(1)).cast("kyoko", listen(9)),
			entry.OutcomeGrant, "aya", entry.RuleSpeak, "only aya wants to speak", "aya=speak kyoko=listen"},
		{"importance", newRig("aya", "kyoko").cast("aya", speak(5)).cast("kyoko", speak(8)),
			entry.OutcomeGrant, "kyoko", entry.RuleImportance, "kyoko's importance 8 is above aya's 5", "kyoko=speak aya=speak"},
		{"debt", newRig("aya", "kyoko").cast("aya", speak(5)).cast("kyoko", speak(5)).lost("aya", 1).lost("kyoko", 3),
			entry.OutcomeGrant, "kyoko", entry.RuleDebt, "equal importance 5; kyoko lost 3 of at most 8 rounds, aya 1", "kyoko=speak aya=speak"},
		{"hash", newRig("aya", "kyoko").cast("aya", speak(5)).cast("kyoko", speak(5)),
			entry.OutcomeGrant, "aya", entry.RuleHash, "equal importance 5, both lost 0 rounds; the draw of round 12 put aya before kyoko", "aya=speak kyoko=speak"},
		{"addressed", newRig("aya", "kyoko").to("kyoko").cast("aya", speak(10)).cast("kyoko", speak(0)),
			entry.OutcomeGrant, "kyoko", entry.RuleAddressed, "kyoko was addressed and wants to speak; aya wants to speak too", "kyoko=addressed aya=speak"},
		{"two addressed", newRig("aya", "kyoko", "nat").to("aya", "kyoko").cast("aya", speak(2.5)).cast("kyoko", speak(0)).cast("nat", speak(10)),
			entry.OutcomeGrant, "aya", entry.RuleImportance, "both were addressed; aya's importance 2.5 is above kyoko's 0", "aya=addressed kyoko=addressed nat=speak"},
		{"addressed alone", newRig("aya", "kyoko").to("kyoko").cast("aya", listen(10)).cast("kyoko", speak(0)),
			entry.OutcomeGrant, "kyoko", entry.RuleAddressed, "kyoko was addressed and wants to speak", "kyoko=addressed aya=listen"},
		{"human", newRig("aya", "yui:human").to("aya").cast("aya", speak(10)).cast("yui", speak(0)),
			entry.OutcomeGrant, "yui", entry.RuleHuman, "yui is human and wants to speak; aya wants to speak too", "yui=human aya=addressed"},
		{"addressed may answer with a farewell", newRig("aya", "kyoko").to("aya").cast("aya", farewell(1)).cast("kyoko", speak(9)),
			entry.OutcomeGrant, "aya", entry.RuleAddressed, "aya was addressed and wants to speak; kyoko wants to speak too", "aya=addressed kyoko=speak"},
		{"asked", newRig("aya", "kyoko").to("kyoko").cast("aya", farewell(9)).cast("kyoko", listen(1)),
			entry.OutcomeGrant, "kyoko", entry.RuleAsked, "nobody else wants to speak; mika, a human, addressed kyoko, which is asked though it would rather listen", "kyoko=asked aya=terminal"},
		{"not asked when somebody wants to", newRig("aya", "kyoko").to("kyoko").cast("aya", speak(0)).cast("kyoko", listen(9)),
			entry.OutcomeGrant, "aya", entry.RuleSpeak, "aya wants to speak; kyoko was addressed but would rather listen", "aya=speak kyoko=asked"},
		{"an agent asks nobody", newRig("aya", "kyoko").from(abi.KindAgent).to("kyoko").cast("aya", listen(9)).cast("kyoko", listen(1)),
			entry.OutcomeSilence, "", "", "nobody wants to speak: 2 listened", "aya=listen kyoko=listen"},
		{"a human is not asked", newRig("yui:human").to("yui").cast("yui", listen(9)),
			entry.OutcomeSilence, "", "", "nobody wants to speak: 1 listened", "yui=listen"},
		{"all listen for the same reason", newRig("aya", "kyoko").cast("aya", bounded).cast("kyoko", bounded),
			entry.OutcomeSilence, "", "", "nobody wants to speak: 2 listened (model.main.calls_minute: 9 a minute are used up, but for wh…)", "aya=listen kyoko=listen"},
		{"each for its own", newRig("aya", "kyoko").cast("aya", bounded).cast("kyoko", listen(0)),
			entry.OutcomeSilence, "", "", "nobody wants to speak: 2 listened", "aya=listen kyoko=listen"},
		{"the absent is not asked", newRig("aya", "kyoko").to("kyoko").cast("aya", listen(9)).fail("kyoko", "no answer in 1s"),
			entry.OutcomeSilence, "", "", "nobody wants to speak: 1 listened, absent: kyoko (no answer in 1s)", "aya=listen kyoko=absent"},
		{"silence breaker", newRig("aya", "kyoko", "nat", "yui:human").silence().cast("aya", listen(2)).cast("kyoko", listen(1)).cast("yui", listen(9)),
			entry.OutcomeGrant, "aya", entry.RuleSilence, "nobody wants to speak; aya is asked to break the silence", "aya=listen kyoko=listen yui=out nat=absent"},
		{"silence breaker asks before farewells", newRig("aya", "kyoko").silence().cast("aya", farewell(2)).cast("kyoko", listen(1)),
			entry.OutcomeGrant, "kyoko", entry.RuleSilence, "nobody wants to speak; kyoko is asked to break the silence", "kyoko=listen aya=terminal"},
		{"silence breaker finds nobody", newRig("aya").silence().fail("aya", "crashed"),
			entry.OutcomeAbsent, "", "", "nobody could vote, absent: aya (crashed)", "aya=absent"},
		{"all are absent", newRig("aya", "kyoko", "nat:agent").to("kyoko", "nat").fail("aya", "crashed").fail("kyoko", "left the room").late("nat", "no answer in 1s"),
			entry.OutcomeAbsent, "", "", "nobody could vote, absent: nat (no answer in 1s), aya (crashed), kyoko (left the room)", "nat=absent aya=absent kyoko=absent"},
		{"one listened, nobody else could vote", newRig("aya", "kyoko").fail("aya", "crashed").cast("kyoko", listen(1)),
			entry.OutcomeSilence, "", "", "nobody wants to speak: 1 listened, absent: aya (crashed)", "kyoko=listen aya=absent"},
		{"the late is asked", newRig("aya", "kyoko").to("kyoko").cast("aya", listen(9)).late("kyoko", "no answer in 1s"),
			entry.OutcomeGrant, "kyoko", entry.RuleAddressed, "kyoko was addressed by mika, a human, and is asked though it did not vote in time", "kyoko=late aya=listen"},
		{"nothing heard of it is late too", newRig("aya").to("aya"),
			entry.OutcomeGrant, "aya", entry.RuleAddressed, "aya was addressed by mika, a human, and is asked though it did not vote in time", "aya=late"},
		{"the late comes before a wish", newRig("aya", "kyoko").to("kyoko").cast("aya", speak(1)).late("kyoko", "no answer in 1s"),
			entry.OutcomeGrant, "kyoko", entry.RuleAddressed, "kyoko was addressed by mika, a human, and is asked though it did not vote in time; aya wants to speak too", "kyoko=late aya=speak"},
		{"the late that no human called is absent", newRig("aya", "kyoko").from(abi.KindCompanion).to("kyoko").cast("aya", listen(9)).late("kyoko", "no answer in 1s"),
			entry.OutcomeSilence, "", "", "nobody wants to speak: 1 listened, absent: kyoko (no answer in 1s)", "aya=listen kyoko=absent"},
		{"a companion's call is weight", newRig("aya", "kyoko").from(abi.KindCompanion).to("kyoko").cast("aya", speak(7)).cast("kyoko", speak(5)),
			entry.OutcomeGrant, "kyoko", entry.RuleImportance, "kyoko's importance 5+3 is above aya's 7", "kyoko=speak aya=speak"},
		{"a companion's call is no class", newRig("aya", "kyoko").from(abi.KindCompanion).to("kyoko").cast("aya", speak(9)).cast("kyoko", speak(5)),
			entry.OutcomeGrant, "aya", entry.RuleImportance, "aya's importance 9 is above kyoko's 5+3", "aya=speak kyoko=speak"},
		{"a call counts to the highest importance at most", newRig("aya", "kyoko").from(abi.KindAgent).to("kyoko").cast("aya", speak(10)).cast("kyoko", speak(9)).lost("aya", 1),
			entry.OutcomeGrant, "aya", entry.RuleDebt, "equal importance 10 and 9+1; aya lost 1 of at most 8 rounds, kyoko 0", "aya=speak kyoko=speak"},
		{"a farewell for a companion's call waits", newRig("aya", "kyoko").from(abi.KindCompanion).to("kyoko").cast("aya", speak(0)).cast("kyoko", farewell(10)),
			entry.OutcomeGrant, "aya", entry.RuleSpeak, "aya wants to speak; kyoko only wants to say farewell", "aya=speak kyoko=terminal"},
		{"importance though another waits", newRig("aya", "kyoko", "nat").cast("aya", speak(9)).cast("kyoko", speak(3)).cast("nat", listen(0)).lost("kyoko", 5),
			entry.OutcomeGrant, "aya", entry.RuleImportance, "aya's importance 9 is above kyoko's 3, though kyoko lost 5 of at most 8 rounds", "aya=speak kyoko=speak nat=listen"},
		{"waiting", newRig("aya", "kyoko", "nat").cast("aya", speak(9)).cast("kyoko", speak(3)).cast("nat", speak(0)).lost("kyoko", 7).lost("aya", 2),
			entry.OutcomeGrant, "kyoko", entry.RuleWaited, "kyoko lost 7 of at most 9 rounds and aya 2, which outweighs importance 3 against 9", "kyoko=speak aya=speak nat=speak"},
		{"waiting before all, not the second alone", newRig("aya", "kyoko", "nat").cast("aya", speak(9)).cast("kyoko", speak(3)).cast("nat", speak(2)).lost("kyoko", 7).lost("nat", 7),
			entry.OutcomeGrant, "kyoko", entry.RuleWaited, "kyoko lost 7 of at most 9 rounds and aya 0, which outweighs importance 3 against 9", "kyoko=speak nat=speak aya=speak"},
		{"of equal needs the one that lost more", newRig("aya", "kyoko").cast("aya", speak(10)).cast("kyoko", speak(0)).lost("kyoko", 8),
			entry.OutcomeGrant, "kyoko", entry.RuleWaited, "kyoko lost 8 of at most 8 rounds and aya 0, which outweighs importance 0 against 10", "kyoko=speak aya=speak"},
		{"waiting between farewells", newRig("aya", "kyoko").cast("aya", farewell(1)).cast("kyoko", farewell(1)).lost("kyoko", 1),
			entry.OutcomeGrant, "kyoko", entry.RuleDebt, "only farewells are left; equal importance 1; kyoko lost 1 round, aya 0", "kyoko=terminal aya=terminal"},
		{"farewell", newRig("aya", "kyoko").cast("aya", farewell(2)).cast("kyoko", listen(1)),
			entry.OutcomeGrant, "aya", entry.RuleSpeak, "only a farewell is left, and aya wants to say it", "aya=terminal kyoko=listen"},
		{"farewells", newRig("aya", "kyoko").stage(abi.ClosingPre).cast("aya", farewell(2)).cast("kyoko", farewell(3)),
			entry.OutcomeGrant, "kyoko", entry.RuleImportance, "only farewells are left; kyoko's importance 3 is above aya's 2", "kyoko=terminal aya=terminal"},
		{"farewells while closing", newRig("aya", "kyoko").stage(abi.ClosingClosing).cast("aya", farewell(2)).cast("kyoko", farewell(3)),
			entry.OutcomeClosed, "", "", "only farewells are left and the talk is closing already, so it ends", "kyoko=terminal aya=terminal"},
		{"others before farewells", newRig("aya", "kyoko").stage(abi.ClosingClosing).cast("aya", farewell(9)).cast("kyoko", speak(0)),
			entry.OutcomeGrant, "kyoko", entry.RuleSpeak, "kyoko wants to speak; aya only wants to say farewell", "kyoko=speak aya=terminal"},
		{"terminal", newRig("aya").stage(abi.ClosingTerminal).cast("aya", speak(9)),
			entry.OutcomeClosed, "", "", "the last farewell has been said; the talk has ended", "aya=speak"},
		{"capped", newRig("aya").turns(6).cast("aya", speak(9)),
			entry.OutcomeCapped, "", "", "companions have spoken 6 times since a human last spoke, and 6 is the cap", "aya=speak"},
		{"under the cap", newRig("aya").turns(5).cast("aya", speak(9)),
			entry.OutcomeGrant, "aya", entry.RuleSpeak, "only aya wants to speak", "aya=speak"},
		{"nobody there", newRig(), entry.OutcomeSilence, "", "", "nobody is there to speak", ""},
		{"crowd", newRig("a", "b", "c", "d", "e").to("a").cast("a", speak(1)).cast("b", speak(9)).cast("c", speak(8)).cast("d", speak(7)).cast("e", speak(6)),
			entry.OutcomeGrant, "a", entry.RuleAddressed, "a was addressed and wants to speak; b, c and 2 others want to speak too", "a=addressed b=speak c=speak d=speak e=speak"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.rig.decide()
			if r.Outcome != c.outcome || r.Speaker != c.speaker || r.Rule != c.rule {
				t.Errorf("got %s %q by %q, want %s %q by %q", r.Outcome, r.Speaker, r.Rule, c.outcome, c.speaker, c.rule)
			}
			if r.Reason != c.reason {
				t.Errorf("reason\n got %q\nwant %q", r.Reason, c.reason)
			}
			if got := order(r); got != c.ranking {
				t.Errorf("ranking\n got %q\nwant %q", got, c.ranking)
			}
			wantStage := c.rig.in.Stage
			if c.name == "farewells while closing" {
				wantStage = abi.ClosingTerminal
			}
			if r.Stage != wantStage {
				t.Errorf("stage %q, want %q", r.Stage, wantStage)
			}
		})
	}
}

// TestDraw freezes the last resort of the order: journals depend on it.
func TestDraw(t *testing.T) {
	// printf 'seed\0\0\0\0\0\0\0\0\014あや' | sha256sum
	const want = "f86a3bae624c77ce"
	if got := draw("seed", 12, "あや"); got != want {
		t.Errorf("draw = %s, want %s", got, want)
	}
}

// TestNotes: what a ranking says of each ballot.
func TestNotes(t *testing.T) {
	v := speak(5)
	v.Reason, v.Selected = "I know\n\tthis \x1b[31mone", true
	r := newRig("aya", "kyoko", "nat", "zoe")
	old := Open(9, entry.Round{Electorate: []string{"zoe"}}, Voter{"mika", abi.KindHuman}, nil)
	old.Cast("zoe", speak(1))
	r.in.Round.Carry(old)
	r.cast("aya", v).fail("kyoko", strings.Repeat("x", 5000)).fail("zoe", "no answer in 1s")
	got := map[string]string{}
	for _, c := range r.decide().Ranking {
		got[c.Who] = c.Note
	}
	for who, want := range map[string]string{
		"aya":   "I know this [31mone; claims to be selected, the message does not say so",
		"kyoko": strings.Repeat("x", maxNote-1) + "…",
		"nat":   "no answer",
		"zoe":   "vote kept from the round before; no answer in 1s",
	} {
		if got[who] != want {
			t.Errorf("%s: note %q, want %q", who, got[who], want)
		}
	}
}

// TestNext: how the floor is handed down.
func TestNext(t *testing.T) {
	all := newRig("add", "low", "high", "ask", "bye", "ear", "gone").to("add", "ask").
		cast("add", speak(0)).cast("low", speak(1)).cast("high", speak(9)).cast("ask", listen(0)).cast("bye", farewell(9)).cast("ear", listen(9))
	walk := func(r Ruling) string {
		var tried []string
		for range len(r.Ranking) + 1 {
			c, ok := Next(r, tried)
			if !ok {
				break
			}
			tried = append(tried, c.Who)
		}
		return strings.Join(tried, " ")
	}
	r := all.decide()
	if got, want := walk(r), "add high low ask bye"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := walk(all.silence().decide()), "add high low ask ear bye"; got != want {
		t.Errorf("silence breaker: got %q, want %q", got, want)
	}
	// The ranking, which a room knows after a restart, is enough.
	if got, want := walk(Ruling{Ranking: r.Ranking}), "add high low ask bye"; got != want {
		t.Errorf("from the journal: got %q, want %q", got, want)
	}
	for _, r := range []Ruling{all.turns(6).decide(), all.turns(0).stage(abi.ClosingTerminal).decide(), {}} {
		if c, ok := Next(r, nil); ok {
			t.Errorf("%s: next is %s", r.Outcome, c.Who)
		}
	}
}

// TestStep: one stage at a time, never back.
func TestStep(t *testing.T) {
	const n, p, c, e = abi.ClosingNone, abi.ClosingPre, abi.ClosingClosing, abi.ClosingTerminal
	for _, x := range []struct{ stage, wish, want abi.Closing }{
		{"", "", ""}, {"", n, ""}, {n, "", n}, {"", p, p}, {n, p, p}, {n, c, p}, {n, e, p},
		{p, n, p}, {p, p, p}, {p, c, c}, {p, e, c}, {c, e, e}, {c, p, c}, {e, n, e}, {e, e, e},
		{p, "later", p}, {"later", e, "later"},
	} {
		if got := Step(x.stage, x.wish); got != x.want {
			t.Errorf("Step(%q, %q) = %q, want %q", x.stage, x.wish, got, x.want)
		}
	}
}

func TestAdmit(t *testing.T) {
	kinds := []abi.ParticipantKind{abi.KindHuman, abi.KindCompanion, abi.KindAgent, ""}
	for _, by := range kinds {
		for _, kind := range []abi.MessageKind{abi.KindTurn, abi.KindBackchannel} {
			for _, floor := range []bool{true, false} {
				v := Vote{}.Admit(Bid{From: "aya", By: by, Kind: kind, Floor: floor, Text: "hi"})
				want := by == abi.KindHuman || kind == abi.KindTurn && floor
				if v.Admit != want || v.Cost != 0 {
					t.Errorf("%s %s floor=%v: %+v", by, kind, floor, v)
				}
				if !v.Admit && (v.Code != abi.CodeDenied || v.Why == "") {
					t.Errorf("%s %s floor=%v: refused without words: %+v", by, kind, floor, v)
				}
			}
		}
	}
	if (Vote{}).Memory() != 0 {
		t.Error("vote has no memory")
	}
}

func TestNew(t *testing.T) {
	for _, s := range []string{"", "null", "{}", " {} "} {
		if p, err := New("vote", json.RawMessage(s)); err != nil || p != Policy(Vote{}) {
			t.Errorf("settings %q: %v, %v", s, p, err)
		}
	}
	for name, s := range map[string]string{"vote": `{"pool":100}`, "votes": ""} {
		if p, err := New(name, json.RawMessage(s)); abi.CodeOf(err) != abi.CodeInvalid || p != nil {
			t.Errorf("%s %q: %v, %v", name, s, p, err)
		}
	}
}

func TestExplain(t *testing.T) {
	r := newRig("aya", "きょうこ", "nat").to("きょうこ").fail("nat", "no answer in 1s")
	v := farewell(2.5)
	v.Reason = "お先に"
	ruling := r.cast("aya", v).cast("きょうこ", speak(5)).lost("aya", 2).lost("きょうこ", 4).decide()
	got := Explain(entry.Decision{
		Round: 12, Outcome: ruling.Outcome, Speaker: ruling.Speaker, Grant: &abi.Grant{Token: "g12", Basis: 11},
		Rule: ruling.Rule, Reason: ruling.Reason, Ranking: ruling.Ranking,
	})
	want := strings.TrimPrefix(`
round 12: きょうこ holds the floor (grant g12, basis 11)
rule:    addressed (who was addressed goes before who was not)
reason:  きょうこ was addressed and wants to speak

   #  who       standing   importance  lost            need  draw              closing   note
>  1  きょうこ  addressed  5           4 of at most 7  7.5   5176abbd926d6c6e  -
   2  aya       terminal   2.5         2               3.13  caf72538d5da0a27  terminal  お先に
   3  nat       absent     -           0               -     4857937366483d6f  -         no answer in 1s
`, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, o := range []entry.Outcome{entry.OutcomeSilence, entry.OutcomeAbsent, entry.OutcomeClosed, entry.OutcomeCapped, entry.OutcomeStopped, entry.OutcomeSuperseded} {
		if s := Explain(entry.Decision{Round: 3, Outcome: o, Reason: "because"}); strings.Contains(s, "unknown") || !strings.HasPrefix(s, "round 3: ") || !strings.Contains(s, "because") {
			t.Errorf("%s: %q", o, s)
		}
	}
	for _, rule := range []entry.Rule{entry.RuleHuman, entry.RuleAddressed, entry.RuleSpeak, entry.RuleImportance, entry.RuleWaited, entry.RuleDebt, entry.RuleHash, entry.RuleAsked, entry.RuleSilence, entry.RuleNext} {
		if s := Explain(entry.Decision{Outcome: entry.OutcomeGrant, Speaker: "aya", Rule: rule}); strings.Contains(s, "unknown") {
			t.Errorf("%s: %q", rule, s)
		}
	}
	if s := Explain(entry.Decision{}); !strings.Contains(s, "unknown outcome") {
		t.Errorf("empty decision: %q", s)
	}
}

// TestExplainOlder: what rules without need and bound decided is told without
// them, as it was told then.
func TestExplainOlder(t *testing.T) {
	got := Explain(entry.Decision{Round: 3, Outcome: entry.OutcomeGrant, Speaker: "aya", Rule: entry.RuleDebt, Ranking: []entry.Candidate{
		{Who: "aya", Standing: StandingSpeak, Importance: 5, Debt: 22, Hash: "00"}, {Who: "ben", Standing: StandingSpeak, Hash: "01"},
	}})
	if !strings.Contains(got, ">  1  aya  speak     5           22      00 ") || !strings.Contains(got, "waited") {
		t.Errorf("got\n%s", got)
	}
}

// TestExplainCalled: what a companion's call adds is seen, and a late vote's
// importance is not made up.
func TestExplainCalled(t *testing.T) {
	r := newRig("aya", "kyoko").from(abi.KindCompanion).to("kyoko").cast("aya", speak(7)).cast("kyoko", speak(5)).decide()
	got := Explain(entry.Decision{Outcome: r.Outcome, Speaker: r.Speaker, Ranking: r.Ranking})
	if !strings.Contains(got, "kyoko  speak     5+3         0 of at most 8  8 ") || !strings.Contains(got, "called by mika") {
		t.Errorf("got\n%s", got)
	}
	r = newRig("aya").to("aya").late("aya", "too slow").decide()
	got = Explain(entry.Decision{Outcome: r.Outcome, Speaker: r.Speaker, Ranking: r.Ranking})
	if !strings.Contains(got, "aya  late      -           0 ") || !strings.Contains(got, "too slow") {
		t.Errorf("got\n%s", got)
	}
}

func TestCells(t *testing.T) {
	for s, want := range map[string]int{"": 0, "aya": 3, "あや": 4, "ｱﾔ": 2, "か\u3099": 2, "京a": 3, "é": 1, "e\u0301": 1} {
		if got := cells(s); got != want {
			t.Errorf("cells(%q) = %d, want %d", s, got, want)
		}
	}
}

// BenchmarkDecide measures a whole round's end.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{3, 30} {
		b.Run(fmt.Sprintf("voters=%d", n), func(b *testing.B) {
			var ids []string
			for i := range n {
				ids = append(ids, fmt.Sprintf("voter-%d", i))
			}
			r := newRig(ids...).to(ids[n-1])
			for i, id := range ids {
				r.cast(id, speak(float64(i%3)))
			}
			b.ReportAllocs()
			for b.Loop() {
				r.decide()
			}
		})
	}
}

// bounded is the vote of whoever is not asked for there is a bound.
var bounded = abi.Vote{State: abi.Listen, Reason: "model.main.calls_minute: 9 a minute are used up, but for what is kept for answers"}
