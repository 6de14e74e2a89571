package host

import (
	"slices"

	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/config"
)

// usualRoom is the room of whoever names none.
func usualRoom(all []config.Room) string {
	if slices.ContainsFunc(all, func(r config.Room) bool { return r.Name == config.DefaultName }) {
		return config.DefaultName
	}
	return all[0].Name
}

// homes gives what the rooms of the configuration say of who lives there, the usual
// one first.
func homes(all []config.Room) (homes []card.Home) {
	usual := usualRoom(all)
	for _, r := range all {
		home := card.Home{Companion: r.Companion, Companions: r.Companions}
		if r.Name == usual {
			homes = slices.Insert(homes, 0, home)
		} else {
			homes = append(homes, home)
		}
	}
	return homes
}

// usual is the companion that is meant by whoever names none, "" for nobody; see
// [card.Usual]. Who was written down may not be there.
func (h *Host) usual() string {
	var ids []string
	for _, c := range h.folder.Companions() {
		if c.Card() != nil {
			ids = append(ids, c.ID())
		}
	}
	return card.Usual(ids, homes(h.cfg.Rooms)...)
}
