package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sumSize is the length in bytes of a sum.
const sumSize = 16

// genesis is the sum before a room's first entry.
func genesis(room string) []byte {
	s := sha256.Sum256([]byte("companiond room\n" + room))
	return s[:sumSize]
}

// chain gives an entry's sum: it covers all of the entry and, through the sum
// before it, the room's whole past.
func chain(before []byte, e entry.Entry) []byte {
	b := make([]byte, 0, sumSize+48+len(e.Kind)+len(e.ID)+len(e.Body))
	b = append(b, before...)
	b = binary.BigEndian.AppendUint64(b, e.Seq)
	b = binary.BigEndian.AppendUint64(b, e.Epoch)
	b = binary.BigEndian.AppendUint64(b, uint64(e.At.UnixMilli()))
	for _, field := range []string{string(e.Kind), e.ID} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(field)))
		b = append(b, field...)
	}
	s := sha256.Sum256(append(b, e.Body...))
	return s[:sumSize]
}

// roomRow is a row of rooms.
type roomRow struct {
	id         int64
	head       journal.Head
	sum        []byte
	trimmed    uint64
	trimmedSum []byte
}

const selectRoom = `SELECT id, head, epoch, sum, trimmed, trimmed_sum FROM rooms WHERE name = ?`

func scanRoom(row *sql.Row) (r roomRow, err error) {
	err = row.Scan(&r.id, &r.head.Seq, &r.head.Epoch, &r.sum, &r.trimmed, &r.trimmedSum)
	return r, err
}

// room reads a room's row for the writer; sql.ErrNoRows when there is none.
func (s *store) room(name string) (roomRow, error) {
	st, err := s.stmt(context.Background(), selectRoom)
	if err != nil {
		return roomRow{}, err
	}
	return scanRoom(st.QueryRow(name))
}

// Acquire implements journal.Journal.
func (j *Journal) Acquire(ctx context.Context, room, owner string, at time.Time) (journal.Head, error) {
	if room == "" || !utf8.ValidString(room) {
		return journal.Head{}, abi.Errorf(abi.CodeInvalid, "room: %q is empty or not UTF-8", room)
	}
	body, err := json.Marshal(entry.Owner{Owner: owner})
	if err != nil {
		return journal.Head{}, fmt.Errorf("encode owner: %w", err)
	}
	r := &request{room: room}
	r.run = func(w *store) error {
		if err := w.exec(`INSERT INTO rooms(name, head, epoch, sum, trimmed_sum) VALUES(?1, 0, 1, ?2, ?2)
			ON CONFLICT(name) DO UPDATE SET epoch = epoch + 1`, room, genesis(room)); err != nil {
			return fmt.Errorf("raise epoch: %w", err)
		}
		row, err := w.room(room)
		if err != nil {
			return fmt.Errorf("read room: %w", err)
		}
		id := fmt.Sprintf("%s%d", journal.OwnerID, row.head.Epoch)
		r.head, err = grow(w, row, []journal.New{{ID: id, Kind: entry.KindOwner, At: at, Body: body}})
		return err
	}
	if err := j.submit(ctx, r); err != nil {
		return journal.Head{}, fmt.Errorf("acquire room: %w", err)
	}
	return r.head, nil
}

// Append implements journal.Journal.
func (j *Journal) Append(ctx context.Context, room string, h journal.Head, entries ...journal.New) (journal.Head, error) {
	for _, e := range entries {
		switch {
		case e.ID == "" || !utf8.ValidString(e.ID) || strings.HasPrefix(e.ID, journal.OwnerID):
			return h, abi.Errorf(abi.CodeInvalid, "entry.id: %q is empty, not UTF-8 or reserved", e.ID)
		case e.Kind == "":
			return h, abi.Errorf(abi.CodeInvalid, "entry.kind: must not be empty")
		case !json.Valid(e.Body):
			return h, abi.Errorf(abi.CodeInvalid, "entry.body: of %q is not JSON", e.ID)
		}
	}
	r := &request{room: room}
	r.run = func(w *store) error {
		row, err := w.room(room)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("%w: no such room", journal.ErrConflict)
		case err != nil:
			return fmt.Errorf("read room: %w", err)
		case row.head.Epoch > h.Epoch:
			return fmt.Errorf("%w: epoch is %d, not %d", journal.ErrFenced, row.head.Epoch, h.Epoch)
		case row.head != h:
			return fmt.Errorf("%w: head is %d, not %d", journal.ErrConflict, row.head.Seq, h.Seq)
		}
		r.head, err = grow(w, row, entries)
		return err
	}
	if err := j.submit(ctx, r); err != nil {
		return h, fmt.Errorf("append to room: %w", err)
	}
	return r.head, nil
}

// grow adds entries to the end of a room.
func grow(w *store, room roomRow, entries []journal.New) (journal.Head, error) {
	for _, n := range entries {
		room.head.Seq++
		e := entry.Entry{Seq: room.head.Seq, Epoch: room.head.Epoch, At: n.At, Kind: n.Kind, ID: n.ID, Body: n.Body}
		room.sum = chain(room.sum, e)
		err := w.exec(`INSERT INTO events(room_id, seq, epoch, at_ms, kind, id, body, sum) VALUES(?,?,?,?,?,?,?,?)`,
			room.id, int64(e.Seq), int64(e.Epoch), e.At.UnixMilli(), string(e.Kind), e.ID, string(e.Body), room.sum)
		var se *sqlite.Error
		if errors.As(err, &se) && se.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
			return room.head, fmt.Errorf("%w: id %q is there already", journal.ErrConflict, e.ID)
		}
		if err != nil {
			return room.head, fmt.Errorf("insert entry: %w", err)
		}
	}
	err := w.exec(`UPDATE rooms SET head = ?, sum = ? WHERE id = ?`, int64(room.head.Seq), room.sum, room.id)
	if err != nil {
		return room.head, fmt.Errorf("move head: %w", err)
	}
	return room.head, nil
}

// PutSnapshot implements journal.Journal.
func (j *Journal) PutSnapshot(ctx context.Context, room string, seq uint64, state []byte) error {
	if state == nil {
		state = []byte{}
	}
	return wrap("put snapshot", j.submit(ctx, &request{run: func(w *store) error {
		row, err := w.room(room)
		if present(err) != nil {
			return fmt.Errorf("read room: %w", err)
		}
		if err != nil || seq > row.head.Seq {
			return fmt.Errorf("%w: room has no entry %d yet", journal.ErrConflict, seq)
		}
		return w.exec(`INSERT INTO snapshots(room_id, seq, state) VALUES(?,?,?) ON CONFLICT(room_id) DO UPDATE
			SET seq = excluded.seq, state = excluded.state WHERE excluded.seq >= seq`, row.id, int64(seq), state)
	}}))
}

// Trim implements journal.Journal. The space is used again, the file does not
// shrink. The sum of the last forgotten entry is kept, so that Verify can start
// after it.
func (j *Journal) Trim(ctx context.Context, room string, upTo uint64) error {
	return wrap("trim room", j.submit(ctx, &request{run: func(w *store) error {
		var id int64
		var trimmed, snap uint64
		err := w.row(context.Background(), `SELECT r.id, r.trimmed, s.seq FROM rooms r JOIN snapshots s ON s.room_id = r.id
			WHERE r.name = ?`, []any{room}, &id, &trimmed, &snap)
		switch {
		case present(err) != nil:
			return fmt.Errorf("read snapshot: %w", err)
		case err != nil || snap < upTo:
			return fmt.Errorf("%w: no snapshot at or after %d", journal.ErrConflict, upTo)
		case upTo <= trimmed:
			return nil
		}
		if err := w.exec(`UPDATE rooms SET trimmed = ?1, trimmed_sum = (SELECT sum FROM events WHERE room_id = ?2 AND seq = ?1)
			WHERE id = ?2`, int64(upTo), id); err != nil {
			return fmt.Errorf("keep last sum: %w", err)
		}
		return w.exec(`DELETE FROM events WHERE room_id = ? AND seq <= ?`, id, int64(upTo))
	}}))
}

// sqlInt fits a sequence number into SQLite's signed integers.
func sqlInt(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
