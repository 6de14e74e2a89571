package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"log/slog"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// This file brings entries of schema 1, which held their bodies and a chain over
// them, to schema 2. It reads events and changes nothing there, so that an older
// program can still use a file whose migration was interrupted.

// piece is how many entries a transaction of the move takes at least.
const piece = 4000

// chain1 gives an entry's sum in schema 1.
func chain1(before []byte, e entry.Entry) []byte {
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

// mover copies entries from events to entries.
type mover struct {
	*writer
	ctx   context.Context
	log   *slog.Logger
	moved int // in all
	held  int // in the open transaction
	told  time.Time
}

// moveBodies copies what is not there yet, in pieces.
func moveBodies(ctx context.Context, s *store, log *slog.Logger) error {
	m := &mover{writer: &writer{store: s, rooms: map[string]*roomRow{}}, ctx: ctx, log: log, told: time.Now()}
	var rooms []oldRoom
	err := s.each(ctx, `SELECT id, name, head, sum, trimmed, trimmed_sum FROM rooms ORDER BY id`, nil, func(rows *sql.Rows) error {
		var r oldRoom
		err := rows.Scan(&r.id, &r.name, &r.head, &r.headSum, &r.at, &r.sum)
		rooms = append(rooms, r)
		return err
	})
	if err != nil {
		return fmt.Errorf("list rooms: %w", err)
	}
	if err := m.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() { _ = m.exec("ROLLBACK") }() // nothing to do after COMMIT
	for _, r := range rooms {
		if err := m.room(r); err != nil {
			return fmt.Errorf("room %q: %w", r.name, err)
		}
	}
	return m.exec("COMMIT")
}

// oldRoom is how far a room was moved: its entry at, with the sum in each chain.
type oldRoom struct {
	id      int64
	name    string
	head    uint64
	headSum []byte
	at      uint64
	sum     []byte // of schema 1
}

func (m *mover) room(r oldRoom) error {
	row := roomRow{id: r.id, head: journal.Head{Seq: r.at}, sum: r.sum}
	var at uint64
	var sum []byte
	err := m.row(m.ctx, `SELECT n.seq, n.sum, o.sum FROM entries n JOIN events o ON o.room_id = n.room_id AND o.seq = n.seq
		WHERE n.room_id = ? ORDER BY n.seq DESC LIMIT 1`, []any{r.id}, &at, &sum, &r.sum)
	switch {
	case present(err) != nil:
		return err
	case err == nil:
		r.at, row.head.Seq, row.sum = at, at, sum
	}
	for {
		es, sums, err := m.piece(r)
		if err != nil || len(es) == 0 {
			return err
		}
		for i, e := range es {
			sound := bytes.Equal(sums[i], chain1(r.sum, e)) && e.Seq == r.at+1 && (e.Seq < r.head || bytes.Equal(sums[i], r.headSum))
			if err := m.insertOld(&row, e, sound); err != nil {
				return err
			}
			r.at, r.sum = e.Seq, sums[i]
		}
		if err := m.pause(len(es)); err != nil {
			return err
		}
	}
}

// piece reads the next entries of a room and their sums.
func (m *mover) piece(r oldRoom) (es []entry.Entry, sums [][]byte, err error) {
	err = m.each(m.ctx, `SELECT seq, epoch, at_ms, kind, id, body, sum FROM events WHERE room_id = ? AND seq > ? ORDER BY seq LIMIT 1000`,
		[]any{r.id, int64(r.at)}, func(rows *sql.Rows) error {
			e := entry.Entry{V: 1}
			var ms int64
			var body, sum []byte
			err := rows.Scan(&e.Seq, &e.Epoch, &ms, &e.Kind, &e.ID, &body, &sum)
			e.At, e.Body = time.UnixMilli(ms).UTC(), body
			es, sums = append(es, e), append(sums, sum)
			return err
		})
	return es, sums, err
}

// insertOld adds an entry as it was. One that did not fit its sum, or left a gap,
// fits none afterwards either: damage is not mended by counting it again.
func (m *mover) insertOld(row *roomRow, e entry.Entry, sound bool) error {
	salt := salts(1)
	row.head.Seq, row.sum = e.Seq, chain(row.sum, e, digest(salt, e.Body))
	if !sound {
		row.sum = make([]byte, sumSize)
	}
	if err := m.exec(insertEntries(1), row.id, int64(e.Seq), int64(e.Epoch), e.At.UnixMilli(), string(e.Kind), e.ID, e.V, salt, string(e.Body), row.sum); err != nil {
		return fmt.Errorf("insert entry %d: %w", e.Seq, err)
	}
	return nil
}

// pause ends a transaction that is large enough and begins the next.
func (m *mover) pause(n int) error {
	m.moved += n
	if m.held += n; m.held < piece {
		return nil
	}
	m.held = 0
	if time.Since(m.told) > 5*time.Second {
		m.told = time.Now()
		m.log.Info("the journal is being migrated", "entries", m.moved)
	}
	if err := m.exec("COMMIT"); err != nil {
		return err
	}
	return m.exec("BEGIN IMMEDIATE")
}
