package branch

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// Put keeps a room's state as of seq, in the writer's transaction, unless a newer one is there. The newest until now
// goes where the one before it is near enough, so that journal.Apart holds.
func Put(w *store.Store, room int64, seq uint64, state []byte) error {
	if state == nil {
		state = []byte{}
	}
	var there []uint64 // the newest, and the one before
	err := w.Each(context.Background(), `SELECT seq FROM snapshots WHERE room_id = ? ORDER BY seq DESC LIMIT 2`, []any{room}, func(row *sql.Rows) error {
		var one uint64
		err := row.Scan(&one)
		there = append(there, one)
		return err
	})
	if err != nil {
		return fmt.Errorf("read snapshots: %w", err)
	}
	if len(there) > 0 && there[0] > seq {
		return nil
	}
	goes := len(there) > 0 && there[0] == seq
	if len(there) > 0 && !goes {
		if goes, err = superfluous(w, room, seq, there[1:]); err != nil {
			return err
		}
	}
	if goes {
		return w.Exec(`UPDATE snapshots SET seq = ?1, state = ?2 WHERE room_id = ?3 AND seq = ?4`, integer(seq), state, room, integer(there[0]))
	}
	return w.Exec(`INSERT INTO snapshots(room_id, seq, state) VALUES(?, ?, ?)`, room, integer(seq), state)
}

// superfluous says whether nothing is needed between a new snapshot and the one before, if any. A room whose
// beginning was trimmed cannot be folded without its first.
func superfluous(w *store.Store, room int64, seq uint64, before []uint64) (bool, error) {
	if len(before) > 0 {
		return seq-before[0] <= journal.Apart, nil
	}
	var forked, trimmed uint64
	if err := w.Row(context.Background(), `SELECT fork_seq, trimmed FROM rooms WHERE id = ?`, []any{room}, &forked, &trimmed); err != nil {
		return false, fmt.Errorf("read room: %w", err)
	}
	return trimmed <= forked && seq-min(seq, forked) <= journal.Apart, nil
}

// Drop forgets the snapshots of a room that are of an entry or newer, but for the newest.
func Drop(w *store.Store, room string, from uint64) error {
	return w.Exec(`DELETE FROM snapshots WHERE room_id = (SELECT id FROM rooms WHERE name = ?1) AND seq >= ?2
		AND seq < (SELECT max(p.seq) FROM snapshots p WHERE p.room_id = snapshots.room_id)`, room, integer(from))
}

// Newest gives the newest snapshot of a room itself, of a fork without one the newest of its past.
func Newest(ctx context.Context, s *store.Store, room string) (seq uint64, state []byte, err error) {
	err = s.Row(ctx, `SELECT seq, state FROM snapshots WHERE room_id = (SELECT id FROM rooms WHERE name = ?) ORDER BY seq DESC LIMIT 1`,
		[]any{room}, &seq, &state)
	if err == nil || store.Present(err) != nil {
		return seq, state, err
	}
	return inPast(ctx, s, room, 1<<63)
}

// At gives the newest snapshot of a room, or of its past, at or before an entry.
func At(ctx context.Context, s *store.Store, room string, at uint64) (seq uint64, state []byte, err error) {
	err = s.Row(ctx, `SELECT seq, state FROM snapshots WHERE room_id = (SELECT id FROM rooms WHERE name = ?1 AND fork_seq = 0) AND seq <= ?2
		ORDER BY seq DESC LIMIT 1`, []any{room, integer(at)}, &seq, &state)
	if err == nil || store.Present(err) != nil {
		return seq, state, err
	}
	return inPast(ctx, s, room, at)
}

// inPast looks through the rooms under which the entries of a fork stand.
func inPast(ctx context.Context, s *store.Store, room string, at uint64) (seq uint64, state []byte, err error) {
	err = s.Row(ctx, `WITH newest AS (
			SELECT s.src, s.lo, r.trimmed, (SELECT max(p.seq) FROM snapshots p WHERE p.room_id = s.src AND p.seq <= min(s.hi, ?2)) AS seq
			FROM rooms r CROSS JOIN spans s ON s.room_id = r.id WHERE r.name = ?1)
		SELECT p.seq, p.state FROM (SELECT src, seq FROM newest WHERE seq >= trimmed ORDER BY seq DESC, lo DESC LIMIT 1) n
			CROSS JOIN snapshots p ON p.room_id = n.src AND p.seq = n.seq`, []any{room, integer(at)}, &seq, &state)
	return seq, state, store.Present(err)
}
