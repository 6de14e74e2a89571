package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/companiond/companiond/host/journal/sqlite/branch"
	"github.com/companiond/companiond/host/journal/sqlite/erasure"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// Blank implements journal.Admin. A body is overwritten in the file
// (secure_delete), and is gone from the log with the next checkpoint.
func (j *Journal) Blank(ctx context.Context, room string, upTo uint64, bodies map[uint64][]byte) error {
	return wrap("blank entries", j.submit(ctx, &request{run: func(w *writer) error {
		row, err := w.room(room)
		if err != nil {
			return store.Present(err)
		}
		if err := w.each(row, bodies, erasure.Blank); err != nil {
			return err
		}
		return w.Exec(`UPDATE rooms SET swept = ?1 WHERE id = ?2 AND swept < ?1`, sqlInt(upTo), row.id)
	}}))
}

// Erase implements journal.Eraser.
func (j *Journal) Erase(ctx context.Context, room string, bodies map[uint64][]byte) error {
	return wrap("erase words", j.submit(ctx, &request{run: func(w *writer) error {
		row, err := w.room(room)
		if err != nil {
			return store.Present(err)
		}
		return w.each(row, bodies, erasure.Erase)
	}}))
}

// each calls f with bodies by the rooms under which the entries stand.
func (w *writer) each(row *roomRow, bodies map[uint64][]byte, f func(w *store.Store, room int64, bodies map[uint64][]byte) error) error {
	if row.forked == 0 {
		return f(w.Store, row.id, bodies)
	}
	by, err := branch.Split(w.Store, row.id, bodies)
	for _, src := range slices.Sorted(maps.Keys(by)) {
		err = cmp.Or(err, f(w.Store, src, by[src]))
	}
	return err
}

// SetErased implements journal.Eraser.
func (j *Journal) SetErased(ctx context.Context, order string) error {
	return wrap("mark as erased", j.submit(ctx, &request{run: func(w *writer) error { return erasure.Mark(w.Store, order) }}))
}

// Erased implements journal.Eraser.
func (j *Journal) Erased(ctx context.Context) (order string, err error) {
	err = j.reading(ctx, "read what was erased", func(r *store.Store) error {
		order, err = erasure.Marked(ctx, r)
		return err
	})
	return order, err
}

// Purge implements journal.Eraser.
func (j *Journal) Purge(_ context.Context, anew bool) error {
	return wrap("empty the log", erasure.Purge(j.path, anew))
}

// Copies implements journal.Eraser.
func (j *Journal) Copies() ([]string, error) { return erasure.Copies(j.path) }

// DeleteCopies implements journal.Eraser.
func (j *Journal) DeleteCopies(copies []string) error { return erasure.Delete(copies) }

// DropSnapshots implements journal.Eraser.
func (j *Journal) DropSnapshots(ctx context.Context, room string, from uint64) error {
	return wrap("drop snapshots", j.submit(ctx, &request{run: func(w *writer) error { return branch.Drop(w.Store, room, from) }}))
}

// Trim implements journal.Admin. The space is used again, the file does not
// shrink.
func (j *Journal) Trim(ctx context.Context, room string, upTo uint64) error {
	return wrap("trim room", j.submit(ctx, &request{run: func(w *writer) error { return branch.Trim(w.Store, room, upTo) }}))
}

// Verify implements journal.Admin. Where an entry cannot be read, its seq
// comes with journal.ErrCorrupt.
func (j *Journal) Verify(ctx context.Context, room string, after uint64) (bad uint64, err error) {
	err = j.reading(ctx, "verify room", func(r *store.Store) error {
		bad, err = branch.Verify(ctx, r, room, after)
		return err
	})
	return bad, err
}

// Backup implements journal.Backuper. Copying the database file by other means
// loses what is in its log.
func (j *Journal) Backup(ctx context.Context, path string) error {
	if err := store.Copy(ctx, path, j.path); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}

// Copy is Backup of a file that nobody opened, as it is, also of an older schema. A daemon may write to it meanwhile.
//
// # Errors
//
// journal.ErrUnavailable where there is no journal; fs.ErrExist.
func Copy(ctx context.Context, to, from string) error {
	if info, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return noJournal("no journal at " + from)
	} else if err == nil && info.IsDir() {
		return noJournal("no journal at " + from + ", which is a folder")
	}
	if err := store.Copy(ctx, to, from); err != nil {
		return fmt.Errorf("copy the journal %s: %w", from, err)
	}
	return nil
}
