package room

import (
	"math"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/presence"
)

// House says who has a name whatever room somebody is in.
type House = presence.House

// mayBe says why somebody from outside may not talk under a name here.
func (r *Room) mayBe(who string, by abi.ParticipantKind) error {
	if !r.present.Attends(who) || by != abi.KindAgent {
		r.settleNames()
	}
	return r.present.MayBe(who, by)
}

// settleNames finds out who is called what, where somebody came or went.
func (r *Room) settleNames() {
	r.present.Settle(r.state().People, r.loop.Now())
}

// attend notes that an agent was heard of.
func (r *Room) attend(who string, votes bool) error {
	changed, err := r.present.Attend(who, votes, r.loop.Now())
	if changed {
		r.syncCast()
	}
	return err
}

// addressed gives whom a line addresses, and how that was found. It is asked once, before
// the line is written down: tomorrow's answer is of no interest.
func (r *Room) addressed(b entry.Said) (who []string, how string) {
	if b.Kind == abi.KindBackchannel {
		return nil, ""
	}
	who, found := r.meant(abi.Message{From: b.From, To: b.To, Text: b.Text}, b.By, r.state().Named(), math.MaxUint64)
	if s := r.state(); len(who) == 0 && b.By == abi.KindHuman && (s.Gathering || len(s.Awaits) > 0) && address.Stranger(b.Text) {
		found = address.Unknown
	}
	return who, string(found)
}

// meant gives whom a message before the entry seq is meant for, and how that was found,
// where some are called as named says.
func (r *Room) meant(m abi.Message, by abi.ParticipantKind, named []address.Member, seq uint64) ([]string, address.How) {
	before := ""
	if by == abi.KindHuman {
		before = address.Before(r.tail.Last(address.BeforeWithin), m.From, seq, r.state().Kinds())
	}
	return address.Meant(m, r.present.Called(named), before)
}
