package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/chain"
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
		if err := erasure.Blank(w.Store, row.id, bodies); err != nil {
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
		return erasure.Erase(w.Store, row.id, bodies)
	}}))
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

// Trim implements journal.Admin. The space is used again, the file does not
// shrink. The sum of the last forgotten entry is kept, so that Verify can start
// after it.
func (j *Journal) Trim(ctx context.Context, room string, upTo uint64) error {
	return wrap("trim room", j.submit(ctx, &request{run: func(w *writer) error {
		var id int64
		var trimmed, snap uint64
		err := w.Row(context.Background(), `SELECT r.id, r.trimmed, s.seq FROM rooms r JOIN snapshots s ON s.room_id = r.id
			WHERE r.name = ?`, []any{room}, &id, &trimmed, &snap)
		switch {
		case store.Present(err) != nil:
			return fmt.Errorf("read snapshot: %w", err)
		case err != nil || snap < upTo:
			return fmt.Errorf("%w: no snapshot at or after %d", journal.ErrConflict, upTo)
		case upTo <= trimmed:
			return nil
		}
		if err := w.Exec(`UPDATE rooms SET trimmed = ?1, trimmed_sum = (SELECT sum FROM entries WHERE room_id = ?2 AND seq = ?1)
			WHERE id = ?2`, int64(upTo), id); err != nil {
			return fmt.Errorf("keep last sum: %w", err)
		}
		return w.Exec(`DELETE FROM entries WHERE room_id = ? AND seq <= ?`, id, int64(upTo))
	}}))
}

// Verify implements journal.Admin. Where an entry cannot be read, its seq
// comes with journal.ErrCorrupt.
func (j *Journal) Verify(ctx context.Context, room string, after uint64) (bad uint64, err error) {
	err = j.reading(ctx, "verify room", func(r *store.Store) error {
		tx, err := r.View(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		bad, err = verify(ctx, tx, room, after)
		return err
	})
	return bad, err
}

func verify(ctx context.Context, tx *sql.Tx, room string, after uint64) (bad uint64, err error) {
	var id int64
	var head, trimmed uint64
	var headSum, sum []byte
	err = tx.QueryRowContext(ctx, `SELECT id, head, sum, trimmed, trimmed_sum FROM rooms WHERE name = ?`, room).Scan(&id, &head, &headSum, &trimmed, &sum)
	if errors.Is(err, sql.ErrNoRows) || err == nil && after >= head {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	last := trimmed
	switch {
	case after > trimmed: // its sum is believed; what follows is checked
		last = after
		err := tx.QueryRowContext(ctx, `SELECT sum FROM entries WHERE room_id = ? AND seq = ?`, id, sqlInt(after)).Scan(&sum)
		if errors.Is(err, sql.ErrNoRows) {
			return after + 1, nil
		}
		if err != nil {
			return after + 1, err
		}
	case trimmed == 0 && !bytes.Equal(sum, chain.Genesis(room)):
		return 1, nil
	}
	last, sum, fits, err := follows(ctx, tx, id, last, sum)
	switch {
	case err != nil:
		return last + 1, err
	case !fits || last != head:
		return last + 1, nil
	case !bytes.Equal(sum, headSum):
		return last, nil
	}
	return 0, nil
}

// follows goes along the chain behind the entry last, whose sum is known, and
// gives the last entry that fits and its sum; fits is false where another one
// comes after it that does not.
func follows(ctx context.Context, tx *sql.Tx, room int64, last uint64, sum []byte) (uint64, []byte, bool, error) {
	rows, err := tx.QueryContext(ctx, `SELECT `+columns+`, sum, salt, digest FROM entries WHERE room_id = ? AND seq > ? ORDER BY seq`, room, int64(last))
	if err != nil {
		return last, sum, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var own, salt, of []byte
		e, err := scan(rows, &own, &salt, &of)
		if err != nil {
			return last, sum, false, err
		}
		if !e.Blank {
			of = chain.Digest(salt, e.Body)
		}
		if e.Seq != last+1 || !bytes.Equal(own, chain.Next(sum, e, of)) {
			return last, sum, false, nil
		}
		last, sum = e.Seq, own
	}
	return last, sum, true, rows.Err()
}

// Backup implements journal.Backuper. Copying the database file by other means
// loses what is in its log.
func (j *Journal) Backup(ctx context.Context, path string) error {
	if err := store.Copy(ctx, path, j.path); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}
