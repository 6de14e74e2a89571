package registry

import (
	"context"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/fold"
)

// Forget has a room go on from what is left of its entries, see [room.Room.Forget]. One that
// sleeps is woken for that, whatever it takes else.
func (g *Registry) Forget(ctx context.Context, name string, anew func(ctx context.Context, head uint64) (*fold.State, entry.Forgotten, error)) error {
	_, err := within(ctx, g.handle(name), nil, func(r *room.Room) (none, error) { return none{}, r.Forget(ctx, anew) })
	return err
}

// Relist changes what the index knows of a room besides its entries.
func (g *Registry) Relist(ctx context.Context, name string, l journal.Listing) error {
	return g.register(ctx, name, l)
}
