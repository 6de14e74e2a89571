package host

import (
	"context"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/limits"
)

// boundsOf gives the bounds on calls of models that a configuration sets.
func boundsOf(c config.Config) map[limits.Key]limits.Bounds {
	all := map[limits.Key]limits.Bounds{}
	for _, m := range c.Models {
		all[limits.Key{Table: "model", Name: m.Name}] = limits.Bounds{Minute: m.CallsMinute, Day: m.CallsDay, Cost: m.CostDay}
	}
	for _, m := range c.Companions {
		all[limits.Key{Table: "companion", Name: m.Name}] = limits.Bounds{Minute: m.CallsMinute, Day: m.CallsDay, Cost: m.CostDay}
	}
	for _, m := range c.Rooms {
		all[limits.Key{Table: "room", Name: m.Name}] = limits.Bounds{Minute: m.CallsMinute, Day: m.CallsDay, Cost: m.CostDay}
	}
	return all
}

// forkedOf gives the room that a room was forked of, empty for none.
func (h *Host) forkedOf(ctx context.Context, room string) (of string, err error) {
	row, _, err := h.journal.Room(ctx, room)
	return row.Fork.Of, journal.Coded(err)
}
