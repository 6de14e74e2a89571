// Package branch knows where the entries and snapshots of a room stand in an SQLite journal: in rows of its
// own, and, of a fork, in rows of the rooms that it was forked of, as its spans say. It reads them in order,
// makes forks, trims and verifies.
//
// Of a room that is no fork it reads no spans. It never writes an entry, and never changes one.
package branch

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

const (
	columns = `e.seq, e.epoch, e.at_ms, e.kind, e.id, e.v, e.body, e.blanked_ms`
	// of gives the id of a room, unless a part of what is asked for may stand elsewhere: it is a fork, and
	// what is asked for begins before it parted.
	of = `(SELECT id FROM rooms WHERE name = ?1 AND fork_seq < ?2)`
	// own reads what stands under a room's own name, of the entry ?2 on.
	own = `SELECT ` + columns + ` FROM entries e WHERE e.room_id = ` + of + ` AND e.seq >= ?2 `
	// all reads through the spans, which only forks have.
	all = `SELECT ` + columns + ` FROM spans s CROSS JOIN entries e `
	at  = ` ON e.room_id = s.src AND e.seq >= max(s.lo, ?2) AND e.seq <= s.hi
		WHERE s.room_id = (SELECT id FROM rooms WHERE name = ?1) AND s.hi >= ?2 `
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

// Read calls f with up to limit entries of a room with Seq > after, in order, until that is an error.
func Read(ctx context.Context, s *store.Store, room string, after uint64, limit int, f func(entry.Entry) error) error {
	args := []any{room, behind(after), max(limit, 0)}
	return either(ctx, s, own+`ORDER BY e.seq LIMIT ?3`, all+at+`ORDER BY s.lo, e.seq LIMIT ?3`, args, f)
}

// Said gives the entries of a span that were said. The index entries_said has just these.
func Said(ctx context.Context, s *store.Store, room string, part journal.Span) (es []entry.Entry, err error) {
	if part.Before == 0 {
		part.Before = math.MaxInt64
	}
	const (
		mine = `SELECT ` + columns + ` FROM entries e INDEXED BY entries_said WHERE e.room_id = ` + of + ` AND e.kind = 'said' AND e.seq >= ?2 AND e.seq < ?4 ORDER BY e.seq `
		any  = all + `INDEXED BY entries_said ON e.room_id = s.src AND e.kind = 'said' AND e.seq >= max(s.lo, ?2) AND e.seq <= min(s.hi, ?4 - 1)
			WHERE s.room_id = (SELECT id FROM rooms WHERE name = ?1) AND s.hi >= ?2 AND s.lo < ?4 ORDER BY `
	)
	q, forks := mine+`LIMIT ?3`, any+`s.lo, e.seq LIMIT ?3`
	if part.Newest {
		q, forks = mine+`DESC LIMIT ?3`, any+`s.lo DESC, e.seq DESC LIMIT ?3`
	}
	args := sizes(room, part)
	err = either(ctx, s, q, forks, args, func(e entry.Entry) error { es = append(es, e); return nil })
	if part.Newest {
		slices.Reverse(es)
	}
	return es, err
}

func sizes(room string, part journal.Span) []any {
	return []any{room, behind(part.After), max(part.Limit, 0), integer(part.Before)}
}

// either calls f with the rows of a query, and where it has none with those of one that goes through the spans.
func either(ctx context.Context, s *store.Store, q, forks string, args []any, f func(entry.Entry) error) error {
	none := true
	read := func(row *sql.Rows) error {
		none = false
		e, err := scan(row)
		if err != nil {
			return err
		}
		return f(e)
	}
	if err := s.Each(ctx, q, args, read); err != nil || !none {
		return err
	}
	return s.Each(ctx, forks, args, read)
}

// Find gives the entry of a room with an id.
func Find(ctx context.Context, s *store.Store, room, id string) (e entry.Entry, ok bool, err error) {
	const q = `SELECT ` + columns + ` FROM entries e WHERE e.room_id = (SELECT id FROM rooms WHERE name = ?1) AND e.id = ?2
		UNION ALL ` + all + `ON e.room_id = s.src AND e.id = ?2 AND e.seq BETWEEN s.lo AND s.hi
			WHERE s.room_id = (SELECT id FROM rooms WHERE name = ?1) AND s.src <> s.room_id LIMIT 1`
	err = s.Each(ctx, q, []any{room, id}, func(row *sql.Rows) (err error) {
		e, err = scan(row)
		ok = err == nil
		return err
	})
	return e, ok, err
}

// integer fits a sequence number into SQLite's signed integers, and behind gives the one behind it.
func integer(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func behind(n uint64) int64 { return int64(min(n, math.MaxInt64-1)) + 1 }
