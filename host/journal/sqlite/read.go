package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/branch"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

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
func (j *Journal) Read(ctx context.Context, room string, after uint64, limit int) (es []entry.Entry, err error) {
	return j.entries(ctx, "read room", func(r *store.Store) ([]entry.Entry, error) {
		err := branch.Read(ctx, r, room, after, limit, func(e entry.Entry) error { es = append(es, e); return nil })
		return es, err
	})
}

// Said implements journal.Log.
func (j *Journal) Said(ctx context.Context, room string, s journal.Span) ([]entry.Entry, error) {
	return j.entries(ctx, "read what was said", func(r *store.Store) ([]entry.Entry, error) { return branch.Said(ctx, r, room, s) })
}

// Find implements journal.Log.
func (j *Journal) Find(ctx context.Context, room, id string) (entry.Entry, bool, error) {
	es, err := j.entries(ctx, "find entry", func(r *store.Store) ([]entry.Entry, error) {
		e, ok, err := branch.Find(ctx, r, room, id)
		if !ok {
			return nil, err
		}
		return []entry.Entry{e}, err
	})
	if len(es) == 0 {
		return entry.Entry{}, false, err
	}
	return es[0], true, nil
}

// entries gives what read reads. Nothing comes with an error.
func (j *Journal) entries(ctx context.Context, what string, read func(r *store.Store) ([]entry.Entry, error)) (es []entry.Entry, err error) {
	err = j.reading(ctx, what, func(r *store.Store) (err error) {
		es, err = read(r)
		return err
	})
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

// sqlInt fits a sequence number into SQLite's signed integers.
func sqlInt(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
