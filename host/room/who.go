package room

import (
	"slices"

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
	r.present.Settle(r.cast, r.state().People, r.settings.Lives, r.loop.Now())
}

// attend notes that an agent was heard of.
func (r *Room) attend(who string, votes bool) error {
	changed, err := r.present.Attend(who, votes, r.loop.Now())
	if changed {
		r.syncCast()
	}
	return err
}

// called gives the names that somebody in the room answers to: those of the cast,
// and while companions are being loaded the ids of those that live here.
func (r *Room) called() []address.Member {
	ms := r.state().Named()
	if r.cast == nil {
		for _, id := range r.present.Residents() {
			if r.settings.Lives(id) && !slices.ContainsFunc(ms, func(m address.Member) bool { return m.ID == id }) {
				ms = append(ms, address.Member{ID: id, Names: []string{id}})
			}
		}
	}
	return ms
}

// addressed gives whom a line addresses. It is asked once, before the line is
// written down: tomorrow's answer is of no interest.
func (r *Room) addressed(b entry.Said) []string {
	if b.Kind == abi.KindBackchannel {
		return nil
	}
	return address.Addressed(abi.Message{From: b.From, To: b.To, Text: b.Text}, r.called())
}
