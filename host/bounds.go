package host

import (
	"context"

	"github.com/companiond/companiond/host/journal"
)

// forkedOf gives the room that a room was forked of, empty for none.
func (h *Host) forkedOf(ctx context.Context, room string) (of string, err error) {
	row, _, err := h.journal.Room(ctx, room)
	return row.Fork.Of, journal.Coded(err)
}
