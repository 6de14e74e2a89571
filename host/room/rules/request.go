package rules

import (
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/turn"
)

// refuse writes down that a request is lost.
func (m *Machine) refuse(at time.Time, r queue.Request) error {
	b := r.Lost(abi.CodeStale, m.State.Newest().From+" spoke first")
	if _, why := m.State.Mute(); why != "" {
		b.Code, b.Why = abi.CodeDenied, why
	}
	_, err := m.record(entry.KindRefused, "", at, b)
	return err
}

// voteFor has a request take part in the open round.
func (m *Machine) voteFor(at time.Time, r queue.Request) error {
	_, err := m.record(entry.KindVote, "", at, r.Vote(m.State.Round.ID))
	return err
}

// grantRequest gives the floor to a companion that perceived something, without a
// round: nobody else perceived it.
func (m *Machine) grantRequest(at time.Time, r queue.Request) error {
	s := m.State
	d := entry.Decision{
		Wish: r.Seq, Outcome: entry.OutcomeGrant, Speaker: r.Who, Rule: entry.RulePerceived,
		Reason:  r.Why(),
		Ranking: []entry.Candidate{{Who: r.Who, Standing: "speak", Importance: r.Importance, Debt: s.Debt[r.Who], Note: r.Reason}},
	}
	outcome, why := s.Mute()
	if r.Perception != 0 {
		outcome, why = s.Blind(at)
	}
	if why != "" {
		d.Outcome, d.Reason, d.Speaker, d.Rule = outcome, why, "", ""
	}
	return m.decide(at, d)
}

// Needs says what a line waits for that somebody wants to say without the floor;
// ok is false for one that can be said, or refused, at once.
func Needs(s *fold.State, a Line, at time.Time) (wait entry.Wait, ok bool) {
	if a.By == abi.KindHuman || !s.Judged() {
		return "", false
	}
	if s.Policy().FreeTurns() {
		return entry.WaitTurn, s.Busy(a.From)
	}
	v := s.Policy().Admit(turn.Bid{From: a.From, By: a.By, Kind: a.Kind, Text: a.Text, Offer: a.Offer, Now: at, Ledger: s.SpentBy(at)})
	return entry.WaitRound, v.Kind == abi.KindTurn
}
