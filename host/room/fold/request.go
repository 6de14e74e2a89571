package fold

import (
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
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

// Busy says whether a line that is paid for would be refused just because votes are
// counted or another has the floor.
func (s *State) Busy(who string) bool {
	return s.Round != nil || s.Floor != nil && s.Floor.Who != who || s.Sounds()
}

// Free gives a request that is paid for and can be said now, nil for none.
func (s *State) Free() *queue.Request {
	return s.Oldest(func(r queue.Request) bool { return r.Waits == entry.WaitTurn && !s.Busy(r.Who) })
}

// NextRequest gives the request that is granted next without a round, nil for none:
// the most important of those who are here, the oldest of equals. A human who waits
// for an answer goes first; companions that talk among themselves do not, or a talk of
// theirs would have to end before somebody may say what she sees.
func (s *State) NextRequest() (next *queue.Request) {
	waits, kinds := s.awaitsAnswer(), s.Kinds()
	for i, r := range s.Requests {
		if waits && s.Turn(r.Answers) == nil {
			continue
		}
		if _, here := kinds[r.Who]; here && !s.IsMuted(r.Who) && r.Waits == entry.WaitFloor && (next == nil || r.Importance > next.Importance) {
			next = &s.Requests[i]
		}
	}
	return next
}

// AnswerAtHand gives the line that answers what somebody else thinks about, nil for
// none: it came late, but it is there.
func (s *State) AnswerAtHand() *queue.Request {
	f := s.Floor
	if f.Subject == 0 || f.Segments > 0 || f.Wish != nil {
		return nil
	}
	return s.Oldest(func(r queue.Request) bool { return r.Answers == f.Subject && r.Who != f.Who })
}

// Awaited says whether the open round waits for the vote of a request.
func (s *State) Awaited(r queue.Request) bool {
	return s.Round != nil && r.Waits == entry.WaitRound && s.Round.Awaits(r.Who)
}

// asks notes which requests the open round waits for.
func (s *State) asks() {
	for i, r := range s.Requests {
		if s.Awaited(r) {
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

// Woken says whether a room that rests is to open a round for a request.
func (s *State) Woken() bool {
	if !s.Rests() {
		return false
	}
	voters := s.Voters()
	return slices.ContainsFunc(s.Requests, func(r queue.Request) bool {
		return r.Waits == entry.WaitRound && r.Asked != s.Last.Seq && slices.Contains(voters, r.Who)
	})
}

// Overtaken gives a request for a round that cannot be granted any more, nil for none.
func (s *State) Overtaken() *queue.Request {
	_, mute := s.Mute()
	return s.Oldest(func(r queue.Request) bool {
		return r.Waits == entry.WaitRound && (mute != "" || s.Behind(r.Basis, r.Who))
	})
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
	if s.Answering() {
		return 0
	}
	return s.Rules.MaxTurns
}

func (s *State) Capped() bool { return s.cap() > 0 && s.Turns >= s.cap() }

// Mute says why no companion may speak here, whoever wants to, and what is decided
// then; "" where one may.
func (s *State) Mute() (outcome entry.Outcome, why string) {
	switch {
	case s.Stage == abi.ClosingTerminal:
		return entry.OutcomeClosed, "the talk has ended"
	case s.Capped():
		return entry.OutcomeCapped, fmt.Sprintf("companions took %s since a human spoke, and may take %d", turn.Count(s.Turns, "turn"), s.Rules.MaxTurns)
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
