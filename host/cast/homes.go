package cast

import (
	"slices"

	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/config"
)

// UsualRoom is the room of whoever names none.
func UsualRoom(all []config.Room) string {
	if slices.ContainsFunc(all, func(r config.Room) bool { return r.Name == config.DefaultName }) {
		return config.DefaultName
	}
	return all[0].Name
}

// Homes gives what the rooms of the configuration say of who lives there, the usual
// one first.
func Homes(all []config.Room) (homes []card.Home) {
	usual := UsualRoom(all)
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
