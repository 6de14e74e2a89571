package fold

import (
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/turn"
)

// This file is what the rules make of a pool.

// SpentBy gives what the policy remembers of the past at a moment.
func (s *State) SpentBy(at time.Time) []turn.Spend { return s.Remembered(s.policy, at) }

// PoolView gives the pool as it is now. Later spends do not change it.
func (s *State) PoolView() turn.PoolView { return s.View(s.policy, s.At) }

// Terms gives the pool's settings, nil in a room without one.
func (s *State) Terms() *abi.Pool {
	if p, ok := s.policy.(interface{ Terms() abi.Pool }); ok {
		terms := p.Terms()
		return &terms
	}
	return nil
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
	s.PutOff(d, time.Duration(s.Rules.Patience+s.Rules.Floor)*time.Millisecond)
	s.Since, s.Pace, s.Rest = time.Time{}, d.Until, "" // nobody keeps talking meanwhile: there will be a whole patience
	s.Asked = min(s.Asked, s.Last.Seq-1)
	s.Round, s.Floor = nil, nil
}

// PaysTurns says whether a turn costs something, also with the floor.
func (s *State) PaysTurns() bool {
	return s.policy != nil && s.policy.FreeTurns() && s.Life.Conversation == nil
}
