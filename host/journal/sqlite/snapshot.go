package sqlite

import (
	"context"
	"fmt"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/branch"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// PutSnapshot implements journal.Snapshots.
func (j *Journal) PutSnapshot(ctx context.Context, room string, seq uint64, state []byte) error {
	return wrap("put snapshot", j.submit(ctx, &request{run: func(w *writer) error {
		row, err := w.room(room)
		if store.Present(err) != nil {
			return fmt.Errorf("read room: %w", err)
		}
		if err != nil || seq > row.head.Seq {
			return fmt.Errorf("%w: room has no entry %d yet", journal.ErrConflict, seq)
		}
		return branch.Put(w.Store, row.id, seq, state)
	}}))
}

// GetSnapshot implements journal.Snapshots.
func (j *Journal) GetSnapshot(ctx context.Context, room string) (seq uint64, state []byte, err error) {
	err = j.reading(ctx, "get snapshot", func(r *store.Store) error {
		seq, state, err = branch.Newest(ctx, r, room)
		return err
	})
	return seq, state, err
}

// SnapshotAt implements journal.Branches.
func (j *Journal) SnapshotAt(ctx context.Context, room string, at uint64) (seq uint64, state []byte, err error) {
	err = j.reading(ctx, "get snapshot", func(r *store.Store) error {
		seq, state, err = branch.At(ctx, r, room, at)
		return err
	})
	return seq, state, err
}
