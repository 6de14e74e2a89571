package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Run follows the rooms that agents use, until ctx ends.
func (d *Door) Run(ctx context.Context) error { return d.follows.Run(ctx) }

// openSessions gives the sessions that are open, of either era.
func (d *Door) openSessions() map[*sdk.ServerSession]bool {
	open := map[*sdk.ServerSession]bool{}
	for s := range d.server.Sessions() {
		open[s] = true
	}
	return open
}

// liveSessions gives the ids of those that have one.
func (d *Door) liveSessions() map[string]bool {
	live := map[string]bool{}
	for s := range d.server.Sessions() {
		live[s.ID()] = true
	}
	delete(live, "") // those of clients that have none
	return live
}

// Listens notes that a socket is open, at an address, at which notices of a room are
// taken, until leave is called.
func (d *Door) Listens(room, address string) (leave func()) { return d.readers.Listens(room, address) }

// Waiting says whether an agent that reads the room has not seen everything, was
// refused and could be heard by now, or waits for the pool, which is there again:
// chat-relay's clients, which were told of all up to an entry, are then to be woken again.
func (d *Door) Waiting(name string, told uint64) bool {
	talk, err := d.cfg.Rooms.Room(context.Background(), name)
	return err == nil && d.readers.Waiting(talk, told)
}
