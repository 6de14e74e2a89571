package turn

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// inPool puts a round into a room with a pool, at noon.
func (r *rig) inPool(t *testing.T, name, settings string, ledger ...Spend) Ruling {
	r.in.Now, r.in.Ledger = noon, ledger
	return policyOf(t, name, settings).Decide(r.in)
}

// TestDecideWaitsForThePool: the winner of the votes waits where the pool cannot
// pay for a turn, and no longer than needed.
func TestDecideWaitsForThePool(t *testing.T) {
	for _, tc := range []struct {
		name     string
		settings string
		ledger   []Spend
		to       []string
		wait     time.Duration // 0: aya is granted the floor
	}{
		{"a full pool", "", nil, nil, 0},
		{"just enough", "", spends("x", 1000, 40), nil, 0},
		{"too little", "", spends("x", 1000, 41), nil, 4 * time.Second},
		{"the first of two", "", spends("x", 3000, 60, 1000, 40), nil, 2 * time.Second},
		{"both", "", spends("x", 3000, 30, 1000, 60), nil, 4 * time.Second},
		{"an old spend does not count", "", spends("x", 5000, 60), nil, 0},
		{"the reserve", `{"reserve":40}`, spends("x", 1000, 1), nil, 4 * time.Second},
		{"the reserve, addressed", `{"reserve":40}`, spends("x", 1000, 40), []string{"aya"}, 0},
		{"the reserve, spent, addressed", `{"reserve":40}`, spends("x", 1000, 41), []string{"aya"}, 4 * time.Second},
		{"its share", `{"share":60}`, spends("aya", 1000, 5), nil, 4 * time.Second},
		{"free pricing", free, spends("x", 1000, 41), nil, 4 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig("aya", "kyoko").cast("aya", speak(5)).cast("kyoko", listen(0)).to(tc.to...).inPool(t, "pool", tc.settings, tc.ledger...)
			if tc.wait == 0 {
				if r.Outcome != entry.OutcomeGrant || r.Speaker != "aya" || !r.Until.IsZero() {
					t.Errorf("%+v", r)
				}
				return
			}
			if r.Outcome != entry.OutcomeWaits || r.Speaker != "aya" || r.Rule != "" || !r.Until.Equal(noon.Add(tc.wait)) {
				t.Errorf("%+v, want to wait %v", r, tc.wait)
			}
			if !strings.HasPrefix(r.Reason, "aya is next") || len(r.Ranking) != 2 {
				t.Errorf("reason %q, ranking %v", r.Reason, r.Ranking)
			}
		})
	}
}

// TestWaitsInWords: the reason that is written down is true, also where the pool is full
// and something else is missing.
func TestWaitsInWords(t *testing.T) {
	r := newRig("aya").cast("aya", speak(5)).inPool(t, "pool", "", spends("x", 1000, 50)...)
	if !strings.Contains(r.Reason, "60") || !strings.Contains(r.Reason, "50") {
		t.Errorf("neither price nor level: %q", r.Reason)
	}
	r = newRig("aya").cast("aya", speak(5)).inPool(t, "pool", `{"share":60}`, spends("aya", 1000, 10)...)
	if !strings.Contains(r.Reason, "share") {
		t.Errorf("90 points are left, and the reason is %q", r.Reason)
	}
	text := Explain(entry.Decision{Round: 12, Outcome: r.Outcome, Reason: r.Reason, Ranking: r.Ranking, Until: r.Until})
	if !strings.Contains(text, "waits for the pool until 12:00:04.000") {
		t.Errorf("%s", text)
	}
}

// TestPoolStopsNoOtherOutcome: whoever need not pay need not wait.
func TestPoolStopsNoOtherOutcome(t *testing.T) {
	empty := spends("x", 1000, 100)
	for _, tc := range []struct {
		name   string
		rig    *rig
		policy string
		want   entry.Outcome
	}{
		{"a human", newRig("mika:human", "aya").cast("mika", speak(1)).cast("aya", speak(9)), "pool", entry.OutcomeGrant},
		{"silence", newRig("aya").cast("aya", listen(1)), "pool", entry.OutcomeSilence},
		{"capped", newRig("aya").cast("aya", speak(1)).turns(6), "pool", entry.OutcomeCapped},
		{"closed", newRig("aya").cast("aya", speak(1)).stage(abi.ClosingTerminal), "pool", entry.OutcomeClosed},
		{"votes, the pool is beside", newRig("aya").cast("aya", speak(1)), "vote+pool", entry.OutcomeGrant},
	} {
		if r := tc.rig.inPool(t, tc.policy, "", empty...); r.Outcome != tc.want || !r.Until.IsZero() {
			t.Errorf("%s: %+v", tc.name, r)
		}
	}
}

// TestPoolDecidesAsVotesDo: with enough in the pool the ruling is that of the
// votes, to the letter.
func TestPoolDecidesAsVotesDo(t *testing.T) {
	r := newRig("aya", "kyoko").cast("aya", speak(5)).cast("kyoko", speak(6))
	want := asJSON(t, r.decide())
	for _, name := range []string{"pool", "vote+pool"} {
		r.in.Now = noon
		if got := asJSON(t, policyOf(t, name, "").Decide(r.in)); got != want {
			t.Errorf("%s: %s, votes say %s", name, got, want)
		}
	}
}

// TestPolicies holds what the room reads off a policy.
func TestPolicies(t *testing.T) {
	for name, want := range map[string]struct {
		policy Policy
		free   bool
		memory time.Duration
		pool   bool
	}{
		"vote": {Vote{}, false, 0, false}, "pool": {Pool{}, true, 5 * time.Second, true}, "vote+pool": {VotePool{}, false, 5 * time.Second, true},
	} {
		p := policyOf(t, name, "null")
		if _, ok := p.Budget(noon, nil); reflect.TypeOf(p) != reflect.TypeOf(want.policy) || p.FreeTurns() != want.free || p.Memory() != want.memory || ok != want.pool {
			t.Errorf("%s: %T, free turns %v, memory %v, budget %v", name, p, p.FreeTurns(), p.Memory(), ok)
		}
	}
	p := policyOf(t, "pool", "")
	b, _ := p.Budget(noon, nil)
	b.Prices[0].Cost = 99 // whoever got it may do with it as it likes
	if v := p.Admit(Bid{From: "bot", By: abi.KindAgent, Text: "x", Now: noon}); v.Cost != 5 {
		t.Errorf("a budget that was handed out changes the prices: %+v", v)
	}
}
