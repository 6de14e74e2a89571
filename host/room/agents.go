package room

import (
	"maps"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/rules"
)

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
