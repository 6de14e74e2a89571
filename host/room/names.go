package room

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
)

// Who is who in a room. First come those who live in the house, whichever room
// they are in, by the names of their files, and the holders of tokens; then humans
// who were heard of here; then agents. Nobody takes the name of one above it.

// humanAway is how long a human's name is kept from agents after the human was last
// heard of.
const humanAway = 24 * time.Hour

// House says who has a name whatever room somebody is in.
type House interface {
	// Residents gives the ids of all companions, loaded or not.
	Residents() []string
	// Resident says which companion has an id that reads or looks like a name.
	Resident(name string) (id string, taken bool)
	// Holder says which holder of a token has such a name.
	Holder(name string) (holder string, taken bool)
}

// nobody is a House in which no name is taken.
type nobody struct{}

func (nobody) Residents() []string            { return nil }
func (nobody) Resident(string) (string, bool) { return "", false }
func (nobody) Holder(string) (string, bool)   { return "", false }

// names are those of the room, as of the newest change to them.
type names struct {
	settled []entry.Joined // the companions that live here and are loaded, as they are called here
	taken   address.Set    // what they are called
	people  address.Set    // humans who were heard of
	stale   bool           // somebody came or went since
}

// callThem brings names up to date.
func (r *Room) callThem() {
	if !r.names.stale {
		return
	}
	r.names = names{}
	for _, p := range r.m.State.People {
		if r.now().Sub(p.At) < humanAway {
			r.names.people.Add(p.Name, p.Name)
		}
	}
	var here []entry.Joined
	for _, c := range r.cast {
		r.names.taken.Add(c.ID, c.ID)
		if r.settings.Lives(c.ID) {
			here = append(here, c)
		}
	}
	for _, c := range here {
		r.names.settled = append(r.names.settled, r.settle(c))
	}
	for who := range r.agents { // one that came before somebody above it took its name
		_, companion := r.names.taken.Find(who)
		_, human := r.names.people.Find(who)
		if companion || human {
			delete(r.agents, who)
		}
	}
}

// settle gives a companion as it is called in this room: a name or an alias that
// is somebody else's, or nobody's to have, is left out, and the id stands for
// itself. Of companions the first by id keeps it.
func (r *Room) settle(c entry.Joined) entry.Joined {
	free := func(name string) bool {
		id, resident := r.cfg.House.Resident(name)
		_, holder := r.cfg.House.Holder(name)
		_, human := r.names.people.Find(name)
		switch {
		case resident && id != c.ID, address.Reserved(name, abi.KindCompanion) != "":
			return false
		case !resident && (holder || human): // its own id is a companion's whoever else had that name
			return false
		}
		whose, added := r.names.taken.Add(name, c.ID)
		return added || whose == c.ID
	}
	if c.Name != "" && !free(c.Name) {
		r.counts.add("name not given: " + c.ID + " is not called " + c.Name)
		c.Name = ""
	}
	c.Aliases = slices.DeleteFunc(slices.Clone(c.Aliases), func(a string) bool { return !free(a) })
	return c
}

// mayBe says why somebody from outside may not talk under a name here.
func (r *Room) mayBe(who string, by abi.ParticipantKind) error {
	if _, here := r.agents[who]; here && by == abi.KindAgent {
		return nil // it was asked when it came
	}
	r.callThem()
	if id, taken := r.cfg.House.Resident(who); taken {
		return isTaken(who, id, "a companion")
	}
	if id, taken := r.names.taken.Find(who); taken {
		return isTaken(who, id, "a companion")
	}
	if by != abi.KindAgent {
		return nil
	}
	if name, taken := r.names.people.Find(who); taken {
		return isTaken(who, name, "a human")
	}
	for other := range r.agents {
		if address.Same(other, who) {
			return isTaken(who, other, "an agent")
		}
	}
	return nil
}

// isTaken says that a name is somebody's; one that only looks like it, whose.
func isTaken(name, whose, what string) error {
	if address.Reading(name) == address.Reading(whose) {
		return abi.Field("from", abi.CodeDenied, "%q is %s here; take another name", name, what)
	}
	return abi.Field("from", abi.CodeDenied, "%q cannot be told from a name of %s, who is %s here; take another name", name, whose, what)
}

// heard notes that a human spoke: the name is the human's from now on.
func (r *Room) heard(name string) {
	if _, known := r.names.people.Find(name); !known {
		r.names.stale = true
		r.syncCast()
	}
}

// called gives the names that somebody in the room answers to: those of the cast,
// and while companions are being loaded the ids of those that live here.
func (r *Room) called() []address.Member {
	ms := r.m.State.Named()
	if r.cast == nil {
		for _, id := range r.cfg.House.Residents() {
			if r.settings.Lives(id) && !slices.ContainsFunc(ms, func(m address.Member) bool { return m.ID == id }) {
				ms = append(ms, address.Member{ID: id, Names: []string{id}})
			}
		}
	}
	return ms
}

// addressed gives whom a line addresses. It is asked once, before the line is
// written down: what the answer would be tomorrow is of no interest.
func (r *Room) addressed(b entry.Said) []string {
	if b.Kind == abi.KindBackchannel {
		return nil
	}
	return address.Addressed(abi.Message{From: b.From, To: b.To, Text: b.Text}, r.called())
}
