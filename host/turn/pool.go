package turn

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Pool is the policy "pool": chat-relay's talk budget. A speaker that can pay may talk; a
// line costs points of one pool, and each spend comes back Recovery later. The
// level is computed from the spends, not kept by timers, so it survives a
// restart and never drifts.
//
// An agent that pays needs no floor. Companions of the house are still asked
// for votes, since two that are asked at once would speak at once; the winner
// holds the floor and pays for its line like everybody else, and waits for the
// pool where it cannot. Humans always get their word in.
type Pool struct {
	set abi.Pool
}

// newPool reads a policy's settings; null stands for the defaults.
func newPool(settings json.RawMessage) (Pool, error) {
	set := abi.DefaultPool()
	prices := set.Prices
	set.Prices = nil // or the decoder would fill prices up from those that stand there
	if len(bytes.TrimSpace(settings)) > 0 {
		dec := json.NewDecoder(bytes.NewReader(settings))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&set); err != nil {
			return Pool{}, abi.Errorf(abi.CodeInvalid, "policy_settings: %v", err)
		}
	}
	if set.Prices == nil {
		set.Prices = prices
	}
	return Pool{set}, set.Check()
}

// Memory is how long a spend counts.
func (p Pool) Memory() time.Duration { return time.Duration(p.set.Recovery) * time.Millisecond }

// FreeTurns says that who pays needs no floor.
func (Pool) FreeTurns() bool { return true }

// Terms gives the settings.
func (p Pool) Terms() abi.Pool {
	set := p.set
	set.Prices = slices.Clone(set.Prices)
	return set
}

// Budget gives the pool at a moment.
func (p Pool) Budget(now time.Time, ledger []Spend) (abi.Budget, bool) {
	b := abi.Budget{Level: p.level(now, ledger), Size: p.set.Size, Prices: slices.Clone(p.set.Prices)}
	if p.set.Pricing == abi.PricingFree {
		b.Chars = -1
		return b, true
	}
	for _, price := range p.set.Prices {
		if price.Cost <= b.Level {
			b.Chars = price.Chars
		}
	}
	return b, true
}

// level is the formula of the pool: its size without the costs younger than the
// recovery time.
func (p Pool) level(now time.Time, ledger []Spend) float64 {
	return max(0, p.set.Size-p.spent(now, ledger, ""))
}

// spent sums what has not come back yet: of one participant, or of all.
func (p Pool) spent(now time.Time, ledger []Spend, who string) float64 {
	sum := 0.0
	for _, s := range ledger {
		if now.Sub(s.At) < p.Memory() && (who == "" || s.From == who) {
			sum += s.Cost
		}
	}
	return sum
}

// Decide counts votes as [Vote] does, and lets the winner wait where the pool
// cannot pay for a turn: the round is asked again when it can.
func (p Pool) Decide(in Input) Ruling {
	r := Vote{}.Decide(in)
	if r.Outcome != entry.OutcomeGrant || r.Rule == entry.RuleHuman {
		return r
	}
	bid := Bid{From: r.Speaker, Now: in.Now, Ledger: in.Ledger, Addressed: slices.Contains(in.Round.Addressed, r.Speaker)}
	need := p.set.TurnPrice()
	why := p.afford(bid, need)
	if why == "" {
		return r
	}
	until := p.when(bid, need)
	if until.IsZero() {
		return r // no waiting would help: the line itself will be refused, in words
	}
	r.Outcome, r.Rule, r.Until = entry.OutcomeWaits, "", until
	r.Reason = fmt.Sprintf("%s is next, but there is %s; it is asked again when there is enough for a turn", r.Speaker, why)
	return r
}

// Admit takes a line that is paid for.
func (p Pool) Admit(b Bid) Verdict {
	if b.By == abi.KindHuman {
		return p.human(b)
	}
	v := p.price(b)
	if v.Code != "" {
		return v
	}
	if why := p.afford(b, v.Cost); why != "" {
		v.Code, v.Why, v.Until = abi.CodeExhausted, why, p.when(b, v.Cost)
		return v
	}
	v.Admit = true
	return v
}

// human takes whatever a human says; it pays what it offers, as far as there is
// something to pay with.
func (p Pool) human(b Bid) Verdict {
	v := Verdict{Admit: true, Kind: cmp.Or(b.Kind, abi.KindTurn)}
	if b.Offer != nil {
		v.Cost = min(max(0, *b.Offer), p.level(b.Now, b.Ledger))
	}
	return v
}

// price gives a line's kind and cost, or the code and the words that refuse it.
func (p Pool) price(b Bid) Verdict {
	chars, first, last := utf8.RuneCountInString(b.Text), p.set.Prices[0], p.set.Prices[len(p.set.Prices)-1]
	i := slices.IndexFunc(p.set.Prices, func(c abi.Price) bool { return chars <= c.Chars })
	strict := p.set.Pricing == abi.PricingStrict
	v := Verdict{Kind: b.Kind, Cost: last.Cost}
	if i >= 0 {
		v.Cost = p.set.Prices[i].Cost
	}
	if b.Offer != nil && !b.Floor {
		if strict && i >= 0 && *b.Offer < v.Cost {
			v.Code, v.Why = abi.CodeInvalid, fmt.Sprintf("amount: a message of %d characters costs %s, %s was offered", chars, num(v.Cost), num(*b.Offer))
		}
		v.Cost = *b.Offer
	}
	if v.Kind == "" {
		v.Kind = abi.KindTurn
		if v.Cost <= first.Cost && (i == 0 || !strict) && !b.Floor {
			v.Kind = abi.KindBackchannel
		}
	}
	switch {
	case v.Cost < 0 || v.Cost > p.set.Size || math.IsNaN(v.Cost):
		v.Code, v.Why = abi.CodeInvalid, fmt.Sprintf("amount: %v is outside 0..%s", v.Cost, num(p.set.Size))
	case strict && i < 0:
		v.Code, v.Why = abi.CodeTooLarge, fmt.Sprintf("message: %d characters, at most %d here", chars, last.Chars)
	case strict && v.Kind == abi.KindBackchannel && i > 0:
		v.Code, v.Why = abi.CodeTooLarge, fmt.Sprintf("message: a backchannel has at most %d characters, this has %d", first.Chars, chars)
	}
	return v
}

// afford says why a cost cannot be paid now, "" when it can.
func (p Pool) afford(b Bid, cost float64) string {
	level := p.level(b.Now, b.Ledger)
	own := p.spent(b.Now, b.Ledger, b.From)
	switch {
	case cost > level:
		return fmt.Sprintf("not enough resource: %s asked, %s left", num(cost), num(level))
	case !b.Addressed && level-cost < p.set.Reserve && cost > 0:
		return fmt.Sprintf("not enough resource: %s asked, %s left, and the last %s are kept for who is addressed", num(cost), num(level), num(p.set.Reserve))
	case p.set.Share > 0 && own+cost > p.set.Share && cost > 0:
		return fmt.Sprintf("not enough resource: %s asked, and %s of %s's share of %s are spent", num(cost), num(own), b.From, num(p.set.Share))
	}
	return ""
}

// when gives the first moment at which a cost could be paid if nobody spent
// anything more, the zero time for a cost that a full pool would not pay.
func (p Pool) when(b Bid, cost float64) time.Time {
	for _, s := range b.Ledger {
		if b.Now.Sub(s.At) >= p.Memory() {
			continue
		}
		b.Now = s.At.Add(p.Memory())
		if p.afford(b, cost) == "" {
			return b.Now
		}
	}
	return time.Time{}
}

// VotePool is the policy "vote+pool": votes choose who has the floor, which is
// free, and the pool lets short backchannels in beside it. A backchannel never
// takes the floor.
type VotePool struct {
	Pool
}

// FreeTurns says that a turn needs the floor.
func (VotePool) FreeTurns() bool { return false }

// Decide counts votes; the floor is free.
func (VotePool) Decide(in Input) Ruling { return Vote{}.Decide(in) }

// Admit takes turns with the floor, and backchannels that are paid for.
func (p VotePool) Admit(b Bid) Verdict {
	if b.By == abi.KindHuman {
		return p.human(b)
	}
	if b.Floor && b.Kind != abi.KindBackchannel {
		return Verdict{Admit: true, Kind: abi.KindTurn}
	}
	v := p.Pool.Admit(b)
	if v.Kind == abi.KindTurn {
		return Verdict{Kind: abi.KindTurn, Code: abi.CodeDenied, Why: noFloor(b)}
	}
	return v
}

func noFloor(b Bid) string {
	return b.From + " does not hold the floor; a turn needs a grant, vote to speak to get one"
}
