package registry

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/rooms"
)

// Open opens a room, or one of the caller's own anew that was archived, and answers
// when it is known for good.
func (g *Registry) Open(ctx context.Context, o rooms.Opening) (rooms.Info, error) {
	if err := checkRoomName(o.Name); err != nil {
		return rooms.Info{}, err
	}
	set, err := g.cfg.Read(o.Name, o.Settings)
	if err != nil {
		return rooms.Info{}, err
	}
	if set.Rules.MaxTurns == 0 && !o.By.Admin {
		return rooms.Info{}, abi.Field("max_turns", abi.CodeDenied, "0 takes the cap off, so that companions may talk, and cost, for ever; that takes the scope admin")
	}
	g.opening.Lock()
	defer g.opening.Unlock()
	if err := g.mayOpen(ctx, o); err != nil {
		return rooms.Info{}, err
	}
	err = g.register(ctx, o.Name, journal.Listing{Key: address.Skeleton(o.Name), By: o.By.Name, Settings: o.Settings})
	if errors.Is(err, journal.ErrConflict) {
		return rooms.Info{}, abi.Field("name", abi.CodeConflict, "a room is there whose name reads or looks like %q; take another", o.Name)
	} else if err != nil {
		return rooms.Info{}, journal.Coded(err)
	}
	if err := g.settle(ctx, set, o); err != nil {
		return rooms.Info{}, err
	}
	if g.cfg.Opened != nil {
		g.cfg.Opened(o.Name)
	}
	info, _ := g.look(ctx, o.Name)
	return info, nil
}

// checkRoomName says why a room cannot be called so that is opened at a door.
func checkRoomName(name string) error {
	if err := address.CheckName("name", name); err != nil {
		return err
	}
	if why := address.Reserved(name, abi.KindHuman); why != "" {
		return abi.Field("name", abi.CodeInvalid, "%s", why)
	}
	if strings.HasPrefix(address.Skeleton(name), address.Skeleton(conversation.Prefix)) || strings.HasPrefix(address.Reading(name), conversation.Prefix) {
		return abi.Field("name", abi.CodeInvalid, "%s begins the names of conversations; take another", conversation.Prefix)
	}
	return nil
}

// mayOpen says why a room may not be opened.
func (g *Registry) mayOpen(ctx context.Context, o rooms.Opening) error {
	for name := range g.rooms() {
		if address.Same(name, o.Name) {
			return abi.Field("name", abi.CodeConflict, "the configuration has a room %q; take another name", name)
		}
	}
	row, known, err := g.journal.Room(ctx, o.Name)
	switch {
	case err != nil:
		return journal.Coded(err)
	case known && row.Settings == nil && row.Fork.Of == "":
		return abi.Field("name", abi.CodeConflict, "a room %q was in the configuration once; its history is kept. Take another name, or write it there again", o.Name)
	case known && !row.Archived && !g.halfway(ctx, o.Name):
		return abi.Field("name", abi.CodeConflict, "there is a room %q already", o.Name)
	case known && row.By != o.By.Name && !o.By.Admin:
		return abi.Field("name", abi.CodeDenied, "the room %q was %s's and was closed; take another name", o.Name, rooms.Called(row.By))
	case o.By.Admin:
		return nil
	}
	n, err := g.journal.Registered(ctx, o.By.Name)
	if err != nil {
		return journal.Coded(err)
	}
	if n >= g.cfg.MaxRooms {
		return abi.Errorf(abi.CodeExhausted, "rooms: %d are open, and %d are what each caller may have; close one first", n, g.cfg.MaxRooms)
	}
	return nil
}

// halfway says whether a room is archived by its own account, though the index has it
// open: the daemon was killed while it was closed or opened anew.
func (g *Registry) halfway(ctx context.Context, name string) bool {
	info, _ := g.look(ctx, name)
	return info.State == "archived"
}

// settle lets a room that was opened wake once, so that its journal says so.
func (g *Registry) settle(ctx context.Context, set room.Settings, o rooms.Opening) error {
	set.Open = &entry.Opened{By: o.By.Name, Settings: o.Settings}
	set.Reopen = set.Open
	_, err := within(ctx, g.handle(o.Name), nil, func(r *room.Room) (none, error) {
		select {
		case <-r.Loaded():
			return none{}, r.Settle(ctx, set)
		case <-ctx.Done():
			return none{}, abi.Wrap(abi.CodeTimeout, ctx.Err(), "the room did not open in time; look whether it is there")
		}
	})
	return err
}

// Archive closes a room that was opened at a door: nobody talks there any more, and
// what was said can be read. Of the configuration's rooms it closes none.
func (g *Registry) Archive(ctx context.Context, name string, by rooms.Owner) error {
	if _, ok := g.rooms()[name]; ok {
		return abi.Field("room", abi.CodeDenied, "%s is a room of the configuration; take [room.%s] out of companiond.toml to close it", name, name)
	}
	g.opening.Lock()
	defer g.opening.Unlock()
	row, known, err := g.journal.Room(ctx, name)
	switch {
	case err != nil:
		return journal.Coded(err)
	case !known || !journal.IsRoom(name):
		return notFound(name)
	case row.By != by.Name && !by.Admin:
		return abi.Field("room", abi.CodeDenied, "%s is not yours to close", name)
	case row.Archived:
		return nil
	}
	if row.Settings != nil || row.Fork.Of != "" {
		if _, err := within(ctx, g.handle(name), nil, func(r *room.Room) (none, error) { return none{}, r.Archive(ctx, by.Name) }); err != nil {
			return err
		}
	}
	l := row.Listing
	l.Archived = true
	return journal.Coded(g.register(ctx, name, l))
}

// register makes it known what a room is, besides its entries.
func (g *Registry) register(ctx context.Context, name string, l journal.Listing) error {
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.quiet, name)
	}()
	return g.journal.Register(ctx, name, l)
}

// List gives up to limit rooms behind after, by name in byte order: those of the
// configuration and those that the journal knows.
func (g *Registry) List(ctx context.Context, after string, limit int) ([]rooms.Info, error) {
	names, err := g.Names(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	infos := make([]rooms.Info, 0, len(names))
	for _, name := range names {
		if info, found := g.look(ctx, name); found {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// Names gives the names of up to limit rooms behind after, as List does, and looks
// into none of them.
func (g *Registry) Names(ctx context.Context, after string, limit int) ([]string, error) {
	rows, err := g.withoutHalls(ctx, after, limit)
	if err != nil {
		return nil, journal.Coded(err)
	}
	names := map[string]bool{}
	for _, r := range rows {
		names[r.Name] = true
	}
	for name := range g.rooms() {
		if name > after {
			names[name] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(names))
	return sorted[:min(limit, len(sorted))], nil
}

// Home is the room of a companion: the one that the configuration names, else the
// usual one if it lives there, else the first by name of the configuration in which
// it does. Whether it is there yet does not matter.
func (g *Registry) Home(ctx context.Context, companion string) (rooms.Room, error) {
	if name := g.cfg.Homes[companion]; name != "" {
		return g.Room(ctx, name)
	}
	for _, name := range append([]string{g.cfg.Usual}, slices.Sorted(maps.Keys(g.rooms()))...) {
		if s, ok := g.rooms()[name]; ok && s.Lives(companion) {
			return g.Room(ctx, name)
		}
	}
	return nil, abi.Errorf(abi.CodeNotFound, "companion: %q lives in no room; write it into companions of one, or home under [companion.%s]", companion, companion)
}
