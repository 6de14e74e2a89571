package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// KVGet implements journal.KV.
func (j *Journal) KVGet(ctx context.Context, companion, key string) (value string, ok bool, err error) {
	err = j.reading(ctx, "get key", func(r *store.Store) error {
		err := r.Row(ctx, `SELECT value FROM kv WHERE companion = ? AND key = ?`, []any{companion, key}, &value)
		ok = err == nil
		return store.Present(err)
	})
	return value, ok, err
}

// KVSet implements journal.KV. The bounds are checked in the transaction that
// writes, so that writers side by side cannot pass them together.
func (j *Journal) KVSet(ctx context.Context, companion, key, value string) error {
	if err := journal.CheckPair(companion, key, value); err != nil {
		return err
	}
	err := j.submit(ctx, &request{run: func(w *writer) error {
		var keys, bytes int
		if err := w.Row(context.Background(), `SELECT count(*), ifnull(sum(octet_length(key) + octet_length(value)), 0)
			FROM kv WHERE companion = ? AND key <> ?`, []any{companion, key}, &keys, &bytes); err != nil {
			return fmt.Errorf("count keys: %w", err)
		}
		if err := abi.CheckKV(keys+1, bytes+len(key)+len(value)); err != nil {
			return err
		}
		return w.Exec(`INSERT INTO kv(companion, key, value) VALUES(?,?,?)
			ON CONFLICT(companion, key) DO UPDATE SET value = excluded.value`, companion, key, value)
	}})
	return wrap("set key", err)
}

// KVDel implements journal.KV.
func (j *Journal) KVDel(ctx context.Context, companion, key string) (old string, ok bool, err error) {
	var was string
	var found bool
	err = j.submit(ctx, &request{run: func(w *writer) error {
		err := w.Row(context.Background(), `DELETE FROM kv WHERE companion = ? AND key = ? RETURNING value`, []any{companion, key}, &was)
		found = err == nil
		return store.Present(err)
	}})
	if err != nil {
		return "", false, wrap("delete key", err) // was and found may still be the writer's
	}
	return was, found, nil
}

// KVList implements journal.KV.
func (j *Journal) KVList(ctx context.Context, companion, prefix, after string, limit int) ([]string, error) {
	end := "\xff" // above all UTF-8
	if prefix != "" {
		b := []byte(prefix)
		b[len(b)-1]++ // no byte of UTF-8 is 0xff
		end = string(b)
	}
	return list(ctx, j, "list keys", `SELECT key FROM kv WHERE companion = ? AND key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?`,
		[]any{companion, prefix, end, after, max(limit, 0)}, func(row *sql.Rows) (key string, err error) { return key, row.Scan(&key) })
}

// wrap says what failed; an error of a bound goes out as it is.
func wrap(what string, err error) error {
	var rule *abi.Error
	if err == nil || errors.As(err, &rule) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}
