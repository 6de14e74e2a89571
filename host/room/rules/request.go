package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/playback"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/turn"
)

func (s *State) requested(seq uint64, w entry.Wish) {
	if s.Stopped == "" {
		s.Requests = append(s.Requests, queue.Request{Seq: seq, Wish: w})
		s.asks()
	}
}

// Pending says whether the request of an entry is still to be granted, or has the floor.
func (s *State) Pending(seq uint64) bool {
	return s.Floor != nil && s.Floor.Wish != nil && s.Floor.Wish.Seq == seq ||
		slices.ContainsFunc(s.Requests, func(r queue.Request) bool { return r.Seq == seq })
}

// Needs says what a line waits for that somebody wants to say without the floor;
// ok is false for one that can be said, or refused, at once.
func (s *State) Needs(a Line, at time.Time) (wait entry.Wait, ok bool) {
	if a.By == abi.KindHuman || !s.judged() {
		return "", false
	}
	if s.policy.FreeTurns() {
		return entry.WaitTurn, s.busy(a.From)
	}
	v := s.policy.Admit(turn.Bid{From: a.From, By: a.By, Kind: a.Kind, Text: a.Text, Offer: a.Offer, Now: at, Ledger: s.ledger(at)})
	return entry.WaitRound, v.Kind == abi.KindTurn
}

// busy says whether a line that is paid for would be refused just because votes are
// counted or another has the floor.
func (s *State) busy(who string) bool {
	return s.Round != nil || s.Floor != nil && s.Floor.Who != who || s.Sounds()
}

// Free gives a request that is paid for and can be said now, nil for none.
func (s *State) Free() *queue.Request {
	return s.Oldest(func(r queue.Request) bool { return r.Waits == entry.WaitTurn && !s.busy(r.Who) })
}

// nextRequest gives the request that is granted next without a round, nil for none:
// the most important of those who are here, the oldest of equals. A human who waits
// for an answer goes first; companions that talk among themselves do not, or a talk of
// theirs would have to end before somebody may say what she sees.
func (s *State) nextRequest() (next *queue.Request) {
	waits, kinds := s.awaitsAnswer(), s.Kinds()
	for i, r := range s.Requests {
		if waits && s.Turn(r.Answers) == nil {
			continue
		}
		if _, here := kinds[r.Who]; here && r.Waits == entry.WaitFloor && (next == nil || r.Importance > next.Importance) {
			next = &s.Requests[i]
		}
	}
	return next
}

// answerAtHand gives the line that answers what somebody else thinks about, nil for
// none: it came late, but it is there.
func (s *State) answerAtHand() *queue.Request {
	f := s.Floor
	if f.Subject == 0 || f.Segments > 0 || f.Wish != nil {
		return nil
	}
	return s.Oldest(func(r queue.Request) bool { return r.Answers == f.Subject && r.Who != f.Who })
}

// awaited says whether the open round waits for the vote of a request.
func (s *State) awaited(r queue.Request) bool {
	return s.Round != nil && r.Waits == entry.WaitRound && s.Round.Awaits(r.Who)
}

// asks notes which requests the open round waits for.
func (s *State) asks() {
	for i, r := range s.Requests {
		if s.awaited(r) {
			s.Requests[i].Asked = s.Round.About
		}
	}
}

// Rests says whether nothing is going on, so that a wish to speak may open a round: a
// round would come to something, and none is on its way.
func (s *State) Rests() bool {
	_, mute := s.Mute()
	return mute == "" && s.Condition() == "resting"
}

// woken says whether a room that rests is to open a round for a request.
func (s *State) woken() bool {
	if !s.Rests() {
		return false
	}
	voters := s.Voters()
	return slices.ContainsFunc(s.Requests, func(r queue.Request) bool {
		return r.Waits == entry.WaitRound && r.Asked != s.Last.Seq && slices.Contains(voters, r.Who)
	})
}

// overtaken gives a request for a round that cannot be granted any more, nil for none.
func (s *State) overtaken() *queue.Request {
	_, mute := s.Mute()
	return s.Oldest(func(r queue.Request) bool {
		return r.Waits == entry.WaitRound && (mute != "" || s.Last.Seq > r.Basis && s.Last.From != r.Who)
	})
}

// refuse writes down that a request is lost.
func (m *Machine) refuse(at time.Time, r queue.Request) error {
	b := r.Lost(abi.CodeStale, m.State.Last.From+" spoke first")
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

// granted is decided for a request without a round. Nothing but the floor changes:
// the newest turn keeps the round it waits for.
func (s *State) granted(e entry.Entry, d entry.Decision) {
	r := s.Withdraw(d.Wish)
	if r != nil && d.Outcome == entry.OutcomeGrant {
		s.Floor = &Floor{
			Grant: *d.Grant, Who: d.Speaker, By: e.Seq, About: s.Last.Seq, Ranking: d.Ranking, Tried: []string{d.Speaker}, Wish: r, Subject: r.Answers,
		}
	}
}

// cap is how many turns companions may take now, 0 for any number: a human who waits
// for an answer gets one.
func (s *State) cap() int {
	if s.answering() {
		return 0
	}
	return s.Rules.MaxTurns
}

func (s *State) capped() bool { return s.cap() > 0 && s.Turns >= s.cap() }

// Mute says why no companion may speak here, whoever wants to, and what is decided
// then; "" where one may.
func (s *State) Mute() (outcome entry.Outcome, why string) {
	switch {
	case s.Stage == abi.ClosingTerminal:
		return entry.OutcomeClosed, "the talk has ended"
	case s.capped():
		return entry.OutcomeCapped, fmt.Sprintf("companions took %d turns since a human spoke, and may take %d", s.Turns, s.Rules.MaxTurns)
	}
	return "", ""
}

// seen gives when perceptions led to turns in the minute before.
func (s *State) seen(at time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(s.Seen), func(t time.Time) bool { return at.Sub(t) >= time.Minute })
}

// Blind says why nothing that a companion perceives leads to a turn now, "" where it
// may: then nobody is to be asked to judge it.
func (s *State) Blind(at time.Time) (outcome entry.Outcome, why string) {
	switch {
	case s.Stage == abi.ClosingTerminal:
		return entry.OutcomeClosed, "the talk has ended"
	case s.Rules.Perceived > 0 && len(s.seen(at)) >= s.Rules.Perceived:
		return entry.OutcomeCapped, fmt.Sprintf("what companions perceived led to %d turns in a minute, which is the most", s.Rules.Perceived)
	}
	return "", ""
}

// spoke notes a segment. A line that has begun to sound is not stale any more.
func (s *State) spoke(b entry.Segment, at time.Time) {
	if s.Floor != nil && s.Floor.Token == b.Grant {
		s.begins(at)
		s.Sound(b.Grant, b.Who, b.N, playback.Part{Text: b.Text, Voice: b.Voice, Shown: at}, s.Rules.Auto)
		if s.Playing != nil && s.Playing.ID == b.Grant {
			s.Playing.Basis = s.Floor.Basis
		}
		s.Floor.Spoken += b.Text
		s.Floor.Segments = b.N
	}
}

// Begun says whether a line with this grant has begun to sound.
func (s *State) Begun(grant string) bool {
	return s.Floor != nil && s.Floor.Token == grant && s.Floor.Segments > 0
}
