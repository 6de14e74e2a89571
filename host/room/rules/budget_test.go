package rules

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/turn"
)

// budget is a policy that the house does not have yet: it takes backchannels as
// long as there is something to spend.
type budget struct {
	turn.Vote
	level float64
}

func (b budget) Memory() time.Duration { return 5 * time.Second }

func (b budget) Admit(bid turn.Bid) turn.Verdict {
	if bid.Kind != abi.KindBackchannel {
		return b.Vote.Admit(bid)
	}
	left := b.level
	for _, s := range bid.Ledger {
		left -= s.Cost
	}
	if left < 5 {
		return turn.Verdict{Code: abi.CodeExhausted, Why: "not enough resource"}
	}
	return turn.Verdict{Admit: true, Cost: 5}
}

// TestBudgetFitsInBesideTheVote shows that a talk budget needs nothing of the
// loop: lines without the floor, costs that come back, refusals that are kept.
func TestBudgetFitsInBesideTheVote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := New()
		m := &Machine{State: st}
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := m.Input(abi.EntryRules, at, abi.Rules{Policy: "vote", Seed: "test", Patience: 1000, Floor: 5000}); err != nil {
			t.Fatal(err)
		}
		st.policy = budget{level: 20}
		var spent []time.Time
		for range rapid.IntRange(1, 30).Draw(t, "lines") {
			at = at.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "gap")) * time.Millisecond)
			e, err := m.Say(Line{ID: fmt.Sprint(st.Head), Said: abi.Said{
				From: "natsumi", By: abi.KindAgent, Text: "なるほど", Kind: abi.KindBackchannel,
			}}, at)
			if err != nil {
				t.Fatal(err)
			}
			spent = slices.DeleteFunc(spent, func(s time.Time) bool { return at.Sub(s) >= 5*time.Second })
			if want := len(spent) < 4; (e.Kind == abi.EntrySaid) != want {
				t.Fatalf("at %v with %d lines in five seconds: %s %s", at, len(spent), e.Kind, e.Body)
			}
			if e.Kind == abi.EntrySaid {
				spent = append(spent, at)
			}
			if st.Turns != 0 || st.Floor != nil || st.Last.Seq != 0 {
				t.Fatal("a backchannel took the floor")
			}
		}
	})
}
