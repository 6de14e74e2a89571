package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/branch"
	"github.com/companiond/companiond/host/journal/sqlite/chain"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// chunk is how many rows at most one INSERT takes: a statement costs more than
// the row it inserts.
const chunk = 32

// writer is the connection that writes, and what it knows without asking. It is
// the writer goroutine's own.
type writer struct {
	*store.Store
	rooms map[string]*roomRow
	grew  []*roomRow // in the open transaction
}

// roomRow is a row of rooms as the writer needs it.
type roomRow struct {
	id    int64
	head  journal.Head
	sum   []byte
	owner string // of a new epoch; empty: as it was
	// forked is the newest entry that it shares with the room that it was forked of; 0: it is no fork.
	forked uint64
	awake  bool // that it is, is written down
	grew   bool // in the open transaction: it is one of writer.grew
}

// room gives a room's row, sql.ErrNoRows when there is none. The writer keeps the
// rows of rooms that it wrote to, for nobody else changes them.
func (w *writer) room(name string) (*roomRow, error) {
	if r := w.rooms[name]; r != nil {
		return r, nil
	}
	r := new(roomRow)
	err := w.Row(context.Background(), `SELECT id, head, epoch, sum, awake, fork_seq FROM rooms WHERE name = ?`, []any{name},
		&r.id, &r.head.Seq, &r.head.Epoch, &r.sum, &r.awake, &r.forked)
	if err != nil {
		return nil, err
	}
	w.rooms[name] = r
	return r, nil
}

// made is an entry to be, and what stands for its body in the chain.
type made struct {
	journal.New
	salt, digest []byte
}

func prepare(news []journal.New) []made {
	ms, salt := make([]made, len(news)), chain.Salts(len(news))
	for i, n := range news {
		own := salt[i*chain.Size : (i+1)*chain.Size]
		if n.V == 0 {
			n.V = n.Kind.Version()
		}
		ms[i] = made{n, own, chain.Digest(own, n.Body)}
	}
	return ms
}

// Acquire implements journal.Log.
func (j *Journal) Acquire(ctx context.Context, room, owner string, at time.Time) (journal.Head, error) {
	if err := journal.CheckRoom(room); err != nil {
		return journal.Head{}, err
	}
	body, err := json.Marshal(entry.Owner{Owner: owner})
	if err != nil {
		return journal.Head{}, fmt.Errorf("encode owner: %w", err)
	}
	r := &request{room: room}
	r.run = func(w *writer) error {
		if err := w.Exec(`INSERT INTO rooms(name, head, epoch, sum, trimmed_sum) VALUES(?1, 0, 0, ?2, ?2) ON CONFLICT(name) DO NOTHING`,
			room, chain.Genesis(room)); err != nil {
			return fmt.Errorf("make room: %w", err)
		}
		row, err := w.room(room)
		if err != nil {
			return fmt.Errorf("read room: %w", err)
		}
		row.head.Epoch++
		row.owner = owner
		id := fmt.Sprintf("%s%d", journal.OwnerID, row.head.Epoch)
		r.news = prepare([]journal.New{{ID: id, Kind: entry.KindOwner, At: at, Body: body}})
		r.head, err = w.grow(row, r.news)
		return err
	}
	if err := j.submit(ctx, r); err != nil {
		return journal.Head{}, fmt.Errorf("acquire room: %w", err)
	}
	return r.head, nil
}

// Append implements journal.Log.
func (j *Journal) Append(ctx context.Context, room string, h journal.Head, entries ...journal.New) (journal.Head, error) {
	if err := journal.Check(entries); err != nil {
		return h, err
	}
	r := &request{room: room, news: prepare(entries)}
	r.run = func(w *writer) error {
		row, err := w.at(room, h)
		if err != nil {
			return err
		}
		if row.forked > 0 {
			shared := func(id string) (bool, error) { return branch.Shares(w.Store, row.id, id, row.forked) }
			if err := unused(r.news, shared); err != nil {
				return err
			}
		}
		r.head, err = w.grow(row, r.news)
		return err
	}
	if err := j.submit(ctx, r); err != nil {
		return h, fmt.Errorf("append to room: %w", err)
	}
	return r.head, nil
}

// at gives a room's row where its head is the one that the caller knows.
func (w *writer) at(room string, h journal.Head) (*roomRow, error) {
	row, err := w.room(room)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("%w: no such room", journal.ErrConflict)
	case err != nil:
		return nil, fmt.Errorf("read room: %w", err)
	case row.head.Epoch > h.Epoch:
		return nil, fmt.Errorf("%w: epoch is %d, not %d", journal.ErrFenced, row.head.Epoch, h.Epoch)
	case row.head != h || h.Epoch == 0:
		return nil, fmt.Errorf("%w: head is %d, not %d", journal.ErrConflict, row.head.Seq, h.Seq)
	}
	return row, nil
}

// grow adds entries to the end of a room, all or none.
func (w *writer) grow(row *roomRow, ms []made) (journal.Head, error) {
	if len(ms) <= chunk {
		return row.head, w.insert(row, ms)
	}
	before := *row
	if err := w.Exec("SAVEPOINT request"); err != nil {
		return row.head, fmt.Errorf("set savepoint: %w", err)
	}
	for rest := ms; len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
		if err := w.insert(row, rest[:min(chunk, len(rest))]); err != nil {
			grew := row.grew
			*row, row.grew = before, grew
			return row.head, cmp.Or(w.undo(), err)
		}
	}
	if err := w.Exec("RELEASE request"); err != nil {
		return row.head, fmt.Errorf("release savepoint: %w", err)
	}
	return row.head, nil
}

// undo takes back what was done since the savepoint. An error of it is the
// engine's, and counts more than why something is taken back.
func (w *writer) undo() error {
	for _, q := range []string{"ROLLBACK TO request", "RELEASE request"} {
		if err := w.Exec(q); err != nil {
			return fmt.Errorf("undo request: %w", err)
		}
	}
	return nil
}

// insert adds up to chunk entries with one statement, all or none.
func (w *writer) insert(row *roomRow, ms []made) error {
	if len(ms) == 0 {
		return nil
	}
	head, sum := row.head, row.sum
	args := make([]any, 0, 10*len(ms))
	for _, m := range ms {
		head.Seq++
		e := entry.Entry{Seq: head.Seq, Epoch: head.Epoch, At: m.At, Kind: m.Kind, ID: m.ID, V: m.V}
		sum = chain.Next(sum, e, m.digest)
		args = append(args, row.id, int64(e.Seq), int64(e.Epoch), e.At.UnixMilli(), string(e.Kind), e.ID, e.V, m.salt, string(m.Body), sum)
	}
	err := w.Exec(insertEntries(len(ms)), args...)
	if store.Duplicate(err) {
		return fmt.Errorf("%w: an id of %q to %q is there already", journal.ErrConflict, ms[0].ID, ms[len(ms)-1].ID)
	}
	if err != nil {
		return fmt.Errorf("insert entries: %w", err)
	}
	if !row.grew {
		w.grew = append(w.grew, row)
	}
	row.head, row.sum, row.grew = head, sum, true
	return nil
}

func insertEntries(n int) string {
	const values = "(?,?,?,?,?,?,?,?,?,?)"
	return `INSERT INTO entries(room_id, seq, epoch, at_ms, kind, id, v, salt, body, sum) VALUES` + values + strings.Repeat(","+values, n-1)
}

// moveHeads writes down how far the rooms came that grew in the open transaction.
// Columns that have not changed are left alone, for an index may be about them.
func (w *writer) moveHeads() error {
	for _, r := range w.grew {
		err := w.Exec(`UPDATE rooms SET head = ?, sum = ? WHERE id = ?`, int64(r.head.Seq), r.sum, r.id)
		if err == nil && r.owner != "" {
			err = w.Exec(`UPDATE rooms SET epoch = ?, owner = ? WHERE id = ?`, int64(r.head.Epoch), r.owner, r.id)
		}
		if err == nil && !r.awake {
			err = w.Exec(`UPDATE rooms SET awake = 1 WHERE id = ?`, r.id)
		}
		if err != nil {
			return fmt.Errorf("move head: %w", err)
		}
	}
	return nil
}
