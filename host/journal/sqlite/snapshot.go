package sqlite

import (
	"context"
	"fmt"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// PutSnapshot implements journal.Snapshots.
func (j *Journal) PutSnapshot(ctx context.Context, room string, seq uint64, state []byte) error {
	if state == nil {
		state = []byte{}
	}
	return wrap("put snapshot", j.submit(ctx, &request{run: func(w *writer) error {
		row, err := w.room(room)
		if store.Present(err) != nil {
			return fmt.Errorf("read room: %w", err)
		}
		if err != nil || seq > row.head.Seq {
			return fmt.Errorf("%w: room has no entry %d yet", journal.ErrConflict, seq)
		}
		return w.Exec(`INSERT INTO snapshots(room_id, seq, state) VALUES(?,?,?) ON CONFLICT(room_id) DO UPDATE
			SET seq = excluded.seq, state = excluded.state WHERE excluded.seq >= seq`, row.id, int64(seq), state)
	}}))
}

// GetSnapshot implements journal.Snapshots.
func (j *Journal) GetSnapshot(ctx context.Context, room string) (seq uint64, state []byte, err error) {
	err = j.reading(ctx, "get snapshot", func(r *store.Store) error {
		return store.Present(r.Row(ctx, `SELECT seq, state FROM snapshots WHERE room_id = (SELECT id FROM rooms WHERE name = ?)`,
			[]any{room}, &seq, &state))
	})
	return seq, state, err
}
