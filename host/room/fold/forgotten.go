package fold

import (
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/cast"
	"github.com/companiond/companiond/host/room/queue"
)

// forgotten is what follows from an erasure, besides what the entries that it left say:
// whoever it was is not here any more, and waits for nothing. Nobody is asked about a turn
// of which no word is left. What another order erased later was still there then: only what this one
// names counts, so that the state is the same whenever it is folded. Where words went that turns were told as, these are told
// otherwise from then on.
func (s *State) forgotten(e entry.Entry, b entry.Forgotten) {
	s.History.Forgotten(b.Has, e.Seq)
	s.People = slices.DeleteFunc(s.People, func(p cast.Person) bool { return p.Name == b.As })
	gone := func(m abi.Message) bool { return m.Cut == entry.CutErased && b.Has(m.Seq) }
	s.Unanswered = slices.DeleteFunc(s.Unanswered, func(u queue.Unanswered) bool { return gone(u.Message) })
	if s.Dismissed != nil && gone(s.Dismissed.Message) {
		s.Dismissed = nil
	}
	s.Untell(b.Has)
	s.Drop(func(r queue.Request) bool { return r.Who == b.As })
	if gone(s.Last) {
		s.Asked, s.Absence, s.Alone = max(s.Asked, s.Last.Seq), nil, false
	}
}
