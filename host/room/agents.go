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

// backchannel came with a vote. It is kept until it is known who has the floor.
type backchannel struct {
	round uint64
	text  string
}

// sayBackchannels says the backchannels of those who did not get the floor. Those of
// a round that came to nothing are forgotten: their moment has passed.
func (r *Room) sayBackchannels() {
	s := r.state()
	f := s.Floor // it is the same while they are said
	for _, who := range slices.Sorted(maps.Keys(r.backchannels)) {
		b := r.backchannels[who]
		if s.Round != nil && s.Round.ID == b.round {
			continue
		}
		delete(r.backchannels, who)
		_, pool := s.Budget(r.loop.Now())
		_, here := s.Kinds()[who]
		if !pool || !here || f == nil || f.Round != b.round || who == f.Who || r.loop.Trouble() != nil {
			continue
		}
		_, _ = r.loop.Line(rules.Line{ID: r.cfg.NewID(), Said: entry.Said{
			From: who, By: abi.KindCompanion, Text: b.text, Kind: abi.KindBackchannel, Basis: s.Last.Seq,
		}}) // a refusal is written down
	}
}
