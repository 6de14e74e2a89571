package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/chain"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

const indexColumns = `name, head, epoch, owner, awake, due_ms, swept, key, opened_by, settings, archived, forked_of, fork_seq`

func scanIndex(row *sql.Rows) (r journal.Room, err error) {
	var due sql.NullInt64
	var key sql.NullString
	err = row.Scan(&r.Name, &r.Head.Seq, &r.Head.Epoch, &r.Owner, &r.Awake, &due, &r.Swept, &key, &r.By, &r.Settings, &r.Archived, &r.Fork.Of, &r.Fork.At)
	if due.Valid {
		r.Due = time.UnixMilli(due.Int64).UTC()
	}
	r.Key = key.String
	return r, err
}

// Room implements journal.Index.
func (j *Journal) Room(ctx context.Context, name string) (journal.Room, bool, error) {
	rooms, err := j.index(ctx, "look room up", `SELECT `+indexColumns+` FROM rooms WHERE name = ?`, name)
	if len(rooms) == 0 {
		return journal.Room{}, false, err
	}
	return rooms[0], true, nil
}

// Rooms implements journal.Index.
func (j *Journal) Rooms(ctx context.Context, after string, limit int) ([]journal.Room, error) {
	return j.index(ctx, "list rooms", `SELECT `+indexColumns+` FROM rooms WHERE name > ? ORDER BY name LIMIT ?`, after, max(limit, 0))
}

// Waking implements journal.Index.
func (j *Journal) Waking(ctx context.Context, by time.Time, after string, limit int) ([]journal.Room, error) {
	return j.index(ctx, "list waking rooms", `SELECT `+indexColumns+` FROM rooms
		WHERE name > ?1 AND id IN (SELECT id FROM rooms WHERE awake = 1 UNION ALL
			SELECT id FROM rooms WHERE due_ms IS NOT NULL AND awake = 0 AND due_ms <= ?2)
		ORDER BY name LIMIT ?3`, after, by.UnixMilli(), max(limit, 0))
}

func (j *Journal) index(ctx context.Context, what, query string, args ...any) ([]journal.Room, error) {
	return list(ctx, j, what, query, args, scanIndex)
}

// NextDue implements journal.Index.
func (j *Journal) NextDue(ctx context.Context) (at time.Time, err error) {
	var ms sql.NullInt64
	err = j.reading(ctx, "find next due room", func(s *store.Store) error {
		return s.Row(ctx, `SELECT min(due_ms) FROM rooms WHERE due_ms IS NOT NULL AND awake = 0`, nil, &ms)
	})
	if ms.Valid {
		at = time.UnixMilli(ms.Int64).UTC()
	}
	return at, err
}

// Rest implements journal.Index.
func (j *Journal) Rest(ctx context.Context, room string, h journal.Head, due time.Time) error {
	return wrap("rest room", j.submit(ctx, &request{run: func(w *writer) error {
		row, err := w.at(room, h)
		if err != nil {
			return err
		}
		if row.grew { // an append of the same transaction would make it awake again
			return fmt.Errorf("%w: it grows", journal.ErrConflict)
		}
		delete(w.rooms, room) // a room that sleeps costs no memory
		return w.Exec(`UPDATE rooms SET awake = 0, due_ms = ? WHERE id = ?`, sql.NullInt64{Int64: due.UnixMilli(), Valid: !due.IsZero()}, row.id)
	}}))
}

// Register implements journal.Index.
func (j *Journal) Register(ctx context.Context, room string, l journal.Listing) error {
	if err := journal.CheckRoom(room); err != nil {
		return err
	}
	return wrap("register room", j.submit(ctx, &request{run: func(w *writer) error {
		err := w.Exec(`INSERT INTO rooms(name, head, epoch, sum, trimmed_sum, key, opened_by, settings, archived) VALUES(?1, 0, 0, ?2, ?2, ?3, ?4, ?5, ?6)
			ON CONFLICT(name) DO UPDATE SET key = excluded.key, opened_by = excluded.opened_by, settings = excluded.settings, archived = excluded.archived`,
			room, chain.Genesis(room), sql.NullString{String: l.Key, Valid: l.Key != ""}, l.By, l.Settings, l.Archived)
		if store.Duplicate(err) {
			return fmt.Errorf("%w: another room has the key of %q", journal.ErrConflict, room)
		}
		return err
	}}))
}

// Registered implements journal.Index.
func (j *Journal) Registered(ctx context.Context, by string) (n int, err error) {
	err = j.reading(ctx, "count rooms", func(s *store.Store) error {
		return s.Row(ctx, `SELECT count(*) FROM rooms WHERE opened_by = ? AND opened_by <> '' AND archived = 0`, []any{by}, &n)
	})
	return n, err
}
