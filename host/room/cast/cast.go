// Package cast is who is in a room by its journal: companions and agents, the humans who
// spoke, what they answer to, and how they are shown to each other. It is pure, and never
// decides who is let in or who speaks; host/room/presence and host/room/rules do.
package cast

import (
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	v1 "github.com/companiond/companiond/host/address/v1"
	"github.com/companiond/companiond/host/entry"
)

// MaxGuests is how many of the humans who spoke last are members for whoever looks.
const MaxGuests = 32

// maxPeople is how many of them a room remembers by name.
const maxPeople = 256

// Present is the part of a room's state that says who is there.
type Present struct {
	Cast      []entry.Joined `json:"cast,omitempty"`      // companions and agents, by id
	People    []Person       `json:"people,omitempty"`    // humans who spoke, newest last
	Gathering bool           `json:"gathering,omitempty"` // who is here is not said yet: nobody is asked
	Awaits    []string       `json:"awaits,omitempty"`    // live here and are still being loaded
	Opened    string         `json:"opened,omitempty"`    // who opened the room at a door
	Archived  string         `json:"archived,omitempty"`  // who closed the room
	Muted     []string       `json:"muted,omitempty"`     // are not to speak, by id, whether they are here or not
}

// Person is a human who spoke in the room.
type Person struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"` // last
}

// Joins puts somebody into the cast, or in place of who had the id.
func (p *Present) Joins(b entry.Joined) {
	i, found := slices.BinarySearchFunc(p.Cast, b.ID, func(m entry.Joined, id string) int { return strings.Compare(m.ID, id) })
	if found {
		p.Cast[i] = b
	} else {
		p.Cast = slices.Insert(p.Cast, i, b)
	}
}

// Leaves takes somebody out of the cast.
func (p *Present) Leaves(id string) {
	p.Cast = slices.DeleteFunc(p.Cast, func(m entry.Joined) bool { return m.ID == id })
}

// Hears notes that a human spoke.
func (p *Present) Hears(name string, at time.Time) {
	p.People = append(slices.DeleteFunc(p.People, func(p Person) bool { return p.Name == name }), Person{name, at})
	if len(p.People) > maxPeople {
		p.People = slices.Delete(p.People, 0, 1)
	}
}

// Loads says whether somebody is named, and whether all who are are still being loaded.
func (p *Present) Loads(who []string) bool {
	return len(who) > 0 && !slices.ContainsFunc(who, func(id string) bool { return !slices.Contains(p.Awaits, id) })
}

// Kinds gives what everybody in the cast is.
func (p *Present) Kinds() map[string]abi.ParticipantKind {
	k := make(map[string]abi.ParticipantKind, len(p.Cast))
	for _, m := range p.Cast {
		k[m.ID] = m.Kind
	}
	return k
}

// Named gives the names the cast answers to.
func (p *Present) Named() []address.Member {
	ns := make([]address.Member, 0, len(p.Cast))
	for _, m := range p.Cast {
		ns = append(ns, address.Member{ID: m.ID, Names: append([]string{m.ID, m.Name}, m.Aliases...)})
	}
	return ns
}

// AddressedV1 gives whom a turn addresses where nothing that was stored says it: by the
// rule of when that was so.
func (p *Present) AddressedV1(m abi.Message) []string {
	var ms []v1.Member
	for _, n := range p.Named() {
		ms = append(ms, v1.Member(n))
	}
	return v1.Addressed(m, ms)
}

// Members gives everybody as the others see them.
func (p *Present) Members() []abi.Member {
	guests := p.People[max(0, len(p.People)-MaxGuests):]
	ms := make([]abi.Member, 0, len(p.Cast)+len(guests))
	for _, m := range p.Cast {
		ms = append(ms, abi.Member{ID: m.ID, Name: m.Name, Kind: m.Kind})
	}
	for _, g := range slices.SortedFunc(slices.Values(guests), func(a, b Person) int { return strings.Compare(a.Name, b.Name) }) {
		ms = append(ms, abi.Member{ID: g.Name, Name: g.Name, Kind: abi.KindHuman})
	}
	return ms
}

// Shown gives the members of a scene: everybody, or where they are too many to show each
// to each, the first so many and of the rest those of who.
func Shown(members []abi.Member, who ...string) []abi.Member {
	if len(members) <= abi.MaxMembers {
		return members
	}
	shown := slices.Clone(members[:abi.MaxMembers-2])
	for _, m := range members[abi.MaxMembers-2:] {
		if slices.Contains(who, m.ID) {
			shown = append(shown, m)
		}
	}
	return shown
}

// SetMuted notes that somebody is not to speak, or may again.
func (p *Present) SetMuted(who string, on bool) {
	i, found := slices.BinarySearch(p.Muted, who)
	switch {
	case on && !found:
		p.Muted = slices.Insert(slices.Clip(p.Muted), i, who)
	case !on && found:
		if p.Muted = slices.Delete(slices.Clone(p.Muted), i, i+1); len(p.Muted) == 0 {
			p.Muted = nil
		}
	}
}

// CheckMute refuses to mute what is no companion that is here: whoever is not here and muted may be let speak again.
func (p *Present) CheckMute(who string, on bool) error {
	var here []string
	for _, m := range p.Cast {
		if m.Kind == abi.KindCompanion {
			here = append(here, m.ID)
		}
	}
	if !on || slices.Contains(here, who) {
		return nil
	}
	return abi.Field("companion", abi.CodeNotFound, "there is no companion %.64q here; there are: %s", who, strings.Join(here, ", "))
}

// IsMuted says whether somebody is not to speak.
func (p *Present) IsMuted(who string) bool {
	_, found := slices.BinarySearch(p.Muted, who)
	return found
}

// Voters gives the ids of all who vote and may speak, but for one.
func (p *Present) Voters(but string) []string {
	var ids []string
	for _, m := range p.Cast {
		if !m.NoVote && m.ID != but && !p.IsMuted(m.ID) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
