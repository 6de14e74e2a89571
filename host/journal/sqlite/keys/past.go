package keys

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

const (
	// exact is how many former values of a key are all kept: of those that were written in one room one after the other
	// the newest, and the first. Between them ever fewer stay, the fewer the further away.
	exact = 128
	// maxPast is how many bytes of former values of a companion a store keeps for forks to come, with
	// what each row costs beside them.
	maxPast = 4 * abi.MaxKVTotal
	rowCost = 256
)

// cost is rowCost and the bytes of a row of kv_past.
const cost = `256 + octet_length(key) + ifnull(octet_length(value), 0)`

// former is a row of kv_past that may go.
type former struct {
	id, cost int64
	key      string
	pinned   bool
}

// formers reads them. A fork that may show one sees it, and not what was written next: before it was born, or in the room that
// it left, behind its place.
const formers = `SELECT p.id, 256 + octet_length(p.key) + ifnull(octet_length(p.value), 0), p.key,
	EXISTS(SELECT 1 FROM (SELECT q.n, q.room_id, q.seq, q.age FROM kv_past q WHERE q.store = p.store AND q.companion = p.companion AND q.key = p.key AND q.n > p.n
		UNION ALL SELECT k.n, k.room_id, k.seq, k.age FROM kv k WHERE k.store = p.store AND k.companion = p.companion AND k.key = p.key ORDER BY 1 LIMIT 1) x
		WHERE EXISTS(SELECT 1 FROM kv_forks WHERE parent = p.store AND born > p.age AND born <= x.age AND NOT (left_id = p.room_id AND at <= p.seq))
		OR EXISTS(SELECT 1 FROM kv_forks WHERE parent = p.store AND left_id = x.room_id AND at > iif(x.room_id = p.room_id, p.seq, -1) AND at <= x.seq AND born > p.age))
	FROM kv_past p WHERE p.store = ?1 AND p.companion = ?2 AND p.pinned = 0 `

func (f *former) fields() []any { return []any{&f.id, &f.cost, &f.key, &f.pinned} }

// keep adds a value to the former ones.
func (c *change) keep(was row) error {
	err := c.w.Exec(`INSERT INTO kv_past(store, companion, key, n, room_id, seq, age, value) VALUES(?,?,?,?,?,?,?,?)`,
		c.store, c.companion, c.key, was.n, was.room, was.seq, was.age, was.value)
	if err != nil {
		return fmt.Errorf("keep former value: %w", err)
	}
	c.past += rowCost + len(c.key) + len(was.value.String)
	return nil
}

// thin lets go of former values of a key that no fork shows, and none to come will, or that are too many. A fork to come
// can only not see what is written in one room: it shows the newest value of another, or one that is older.
func (c *change) thin(now row) error {
	switch {
	case now.room == 0:
		return c.let(now.n, `AND p.n < ?4`)
	case now.run == now.n:
		return c.let(now.n-1, `AND p.n < ?4`)
	}
	for step := int64(1); exact*step < now.n; step *= 2 {
		n := now.n - exact*step - 1
		if from := n - now.run; from < exact*step || from%step != 0 || from%(2*step) == 0 {
			continue
		}
		if err := c.let(n, `AND p.n = ?4`); err != nil {
			return err
		}
	}
	return nil
}

// let lets go of some former values of the key.
func (c *change) let(n int64, which string) error {
	var all []former
	err := c.w.Each(context.Background(), formers+`AND p.key = ?3 `+which, []any{c.store, c.companion, c.key, n}, func(rows *sql.Rows) error {
		var f former
		err := rows.Scan(f.fields()...)
		all = append(all, f)
		return err
	})
	if err != nil {
		return fmt.Errorf("read former values: %w", err)
	}
	for _, f := range all {
		if err := c.drop(f); err != nil {
			return err
		}
	}
	return nil
}

// evict lets go of the oldest former values where they are more than a companion may have.
func (c *change) evict() error {
	for c.past > maxPast {
		var f former
		err := c.w.Row(context.Background(), formers+`ORDER BY p.id LIMIT 1`, []any{c.store, c.companion}, f.fields()...)
		if errors.Is(err, sql.ErrNoRows) {
			c.past = 0
			return nil
		}
		if err == nil {
			err = c.drop(f)
		}
		if err == nil {
			err = place{c.store, c.companion, f.key}.settle(c.w)
		}
		if err != nil {
			return fmt.Errorf("let go of former values: %w", err)
		}
	}
	return nil
}

// drop deletes a former value, or pins it for a fork that may show it.
func (c *change) drop(f former) (err error) {
	c.past -= int(f.cost)
	if f.pinned {
		err = c.w.Exec(`UPDATE kv_past SET pinned = 1 WHERE id = ?`, f.id)
	} else {
		err = c.w.Exec(`DELETE FROM kv_past WHERE id = ?`, f.id)
	}
	if err != nil {
		return fmt.Errorf("let go of former value: %w", err)
	}
	return nil
}

// Forget takes what a key held before in a room's store out for good, also from what forks show, in
// the writer's transaction.
func Forget(w *store.Store, in Room, companion, key string) error {
	c, err := begin(w, in, companion, key)
	if err != nil {
		return err
	}
	if err := w.Exec(`UPDATE kv_past SET value = NULL WHERE store = ? AND companion = ? AND key = ? AND value IS NOT NULL`, c.store, companion, key); err != nil {
		return fmt.Errorf("erase former values: %w", err)
	}
	return recount(w, companion)
}

// recount has all that a companion keeps be counted anew.
func recount(w *store.Store, companion string) error {
	if err := w.Exec(`DELETE FROM kv_sums WHERE companion = ?`, companion); err != nil {
		return fmt.Errorf("count keys: %w", err)
	}
	return nil
}
