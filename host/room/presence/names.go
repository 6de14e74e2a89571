package presence

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/cast"
)

// HumanAway is how long a human's name is kept from agents after the human was last
// heard of.
const HumanAway = 24 * time.Hour

// House says who has a name whatever room somebody is in.
type House interface {
	// Residents gives the ids of all companions, loaded or not.
	Residents() []string
	// Loading gives the ids of those that are being loaded for the first time.
	Loading() []string
	// Resident says which companion has an id that reads or looks like a name.
	Resident(name string) (id string, taken bool)
	// Holder says which holder of a token has such a name.
	Holder(name string) (holder string, taken bool)
}

// nobody is a House in which no name is taken.
type nobody struct{}

func (nobody) Residents() []string            { return nil }
func (nobody) Loading() []string              { return nil }
func (nobody) Resident(string) (string, bool) { return "", false }
func (nobody) Holder(string) (string, bool)   { return "", false }

// Settle finds out who is called what, where somebody came or went since: people are the
// humans who spoke.
func (p *Presence) Settle(people []cast.Person, now time.Time) {
	if !p.stale {
		return
	}
	p.stale, p.settled, p.taken, p.people = false, nil, address.Set{Long: true}, address.Set{}
	known := make(map[string]address.Keys, len(people))
	for _, h := range people {
		if now.Sub(h.At) < HumanAway {
			keys, made := p.keys[h.Name]
			if !made {
				keys = address.KeysOf(h.Name)
			}
			known[h.Name] = keys
			p.people.AddKeys(keys, h.Name)
		}
	}
	p.keys = known
	var here []entry.Joined
	for _, c := range p.cast {
		p.taken.Add(c.ID, c.ID)
		if p.lives(c.ID) {
			here = append(here, c)
		}
	}
	for _, c := range here {
		p.settled = append(p.settled, p.settle(c))
	}
	for who := range p.agents { // one that came before somebody above it took its name
		_, companion := p.taken.Find(who)
		_, human := p.people.Find(who)
		if (companion || human) && !p.agents[who].stays {
			delete(p.agents, who)
		}
	}
}

// settle gives a companion as it is called in this room: a name or an alias that
// is somebody else's, or nobody's to have, is left out, and the id stands for
// itself. Of companions the first by id keeps it.
func (p *Presence) settle(c entry.Joined) entry.Joined {
	free := func(name string) bool {
		id, resident := p.house.Resident(name)
		_, holder := p.house.Holder(name)
		_, human := p.people.Find(name)
		switch {
		case resident && id != c.ID, address.Reserved(name, abi.KindCompanion) != "":
			return false
		case !resident && (holder || human): // its own id is a companion's whoever else had that name
			return false
		}
		whose, added := p.taken.Add(name, c.ID)
		return added || whose == c.ID
	}
	if c.Name != "" && !free(c.Name) {
		p.note("name not given: " + c.ID + " is not called " + c.Name)
		c.Name = ""
	}
	c.Aliases = slices.DeleteFunc(slices.Clone(c.Aliases), func(a string) bool { return !free(a) })
	return c
}

// MayBe says why somebody from outside may not talk under a name here.
func (p *Presence) MayBe(who string, by abi.ParticipantKind) error {
	if p.Attends(who) && by == abi.KindAgent {
		return nil // it was asked when it came
	}
	if id, taken := p.house.Resident(who); taken {
		return isTaken(who, id, "a companion")
	}
	if id, taken := p.taken.Find(who); taken {
		return isTaken(who, id, "a companion")
	}
	if by != abi.KindAgent {
		return nil
	}
	if name, taken := p.people.Find(who); taken {
		return isTaken(who, name, "a human")
	}
	for other := range p.agents {
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

// Heard notes that a human spoke: the name is the human's from now on. It answers
// whether it was not before.
func (p *Presence) Heard(name string) bool {
	_, known := p.people.Find(name)
	p.stale = p.stale || !known
	return !known
}

// whyLeft says why somebody who was here is not any more.
func (p *Presence) whyLeft(m entry.Joined) string {
	_, human := p.people.Find(m.ID)
	switch {
	case m.Kind == abi.KindAgent && human:
		return "a human has this name"
	case m.ID == p.sent.ID:
		return p.sent.Reason
	case m.Kind == abi.KindAgent:
		return "was not heard of for a while"
	case slices.ContainsFunc(p.cast, is(m.ID)):
		return "it does not live here any more"
	case slices.Contains(p.house.Residents(), m.ID):
		return "its file is not loaded"
	}
	return "its file is gone"
}
