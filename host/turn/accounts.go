package turn

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Accounts are what a room remembers for a policy with a budget: what was spent, who is to
// have the next turn, and how often a round was put off.
type Accounts struct {
	Ledger []Spend `json:"ledger,omitempty"`
	Tries  []Try   `json:"tries,omitempty"` // who has had no luck, see Refused; the longest first
	Kept   *Kept   `json:"kept,omitempty"`
	Waits  int     `json:"waits,omitempty"` // rounds put off since a companion or a human spoke
}

// Try counts the turns that somebody could not say because others were quicker.
type Try struct {
	Who string    `json:"who"`
	N   int       `json:"n"`  // in a row
	At  time.Time `json:"at"` // of the newest
}

// Kept says who has the next turn among those who pay for theirs.
type Kept struct {
	Who   string    `json:"who"`
	Until time.Time `json:"until"`
}

const (
	maxTries = 2 // refusals in a row before the next turn is kept
	maxTried = 64
)

// Remembered gives what a policy remembers of the past at a moment; of one that is not
// known (nil) all.
func (a *Accounts) Remembered(p Policy, at time.Time) []Spend {
	if p == nil {
		return a.Ledger
	}
	return slices.DeleteFunc(slices.Clone(a.Ledger), func(s Spend) bool { return at.Sub(s.At) >= p.Memory() })
}

// Spend keeps what a policy must remember of what a line cost.
func (a *Accounts) Spend(p Policy, s Spend) {
	if p == nil {
		return // what it cost is of no use to a rule that is not known
	}
	a.Ledger = a.Remembered(p, s.At)
	if s.Cost > 0 && p.Memory() > 0 {
		a.Ledger = append(a.Ledger, s)
	}
}

// PutOff counts a round that is asked again when the pool can pay. After some in a row its
// speaker has the next turn for so long behind that.
func (a *Accounts) PutOff(d entry.Decision, hold time.Duration) {
	if a.Waits++; a.Waits >= maxTries && d.Speaker != "" {
		// Else an agent that is quicker each time could take every turn.
		a.Kept = &Kept{d.Speaker, d.Until.Add(hold)}
	}
}

// Refused counts the turns that somebody could not say because others were
// quicker. After some in a row it is given the next turn, as long as a grant
// would hold (floor) and in the order of the first refusals, so that nobody is refused
// for ever. A speaker that does not use its turn begins anew, or one that never reads what
// was said would keep all others waiting.
func (a *Accounts) Refused(p Policy, b entry.Refused, floor time.Duration, at time.Time) {
	late := b.Code == abi.CodeStale || b.Code == abi.CodeConflict || b.Code == abi.CodeExhausted && !b.Until.IsZero() && !a.spent(p, b.Who, at)
	kept := a.Kept != nil && at.Before(a.Kept.Until)
	if b.Kind != abi.KindTurn || !late || kept && a.Kept.Who == b.Who {
		return
	}
	i := slices.IndexFunc(a.Tries, func(t Try) bool { return t.Who == b.Who })
	if i < 0 && len(a.Tries) < maxTried {
		i, a.Tries = len(a.Tries), append(a.Tries, Try{Who: b.Who})
	}
	if i >= 0 {
		a.Tries[i].N, a.Tries[i].At = a.Tries[i].N+1, at
	}
	next := slices.IndexFunc(a.Tries, func(t Try) bool { return t.N >= maxTries && at.Sub(t.At) <= floor }) // and still tries
	if kept || next < 0 {
		return
	}
	a.Kept = &Kept{a.Tries[next].Who, at.Add(floor)}
	a.Tries = slices.Delete(a.Tries, next, next+1)
}

// spent says whether somebody's own talk is not yet paid back to the pool: who
// has just spoken is not the one to be kept a turn for.
func (a *Accounts) spent(p Policy, who string, at time.Time) bool {
	return slices.ContainsFunc(a.Remembered(p, at), func(s Spend) bool { return s.From == who })
}

// Luck forgets the refusals of who has spoken, or has left.
func (a *Accounts) Luck(who string) {
	a.Tries = slices.DeleteFunc(a.Tries, func(t Try) bool { return t.Who == who })
	if a.Kept != nil && a.Kept.Who == who {
		a.Kept = nil
	}
}

// PoolView is a room's pool, to be looked at beside the loop.
type PoolView struct {
	policy Policy
	ledger []Spend
	at     time.Time // the room's clock is not behind this
}

// View gives the pool as it is at a moment. Later spends do not change it.
func (a *Accounts) View(p Policy, at time.Time) PoolView { return PoolView{p, a.Ledger, at} }

// At gives the pool at a moment; ok is false in a room without one.
func (p PoolView) At(now time.Time) (b abi.Budget, ok bool) {
	if p.policy == nil {
		return b, false
	}
	if p.at.After(now) {
		now = p.at
	}
	return p.policy.Budget(now, p.ledger)
}
