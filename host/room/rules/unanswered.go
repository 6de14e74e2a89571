package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/turn"
)

// Unanswered is a human's newest turn that nobody has answered. It stays until
// somebody does, until the same human says something newer, or until the room says in
// writing why nobody will.
type Unanswered struct {
	abi.Message
	Meant  []string `json:"meant,omitempty"`  // whom it addresses, or the turns of the same human before it did
	Passed int      `json:"passed,omitempty"` // lines that were about another while it waited
}

// Bounds of what waits for an answer.
const (
	maxUnanswered = 32               // humans
	maxPassed     = 2                // lines about somebody newer before the oldest is next
	maxAbsent     = 10               // rounds in a row in which nobody could vote
	longestAbsent = time.Minute      // between two of them
	firstAbsent   = time.Millisecond // where the room has no patience
)

// ask notes what a human said.
func (s *State) ask(m abi.Message, meant []string) {
	u := Unanswered{Message: m, Meant: meant}
	if i := s.waiting(func(w Unanswered) bool { return w.From == m.From }); i >= 0 {
		if was := s.Unanswered[i]; len(meant) == 0 {
			u.Meant = was.Meant // "Aya, listen." "What do you think?"
		}
		s.Unanswered = slices.Delete(s.Unanswered, i, i+1)
	}
	if len(s.Unanswered) == maxUnanswered {
		i := max(0, s.waiting(func(w Unanswered) bool { return len(w.Meant) == 0 }))
		s.Unanswered = slices.Delete(s.Unanswered, i, i+1)
	}
	s.Unanswered = append(s.Unanswered, u)
}

func (s *State) waiting(which func(Unanswered) bool) int {
	return slices.IndexFunc(s.Unanswered, which)
}

// answer notes that a line was said: it answers the turn that it was granted for, and
// all up to its basis that are not addressed to others. It says whether the first was
// somebody's who waited.
func (s *State) answer(b entry.Said, subject uint64) (asked bool) {
	before := len(s.Unanswered)
	asked = s.waiting(func(u Unanswered) bool { return u.Seq == subject }) >= 0
	s.Unanswered = slices.DeleteFunc(s.Unanswered, func(u Unanswered) bool {
		return u.Seq == subject || (b.Basis == 0 || u.Seq <= b.Basis) && (len(u.Meant) == 0 || slices.Contains(u.Meant, b.From))
	})
	if len(s.Unanswered) < before {
		for i := range s.Unanswered {
			s.Unanswered[i].Passed++
		}
	}
	return asked
}

// dismiss notes that nobody will answer a turn, which is in writing, and with it all
// before it that are addressed to nobody else.
func (s *State) dismiss(subject uint64) {
	s.Dismissed = nil
	if i := s.waiting(func(u Unanswered) bool { return u.Seq == subject }); i >= 0 && s.Last.Seq > subject && s.Rules.Silence > 0 && !s.Broken {
		u := s.Unanswered[i]
		s.Dismissed = &u
	}
	s.Unanswered = slices.DeleteFunc(s.Unanswered, func(u Unanswered) bool {
		return u.Seq == subject || u.Seq < subject && len(u.Meant) == 0
	})
}

// knocks has a silence be broken about a human's turn after which somebody else's came,
// that was being made meanwhile: else whoever said that would have nobody to answer.
func (s *State) knocks() {
	if s.Dismissed != nil {
		s.Unanswered, s.Dismissed = append(s.Unanswered, *s.Dismissed), nil
	}
}

// Subject is what the next round, the open one, or the line that is being made is
// about: the newest turn of a human that is unanswered, the oldest where that was
// passed over, else the newest turn.
func (s *State) Subject() (m abi.Message, by abi.ParticipantKind, meant []string) {
	return s.turnAt(s.subject())
}

func (s *State) subject() (seq uint64) {
	switch {
	case s.Round != nil:
		seq = s.Round.About
	case s.Floor != nil:
		seq = s.Floor.Subject
	case len(s.Unanswered) > 0:
		seq = s.Unanswered[len(s.Unanswered)-1].Seq
		if s.Unanswered[0].Passed >= maxPassed {
			seq = s.Unanswered[0].Seq
		}
	}
	return seq
}

// turnAt gives a turn that is unanswered, or else the newest.
func (s *State) turnAt(seq uint64) (m abi.Message, by abi.ParticipantKind, meant []string) {
	if i := s.waiting(func(u Unanswered) bool { return u.Seq == seq }); i >= 0 {
		return s.Unanswered[i].Message, abi.KindHuman, s.Unanswered[i].Meant
	}
	return s.Last, s.LastBy, s.Meant
}

// longestLoad is how long a human waits for somebody who is still being loaded before
// others are asked.
const longestLoad = 2 * time.Minute

// forLoading gives the turn that the next round is about, where whoever it addresses is
// still being loaded; nil else.
func (s *State) forLoading() *Unanswered {
	if len(s.Awaits) == 0 || len(s.Unanswered) == 0 {
		return nil
	}
	seq := s.subject()
	i := s.waiting(func(u Unanswered) bool { return u.Seq == seq })
	if i < 0 || len(s.Unanswered[i].Meant) == 0 {
		return nil
	}
	for _, who := range s.Unanswered[i].Meant {
		if !slices.Contains(s.Awaits, who) {
			return nil
		}
	}
	return &s.Unanswered[i]
}

// WaitsFor says why nobody answers yet, "" where nobody waits or somebody is asked.
func (s *State) WaitsFor() string {
	if s.Floor != nil {
		return ""
	}
	if u := s.forLoading(); u != nil {
		return strings.Join(u.Meant, ", ") + " is being loaded"
	}
	if s.Absence != nil {
		return s.Absence.Why
	}
	return ""
}

// answering says whether a human's turn is what the room is about now.
func (s *State) answering() bool {
	seq := s.subject()
	return (s.pending() || s.Round != nil || s.Floor != nil) && s.waiting(func(u Unanswered) bool { return u.Seq == seq }) >= 0
}

// longestFloor is how many times as long a floor is held where nobody else would speak. No
// call for a line takes longer.
const longestFloor = 3

// next gives who has the floor after the one who has it now: where that one could not
// speak and a human waits for an answer, be it somebody who would rather listen.
func (s *State) next(broke bool) (entry.Candidate, bool) {
	f := s.Floor
	return turn.Next(turn.Ruling{Silence: f.Silence || broke && s.answering(), Ranking: f.Ranking}, f.Tried)
}

// waitsOn says whether a line that takes long is waited for on.
func (s *State) waitsOn() bool {
	_, other := s.next(true)
	return !other && s.Floor.Longer < longestFloor-1 && s.Last.Seq == s.Floor.About && !s.before3()
}

// word notes that somebody spoke, or is new here.
func (s *State) word(who string) {
	s.Silent = slices.DeleteFunc(s.Silent, func(id string) bool { return id == who })
}

// Absence is why nobody was asked about the newest turn, or nobody could vote.
type Absence struct {
	N  int       `json:"n"`            // rounds in a row in which nobody could vote
	At time.Time `json:"at,omitzero"`  // not before this is it asked again, unless somebody comes or votes
	Of uint64    `json:"of,omitempty"` // entry that set At
	// Why says what the room waits for.
	Why string `json:"why,omitempty"`
}

// absent keeps a round in which nobody could vote, or whose line came to nothing, to
// be asked again: as soon as one of them can, or when that may be.
func (s *State) absent(e entry.Entry, d entry.Decision) {
	a := Absence{N: 1, At: d.Until, Of: e.Seq, Why: d.Reason}
	if s.Absence != nil {
		a.N += s.Absence.N
	}
	s.Absence, s.Asked = &a, min(s.Asked, s.Last.Seq-1)
	s.keepLate()
	s.Round, s.Floor = nil, nil
}

// until is when a room in which nobody could vote asks again; ok is false when it has
// asked often enough.
func (s *State) until(at time.Time) (_ time.Time, ok bool) {
	n := 0
	if s.Absence != nil {
		n = s.Absence.N
	}
	wait := max(firstAbsent, time.Duration(s.Rules.Patience)*time.Millisecond) << n
	return at.Add(min(wait, longestAbsent)), n < maxAbsent
}

// again has the newest turn asked about at once: somebody came, or voted late.
func (s *State) askAgain() {
	if s.Absence != nil {
		s.Absence.At = time.Time{}
	}
	s.Asked = min(s.Asked, s.Last.Seq-1)
}

// Takes says whether a vote for a round is still of use: the round is open, was
// superseded on the way to the open one, or nobody else could vote in it and nothing
// was said since; or it is the newest that was decided, and who wishes to speak may do so
// in the next.
func (s *State) Takes(round uint64) bool {
	return s.Round != nil && (s.Round.ID == round || slices.Contains(s.Chain, round)) || s.Late != nil && s.Late.ID == round || s.Past != nil && s.Past.ID == round
}

// late counts a vote for a round that came to nothing without it: whoever wants to
// speak, or is asked to, does so in a round of its own.
func (s *State) late(b entry.Voted) {
	if _, ok := s.Late.Cast(b.Voter, b.Vote); !ok || s.Absence == nil && b.State != abi.Speak {
		return
	}
	s.Held, s.Keeps, s.Late = s.Late, true, nil
	s.askAgain()
}

// wished counts a vote that came after its round was decided. Whoever always takes
// longer than the others would else never have a wish that counts.
func (s *State) wished(b entry.Voted) {
	if b.State == abi.Speak {
		if s.Past.Cast(b.Voter, b.Vote); s.Round != nil {
			s.Round.Carry(s.Past)
		}
	}
}

// keepPast keeps the round in which somebody got the floor, for the votes that are
// still to come.
func (s *State) keepPast() {
	s.Past = nil
	if s.before3() {
		return
	}
	if r := s.Round; slices.ContainsFunc(r.Electorate, func(v turn.Voter) bool { return r.Awaits(v.ID) }) {
		past := &turn.Round{ID: r.ID, About: r.About, From: r.From, Ballots: map[string]turn.Ballot{}}
		for _, v := range r.Electorate {
			if r.Awaits(v.ID) {
				past.Electorate = append(past.Electorate, v)
			}
		}
		s.Past = past
	}
}

// keepLate keeps the round that ends, where votes in it may still come.
func (s *State) keepLate() {
	if s.Round != nil && slices.ContainsFunc(s.Round.Electorate, func(v turn.Voter) bool { return s.Round.Awaits(v.ID) }) {
		s.Late, s.Round.Due = s.Round, time.Time{}
	}
}
