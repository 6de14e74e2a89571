package queue

import (
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Games are what connected games offer the companions of a room, and what games told them.
type Games struct {
	Offered []Offered `json:"offered,omitempty"` // in the order in which they came
	Said    []Told    `json:"told,omitempty"`    // oldest first
}

// Offered is an action that a game offers.
type Offered struct {
	Who  string `json:"who"`
	Body string `json:"body"`
	abi.Offer
}

// Told is what a game told a companion.
type Told struct {
	Who string `json:"who"`
	abi.Percept
}

// What a companion is told of what games told it: the newest, whatever it is asked.
const (
	maxTold      = 16      // of one companion
	maxToldBytes = 8 << 10 // all together; longer is not told again
)

// Offer notes what a game offers, and takes back.
func (g *Games) Offer(b entry.Offered) {
	g.Offered = slices.DeleteFunc(g.Offered, func(o Offered) bool { return o.Body == b.Body && slices.Contains(b.Withdrawn, o.Name) })
	for _, a := range b.Actions {
		a.Game = b.By
		g.Offered = append(g.Offered, Offered{b.Who, b.Body, a})
	}
}

// Unplug forgets what bodies offered that have left.
func (g *Games) Unplug(left []entry.Body) {
	g.Offered = slices.DeleteFunc(g.Offered, func(o Offered) bool {
		return slices.ContainsFunc(left, func(b entry.Body) bool { return b.ID == o.Body })
	})
}

// OffersTo gives what games offer a companion.
func (g *Games) OffersTo(who string) (all []abi.Offer) {
	for _, o := range g.Offered {
		if o.Who == who {
			all = append(all, o.Offer)
		}
	}
	return all
}

// OfferedTo gives the action of a name that games offer a companion, nil where none does.
func (g *Games) OfferedTo(who, name string) *Offered {
	i := slices.IndexFunc(g.Offered, func(o Offered) bool { return o.Who == who && o.Name == name })
	if i < 0 {
		return nil
	}
	return &g.Offered[i]
}

// Tell notes what a game told. Of one companion the newest stay. One whose words were erased
// takes a place, too, so that it does not matter when that was.
func (g *Games) Tell(e entry.Entry, b entry.Perceived) {
	if b.Game == "" && b.Answers == "" || b.Force != nil && (b.Force.Ephemeral || b.Force.Try > 1) {
		return
	}
	if len(b.Body) > maxToldBytes {
		b.Body = nil
	}
	g.Said = append(g.Said, Told{b.Who, abi.Percept{Seq: e.Seq, Title: b.Title, Format: b.Format, Body: b.Body, From: b.From, At: e.At, Game: b.Game, Answers: b.Answers}})
	n := 0
	for _, t := range g.Said {
		if t.Who == b.Who {
			n++
		}
	}
	if n > maxTold {
		i := slices.IndexFunc(g.Said, func(t Told) bool { return t.Who == b.Who })
		g.Said = slices.Delete(g.Said, i, i+1)
	}
}

// Untell forgets what was erased.
func (g *Games) Untell(erased func(seq uint64) bool) {
	for i, t := range g.Said {
		if erased(t.Seq) {
			g.Said[i].Body = nil
		}
	}
}

// ToldTo gives what games told a companion before an entry, 0 for by now.
func (g *Games) ToldTo(who string, before uint64) (all []abi.Percept) {
	size := 0
	for _, t := range slices.Backward(g.Said) {
		if t.Who != who || len(t.Body) == 0 || before > 0 && t.Seq >= before {
			continue
		}
		if size += len(t.Body); size > maxToldBytes {
			break
		}
		all = append(all, t.Percept)
	}
	slices.Reverse(all)
	return all
}
