package room

import (
	"maps"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/turn"
)

// openRound shows a round to agents that are to vote in it.
func openRound(round *turn.Round) *rooms.OpenRound {
	o := &rooms.OpenRound{ID: round.ID, About: round.About, Due: round.Due, Awaits: []string{}, Addressed: append([]string{}, round.Addressed...)}
	for _, v := range round.Electorate {
		if round.Awaits(v.ID) {
			o.Awaits = append(o.Awaits, v.ID)
		}
	}
	return o
}

// Budget gives the room's pool now; ok is false in a room without one.
func (r *Room) Budget() (abi.Budget, bool) {
	return r.pool.Load().At(time.Now().UTC().Truncate(time.Millisecond))
}

// noteBackchannel keeps the backchannel that came with a vote until it is known who
// has the floor.
func (r *Room) noteBackchannel(round uint64, who, text string) {
	if text == "" {
		return
	}
	if r.backchannels[round] == nil {
		r.backchannels[round] = map[string]string{}
	}
	r.backchannels[round][who] = text
}

// sayBackchannels says the backchannels of those who did not get the floor. Those of
// a round that came to nothing are forgotten: their moment has passed.
func (r *Room) sayBackchannels() {
	for id, said := range r.backchannels {
		s := r.state()
		if s.Round != nil && s.Round.ID == id {
			continue
		}
		delete(r.backchannels, id)
		_, pool := s.Budget(r.loop.Now())
		if !pool || s.Floor == nil || s.Floor.Round != id {
			continue
		}
		speaker := s.Floor.Who
		for _, who := range slices.Sorted(maps.Keys(said)) {
			if _, here := s.Kinds()[who]; !here || who == speaker || r.loop.Trouble() != nil {
				continue
			}
			_, _ = r.loop.Line(rules.Line{ID: r.cfg.NewID(), Said: entry.Said{
				From: who, By: abi.KindCompanion, Text: said[who], Kind: abi.KindBackchannel, Basis: s.Last.Seq,
			}}) // a refusal is written down
		}
	}
}
