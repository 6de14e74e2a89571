package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

const (
	columns       = `seq, epoch, at_ms, kind, id, v, body, blanked_ms`
	selectEntries = `SELECT ` + columns + ` FROM entries WHERE room_id = (SELECT id FROM rooms WHERE name = ?) `
)

// scan reads the columns, and more, of one row.
func scan(row *sql.Rows, more ...any) (e entry.Entry, err error) {
	var ms int64
	var body []byte
	var blanked sql.NullInt64
	if err = row.Scan(append([]any{&e.Seq, &e.Epoch, &ms, &e.Kind, &e.ID, &e.V, &body, &blanked}, more...)...); err != nil {
		return e, err
	}
	e.At, e.Body, e.Blank = time.UnixMilli(ms).UTC(), body, blanked.Valid
	if body == nil {
		e.Body = []byte("null")
	}
	return e, nil
}

// list gives the rows of a query, each as scan reads it. Nothing comes with an error.
func list[T any](ctx context.Context, j *Journal, what, query string, args []any, scan func(row *sql.Rows) (T, error)) (all []T, err error) {
	err = j.reading(ctx, what, func(r *store.Store) error {
		return r.Each(ctx, query, args, func(row *sql.Rows) error {
			one, err := scan(row)
			all = append(all, one)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// reading runs f on the readers, which stay open meanwhile. Trouble is told to
// the writer, which judges it.
func (j *Journal) reading(ctx context.Context, what string, f func(r *store.Store) error) error {
	j.files.RLock()
	defer j.files.RUnlock()
	if j.r == nil {
		return fmt.Errorf("%s: %w", what, j.unavailable())
	}
	err := f(j.r)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err = store.Classify(err, journal.ErrUnavailable)
	if store.Grave(err) {
		select {
		case j.suspect <- err:
		default:
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Read implements journal.Log.
func (j *Journal) Read(ctx context.Context, room string, after uint64, limit int) ([]entry.Entry, error) {
	return j.entries(ctx, "read room", selectEntries+`AND seq > ? ORDER BY seq LIMIT ?`, room, sqlInt(after), max(limit, 0))
}

// Said implements journal.Log. The index entries_said has just these entries.
func (j *Journal) Said(ctx context.Context, room string, s journal.Span) ([]entry.Entry, error) {
	if s.Before == 0 {
		s.Before = math.MaxInt64
	}
	const said = `SELECT ` + columns + ` FROM entries INDEXED BY entries_said
		WHERE room_id = (SELECT id FROM rooms WHERE name = ?) AND kind = 'said' AND seq > ? AND seq < ? ORDER BY seq `
	args := []any{room, sqlInt(s.After), sqlInt(s.Before), max(s.Limit, 0)}
	if !s.Newest {
		return j.entries(ctx, "read what was said", said+`LIMIT ?`, args...)
	}
	es, err := j.entries(ctx, "read what was said", said+`DESC LIMIT ?`, args...)
	slices.Reverse(es)
	return es, err
}

func (j *Journal) entries(ctx context.Context, what, query string, args ...any) ([]entry.Entry, error) {
	es, err := list(ctx, j, what, query, args, func(row *sql.Rows) (entry.Entry, error) { return scan(row) })
	if err != nil {
		return nil, err
	}
	// An entry of whose body bytes were changed is not left out as if it had never
	// been. The other entries, and rooms, may be sound.
	for _, e := range es {
		if !json.Valid(e.Body) {
			return nil, fmt.Errorf("%s: %w: the body of entry %d is no JSON; since=%d reads what is behind it", what, journal.ErrCorrupt, e.Seq, e.Seq)
		}
	}
	return es, nil
}

// Find implements journal.Log.
func (j *Journal) Find(ctx context.Context, room, id string) (entry.Entry, bool, error) {
	es, err := j.entries(ctx, "find entry", selectEntries+`AND id = ?`, room, id)
	if len(es) == 0 {
		return entry.Entry{}, false, err
	}
	return es[0], true, nil
}

// sqlInt fits a sequence number into SQLite's signed integers.
func sqlInt(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
