package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/branch"
	"github.com/companiond/companiond/host/journal/sqlite/keys"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// Fork implements journal.Branches.
func (j *Journal) Fork(ctx context.Context, room string, f journal.Fork, l journal.Listing, entries ...journal.New) (journal.Head, error) {
	if err := journal.CheckRoom(room); err != nil {
		return journal.Head{}, err
	}
	if err := journal.Check(entries); err != nil {
		return journal.Head{}, err
	}
	r := &request{room: room, news: prepare(entries)}
	r.run = func(w *writer) (err error) {
		r.head, err = w.fork(room, f, l, r.news)
		return err
	}
	if err := j.submit(ctx, r); err != nil {
		return journal.Head{}, wrap("fork room", err)
	}
	return r.head, nil
}

// fork makes a room that shares what another has. All refusals come before anything is written.
func (w *writer) fork(room string, f journal.Fork, l journal.Listing, news []made) (journal.Head, error) {
	if _, err := w.room(room); err == nil {
		return journal.Head{}, fmt.Errorf("%w: room %q is there already", journal.ErrConflict, room)
	} else if store.Present(err) != nil {
		return journal.Head{}, fmt.Errorf("read room: %w", err)
	}
	of, err := w.room(f.Of)
	if errors.Is(err, sql.ErrNoRows) {
		return journal.Head{}, abi.Field("of", abi.CodeNotFound, "there is no room %q", f.Of)
	} else if err != nil {
		return journal.Head{}, fmt.Errorf("read room: %w", err)
	}
	past, err := branch.Part(w.Store, of.id, of.head, f)
	if err != nil {
		return journal.Head{}, err
	}
	past.Owner = cmp.Or(of.owner, past.Owner)
	if err := unused(news, func(id string) (bool, error) { return past.Has(w.Store, id) }); err != nil {
		return journal.Head{}, err
	}
	id, err := past.Make(w.Store, room, l)
	if err != nil {
		return journal.Head{}, err
	}
	if err := keys.Fork(w.Store, id, of.id, f.At); err != nil {
		return journal.Head{}, err
	}
	row := &roomRow{id: id, head: journal.Head{Seq: f.At, Epoch: past.Epoch}, sum: past.Sum, forked: f.At}
	w.rooms[room] = row
	head, err := w.grow(row, news)
	if store.IsRefusal(err) { // too late for one
		err = fmt.Errorf("%w: a room that was not there has entries: %v", journal.ErrCorrupt, err)
	}
	return head, err
}

// unused refuses entries with an id that is there already, or twice among them.
func unused(news []made, there func(id string) (bool, error)) error {
	seen := make(map[string]bool, len(news))
	for _, n := range news {
		taken, err := there(n.ID)
		if err != nil {
			return fmt.Errorf("look for id: %w", err)
		}
		if taken || seen[n.ID] {
			return fmt.Errorf("%w: id %q is there already", journal.ErrConflict, n.ID)
		}
		seen[n.ID] = true
	}
	return nil
}

// Forks implements journal.Branches.
func (j *Journal) Forks(ctx context.Context, room string) ([]journal.Room, error) {
	return j.index(ctx, "list forks", `SELECT `+indexColumns+` FROM rooms WHERE forked_of = ? AND forked_of <> '' ORDER BY name`, room)
}
