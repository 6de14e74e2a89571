// Package keys is the stores of characters in an SQLite journal: what a companion keeps under its
// keys. All rooms share one store, but for forks of rooms: each has its own, which begins with what stood
// there when the room was forked, without what was written behind the entry where they parted, in the
// room that it left.
//
// A fork copies nothing. Each value says in which room it was written, behind which entry of it, and after how many forks,
// and where it is replaced it is kept for forks that are there, which show it for ever, and for
// those to come, of which the ones of long ago get a coarser past: what is kept for them is bounded.
// A fork may begin with something older than what stood at its place, and never with anything newer.
//
// It never reads a value, and knows of rooms only id and name.
package keys

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// Room is where a companion writes. The zero value is for what is written in no room.
type Room struct {
	ID  int64  // the row of rooms
	Seq uint64 // the room's head
}

// Fork gives a new room a store of its own, in the writer's transaction. room is its row, of the row of the room that is
// forked, and at the seq of the newest entry that both have. A fork that is forked at an entry which it has from
// the room that it left stands for that room: the new one is a fork of it. Fork costs the same however much is kept.
func Fork(w *store.Store, room, of int64, at uint64) error {
	for {
		var left int64
		err := w.Row(context.Background(), `SELECT left_id FROM kv_forks WHERE room_id = ? AND at >= ?`, []any{of, sqlInt(at)}, &left)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return fmt.Errorf("find store: %w", err)
		}
		of = left
	}
	err := w.Exec(`INSERT INTO kv_forks(room_id, born, parent, left_id, at) VALUES(?1, (SELECT ifnull(max(born), 0) + 1 FROM kv_forks),
		ifnull((SELECT room_id FROM kv_forks WHERE room_id = ?2), 0), ?2, ?3)`, room, of, sqlInt(at))
	if err != nil {
		return fmt.Errorf("fork keys: %w", err)
	}
	return nil
}

// sqlInt fits a sequence number into SQLite's signed integers.
func sqlInt(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// A room shows its own store, and where that has nothing under a key the one that it began with, as
// that was for it, and so on: a chain of stores with what is shown of each. Of the first that is all.
const (
	ofStore = `WITH RECURSIVE chain(store, born, left_id, at) AS (SELECT ?1, 9223372036854775807, -1, 0` + below
	// beneath leaves out the store itself.
	beneath = `WITH RECURSIVE chain(store, born, left_id, at) AS (SELECT parent, born, left_id, at FROM kv_forks WHERE room_id = ?1` + below
	below   = ` UNION ALL SELECT f.parent, f.born, f.left_id, f.at FROM chain c JOIN kv_forks f ON f.room_id = c.store) `
)

// forkOf finds the store of the room ?1, where that is a fork.
const forkOf = `SELECT f.room_id FROM rooms r JOIN kv_forks f ON f.room_id = r.id WHERE r.name = ?1`

// What is shown of a value now, of a former one, and the newest of those.
const (
	showsNow  = `(k.age < c.born AND NOT (k.room_id = c.left_id AND k.seq >= c.at))`
	showsPast = `(p.age < c.born AND NOT (p.room_id = c.left_id AND p.seq >= c.at))`
	newest    = `FROM kv_past p WHERE p.store = k.store AND p.companion = k.companion AND p.key = k.key AND ` + showsPast + ` ORDER BY p.n DESC LIMIT 1`
)

// get reads what a chain shows of a key ?3 of ?2; NULL for one that was deleted.
const get = `SELECT iif(` + showsNow + `, k.value, o.value) FROM chain c CROSS JOIN kv k ON k.store = c.store AND k.companion = ?2 AND k.key = ?3
	LEFT JOIN kv_past o ON NOT ` + showsNow + ` AND o.id = (SELECT p.id ` + newest + `) WHERE ` + showsNow + ` OR o.id IS NOT NULL LIMIT 1`

// Get gives what a companion keeps under a key, as it is in the room of a name: one that is no fork, and
// one that is not there, show what all share.
func Get(ctx context.Context, r *store.Store, room, companion, key string) (value string, ok bool, err error) {
	var fork sql.NullInt64
	var v sql.NullString
	err = r.Row(ctx, `SELECT (`+forkOf+`), (SELECT value FROM kv WHERE store = 0 AND companion = ?2 AND key = ?3)`, []any{room, companion, key}, &fork, &v)
	if err != nil || !fork.Valid {
		return v.String, v.Valid, err
	}
	return shown(ctx, r, ofStore+get, fork.Int64, companion, key)
}

// shown runs get.
func shown(ctx context.Context, r *store.Store, query string, args ...any) (value string, ok bool, err error) {
	var v sql.NullString
	err = store.Present(r.Row(ctx, query, args, &v))
	return v.String, v.Valid, err
}
