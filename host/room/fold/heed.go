package fold

import (
	"slices"
	"time"
)

// This file is what a chat does not do: where many write at once, nothing would come to an
// end if each message began it anew.

// Newest gives the newest turn that whoever speaks has to know.
func (s *State) Newest() Heeded {
	if s.Heeded != nil {
		return *s.Heeded
	}
	return Heeded{s.Last.Seq, s.Last.From}
}

// Behind says whether a line that knows all up to its basis is about what is not the newest
// any more.
func (s *State) Behind(basis uint64, who string) bool {
	n := s.Newest()
	return n.Seq > basis && n.From != who
}

// heed notes that a turn comes, and whether it is one of many.
func (s *State) heed(crowd bool) {
	if n := s.Newest(); crowd {
		s.Heeded = &n
	} else {
		s.Heeded = nil
	}
}

// goesOn ends, with a turn, what the room waited for before it: nobody who was late is waited
// for, and nobody who could not answer. A chat's turn does not where it changes nothing: it
// calls nobody, or none who could be asked.
func (s *State) goesOn(crowd bool, at time.Time) {
	if crowd {
		s.LatePast()
	}
	s.Late = nil
	if !crowd || s.Absence == nil || s.mayAnswer(at) {
		s.Absence = nil
	}
}

// mayAnswer says whether the newest turn is for somebody who may be asked now, though others
// could not.
func (s *State) mayAnswer(at time.Time) bool {
	who := s.Meant
	if len(who) == 0 {
		if who = s.Voters(); s.Absence.N > 0 {
			return false
		}
	}
	return slices.ContainsFunc(who, func(id string) bool { return s.BarOf(id, at) == nil })
}
