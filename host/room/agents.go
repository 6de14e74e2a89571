package room

import (
	"maps"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/turn"
)

// How long an agent that says nothing is taken to be here, and how many there
// may be at once. One that takes part in rounds is let go soon, for while it is
// here every round waits for its vote.
const (
	voterAway  = 90 * time.Second
	talkerAway = 10 * time.Minute
	maxAgents  = 64
)

// agent is somebody from outside who is here. It is not in the journal; that it
// came and left is.
type agent struct {
	votes bool
	heard time.Time // last, by the room's clock
}

func (a agent) away() time.Time {
	if a.votes {
		return a.heard.Add(voterAway)
	}
	return a.heard.Add(talkerAway)
}

func (r *Room) handleAttend(e attendEvent) error {
	if r.trouble != nil {
		return DoorError(r.trouble)
	}
	if err := r.closed(); err != nil {
		return err
	}
	if err := r.mayBe(e.who, abi.KindAgent); err != nil {
		return err
	}
	return r.attend(e.who, e.votes)
}

// attend notes that an agent was heard of. One that has voted goes on to be
// asked when it only talks.
func (r *Room) attend(who string, votes bool) error {
	was, here := r.agents[who]
	if !here && len(r.agents) >= maxAgents && !r.makeRoom() {
		return abi.Field("from", abi.CodeExhausted, "%d agents are here, which is as many as there may be", len(r.agents))
	}
	r.agents[who] = agent{votes: votes || was.votes, heard: r.now()}
	if !here || r.agents[who].votes != was.votes {
		r.syncCast()
	}
	return nil
}

// hear notes that an agent which is here did something.
func (r *Room) hear(who string) {
	if a, here := r.agents[who]; here {
		a.heard = r.now()
		r.agents[who] = a
	}
}

// makeRoom lets go of the agent that was not heard of for longest, unless it
// takes part in rounds.
func (r *Room) makeRoom() bool {
	oldest := ""
	for who, a := range r.agents {
		if !a.votes && (oldest == "" || a.heard.Before(r.agents[oldest].heard) || a.heard.Equal(r.agents[oldest].heard) && who < oldest) {
			oldest = who
		}
	}
	delete(r.agents, oldest)
	return oldest != ""
}

// dismiss lets go of agents that were not heard of for too long.
func (r *Room) dismiss() {
	now := r.now()
	maps.DeleteFunc(r.agents, func(_ string, a agent) bool { return !now.Before(a.away()) })
}

// nextAway gives when the next agent is to be let go, some false for none.
func (r *Room) nextAway() (at time.Time, some bool) {
	for _, a := range r.agents {
		if away := a.away(); !some || away.Before(at) {
			at, some = away, true
		}
	}
	return at, some
}

// attending gives the agents as they stand in the cast, by id.
func (r *Room) attending() []entry.Joined {
	var js []entry.Joined
	for _, who := range slices.Sorted(keys(r.agents)) {
		js = append(js, entry.Joined{ID: who, Kind: abi.KindAgent, NoVote: !r.agents[who].votes})
	}
	return js
}

func (r *Room) whyLeft(m entry.Joined) string {
	_, human := r.names.people.Find(m.ID)
	switch {
	case m.Kind == abi.KindAgent && human:
		return "a human has this name"
	case m.Kind == abi.KindAgent:
		return "was not heard of for a while"
	case slices.ContainsFunc(r.cast, func(c entry.Joined) bool { return c.ID == m.ID }):
		return "it does not live here any more"
	}
	return "its file is gone"
}

// openRound shows a round to agents that are to vote in it.
func openRound(round *turn.Round) *OpenRound {
	o := &OpenRound{ID: round.ID, About: round.About, Due: round.Due, Awaits: []string{}, Addressed: append([]string{}, round.Addressed...)}
	for _, v := range round.Electorate {
		if round.Awaits(v.ID) {
			o.Awaits = append(o.Awaits, v.ID)
		}
	}
	return o
}

// poolView is the room's pool as of its newest entry.
type poolView struct {
	pool rules.PoolView
	at   time.Time // the room's clock is not behind this
}

// Budget gives the room's pool now; ok is false in a room without one.
func (r *Room) Budget() (abi.Budget, bool) {
	p := r.pool.Load()
	return p.pool.At(later(time.Now().UTC().Truncate(time.Millisecond), p.at))
}

func (r *Room) budget() abi.Budget {
	b, _ := r.Budget()
	return b
}

// noteBackchannel keeps the backchannel that came with a vote until it is known who
// has the floor.
func (r *Room) noteBackchannel(e votedEvent) {
	if e.vote.Backchannel == "" {
		return
	}
	if r.backchannels[e.round] == nil {
		r.backchannels[e.round] = map[string]string{}
	}
	r.backchannels[e.round][e.who] = e.vote.Backchannel
}

// sayBackchannels says the backchannels of those who did not get the floor. Those of
// a round that came to nothing are forgotten: their moment has passed.
func (r *Room) sayBackchannels() {
	for id, said := range r.backchannels {
		s := r.m.State
		if s.Round != nil && s.Round.ID == id {
			continue
		}
		delete(r.backchannels, id)
		_, pool := s.Budget(r.now())
		if !pool || s.Floor == nil || s.Floor.Round != id {
			continue
		}
		speaker := s.Floor.Who
		for _, who := range slices.Sorted(keys(said)) {
			if _, here := s.Kinds()[who]; !here || who == speaker || r.trouble != nil {
				continue
			}
			_, err := r.m.Say(rules.Line{ID: r.cfg.NewID(), Said: entry.Said{
				From: who, By: abi.KindCompanion, Text: said[who], Kind: abi.KindBackchannel, Basis: s.Last.Seq,
			}}, r.now())
			r.must(err)
		}
	}
}
