package branch

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/chain"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// Verify is journal.Admin's, on the file as it is now. Where an entry cannot be read, its seq comes with the error.
// The chain of a fork is that of the rooms of its past up to where it parted, and its own from there.
func Verify(ctx context.Context, s *store.Store, room string, after uint64) (bad uint64, err error) {
	tx, err := s.View(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	v := verifier{ctx: ctx, tx: tx}
	var head, trimmed uint64
	var headSum []byte
	err = tx.QueryRowContext(ctx, `SELECT id, fork_seq, head, sum, trimmed, trimmed_sum FROM rooms WHERE name = ?`, room).
		Scan(&v.room, &v.forked, &head, &headSum, &trimmed, &v.sum)
	if errors.Is(err, sql.ErrNoRows) || err == nil && after >= head {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	v.last = trimmed
	if after > trimmed { // its sum is believed; what follows is checked
		v.last = after
		if err := v.believe(); err != nil {
			return after + 1, store.Present(err)
		}
	} else if trimmed == 0 {
		root, err := v.root(room)
		if err != nil || !bytes.Equal(v.sum, chain.Genesis(root)) {
			return 1, err
		}
	}
	fits, err := v.follow()
	switch {
	case err != nil:
		return v.last + 1, err
	case !fits || v.last != head:
		return v.last + 1, nil
	case !bytes.Equal(v.sum, headSum):
		return v.last, nil
	}
	return 0, nil
}

// verifier goes along the chain of a room.
type verifier struct {
	ctx    context.Context
	tx     *sql.Tx
	room   int64
	forked uint64 // where it parted, 0 for a room that is no fork
	last   uint64 // the last entry that fits
	sum    []byte // of last
}

// root gives the room with which the chain of a room begins, which is itself if it is no fork.
func (v *verifier) root(room string) (string, error) {
	for range journal.MaxDepth + 1 {
		var of string
		if err := v.tx.QueryRowContext(v.ctx, `SELECT forked_of FROM rooms WHERE name = ?`, room).Scan(&of); err != nil {
			return "", store.Present(err)
		}
		if of == "" {
			return room, nil
		}
		room = of
	}
	return "", nil // it is none of ours
}

// believe reads the sum of the entry last; sql.ErrNoRows where that is not there.
func (v *verifier) believe() error {
	q := `SELECT sum FROM entries WHERE room_id = ?1 AND seq = ?2`
	if v.last <= v.forked {
		q = `SELECT e.sum FROM spans s CROSS JOIN entries e ON e.room_id = s.src AND e.seq = ?2 WHERE s.room_id = ?1 AND s.lo <= ?2 AND s.hi >= ?2`
	}
	return v.tx.QueryRowContext(v.ctx, q, v.room, integer(v.last)).Scan(&v.sum)
}

// follow goes on from last as far as the entries fit; it is false where another one comes after them that does not.
func (v *verifier) follow() (bool, error) {
	const more = columns + `, e.sum, e.salt, e.digest`
	q := `SELECT ` + more + ` FROM entries e WHERE e.room_id = ?1 AND e.seq > ?2 ORDER BY e.seq`
	if v.last < v.forked {
		q = `SELECT ` + more + ` FROM spans s CROSS JOIN entries e ON e.room_id = s.src AND e.seq >= max(s.lo, ?2 + 1) AND e.seq <= s.hi
			WHERE s.room_id = ?1 AND s.hi > ?2 ORDER BY s.lo, e.seq`
	}
	rows, err := v.tx.QueryContext(v.ctx, q, v.room, integer(v.last))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		var own, salt, of []byte
		e, err := scan(rows, &own, &salt, &of)
		if err != nil {
			return false, err
		}
		if !e.Blank {
			of = chain.Digest(salt, e.Body)
		}
		if e.Seq != v.last+1 || !bytes.Equal(own, chain.Next(v.sum, e, of)) {
			return false, nil
		}
		v.last, v.sum = e.Seq, own
	}
	return true, rows.Err()
}
