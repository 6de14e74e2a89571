package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/rooms"
)

// This file is the rooms of conversations. The index of the journal is their directory: no
// two rooms have the same key, so that of any number that are asked for in the same instant one
// is opened, and what a room was asked for with is known before its first entry. All else is
// in the room's own journal.

// halls owns the rooms of conversations. It is no name.
const halls = "(conversations)"

var _ rooms.Halls = (*Registry)(nil)

// hall is what such a room is registered with.
type hall struct {
	Conversation *conversation.Terms `json:"conversation"`
	Settled      *rooms.Settled      `json:"settled,omitempty"`
}

// hallOf gives how the room of a conversation is to be.
func (g *Registry) hallOf(name string, settings []byte) room.Settings {
	var h hall
	if err := json.Unmarshal(settings, &h); err != nil || h.Conversation == nil {
		return room.Settings{Name: name, Unknown: "what the conversation was asked for with cannot be read"}
	}
	s := room.Settings{Name: name, Companions: h.Conversation.Hosted, Rules: g.cfg.Talks, Terms: h.Conversation}
	s.Rules.Seed = name
	return s
}

// Convene opens a room for a conversation, and answers when its start is in the journal.
func (g *Registry) Convene(ctx context.Context, c rooms.Convening) (now conversation.Conversation, err error) {
	settings, err := json.Marshal(hall{Conversation: &c.Terms})
	if err != nil {
		return now, err
	}
	err = g.register(ctx, c.Name, journal.Listing{Key: c.Key, By: halls, Settings: settings})
	if errors.Is(err, journal.ErrConflict) {
		f := conversation.Refuse(conversation.AlreadyActive, "")
		return now, abi.Wrap(abi.CodeConflict, f, f.Error())
	} else if err != nil {
		return now, journal.Coded(err)
	}
	return within(ctx, g.handle(c.Name), nil, func(r *room.Room) (conversation.Conversation, error) {
		select {
		case <-r.Loaded():
			return r.Talk(ctx)
		case <-ctx.Done():
			return now, abi.Wrap(abi.CodeTimeout, ctx.Err(), "the room did not open in time; look whether the conversation is there")
		}
	})
}

// listed gives what the room of a conversation was registered with.
func (g *Registry) listed(ctx context.Context, name string) (journal.Listing, error) {
	row, known, err := g.journal.Room(ctx, name)
	switch {
	case err != nil:
		return journal.Listing{}, journal.Coded(err)
	case !known || row.By != halls:
		return journal.Listing{}, notFound(name)
	}
	return row.Listing, nil
}

// Dissolve frees the key of a conversation that is over.
func (g *Registry) Dissolve(ctx context.Context, name string) error {
	l, err := g.listed(ctx, name)
	if err != nil || l.Key == "" {
		return err
	}
	l.Key = ""
	return journal.Coded(g.register(ctx, name, l))
}

// Settle notes how a conversation is left for good, and frees its key.
func (g *Registry) Settle(ctx context.Context, name string, s rooms.Settled) error {
	l, err := g.listed(ctx, name)
	if err != nil {
		return err
	}
	var h hall
	if err := json.Unmarshal(l.Settings, &h); err != nil {
		return fmt.Errorf("settle %s: %w", name, err)
	}
	h.Settled, l.Key = &s, ""
	if l.Settings, err = json.Marshal(h); err != nil {
		return err
	}
	return journal.Coded(g.register(ctx, name, l))
}

// Convened gives up to limit conversations with a name behind after, by name.
func (g *Registry) Convened(ctx context.Context, after string, limit int) ([]rooms.Convened, error) {
	rows, err := g.journal.Rooms(ctx, max(after, conversation.Prefix), limit)
	if err != nil {
		return nil, journal.Coded(err)
	}
	var all []rooms.Convened
	for _, row := range rows {
		if !strings.HasPrefix(row.Name, conversation.Prefix) {
			break
		}
		var h hall
		if row.By == halls && json.Unmarshal(row.Settings, &h) == nil && h.Conversation != nil {
			all = append(all, rooms.Convened{Convening: rooms.Convening{Name: row.Name, Key: row.Key, Terms: *h.Conversation}, Over: row.Key == "", Settled: h.Settled})
		}
	}
	return all, nil
}

// withoutHalls gives up to limit rows of the index with a name behind after, but for the
// rooms of conversations, of which there are many, and streams that are no rooms'.
func (g *Registry) withoutHalls(ctx context.Context, after string, limit int) (rows []journal.Room, err error) {
	const end = conversation.Prefix + "\xff" // behind all of them
	if after = max(after, journal.AfterStreams); after < conversation.Prefix {
		rows, err = g.journal.Rooms(ctx, after, limit)
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			if row.Name >= conversation.Prefix {
				rows = rows[:i]
				break
			}
		}
		if len(rows) == limit {
			return rows, nil
		}
	}
	rest, err := g.journal.Rooms(ctx, max(after, end), limit-len(rows))
	return append(rows, rest...), err
}
