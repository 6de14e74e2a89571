package keys

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// Pairs gives all that companions keep, by store, companion and key, and then what they kept before. Of what was deleted the
// value is empty. What is written meanwhile over something else is given twice rather than not at all, and nothing is sorted: words do
// not get into a file for that.
func Pairs(ctx context.Context, r *store.Store, f func(journal.Pair) error) error {
	const of = `SELECT companion, key, ifnull(value, ''), ifnull((SELECT name FROM rooms WHERE id = store), ''), `
	for _, q := range []string{of + `0 FROM kv ORDER BY store, companion, key`, of + `1 FROM kv_past ORDER BY id`} {
		err := r.Each(ctx, q, nil, func(row *sql.Rows) error {
			var p journal.Pair
			if err := row.Scan(&p.Companion, &p.Key, &p.Value, &p.Fork, &p.Past); err != nil {
				return err
			}
			return f(p)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Erase takes a value out of a key wherever the store of a pair has it, now and before, in the
// writer's transaction: the key is deleted there then. With whole the key goes with all that it
// holds and held, in every store.
func Erase(w *store.Store, p journal.Pair, whole bool) error {
	if whole {
		for _, q := range []string{`DELETE FROM kv_past WHERE companion = ? AND key = ?`, `DELETE FROM kv WHERE companion = ? AND key = ?`} {
			if err := w.Exec(q, p.Companion, p.Key); err != nil {
				return fmt.Errorf("erase key: %w", err)
			}
		}
		return recount(w, p.Companion)
	}
	at := place{companion: p.Companion, key: p.Key}
	if p.Fork != "" {
		if err := store.Present(w.Row(context.Background(), `SELECT id FROM rooms WHERE name = ?`, []any{p.Fork}, &at.store)); err != nil {
			return fmt.Errorf("find room: %w", err)
		}
	}
	for _, q := range []string{
		`UPDATE kv_past SET value = NULL WHERE store = ? AND companion = ? AND key = ? AND value = ?`,
		`UPDATE kv SET value = NULL WHERE store = ? AND companion = ? AND key = ? AND value = ?`,
	} {
		if err := w.Exec(q, at.store, at.companion, at.key, p.Value); err != nil {
			return fmt.Errorf("erase value: %w", err)
		}
	}
	if err := at.settle(w); err != nil {
		return fmt.Errorf("erase value: %w", err)
	}
	return recount(w, p.Companion)
}
