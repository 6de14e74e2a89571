package turn

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Series are the rounds of a room: the open one, and those before it in which a vote still
// counts.
type Series struct {
	Round *Round    `json:"round,omitempty"` // open
	Chain []uint64  `json:"chain,omitempty"` // rounds superseded since the floor was last decided
	Held  *Round    `json:"held,omitempty"`  // the newest of them, whose votes the next round carries
	Keeps bool      `json:"keeps,omitempty"` // Held was about what the next round is about: whoever voted is not asked again
	Late  *Round    `json:"late,omitempty"`  // came to nothing while votes were still to come; nothing was said since
	Past  *Round    `json:"past,omitempty"`  // the newest that was decided while votes were to come; wishes among these count in the next
	Since time.Time `json:"since,omitzero"`  // when the first of them opened
}

// Begin opens a round with the votes of those before it that stand.
func (s *Series) Begin(r *Round, at time.Time) {
	s.Round = r
	switch {
	case s.Held == nil || s.Keeps:
		s.Chain, s.Since = nil, at
		if s.Held != nil && s.Held.About == r.About {
			r.Keep(s.Held)
		}
	default:
		r.Carry(s.Held)
	}
	if s.Past != nil {
		r.Carry(s.Past)
	}
	s.Held, s.Keeps, s.Late = nil, false, nil
	if s.Since.IsZero() {
		s.Since = at
	}
}

// Vote counts a vote for the open round; one for a round that was superseded
// on the way to it stands until the voter answers anew. It answers true where a round that
// came to nothing is to be asked again because of it: nobody could vote in that (absent),
// or whoever was late wants to speak.
func (s *Series) Vote(b entry.Voted, absent bool) (again bool) {
	switch {
	case s.Late != nil && s.Late.ID == b.Round:
		if _, ok := s.Late.Cast(b.Voter, b.Vote); !ok || !absent && b.State != abi.Speak {
			return false
		}
		s.Held, s.Keeps, s.Late = s.Late, true, nil
		return true
	case s.Past != nil && s.Past.ID == b.Round:
		s.wished(b)
	case s.Round == nil:
	case s.Round.ID == b.Round:
		s.Round.Cast(b.Voter, b.Vote)
	case slices.Contains(s.Chain, b.Round):
		old := Round{Ballots: map[string]Ballot{b.Voter: {Vote: b.Vote}}}
		s.Round.Carry(&old)
	}
	return false
}

// wished counts a vote that came after its round was decided. Whoever always takes
// longer than the others would else never have a wish that counts.
func (s *Series) wished(b entry.Voted) {
	if b.State == abi.Speak {
		if s.Past.Cast(b.Voter, b.Vote); s.Round != nil {
			s.Round.Carry(s.Past)
		}
	}
}

// NoVote notes that somebody will not vote in the open round.
func (s *Series) NoVote(b entry.Failed) {
	if s.Round == nil || b.Round != s.Round.ID {
		return
	}
	note := s.Round.Fail
	if b.Code == abi.CodeTimeout {
		note = s.Round.Late
	}
	note(b.Who, b.Error)
}

// Takes says whether a vote for a round is still of use: the round is open, was
// superseded on the way to the open one, or nobody else could vote in it and nothing
// was said since; or it is the newest that was decided, and who wishes to speak may do so
// in the next.
func (s *Series) Takes(round uint64) bool {
	return s.Round != nil && (s.Round.ID == round || slices.Contains(s.Chain, round)) || s.Late != nil && s.Late.ID == round || s.Past != nil && s.Past.ID == round
}

// Supersede ends the open round, whose votes the next one carries.
func (s *Series) Supersede() {
	if s.Round != nil {
		s.Held, s.Chain, s.Round = s.Round, append(s.Chain, s.Round.ID), nil
	}
}

// KeepPast keeps the round in which somebody got the floor, for the votes that are
// still to come.
func (s *Series) KeepPast() {
	s.Past = s.Round.rest()
}

// LatePast ends what waits for votes that are late: wishes among them count in the next round.
func (s *Series) LatePast() {
	if s.Late != nil {
		s.Past = s.Late.rest()
	}
	s.Late = nil
}

// rest gives the round as it is to those of whom it awaits a vote, nil where there are none.
func (r *Round) rest() *Round {
	if r.Complete() {
		return nil
	}
	rest := &Round{ID: r.ID, About: r.About, From: r.From, Ballots: map[string]Ballot{}}
	for _, v := range r.Electorate {
		if r.Awaits(v.ID) {
			rest.Electorate = append(rest.Electorate, v)
		}
	}
	return rest
}

// KeepLate ends the open round, and keeps it where votes in it may still come.
func (s *Series) KeepLate() {
	if s.Round != nil && !s.Round.Complete() {
		s.Late, s.Round.Due = s.Round, time.Time{}
	}
	s.Round = nil
}
