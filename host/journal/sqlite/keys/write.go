package keys

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// Set writes a value in a room, in the writer's transaction; where a bound refuses it nothing is changed there. The
// bounds are checked in that transaction, so that writers side by side cannot pass them together.
func Set(w *store.Store, in Room, companion, key, value string) error {
	c, err := begin(w, in, companion, key)
	if err != nil {
		return err
	}
	v := sql.NullString{String: value, Valid: true}
	if c.there && c.was.value == v && c.was.room == in.ID {
		return nil // whoever may not see that it was written again sees the same
	}
	if err := abi.CheckKV(c.after(v)); err != nil {
		return err
	}
	return c.write(v)
}

// Del deletes a key in a room, in the writer's transaction, and gives what it held there.
func Del(w *store.Store, in Room, companion, key string) (old string, ok bool, err error) {
	c, err := begin(w, in, companion, key)
	if err != nil || !c.shown.Valid && (!c.there || c.was.room == in.ID) {
		return "", false, err
	}
	return c.shown.String, c.shown.Valid, c.write(sql.NullString{}) // also where another room did it: a fork may not see that
}

// place is a key of a companion in a store.
type place struct {
	store          int64
	companion, key string
}

// row is a value now or before.
type row struct {
	n, run, room, seq, age int64
	value                  sql.NullString // not valid: it was deleted
}

// change is a key that is written, and what is known of it.
type change struct {
	w  *store.Store
	in Room
	place
	age   int64 // how many forks there are
	was   row
	there bool           // was is
	shown sql.NullString // in the room, be it of this store or of one below
	sums
}

// begun reads what is known of a key ?3 of ?2 that is written in the room ?1.
const begun = `SELECT s.store, s.age, k.n IS NOT NULL, ifnull(k.n, 0), ifnull(k.run, 0), ifnull(k.room_id, 0), ifnull(k.seq, 0), ifnull(k.age, 0), k.value,
	m.keys IS NOT NULL, ifnull(m.keys, 0), ifnull(m.bytes, 0), ifnull(m.past, 0)
	FROM (SELECT ifnull((SELECT room_id FROM kv_forks WHERE room_id = ?1), 0) AS store, ifnull((SELECT max(born) FROM kv_forks), 0) AS age) s
	LEFT JOIN kv k ON k.store = s.store AND k.companion = ?2 AND k.key = ?3
	LEFT JOIN kv_sums m ON m.store = s.store AND m.companion = ?2`

func begin(w *store.Store, in Room, companion, key string) (*change, error) {
	c := &change{w: w, in: in, place: place{companion: companion, key: key}}
	var counted bool
	err := w.Row(context.Background(), begun, []any{in.ID, companion, key}, &c.store, &c.age,
		&c.there, &c.was.n, &c.was.run, &c.was.room, &c.was.seq, &c.was.age, &c.was.value, &counted, &c.keys, &c.bytes, &c.past)
	if c.shown = c.was.value; err == nil && !c.there {
		c.shown.String, c.shown.Valid, err = c.beneath(w)
	}
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	if !counted {
		c.sums, err = counts(w, c.store, companion)
	}
	return c, err
}

// beneath gives what is shown under a key of what the store began with.
func (p place) beneath(w *store.Store) (value string, ok bool, err error) {
	if p.store == 0 {
		return "", false, nil
	}
	return shown(context.Background(), w, beneath+get, p.store, p.companion, p.key)
}

// after says how many keys of how many bytes are shown with another value.
func (c *change) after(v sql.NullString) (keys, bytes int) {
	keys, bytes = c.keys, c.bytes
	if c.shown.Valid {
		keys, bytes = keys-1, bytes-len(c.key)-len(c.shown.String)
	}
	if v.Valid {
		keys, bytes = keys+1, bytes+len(c.key)+len(v.String)
	}
	return keys, bytes
}

// write puts a value, or that there is none any more, in the place of what was there.
func (c *change) write(v sql.NullString) error {
	now := row{n: 1, run: 1, room: c.in.ID, seq: sqlInt(c.in.Seq), age: c.age, value: v}
	// Between entries of a room there is no place for a fork.
	same := c.was.room == now.room && c.was.seq == now.seq && c.was.age == now.age
	kept := c.there && !same && !strings.HasPrefix(c.companion, journal.House)
	if c.there {
		now.n, now.run = c.was.n, c.was.run
	}
	if kept {
		if now.n++; now.room != c.was.room {
			now.run = now.n
		}
		if err := c.keep(c.was); err != nil {
			return err
		}
	}
	if err := c.w.Exec(`INSERT INTO kv(store, companion, key, room_id, seq, age, n, run, value) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)
		ON CONFLICT(store, companion, key) DO UPDATE SET room_id = ?4, seq = ?5, age = ?6, n = ?7, run = ?8, value = ?9`,
		c.store, c.companion, c.key, now.room, now.seq, now.age, now.n, now.run, v); err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	c.keys, c.bytes = c.after(v)
	if kept {
		if err := c.thin(now); err != nil {
			return err
		}
	}
	if err := c.evict(); err != nil {
		return err
	}
	if !v.Valid {
		if err := c.settle(c.w); err != nil {
			return err
		}
	}
	return c.sums.put(c.w, c.store, c.companion)
}

// settle forgets that a key was deleted, where nobody could tell.
func (p place) settle(w *store.Store) error {
	_, under, err := p.beneath(w)
	if err != nil || under {
		return err
	}
	return w.Exec(`DELETE FROM kv WHERE store = ?1 AND companion = ?2 AND key = ?3 AND value IS NULL
		AND NOT EXISTS(SELECT 1 FROM kv_past WHERE store = ?1 AND companion = ?2 AND key = ?3)`, p.store, p.companion, p.key)
}

// sums is what a companion's rows in a store come to.
type sums struct {
	keys, bytes int // that are shown there
	past        int // bytes of former values that no fork shows
}

// counts counts them.
func counts(w *store.Store, of int64, companion string) (s sums, err error) {
	ctx := context.Background()
	levels, err := chain(ctx, w, of)
	if err != nil {
		return s, fmt.Errorf("find stores: %w", err)
	}
	sizes, err := merge(ctx, w, levels, span{companion: companion, end: "\xff"})
	for _, size := range sizes {
		s.keys, s.bytes = s.keys+1, s.bytes+int(size)
	}
	if err == nil {
		err = w.Row(ctx, `SELECT ifnull(sum(`+cost+`), 0) FROM kv_past WHERE store = ? AND companion = ? AND pinned = 0`, []any{of, companion}, &s.past)
	}
	if err != nil {
		return s, fmt.Errorf("count keys: %w", err)
	}
	return s, nil
}

func (s sums) put(w *store.Store, of int64, companion string) error {
	err := w.Exec(`INSERT INTO kv_sums(store, companion, keys, bytes, past) VALUES(?1,?2,?3,?4,?5)
		ON CONFLICT(store, companion) DO UPDATE SET keys = ?3, bytes = ?4, past = ?5`, of, companion, s.keys, s.bytes, s.past)
	if err != nil {
		return fmt.Errorf("count keys: %w", err)
	}
	return nil
}
