package words

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// dirty is the row that says that something was taken out and still stands in the file.
const dirty = "dirty"

// Replace takes messages of a room out, or puts others in their place where they have grams. Those that are not there
// are passed over. It is in the file until Clean.
func (x *Index) Replace(room string, all []Entry) error {
	if x.w == nil {
		return fmt.Errorf("%w: the index is only read", journal.ErrUnavailable)
	}
	return x.classify(x.write(func() error {
		for _, e := range all {
			var id, num int64
			err := x.w.Row(context.Background(), `SELECT s.id, s.room FROM said s JOIN rooms r ON r.num = s.room WHERE r.name = ? AND s.seq = ?`, []any{room, clip(e.Seq)}, &id, &num)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err == nil {
				err = x.out(id, num, e)
			}
			if err != nil {
				return fmt.Errorf("take out: %w", err)
			}
		}
		return nil
	}))
}

// Cut takes out the messages of a room before a seq.
func (x *Index) Cut(room string, before uint64) error {
	if x.w == nil {
		return fmt.Errorf("%w: the index is only read", journal.ErrUnavailable)
	}
	return x.classify(x.write(func() error {
		var ids []int64
		err := x.w.Each(context.Background(), `SELECT s.id FROM said s JOIN rooms r ON r.num = s.room WHERE r.name = ? AND s.seq < ?`, []any{room, clip(before)}, func(row *sql.Rows) error {
			var id int64
			err := row.Scan(&id)
			ids = append(ids, id)
			return err
		})
		for _, id := range ids {
			if err == nil {
				err = x.out(id, 0, Entry{})
			}
		}
		return err
	}))
}

// out takes one message out, or replaces it.
func (x *Index) out(id, room int64, e Entry) error {
	if err := x.w.Exec(`DELETE FROM grams WHERE rowid = ?`, id); err != nil {
		return err
	}
	if err := x.w.Exec(`INSERT INTO meta(key, value) VALUES(?, '1') ON CONFLICT DO NOTHING`, dirty); err != nil {
		return err
	}
	if e.Grams != "" {
		return x.fill(id, room, e)
	}
	return x.w.Exec(`DELETE FROM said WHERE id = ?`, id)
}

// Dirty says whether something that was taken out still stands in the file.
func (x *Index) Dirty(ctx context.Context) (bool, error) {
	var n int
	err := x.r.Row(ctx, `SELECT count(*) FROM meta WHERE key = ?`, []any{dirty}, &n)
	return n > 0, x.classify(err)
}

// Clean sees to it that what was taken out stands nowhere in the file any more. It writes all
// grams anew and takes as long as that does. Nobody may read meanwhile: then it is journal.ErrUnavailable.
//
// The grams of a message that was deleted stay where they are, with a mark, until their segment is merged with
// another: optimize merges all. Pages that this leaves are overwritten (secure_delete), and the log is emptied.
func (x *Index) Clean() error {
	if x.w == nil {
		return fmt.Errorf("%w: the index is only read", journal.ErrUnavailable)
	}
	err := x.w.Script(`INSERT INTO grams(grams) VALUES('optimize')`)
	if err == nil {
		err = x.w.Settle(true)
	}
	if err == nil {
		err = x.w.Exec(`DELETE FROM meta WHERE key = ?`, dirty)
	}
	return store.Classify(x.classify(err), journal.ErrUnavailable)
}
