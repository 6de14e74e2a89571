package rules

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/turn"
)

// This file is the part of a room's state that is about a pool: what was spent,
// who is to have the next turn, and how long a round waits.

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

// The bounds of the talk of those who need no floor.
const (
	backchannelsPerTurn = 5 // backchannels for each turn that MaxTurns allows
	maxTries            = 2 // refusals in a row before the next turn is kept
	maxTried            = 64
)

// spend keeps what a policy with a budget must remember.
func (s *State) spend(b entry.Said, at time.Time) {
	if s.policy == nil {
		return // what it cost is of no use to a rule that is not known
	}
	s.Ledger = s.ledger(at)
	if b.Cost > 0 && s.policy.Memory() > 0 {
		s.Ledger = append(s.Ledger, turn.Spend{From: b.From, At: at, Cost: b.Cost})
	}
}

// ledger gives what the policy remembers of the past at a moment.
func (s *State) ledger(at time.Time) []turn.Spend {
	if s.policy == nil {
		return s.Ledger
	}
	return slices.DeleteFunc(slices.Clone(s.Ledger), func(p turn.Spend) bool { return at.Sub(p.At) >= s.policy.Memory() })
}

// Budget gives what there is to spend at a moment; ok is false in a room
// without a pool.
func (s *State) Budget(at time.Time) (b abi.Budget, ok bool) {
	return s.PoolView().At(at)
}

// waits puts the round off: it is asked again when the pool can pay, and the
// votes there are stand until then.
func (s *State) waits(d entry.Decision) {
	if s.Round != nil {
		s.Held, s.Chain = s.Round, []uint64{s.Round.ID}
	}
	if s.Waits++; s.Waits >= maxTries && d.Speaker != "" {
		// Else an agent that is quicker each time could take every turn.
		s.Kept = &Kept{d.Speaker, d.Until.Add(time.Duration(s.Rules.Patience+s.Rules.Floor) * time.Millisecond)}
	}
	s.Since, s.Pace, s.Rest = time.Time{}, d.Until, "" // nobody keeps talking meanwhile: there will be a whole patience
	s.Asked = min(s.Asked, s.Last.Seq-1)
	s.Round, s.Floor = nil, nil
}

// keep counts the turns that somebody could not say because others were
// quicker. After some in a row it is given the next turn, as long as a grant
// would hold and in the order of the first refusals, so that nobody is refused
// for ever. A speaker that does not use its turn begins anew, or one that never reads what
// was said would keep all others waiting.
func (s *State) keep(e entry.Entry, b entry.Refused) {
	late := b.Code == abi.CodeStale || b.Code == abi.CodeConflict || b.Code == abi.CodeExhausted && !b.Until.IsZero() && !s.spent(b.Who, e.At)
	kept := s.Kept != nil && e.At.Before(s.Kept.Until)
	if b.Kind != abi.KindTurn || !late || kept && s.Kept.Who == b.Who {
		return
	}
	i := slices.IndexFunc(s.Tries, func(t Try) bool { return t.Who == b.Who })
	if i < 0 && len(s.Tries) < maxTried {
		i, s.Tries = len(s.Tries), append(s.Tries, Try{Who: b.Who})
	}
	if i >= 0 {
		s.Tries[i].N, s.Tries[i].At = s.Tries[i].N+1, e.At
	}
	floor := time.Duration(s.Rules.Floor) * time.Millisecond
	next := slices.IndexFunc(s.Tries, func(t Try) bool { return t.N >= maxTries && e.At.Sub(t.At) <= floor }) // and still tries
	if kept || next < 0 {
		return
	}
	s.Kept = &Kept{s.Tries[next].Who, e.At.Add(floor)}
	s.Tries = slices.Delete(s.Tries, next, next+1)
}

// spent says whether somebody's own talk is not yet paid back to the pool: who
// has just spoken is not the one to be kept a turn for.
func (s *State) spent(who string, at time.Time) bool {
	return slices.ContainsFunc(s.ledger(at), func(p turn.Spend) bool { return p.From == who })
}

// luck forgets the refusals of who has spoken, or has left.
func (s *State) luck(who string) {
	s.Tries = slices.DeleteFunc(s.Tries, func(t Try) bool { return t.Who == who })
	if s.Kept != nil && s.Kept.Who == who {
		s.Kept = nil
	}
}

// PoolView is a room's pool, to be looked at beside the loop.
type PoolView struct {
	policy turn.Policy
	ledger []turn.Spend
	at     time.Time // the room's clock is not behind this
}

// PaysTurns says whether a turn costs something, also with the floor.
func (s *State) PaysTurns() bool { return s.policy != nil && s.policy.FreeTurns() }

// PoolView gives the pool as it is now. Later spends do not change it.
func (s *State) PoolView() PoolView { return PoolView{s.policy, s.Ledger, s.At} }

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
