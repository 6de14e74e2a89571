package room

import (
	"cmp"
	"math"
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
	before := ""
	if b.By == abi.KindHuman {
		before = r.before(b.From, math.MaxUint64)
	}
	who, found := address.Meant(abi.Message{From: b.From, To: b.To, Text: b.Text}, r.present.Called(r.state().Named()), before)
	return who, string(found)
}

// replyWithin is how many turns back somebody spoke whom a bare question may be meant for.
const replyWithin = 6

// before gives the companion or agent that a human's bare question before the entry seq
// would be put to, "" for none: the one that spoke last, or that this human addressed
// alone since; where other humans spoke since, only one that had answered this human.
func (r *Room) before(human string, seq uint64) string {
	turns := slices.DeleteFunc(r.tail.Last(2*replyWithin), func(m abi.Message) bool {
		return m.Kind == abi.KindBackchannel || m.Seq >= seq
	})
	turns = turns[max(0, len(turns)-replyWithin):]
	last, others := "", false
	for _, m := range slices.Backward(turns) {
		switch {
		case r.state().Kinds()[m.From] != "": // no human has the name of one of those
			if !others {
				return m.From
			}
			last = cmp.Or(last, m.From)
		case m.From != human:
			if last != "" {
				return ""
			}
			others = true
		case last != "":
			return last
		case len(m.Addressed) > 0:
			if len(m.Addressed) > 1 {
				return ""
			}
			return m.Addressed[0]
		}
	}
	return ""
}
