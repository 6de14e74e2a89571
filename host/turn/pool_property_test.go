package turn

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// drawPool gives a pool whose settings are right, with amounts that add up
// without rounding.
func drawPool(t *rapid.T) Pool {
	set := abi.Pool{
		Pricing:  rapid.SampledFrom([]abi.Pricing{abi.PricingStrict, abi.PricingFree}).Draw(t, "pricing"),
		Size:     float64(rapid.IntRange(1, 200).Draw(t, "size")),
		Recovery: int64(rapid.SampledFrom([]int{1, 500, 5000}).Draw(t, "recovery")),
	}
	chars, cost := 0, 0
	for range rapid.IntRange(1, 4).Draw(t, "classes") {
		chars += rapid.IntRange(1, 30).Draw(t, "chars")
		cost = min(int(set.Size), cost+rapid.IntRange(0, 50).Draw(t, "cost"))
		set.Prices = append(set.Prices, abi.Price{Chars: chars, Cost: float64(cost)})
	}
	turn := int(set.TurnPrice())
	set.Reserve = float64(rapid.IntRange(0, int(set.Size)-turn).Draw(t, "reserve"))
	if rapid.Bool().Draw(t, "shares") && turn > 0 {
		set.Share = float64(rapid.IntRange(turn, int(set.Size)).Draw(t, "share"))
	}
	p, err := newPool(json.RawMessage(asJSON(t, set)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drawBid gives a line at a moment; humans are drawn too.
func drawBid(t *rapid.T, p Pool, now time.Time, ledger []Spend) Bid {
	most := p.set.Prices[len(p.set.Prices)-1].Chars
	b := Bid{
		From: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "from"), By: abi.KindAgent,
		Kind:  rapid.SampledFrom([]abi.MessageKind{"", "", abi.KindTurn, abi.KindBackchannel}).Draw(t, "kind"),
		Text:  letters(rapid.IntRange(1, most+5).Draw(t, "length")),
		Floor: rapid.IntRange(0, 4).Draw(t, "floor") == 0, Addressed: rapid.Bool().Draw(t, "addressed"),
		Now: now, Ledger: ledger,
	}
	if rapid.IntRange(0, 5).Draw(t, "human") == 0 {
		b.From, b.By = "taro", abi.KindHuman
	}
	if rapid.Bool().Draw(t, "offers") {
		b.Offer = offers(float64(rapid.IntRange(0, int(p.set.Size)+5).Draw(t, "offer")))
	}
	return b
}

// paidFor is what a strict pool must take for a line, in the words of chat-relay;
// ok is false for one that is too long.
func paidFor(p Pool, text string) (cost float64, ok bool) {
	for _, c := range slices.Backward(p.set.Prices) {
		if utf8.RuneCountInString(text) <= c.Chars {
			cost, ok = c.Cost, true
		}
	}
	return cost, ok
}

// TestPoolHolds plays lines into a pool. The level is the formula and stays
// within the pool; no strict line is cheaper than its length, whatever its
// speaker says it costs; a line refused for want of points is refused rightly,
// and could be paid at the named moment and not before; replay, which knows the
// cost and the kind, comes to the same verdict.
func TestPoolHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t)
		policy := rapid.SampledFrom([]Policy{p, VotePool{p}}).Draw(t, "policy")
		now, ledger := noon, []Spend(nil)
		for range rapid.IntRange(1, 40).Draw(t, "lines") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 499, 500, 2000, 5000}).Draw(t, "pause")) * time.Millisecond)
			b := drawBid(t, p, now, ledger)
			v := policy.Admit(b)
			holdsReplay(t, policy, b, v)
			holdsBudget(t, p, now, ledger)
			if !v.Admit {
				holdsRefusal(t, p, policy, b, v)
				continue
			}
			_, votes := policy.(VotePool)
			free := votes && b.Floor && b.By != abi.KindHuman && v.Kind == abi.KindTurn
			cost, short := paidFor(p, b.Text)
			if p.set.Pricing == abi.PricingStrict && b.By != abi.KindHuman && !free && (!short || v.Cost < cost) {
				t.Fatalf("%d characters were said for %v, their price is %v", utf8.RuneCountInString(b.Text), v.Cost, cost)
			}
			if free && v.Cost != 0 {
				t.Fatalf("the floor is free here: %+v", v)
			}
			ledger = append(ledger, Spend{b.From, now, v.Cost})
		}
	})
}

// holdsBudget compares the budget with the formula, written down once more.
func holdsBudget(t *rapid.T, p Pool, now time.Time, ledger []Spend) {
	got, ok := p.Budget(now, ledger)
	want := p.set.Size
	for _, s := range ledger {
		if s.At.Add(time.Duration(p.set.Recovery) * time.Millisecond).After(now) {
			want -= s.Cost
		}
	}
	if !ok || got.Level != want || got.Level < 0 || got.Level > p.set.Size || got.Size != p.set.Size {
		t.Fatalf("the budget is %+v, the formula gives %v", got, want)
	}
	if p.set.Pricing == abi.PricingFree {
		if got.Chars != -1 {
			t.Fatalf("free pricing, at most %d characters", got.Chars)
		}
		return
	}
	// Chars is what somebody who was addressed and has spent nothing can say.
	for chars := 1; chars <= p.set.Prices[len(p.set.Prices)-1].Chars+1; chars++ {
		b := Bid{From: "fresh", By: abi.KindAgent, Text: letters(chars), Addressed: true, Now: now, Ledger: ledger}
		v := Pool{withoutShare(p.set)}.Admit(b)
		if v.Admit != (chars <= got.Chars) {
			t.Fatalf("%d characters: %+v, the budget says %+v", chars, v, got)
		}
	}
}

func withoutShare(set abi.Pool) abi.Pool { set.Share = 0; return set }

// holdsReplay is what replay relies on: the verdict on a line with the cost and
// kind of its entry is the verdict that made the entry.
func holdsReplay(t *rapid.T, policy Policy, b Bid, v Verdict) {
	again := b
	again.Kind = v.Kind
	if v.Admit {
		again.Offer = offers(v.Cost)
	}
	if got := policy.Admit(again); got != v {
		t.Fatalf("%+v\nfirst  %+v\nreplay %+v", b, v, got)
	}
}

// holdsRefusal checks code and moment of a refusal.
func holdsRefusal(t *rapid.T, p Pool, policy Policy, b Bid, v Verdict) {
	if b.By == abi.KindHuman || v.Why == "" || v.Code == "" {
		t.Fatalf("refused: %+v", v)
	}
	if v.Code != abi.CodeExhausted {
		if !v.Until.IsZero() {
			t.Fatalf("waiting does not help: %+v", v)
		}
		return
	}
	at := func(now time.Time) Verdict {
		b := b
		b.Now = now
		return policy.Admit(b)
	}
	never := b
	never.Ledger = nil
	if v.Until.IsZero() != (!policy.Admit(never).Admit) {
		t.Fatalf("paid by a full pool: %v, yet %+v", policy.Admit(never).Admit, v)
	}
	if v.Until.IsZero() {
		return
	}
	if !v.Until.After(b.Now) || !at(v.Until).Admit {
		t.Fatalf("it could not be paid at %v: %+v, then %+v", v.Until, v, at(v.Until))
	}
	for _, s := range b.Ledger { // the level changes at these moments only
		back := s.At.Add(p.Memory())
		if back.Before(v.Until) && !back.Before(b.Now) && at(back).Admit {
			t.Fatalf("it could be paid at %v already: %+v", back, v)
		}
	}
	if just := v.Until.Add(-time.Nanosecond); !just.Before(b.Now) && at(just).Admit {
		t.Fatalf("it could be paid before %v: %+v", v.Until, v)
	}
}

// TestWaitsUntilATurnCanBePaid: a round that waits is put off to the first
// moment at which the same votes give the floor.
func TestWaitsUntilATurnCanBePaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t)
		s := drawScene(t)
		ledger := []Spend(nil)
		for range rapid.IntRange(0, 6).Draw(t, "spends") {
			ago := time.Duration(rapid.IntRange(0, int(p.set.Recovery)).Draw(t, "ago")) * time.Millisecond
			who := rapid.SampledFrom([]string{"v0", "v1", "x"}).Draw(t, "who")
			cost := float64(rapid.IntRange(0, int(p.set.Size)).Draw(t, "cost"))
			ledger = append(ledger, Spend{who, noon.Add(-ago), min(cost, p.level(noon, ledger))})
		}
		slices.SortStableFunc(ledger, func(a, b Spend) int { return a.At.Compare(b.At) })
		in := s.in
		in.Round, in.Now, in.Ledger = s.open(), noon, ledger
		for who, v := range s.votes {
			in.Round.Cast(who, v)
		}
		votes := Vote{}.Decide(in)
		r := p.Decide(in)
		if r.Outcome != entry.OutcomeWaits {
			if asJSON(t, r) != asJSON(t, votes) {
				t.Fatalf("the pool decides %+v, votes %+v", r, votes)
			}
			return
		}
		if !r.Until.After(noon) || r.Reason == "" || r.Stage != votes.Stage || asJSON(t, r.Ranking) != asJSON(t, votes.Ranking) {
			t.Fatalf("%+v", r)
		}
		in.Now = r.Until
		if then := p.Decide(in); then.Outcome != entry.OutcomeGrant || then.Speaker != votes.Speaker {
			t.Fatalf("at its time: %+v, votes say %s", then, votes.Speaker)
		}
		in.Now = r.Until.Add(-time.Nanosecond)
		if then := p.Decide(in); then.Outcome != entry.OutcomeWaits {
			t.Fatalf("before its time: %+v", then)
		}
	})
}
