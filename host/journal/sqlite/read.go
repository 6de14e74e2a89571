package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

const columns = `seq, epoch, at_ms, kind, id, body`

// scan reads the columns, and more, of one row.
func scan(row interface{ Scan(...any) error }, more ...any) (e entry.Entry, err error) {
	var ms int64
	var body []byte
	err = row.Scan(append([]any{&e.Seq, &e.Epoch, &ms, &e.Kind, &e.ID, &body}, more...)...)
	e.At, e.Body = time.UnixMilli(ms).UTC(), body
	return e, err
}

// reading runs f on the readers, which stay open meanwhile. Trouble is told to
// the writer, which judges it.
func (j *Journal) reading(ctx context.Context, what string, f func(r *store) error) error {
	j.files.RLock()
	defer j.files.RUnlock()
	if j.r == nil {
		return fmt.Errorf("%s: %w", what, j.unavailable())
	}
	err := f(j.r)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err = classify(err, journal.ErrUnavailable)
	if grave(err) {
		select {
		case j.suspect <- err:
		default:
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Read implements journal.Journal.
func (j *Journal) Read(ctx context.Context, room string, after uint64, limit int) (es []entry.Entry, err error) {
	err = j.reading(ctx, "read room", func(r *store) error {
		return r.each(ctx, `SELECT `+columns+` FROM events WHERE room_id = (SELECT id FROM rooms WHERE name = ?)
			AND seq > ? ORDER BY seq LIMIT ?`, []any{room, sqlInt(after), max(limit, 0)}, func(rows *sql.Rows) error {
			e, err := scan(rows)
			es = append(es, e)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return es, nil
}

// Find implements journal.Journal.
func (j *Journal) Find(ctx context.Context, room, id string) (e entry.Entry, ok bool, err error) {
	err = j.reading(ctx, "find entry", func(r *store) error {
		st, err := r.stmt(ctx, `SELECT `+columns+` FROM events WHERE room_id = (SELECT id FROM rooms WHERE name = ?) AND id = ?`)
		if err != nil {
			return err
		}
		e, err = scan(st.QueryRowContext(ctx, room, id))
		ok = err == nil
		return present(err)
	})
	if !ok {
		e = entry.Entry{}
	}
	return e, ok, err
}

// present lets a missing row pass.
func present(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// GetSnapshot implements journal.Journal.
func (j *Journal) GetSnapshot(ctx context.Context, room string) (seq uint64, state []byte, err error) {
	err = j.reading(ctx, "get snapshot", func(r *store) error {
		return present(r.row(ctx, `SELECT seq, state FROM snapshots WHERE room_id = (SELECT id FROM rooms WHERE name = ?)`,
			[]any{room}, &seq, &state))
	})
	return seq, state, err
}

// Rooms implements journal.Journal.
func (j *Journal) Rooms(ctx context.Context) (heads map[string]journal.Head, err error) {
	err = j.reading(ctx, "list rooms", func(r *store) (err error) {
		heads, err = r.heads(ctx)
		return err
	})
	return heads, err
}

func (s *store) heads(ctx context.Context) (map[string]journal.Head, error) {
	heads := map[string]journal.Head{}
	err := s.each(ctx, `SELECT name, head, epoch FROM rooms`, nil, func(rows *sql.Rows) error {
		var name string
		var h journal.Head
		err := rows.Scan(&name, &h.Seq, &h.Epoch)
		heads[name] = h
		return err
	})
	return heads, err
}

// Verify implements journal.Journal. Where an entry cannot be read, its seq
// comes with journal.ErrCorrupt.
func (j *Journal) Verify(ctx context.Context, room string, after uint64) (bad uint64, err error) {
	err = j.reading(ctx, "verify room", func(r *store) error {
		tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one view, whatever is written meanwhile
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
	r, err := scanRoom(tx.QueryRowContext(ctx, selectRoom, room))
	if errors.Is(err, sql.ErrNoRows) || err == nil && after >= r.head.Seq {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	last, sum := r.trimmed, r.trimmedSum
	switch {
	case after > r.trimmed: // its sum is believed; what follows is checked
		last = after
		err := tx.QueryRowContext(ctx, `SELECT sum FROM events WHERE room_id = ? AND seq = ?`, r.id, sqlInt(after)).Scan(&sum)
		if errors.Is(err, sql.ErrNoRows) {
			return after + 1, nil
		}
		if err != nil {
			return after + 1, err
		}
	case r.trimmed == 0 && !bytes.Equal(sum, genesis(room)):
		return 1, nil
	}
	rows, err := tx.QueryContext(ctx, `SELECT `+columns+`, sum FROM events WHERE room_id = ? AND seq > ? ORDER BY seq`, r.id, int64(last))
	if err != nil {
		return last + 1, err
	}
	defer rows.Close()
	for rows.Next() {
		var own []byte
		e, err := scan(rows, &own)
		if err != nil {
			return last + 1, err
		}
		if e.Seq != last+1 || !bytes.Equal(own, chain(sum, e)) {
			return last + 1, nil
		}
		last, sum = e.Seq, own
	}
	switch err := rows.Err(); {
	case err != nil:
		return last + 1, err
	case last != r.head.Seq:
		return last + 1, nil
	case !bytes.Equal(sum, r.sum):
		return last, nil
	}
	return 0, nil
}
