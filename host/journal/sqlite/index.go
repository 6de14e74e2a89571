package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/companiond/companiond/host/journal"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const indexColumns = `name, head, epoch, owner, awake, due_ms, swept, key, opened_by, settings, archived`

func scanIndex(row interface{ Scan(...any) error }) (r journal.Room, err error) {
	var due sql.NullInt64
	var key sql.NullString
	err = row.Scan(&r.Name, &r.Head.Seq, &r.Head.Epoch, &r.Owner, &r.Awake, &due, &r.Swept, &key, &r.By, &r.Settings, &r.Archived)
	if due.Valid {
		r.Due = time.UnixMilli(due.Int64).UTC()
	}
	r.Key = key.String
	return r, err
}

// Room implements journal.Index.
func (j *Journal) Room(ctx context.Context, name string) (r journal.Room, ok bool, err error) {
	err = j.reading(ctx, "look room up", func(s *store) error {
		st, err := s.stmt(ctx, `SELECT `+indexColumns+` FROM rooms WHERE name = ?`)
		if err != nil {
			return err
		}
		r, err = scanIndex(st.QueryRowContext(ctx, name))
		ok = err == nil
		return present(err)
	})
	if !ok {
		r = journal.Room{}
	}
	return r, ok, err
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

func (j *Journal) index(ctx context.Context, what, query string, args ...any) (rooms []journal.Room, err error) {
	err = j.reading(ctx, what, func(s *store) error {
		return s.each(ctx, query, args, func(rows *sql.Rows) error {
			r, err := scanIndex(rows)
			rooms = append(rooms, r)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return rooms, nil
}

// NextDue implements journal.Index.
func (j *Journal) NextDue(ctx context.Context) (at time.Time, err error) {
	var ms sql.NullInt64
	err = j.reading(ctx, "find next due room", func(s *store) error {
		return s.row(ctx, `SELECT min(due_ms) FROM rooms WHERE due_ms IS NOT NULL AND awake = 0`, nil, &ms)
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
		return w.exec(`UPDATE rooms SET awake = 0, due_ms = ? WHERE id = ?`, sql.NullInt64{Int64: due.UnixMilli(), Valid: !due.IsZero()}, row.id)
	}}))
}

// Register implements journal.Index.
func (j *Journal) Register(ctx context.Context, room string, l journal.Listing) error {
	if err := journal.CheckRoom(room); err != nil {
		return err
	}
	return wrap("register room", j.submit(ctx, &request{run: func(w *writer) error {
		err := w.exec(`INSERT INTO rooms(name, head, epoch, sum, trimmed_sum, key, opened_by, settings, archived) VALUES(?1, 0, 0, ?2, ?2, ?3, ?4, ?5, ?6)
			ON CONFLICT(name) DO UPDATE SET key = excluded.key, opened_by = excluded.opened_by, settings = excluded.settings, archived = excluded.archived`,
			room, genesis(room), sql.NullString{String: l.Key, Valid: l.Key != ""}, l.By, l.Settings, l.Archived)
		var se *sqlite.Error
		if errors.As(err, &se) && se.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
			return fmt.Errorf("%w: another room has the key of %q", journal.ErrConflict, room)
		}
		return err
	}}))
}

// Registered implements journal.Index.
func (j *Journal) Registered(ctx context.Context, by string) (n int, err error) {
	err = j.reading(ctx, "count rooms", func(s *store) error {
		return s.row(ctx, `SELECT count(*) FROM rooms WHERE opened_by = ? AND opened_by <> '' AND archived = 0`, []any{by}, &n)
	})
	return n, err
}
