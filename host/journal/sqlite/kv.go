package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/keys"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// kvIn is the stores of characters in a room.
type kvIn struct {
	*Journal
	room string
}

// KVIn implements journal.Stores.
func (j *Journal) KVIn(room string) journal.KV { return kvIn{j, room} }

// KVGet, KVSet, KVDel and KVList implement journal.KV, of what all rooms share that are no forks.
func (j *Journal) KVGet(ctx context.Context, companion, key string) (value string, ok bool, err error) {
	return j.KVIn("").KVGet(ctx, companion, key)
}

func (j *Journal) KVSet(ctx context.Context, companion, key, value string) error {
	return j.KVIn("").KVSet(ctx, companion, key, value)
}

func (j *Journal) KVDel(ctx context.Context, companion, key string) (old string, ok bool, err error) {
	return j.KVIn("").KVDel(ctx, companion, key)
}

func (j *Journal) KVList(ctx context.Context, companion, prefix, after string, limit int) ([]string, error) {
	return j.KVIn("").KVList(ctx, companion, prefix, after, limit)
}

// KVGet implements journal.KV.
func (k kvIn) KVGet(ctx context.Context, companion, key string) (value string, ok bool, err error) {
	err = k.reading(ctx, "get key", func(r *store.Store) error {
		value, ok, err = keys.Get(ctx, r, k.room, companion, key)
		return err
	})
	return value, ok, err
}

// KVSet implements journal.KV.
func (k kvIn) KVSet(ctx context.Context, companion, key, value string) error {
	if err := journal.CheckPair(companion, key, value); err != nil {
		return err
	}
	return wrap("set key", k.submit(ctx, &request{run: func(w *writer) error {
		in, err := w.writes(k.room)
		if err != nil {
			return err
		}
		return keys.Set(w.Store, in, companion, key, value)
	}}))
}

// KVDel implements journal.KV.
func (k kvIn) KVDel(ctx context.Context, companion, key string) (old string, ok bool, err error) {
	var was string
	var found bool
	err = k.submit(ctx, &request{run: func(w *writer) error {
		in, err := w.writes(k.room)
		if err == nil {
			was, found, err = keys.Del(w.Store, in, companion, key)
		}
		return err
	}})
	if err != nil {
		return "", false, wrap("delete key", err) // was and found may still be the writer's
	}
	return was, found, nil
}

// KVList implements journal.KV.
func (k kvIn) KVList(ctx context.Context, companion, prefix, after string, limit int) (list []string, err error) {
	err = k.reading(ctx, "list keys", func(r *store.Store) error {
		list, err = keys.List(ctx, r, k.room, companion, prefix, after, limit)
		return err
	})
	return list, err
}

// KVForget implements journal.Stores.
func (j *Journal) KVForget(ctx context.Context, room, companion, key string) error {
	return wrap("erase key", j.submit(ctx, &request{run: func(w *writer) error {
		in, err := w.writes(room)
		if err != nil {
			return err
		}
		return keys.Forget(w.Store, in, companion, key)
	}}))
}

// Pairs implements journal.Eraser.
func (j *Journal) Pairs(ctx context.Context, f func(journal.Pair) error) error {
	return j.reading(ctx, "read keys", func(r *store.Store) error { return keys.Pairs(ctx, r, f) })
}

// ErasePairs implements journal.Eraser.
func (j *Journal) ErasePairs(ctx context.Context, pairs []journal.Pair, whole bool) error {
	return wrap("erase keys", j.submit(ctx, &request{run: func(w *writer) error {
		for _, p := range pairs {
			if err := keys.Erase(w.Store, p, whole); err != nil {
				return err
			}
		}
		return nil
	}}))
}

// writes says where something is that is written in a room; a room that nobody acquired is none.
func (w *writer) writes(room string) (keys.Room, error) {
	if room == "" {
		return keys.Room{}, nil
	}
	row, err := w.room(room)
	if errors.Is(err, sql.ErrNoRows) {
		return keys.Room{}, nil
	}
	if err != nil {
		return keys.Room{}, fmt.Errorf("read room: %w", err)
	}
	return keys.Room{ID: row.id, Seq: row.head.Seq}, nil
}

// wrap says what failed; an error of a bound goes out as it is.
func wrap(what string, err error) error {
	var rule *abi.Error
	if err == nil || errors.As(err, &rule) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}
