package rules

import (
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
)

// Kinds gives what everybody in the cast is.
func (s *State) Kinds() map[string]abi.ParticipantKind {
	k := make(map[string]abi.ParticipantKind, len(s.Cast))
	for _, m := range s.Cast {
		k[m.ID] = m.Kind
	}
	return k
}

// Named gives the names the cast answers to.
func (s *State) Named() []address.Member {
	ns := make([]address.Member, 0, len(s.Cast))
	for _, m := range s.Cast {
		ns = append(ns, address.Member{ID: m.ID, Names: append([]string{m.ID, m.Name}, m.Aliases...)})
	}
	return ns
}

// Members gives everybody as the others see them.
func (s *State) Members() []abi.Member {
	guests := s.People[max(0, len(s.People)-maxGuests):]
	ms := make([]abi.Member, 0, len(s.Cast)+len(guests))
	for _, m := range s.Cast {
		ms = append(ms, abi.Member{ID: m.ID, Name: m.Name, Kind: m.Kind})
	}
	for _, g := range slices.SortedFunc(slices.Values(guests), func(a, b Person) int { return strings.Compare(a.Name, b.Name) }) {
		ms = append(ms, abi.Member{ID: g.Name, Name: g.Name, Kind: abi.KindHuman})
	}
	return ms
}

// Voters gives who is asked about what waits for an answer: everybody but its speaker.
func (s *State) Voters() []string {
	var ids []string
	said, by, _ := s.Subject()
	for _, m := range s.Cast {
		if !m.NoVote && (m.ID != said.From || by == abi.KindHuman) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
