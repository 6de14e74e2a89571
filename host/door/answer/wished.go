package answer

import (
	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// wished hears the line of a wish to speak, from what follows the wish.
type wished struct {
	who   string
	wish  uint64
	grant string // token, once it was granted
	text  string
}

func (w *wished) hear(e entry.Entry) (enough bool, err error) {
	switch e.Kind {
	case entry.KindSaid:
		s, err := entry.Decode[entry.Said](e)
		if err != nil || !isTurnOf(s, w.who) || w.grant == "" || s.Grant != w.grant {
			return false, nil
		}
		w.text = s.Text
		return true, nil
	case entry.KindDecision:
		d, _ := entry.Decode[entry.Decision](e)
		if d.Wish == w.wish && d.Outcome == entry.OutcomeGrant && d.Grant != nil {
			w.grant = d.Grant.Token
			return false, nil
		}
		return d.Wish == w.wish || w.grant != "", nil // it cannot be, or somebody else has the floor by now
	case entry.KindDue:
		b, _ := entry.Decode[entry.Due](e)
		return b.What == entry.DueStale && b.Of == w.wish, nil
	case entry.KindFailed:
		b, _ := entry.Decode[entry.Failed](e)
		return b.Grant != "" && b.Grant == w.grant, nil
	case entry.KindRefused:
		b, _ := entry.Decode[entry.Refused](e)
		return b.Grant != "" && b.Grant == w.grant && b.Kind == abi.KindTurn && !b.Again, nil
	}
	return gone(e, w.who) != "", nil
}

func (*wished) upto(uint64) error { return nil }
