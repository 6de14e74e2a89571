package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Wish is an EntryWish that waits for the floor.
type Wish struct {
	Seq uint64 `json:"seq"`
	entry.Wish
}

// MaxWishes is how many of one companion may wait.
const MaxWishes = 4

func (s *State) wished(seq uint64, w entry.Wish) {
	if s.Stopped == "" {
		s.Wishes = append(s.Wishes, Wish{seq, w})
	}
}

func (s *State) unwish(seq uint64) {
	s.Wishes = slices.DeleteFunc(s.Wishes, func(w Wish) bool { return w.Seq == seq })
}

// nextWish gives the wish that is granted next, nil for none: the most important
// of those who are here, the oldest of equals. A human who waits for an answer
// goes first; companions that talk among themselves do not, or a talk of theirs
// would have to end before somebody may say what she sees.
func (s *State) nextWish() (next *Wish) {
	if s.unanswered() && s.LastBy == abi.KindHuman {
		return nil
	}
	kinds := s.Kinds()
	for i, w := range s.Wishes {
		if _, here := kinds[w.Who]; here && (next == nil || w.Importance > next.Importance) {
			next = &s.Wishes[i]
		}
	}
	return next
}

// grantWish gives the floor to who perceived something, without a round: nobody
// else perceived it.
func (m *Machine) grantWish(at time.Time, w Wish) error {
	s := m.State
	d := entry.Decision{
		Wish: w.Seq, Outcome: entry.OutcomeGrant, Speaker: w.Who, Rule: entry.RulePerceived,
		Reason:  w.why(),
		Ranking: []entry.Candidate{{Who: w.Who, Standing: "speak", Importance: w.Importance, Debt: s.Debt[w.Who], Note: w.Reason}},
	}
	if outcome, why := s.Mute(); why != "" {
		d.Outcome, d.Reason, d.Speaker, d.Rule = outcome, why, "", ""
	}
	return m.decide(at, d)
}

func (w Wish) why() string {
	if w.Perception == 0 {
		return w.Who + " has something to say while nobody has the floor"
	}
	return fmt.Sprintf("%s perceived something (#%d) while nobody had the floor", w.Who, w.Perception)
}

// granted is decided for a wish. Nothing but the floor changes: the newest turn
// keeps the round it waits for.
func (s *State) granted(e entry.Entry, d entry.Decision) {
	i := slices.IndexFunc(s.Wishes, func(w Wish) bool { return w.Seq == d.Wish })
	if i < 0 {
		return
	}
	w := s.Wishes[i]
	s.unwish(d.Wish)
	if d.Outcome == entry.OutcomeGrant {
		s.Floor = &Floor{
			Grant: *d.Grant, Who: d.Speaker, By: e.Seq, About: s.Last.Seq, Ranking: d.Ranking, Tried: []string{d.Speaker}, Wish: &w,
		}
	}
}

func (s *State) capped() bool { return s.Rules.MaxTurns > 0 && s.Turns >= s.Rules.MaxTurns }

func (s *State) whyCapped() string {
	return fmt.Sprintf("companions took %d turns since a human spoke, and may take %d", s.Turns, s.Rules.MaxTurns)
}

// Act is an action whose result may still come.
type Act struct {
	ID     string `json:"id"`
	Who    string `json:"who"`
	Action string `json:"action"`
}

// maxActs is how many actions of one companion a room waits for.
const maxActs = 64

// acted notes an action. Where there are too many the oldest of its name goes, so
// that one that takes long is not lost to many short ones; else the oldest.
func (s *State) acted(b entry.Action) {
	same, any, n := -1, -1, 0
	for i, a := range slices.Backward(s.Acts) {
		if a.Who != b.Who {
			continue
		}
		any = i
		if n++; a.Action == b.Action {
			same = i
		}
	}
	if same < 0 {
		same = any
	}
	if n >= maxActs {
		s.Acts = slices.Delete(s.Acts, same, same+1)
	}
	s.Acts = append(s.Acts, Act{b.ID, b.Who, b.Action})
}

// Mute says why no companion may speak here, whoever wants to, and what is decided
// then; "" where one may.
func (s *State) Mute() (outcome entry.Outcome, why string) {
	switch {
	case s.Stage == abi.ClosingTerminal:
		return entry.OutcomeClosed, "the talk has ended"
	case s.capped():
		return entry.OutcomeCapped, s.whyCapped()
	}
	return "", ""
}

// spoke notes a segment. A line that has begun to sound is not stale any more.
func (s *State) spoke(b entry.Segment) {
	if s.Floor != nil && s.Floor.Token == b.Grant {
		s.Floor.Spoken += b.Text
		s.Floor.Segments = b.N
	}
}

// Begun says whether a line with this grant has begun to sound.
func (s *State) Begun(grant string) bool {
	return s.Floor != nil && s.Floor.Token == grant && s.Floor.Segments > 0
}
