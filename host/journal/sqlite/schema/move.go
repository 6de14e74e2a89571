package schema

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/sqlite/chain"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// This file brings entries of schema 1, which held their bodies and a chain over
// them, to schema 2. It reads events and changes nothing there, so that an older
// program can still use a file whose migration was interrupted.

// piece is how many entries a transaction of the move takes at least.
const piece = 1000

// mover copies entries from events to entries.
type mover struct {
	*store.Store
	log   *slog.Logger
	moved int // in all
	held  int // in the open transaction
	told  time.Time
}

// moveBodies copies what is not there yet, in pieces.
func moveBodies(s *store.Store, log *slog.Logger) error {
	m := &mover{Store: s, log: log, told: time.Now()}
	var rooms []oldRoom
	err := s.Each(context.Background(), `SELECT id, name, head, sum, trimmed, trimmed_sum, trimmed_sum FROM rooms ORDER BY id`, nil, func(rows *sql.Rows) error {
		var r oldRoom
		err := rows.Scan(&r.id, &r.name, &r.head, &r.headSum, &r.at, &r.old, &r.sum)
		rooms = append(rooms, r)
		return err
	})
	if err != nil {
		return fmt.Errorf("list rooms: %w", err)
	}
	if err := m.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() { _ = m.Exec("ROLLBACK") }() // nothing to do after COMMIT
	for _, r := range rooms {
		if err := m.room(r); err != nil {
			return fmt.Errorf("room %q: %w", r.name, err)
		}
	}
	return m.Exec("COMMIT")
}

// oldRoom is how far a room was moved: its entry at, with the sum in each chain.
type oldRoom struct {
	id       int64
	name     string
	head     uint64
	headSum  []byte
	at       uint64
	old, sum []byte // of schema 1 and of schema 2
}

func (m *mover) room(r oldRoom) error {
	err := m.Row(context.Background(), `SELECT n.seq, n.sum, o.sum FROM entries n JOIN events o ON o.room_id = n.room_id AND o.seq = n.seq
		WHERE n.room_id = ? ORDER BY n.seq DESC LIMIT 1`, []any{r.id}, &r.at, &r.sum, &r.old)
	if store.Present(err) != nil {
		return err
	}
	for {
		es, sums, err := m.piece(r)
		if err != nil || len(es) == 0 {
			return err
		}
		for i, e := range es {
			sound := bytes.Equal(sums[i], chain.Old(r.old, e)) && e.Seq == r.at+1 && (e.Seq < r.head || bytes.Equal(sums[i], r.headSum))
			if err := m.insert(&r, e, sound); err != nil {
				return fmt.Errorf("insert entry %d: %w", e.Seq, err)
			}
			r.at, r.old = e.Seq, sums[i]
		}
		if err := m.pause(len(es)); err != nil {
			return err
		}
	}
}

// piece reads the next entries of a room and their sums.
func (m *mover) piece(r oldRoom) (es []entry.Entry, sums [][]byte, err error) {
	err = m.Each(context.Background(), `SELECT seq, epoch, at_ms, kind, id, body, sum FROM events WHERE room_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
		[]any{r.id, int64(r.at), piece}, func(rows *sql.Rows) error {
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

// insert adds an entry as it was. One that did not fit its sum, or left a gap,
// fits none afterwards either: damage is not mended by counting it again.
func (m *mover) insert(r *oldRoom, e entry.Entry, sound bool) error {
	salt := chain.Salts(1)
	r.sum = chain.Next(r.sum, e, chain.Digest(salt, e.Body))
	if !sound {
		r.sum = make([]byte, chain.Size)
	}
	return m.Exec(`INSERT INTO entries(room_id, seq, epoch, at_ms, kind, id, v, salt, body, sum) VALUES(?,?,?,?,?,?,?,?,?,?)`,
		r.id, int64(e.Seq), int64(e.Epoch), e.At.UnixMilli(), string(e.Kind), e.ID, e.V, salt, string(e.Body), r.sum)
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
	if err := m.Exec("COMMIT"); err != nil {
		return err
	}
	return m.Exec("BEGIN IMMEDIATE")
}
