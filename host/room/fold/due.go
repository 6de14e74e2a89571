package fold

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// pace is the earliest time of the next round. It waits for an agent that has
// the next turn; somebody who votes needs the round for its own.
func (s *State) pace() time.Time {
	if s.Kept != nil && s.Kept.Until.After(s.Pace) && s.LastBy != abi.KindHuman && !slices.Contains(s.Voters(), s.Kept.Who) {
		return s.Kept.Until
	}
	return s.Pace
}

// Pauses is until when nobody is heard: the pause between two lines, and what goes on of one that
// was cut off.
func (s *State) Pauses() time.Time { return later(s.Pace, s.Lingers()) }

// Open says whether nobody was asked yet to answer the newest turn, or nobody was
// there, or a human waits for an answer.
func (s *State) Open() bool { return s.Last.Seq > s.Asked || s.Alone || len(s.Unanswered) > 0 }

// ToAsk says whether a turn is still to have its round. A human's line in an empty
// room waits for somebody to come; so does every turn where nobody needs a round to
// speak. One about which nobody could vote waits for its time.
func (s *State) ToAsk() bool {
	switch {
	case !s.Judged() || s.Gathering || s.Absence != nil && !s.Absence.At.IsZero():
		return false
	case len(s.Unanswered) > 0:
		return len(s.Voters()) > 0
	}
	return s.Last.Seq > s.Asked && (len(s.Voters()) > 0 || s.LastBy != abi.KindHuman && !s.policy.FreeTurns())
}

// awaitsAnswer says whether a human's turn is to have its round before anything else.
func (s *State) awaitsAnswer() bool { return s.ToAsk() && len(s.Unanswered) > 0 }

// NextDue gives the earliest stored time, ok false when there is none.
func (s *State) NextDue() (at time.Time, d entry.Due, ok bool) {
	consider := func(t time.Time, what entry.DueKind, of uint64) {
		if !t.IsZero() && (!ok || t.Before(at)) {
			at, d, ok = t, entry.Due{What: what, Of: of}, true
		}
	}
	if s.Over() != "" || !s.Judged() {
		return at, d, false
	}
	if s.Life.Conversation != nil {
		lapses, _ := s.Life.Conversation.Due()
		consider(lapses, entry.DueLapse, 0)
	}
	if s.Round != nil {
		consider(s.Round.Due, entry.DueRound, s.Round.ID)
	}
	if s.Floor != nil {
		consider(s.Expires(), entry.DueGrant, s.Floor.By)
	}
	if s.Round == nil && s.Floor == nil {
		if s.ToAsk() && (s.Playing == nil || s.MayMake()) {
			consider(s.Opens(), entry.DuePace, s.Last.Seq)
		}
		if s.Absence != nil {
			consider(s.Absence.At, entry.DueAbsent, s.Absence.Of)
		}
		consider(s.Silence, entry.DueSilence, s.Of)
		if s.NextRequest() != nil {
			consider(s.Pauses(), entry.DuePace, s.Last.Seq)
		}
		if s.Woken() {
			consider(s.Pace, entry.DuePace, s.Last.Seq)
		}
	}
	s.Dues(consider)
	if a := s.Overdue(); a != nil {
		consider(a.Due, entry.DueAnswer, 0)
	}
	for _, r := range s.Requests {
		consider(r.Due, entry.DueStale, r.Seq)
	}
	return at, d, ok
}

// Quiet says whether nothing follows from the state by itself: the next entry is
// an input.
func (s *State) Quiet() bool {
	return s.Round == nil && s.Floor == nil && s.Held == nil && s.Late == nil && s.Past == nil && s.Dismissed == nil && s.Absence == nil && !s.ToAsk() && s.NextRequest() == nil && !s.Woken()
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Condition puts what a room does into a word. That the talk is capped or has ended is so as
// soon as nobody may speak: where turns are paid for, or nobody else is there, no round says it.
func (s *State) Condition() string {
	switch {
	case s.Archived != "":
		return "archived"
	case s.Unjudged() != "":
		return "unjudged"
	case s.Stopped != "":
		return "stopped"
	case s.Round == nil && s.WaitsFor() != "":
		return "waiting"
	case s.Round != nil, s.Floor != nil, s.ToAsk():
		return "talking"
	case s.Rest == entry.OutcomeCapped, s.Rest == entry.OutcomeClosed:
		return string(s.Rest)
	}
	if outcome, _ := s.Mute(); outcome != "" {
		return string(outcome)
	}
	return "resting"
}
