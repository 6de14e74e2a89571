// Package presence is who is in a room. First come those who live in the house, whichever
// room they are in, by the names of their files, and the holders of tokens; then humans
// who were heard of here; then agents. Nobody takes the name of one above it. It finds
// who came and left since the journal last said so.
//
// It writes nothing down and asks nobody: a room tells it who came and when, and says in
// the journal what it answers. The loop alone uses it.
package presence

import (
	"maps"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/cast"
)

// How long an agent that says nothing is taken to be here, and how many there
// may be at once. One that takes part in rounds is let go soon, for while it is
// here every round waits for its vote. Where they are too many, guests make room for the
// holders of tokens, and no holder for a guest: a guest has as many names as it likes.
const (
	VoterAway  = 90 * time.Second
	TalkerAway = 10 * time.Minute
	MaxAgents  = 64
)

// agent is somebody from outside who is here. It is not in the journal; that it
// came and left is.
type agent struct {
	votes bool
	stays bool      // a member of the conversation that the room is for
	heard time.Time // last, by the room's clock
}

func (a agent) away() time.Time {
	if a.votes {
		return a.heard.Add(VoterAway)
	}
	return a.heard.Add(TalkerAway)
}

// Presence is one room's. Make it with [New].
type Presence struct {
	house   House
	lives   func(id string) bool
	note    func(what string)
	cast    []entry.Joined // the companions that are loaded, by id; nil: not known yet
	loading []string       // those that are being loaded, as of cast
	agents  map[string]agent
	sent    entry.Left              // who made room last, and for whom
	settled []entry.Joined          // the companions that live here and are loaded, as they are called here
	taken   address.Set             // what they are called
	people  address.Set             // humans who were heard of
	keys    map[string]address.Keys // of their names: a stream's chat has hundreds, and each new one has all looked at again
	stale   bool                    // somebody came or went since
}

// New makes a presence in which nobody is. house may be nil: then nobody has a name but
// in the room. lives says which companions live in it, note is told of names that are
// not given.
func New(house House, lives func(id string) bool, note func(what string)) *Presence {
	if house == nil {
		house = nobody{}
	}
	return &Presence{house: house, lives: lives, note: note, agents: map[string]agent{}, stale: true}
}

// Stale says that somebody came or went, or lives elsewhere now.
func (p *Presence) Stale() { p.stale = true }

// SetCast says which companions are loaded now, by id; nil: that is not known yet.
func (p *Presence) SetCast(cast []entry.Joined) {
	p.cast, p.loading, p.stale = cast, nil, true
	if cast != nil {
		p.loading = slices.DeleteFunc(p.house.Loading(), func(id string) bool { return slices.ContainsFunc(cast, is(id)) })
	}
}

// Known says whether it is known which companions are loaded.
func (p *Presence) Known() bool { return p.cast != nil }

// is says whether somebody has an id.
func is(id string) func(entry.Joined) bool {
	return func(m entry.Joined) bool { return m.ID == id }
}

// Agents is how many are here that may go.
func (p *Presence) Agents() (n int) {
	for _, a := range p.agents {
		if !a.stays {
			n++
		}
	}
	return n
}

// Stay says that an agent is here for as long as the room is: it has a conversation here,
// and is present by its session, wherever that is.
func (p *Presence) Stay(who string) { p.agents[who] = agent{stays: true} }

// Attends says whether an agent is here.
func (p *Presence) Attends(who string) bool { _, here := p.agents[who]; return here }

// Attend notes that an agent was heard of; changed says whether it came or takes part in
// rounds from now on. One that has voted goes on to be asked when it only talks.
func (p *Presence) Attend(who string, votes bool, now time.Time) (changed bool, err error) {
	was, here := p.agents[who]
	if !here && len(p.agents) >= MaxAgents && !p.makeRoom(who) {
		return false, abi.Field("from", abi.CodeExhausted, "%d agents are here, which is as many as there may be", len(p.agents))
	}
	if p.sent.ID == who {
		p.sent = entry.Left{}
	}
	if was.stays {
		return false, nil
	}
	p.agents[who] = agent{votes: votes || was.votes, heard: now}
	return !here || p.agents[who].votes != was.votes, nil
}

// Hear notes that an agent which is here did something.
func (p *Presence) Hear(who string, now time.Time) {
	if a, here := p.agents[who]; here {
		a.heard = now
		p.agents[who] = a
	}
}

// makeRoom lets go of an agent for another: of those that may go first, the one that was not
// heard of for longest.
func (p *Presence) makeRoom(whom string) bool {
	_, holder := p.house.Holder(whom)
	oldest, first := "", stays
	for who, a := range p.agents {
		rank := p.goes(who, a, holder)
		if rank == stays || rank > first {
			continue
		}
		if was := p.agents[oldest]; rank < first || a.heard.Before(was.heard) || a.heard.Equal(was.heard) && who < oldest {
			oldest, first = who, rank
		}
	}
	if first == stays {
		return false
	}
	delete(p.agents, oldest)
	p.sent = entry.Left{ID: oldest, Reason: "made room for " + whom}
	return true
}

// stays is the rank of an agent that goes for nobody.
const stays = 3

// goes ranks an agent that might go for the holder of a token, or for a guest: the lowest go first.
func (p *Presence) goes(who string, a agent, forHolder bool) int {
	_, holder := p.house.Holder(who)
	switch {
	case !holder && !a.votes:
		return 0
	case !holder && forHolder:
		return 1
	case holder && !a.votes && forHolder:
		return 2
	}
	return stays
}

// Dismiss lets go of agents that were not heard of for too long.
func (p *Presence) Dismiss(now time.Time) {
	maps.DeleteFunc(p.agents, func(_ string, a agent) bool { return !a.stays && !now.Before(a.away()) })
}

// NextAway gives when the next agent is to be let go, some false for none.
func (p *Presence) NextAway() (at time.Time, some bool) {
	for _, a := range p.agents {
		if away := a.away(); !a.stays && (!some || away.Before(at)) {
			at, some = away, true
		}
	}
	return at, some
}

// Cast gives the companions that live here and are loaded, as they are called here, and
// behind them the agents, each by id.
func (p *Presence) Cast() []entry.Joined {
	js := slices.Clone(p.settled)
	for _, who := range slices.Sorted(maps.Keys(p.agents)) {
		js = append(js, entry.Joined{ID: who, Kind: abi.KindAgent, NoVote: !p.agents[who].votes})
	}
	return js
}

// Change gives who came, was reloaded, or left since a room was in a state, and whether
// any of it is to be written down. While it is not known yet which companions are loaded,
// it says so.
func (p *Presence) Change(was cast.Present) (change entry.Cast, some bool) {
	change = entry.Cast{Loading: !p.Known(), Awaits: p.awaits()}
	cast := p.Cast()
	for _, j := range cast {
		if !slices.ContainsFunc(was.Cast, func(m entry.Joined) bool { return same(m, j) }) {
			change.Joined = append(change.Joined, j)
		}
	}
	for _, m := range was.Cast {
		if !slices.ContainsFunc(cast, is(m.ID)) {
			change.Left = append(change.Left, entry.Left{ID: m.ID, Reason: p.whyLeft(m)})
		}
	}
	return change, len(change.Joined)+len(change.Left) > 0 || was.Gathering && !change.Loading || !slices.Equal(change.Awaits, was.Awaits)
}

func same(a, b entry.Joined) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Kind == b.Kind && a.Engine == b.Engine &&
		a.Generation == b.Generation && a.NoVote == b.NoVote && slices.Equal(a.Aliases, b.Aliases)
}

// awaits gives who lives here and is still being loaded, though others are here.
func (p *Presence) awaits() (ids []string) {
	for _, id := range p.loading {
		if p.lives(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Called adds to the names that somebody answers to the ids of those that live here and
// are being loaded.
func (p *Presence) Called(ms []address.Member) []address.Member {
	ids := p.loading
	if !p.Known() {
		ids = p.house.Residents()
	}
	for _, id := range ids {
		if p.lives(id) && !slices.ContainsFunc(ms, func(m address.Member) bool { return m.ID == id }) {
			ms = append(ms, address.Member{ID: id, Names: []string{id}})
		}
	}
	return ms
}

// Here gives those of the addressees of a module's line who are among the members, each
// once.
func Here(members []abi.Member, to []string) (here []string) {
	for _, who := range to {
		for _, m := range members {
			if m.ID == who && len(here) < abi.MaxTo && !slices.Contains(here, who) {
				here = append(here, who)
			}
		}
	}
	return here
}
