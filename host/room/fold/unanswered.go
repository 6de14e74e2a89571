package fold

import (
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/turn"
)

// Subject is what the next round, the open one, or the line that is being made is
// about: the newest turn of a human that is unanswered, the oldest where that was
// passed over, else the newest turn.
func (s *State) Subject() (m abi.Message, by abi.ParticipantKind, meant []string) {
	return s.turnAt(s.subject())
}

func (s *State) subject() (seq uint64) {
	switch {
	case s.Round != nil:
		return s.Round.About
	case s.Floor != nil:
		return s.Floor.Subject
	}
	return s.Next()
}

// turnAt gives a turn that is unanswered, or else the newest.
func (s *State) turnAt(seq uint64) (m abi.Message, by abi.ParticipantKind, meant []string) {
	if u := s.Turn(seq); u != nil {
		return u.Message, abi.KindHuman, u.Meant
	}
	return s.Last, s.LastBy, s.Meant
}

// Voters gives who is asked about what waits for an answer: everybody but its speaker.
func (s *State) Voters() []string {
	said, by, _ := s.Subject()
	if by == abi.KindHuman {
		return s.Life.Asked(s.Present.Voters(""))
	}
	return s.Life.Asked(s.Present.Voters(said.From))
}

// LongestLoad is how long a human waits for somebody who is still being loaded before
// others are asked.
const LongestLoad = 2 * time.Minute

// forLoading gives the turn that the next round is about, where whoever it addresses is
// still being loaded, or may be; nil else.
func (s *State) forLoading() *queue.Unanswered {
	if u := s.Turn(s.subject()); u != nil && (s.Loads(u.Meant) || u.Calls && len(u.Meant) == 0 && len(s.Awaits) > 0) {
		return u
	}
	return nil
}

// WaitsFor says why nobody answers yet, "" where nobody waits or somebody is asked.
func (s *State) WaitsFor() string {
	if s.Floor != nil {
		return ""
	}
	if u := s.forLoading(); u != nil {
		if len(u.Meant) == 0 {
			return "it may call one of those who are being loaded: " + strings.Join(s.Awaits, ", ")
		}
		return strings.Join(u.Meant, ", ") + " is being loaded"
	}
	switch {
	case s.Absence != nil:
		return s.Absence.Why
	case len(s.Unanswered) > 0 && !s.Gathering && s.Round == nil && len(s.Voters()) == 0 && s.Life.Conversation == nil: // members come and read
		if len(s.Muted) > 0 {
			return "nobody is here who could answer; muted: " + strings.Join(s.Muted, ", ")
		}
		return "nobody is here who could answer"
	}
	return ""
}

// Answering says whether a human's turn is what the room is about now.
func (s *State) Answering() bool {
	return (s.ToAsk() || s.Round != nil || s.Floor != nil) && s.Turn(s.subject()) != nil
}

// word notes that somebody spoke, or is new here.
func (s *State) word(who string) {
	s.Silent = slices.DeleteFunc(s.Silent, func(id string) bool { return id == who })
}

// absent keeps a round in which nobody could vote, or whose line came to nothing, to
// be asked again: as soon as one of them can, or when that may be.
func (s *State) absent(e entry.Entry, d entry.Decision) {
	_, barred := s.BarredUntil(e.At)
	s.Absence, s.Asked = s.Absence.And(d, e.Seq, !barred), min(s.Asked, s.Last.Seq-1)
	s.KeepLate()
	s.Floor = nil
}

// BarredUntil gives when the first may be asked again of those who could not be asked, or
// could not answer, in the open round or with the floor; all says that nobody else could have.
// Where somebody was called by a human, and is barred, the room waits for nobody else.
func (s *State) BarredUntil(at time.Time) (first time.Time, all bool) {
	who, called := s.unable()
	if i := slices.IndexFunc(called, func(id string) bool { return s.BarOf(id, at) != nil }); i >= 0 {
		who = called[i : i+1]
	}
	all = len(who) > 0
	for _, id := range who {
		switch bar := s.BarOf(id, at); {
		case bar == nil:
			all = false
		case first.IsZero() || bar.Until.Before(first):
			first = bar.Until
		}
	}
	return first, all
}

// unable gives who had no vote in the open round, or had the floor and said nothing, and whom
// a human called.
func (s *State) unable() (who, called []string) {
	if r := s.Round; r != nil {
		for _, v := range r.Electorate {
			if b, voted := r.Ballots[v.ID]; !voted || b.Absent != "" {
				who = append(who, v.ID)
			}
		}
		if r.From.Kind == abi.KindHuman {
			called = r.Addressed
		}
	} else if f := s.Floor; f != nil {
		who = slices.Clone(f.Tried)
		for _, c := range f.Ranking {
			if c.Standing == turn.StandingAbsent && !slices.Contains(who, c.Who) {
				who = append(who, c.Who)
			}
		}
		if s.Turn(f.Subject) != nil {
			called = f.Addressed
		}
	}
	return who, called
}

// askAgain has the newest turn asked about at once: somebody came, or voted late.
func (s *State) askAgain() {
	if s.Absence != nil {
		s.Absence.At = time.Time{}
	}
	s.Asked = min(s.Asked, s.Last.Seq-1)
}
