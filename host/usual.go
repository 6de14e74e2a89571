package host

import (
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/cast"
)

// usual is the companion that is meant by whoever names none, "" for nobody; see
// [card.Usual]. Who was written down may not be there.
func (h *Host) usual() string {
	var ids []string
	for _, c := range h.folder.Companions() {
		if c.Card() != nil {
			ids = append(ids, c.ID())
		}
	}
	return card.Usual(ids, cast.Homes(h.cfg.Rooms)...)
}
