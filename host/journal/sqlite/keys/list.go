package keys

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// span is some keys of a companion, in byte order: from <= key < end, and key > after.
type span struct{ companion, from, end, after string }

// List gives up to limit keys of a companion with a prefix, in byte order, greater than after, as they are in the room of
// a name.
func List(ctx context.Context, r *store.Store, room, companion, prefix, after string, limit int) ([]string, error) {
	var fork int64
	if err := store.Present(r.Row(ctx, forkOf, []any{room}, &fork)); err != nil {
		return nil, err
	}
	s := span{companion, prefix, "\xff", after} // above all UTF-8
	if prefix != "" {
		b := []byte(prefix)
		b[len(b)-1]++ // no byte of UTF-8 is 0xff
		s.end = string(b)
	}
	if fork == 0 {
		return list(ctx, r, s, limit)
	}
	levels, err := chain(ctx, r, fork)
	if err != nil {
		return nil, err
	}
	sizes, err := merge(ctx, r, levels, s)
	keys := slices.Sorted(maps.Keys(sizes))
	return keys[:min(len(keys), max(limit, 0))], err
}

// list is List of the store that all rooms share.
func list(ctx context.Context, r *store.Store, s span, limit int) (keys []string, err error) {
	err = r.Each(ctx, `SELECT key FROM kv WHERE store = 0 AND companion = ? AND key >= ? AND key < ? AND key > ? AND value IS NOT NULL ORDER BY key LIMIT ?`,
		[]any{s.companion, s.from, s.end, s.after, max(limit, 0)}, func(row *sql.Rows) error {
			var key string
			err := row.Scan(&key)
			keys = append(keys, key)
			return err
		})
	return keys, err
}

// level is a store of a chain.
type level struct{ store, born, left, at int64 }

// chain gives the stores of the chain of a store.
func chain(ctx context.Context, r *store.Store, of int64) (levels []level, err error) {
	err = r.Each(ctx, ofStore+`SELECT store, born, left_id, at FROM chain`, []any{of}, func(row *sql.Rows) error {
		var l level
		err := row.Scan(&l.store, &l.born, &l.left, &l.at)
		levels = append(levels, l)
		return err
	})
	return levels, err
}

// merge gives the sizes of keys with their values, of those that a chain shows. What is shown of any store but the
// first does not change, so that it need not be read at once.
func merge(ctx context.Context, r *store.Store, levels []level, s span) (map[string]int64, error) {
	const deleted = -1
	sizes := map[string]int64{}
	for _, l := range levels {
		err := r.Each(ctx, `WITH c(born, left_id, at) AS (SELECT ?1, ?2, ?3)
			SELECT k.key, iif(`+showsNow+`, ifnull(octet_length(k.value), -1), (SELECT ifnull(octet_length(p.value), -1) `+newest+`))
			FROM c CROSS JOIN kv k WHERE k.store = ?4 AND k.companion = ?5 AND k.key >= ?6 AND k.key < ?7 AND k.key > ?8`,
			[]any{l.born, l.left, l.at, l.store, s.companion, s.from, s.end, s.after}, func(row *sql.Rows) error {
				var key string
				var size sql.NullInt64 // NULL: nothing of it is shown
				if err := row.Scan(&key, &size); err != nil {
					return err
				}
				if _, above := sizes[key]; size.Valid && !above {
					sizes[key] = size.Int64
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	for key, size := range sizes {
		if size == deleted {
			delete(sizes, key)
			continue
		}
		sizes[key] = size + int64(len(key))
	}
	return sizes, nil
}
