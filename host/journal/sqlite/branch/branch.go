package branch

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// Past is what a fork shares with the room that it is forked of.
type Past struct {
	journal.Fork
	Epoch uint64 // of the other room
	Owner string // of that epoch
	Sum   []byte // of the entry At

	of      int64
	trimmed uint64
	forked  uint64
}

// Part finds the past that a fork would share with the room of an id, whose head the writer knows. It refuses as journal.Branches says, and
// writes nothing.
func Part(w *store.Store, of int64, head journal.Head, f journal.Fork) (p Past, err error) {
	ctx := context.Background()
	p = Past{Fork: f, Epoch: head.Epoch, of: of}
	var depth uint64
	if err := w.Row(ctx, `SELECT trimmed, fork_seq, depth, owner FROM rooms WHERE id = ?`, []any{of}, &p.trimmed, &p.forked, &depth, &p.Owner); err != nil {
		return p, fmt.Errorf("read room: %w", err)
	}
	switch {
	case f.At == 0 || f.At > head.Seq || f.At <= p.trimmed:
		return p, abi.Field("at", abi.CodeNotFound, "room %q has entries %d to %d, not %d", f.Of, p.trimmed+1, head.Seq, f.At)
	case depth >= journal.MaxDepth:
		return p, abi.Field("of", abi.CodeExhausted, "room %q is %d forks deep already, which is the most", f.Of, depth)
	}
	p.Sum, err = Sum(ctx, w, of, f.At)
	if err == nil && p.Sum == nil {
		err = fmt.Errorf("%w: room %q has lost entry %d", journal.ErrCorrupt, f.Of, f.At)
	}
	return p, err
}

// Has says whether an entry of the past has an id.
func (p Past) Has(w *store.Store, id string) (bool, error) { return has(w, p.of, id, p.At) }

// Make makes the row and the spans of a room with a past, in the writer's transaction, however long the past is, and gives its id. It refuses
// a key that is another's before it writes.
func (p Past) Make(w *store.Store, room string, l journal.Listing) (id int64, err error) {
	err = w.Row(context.Background(), `INSERT INTO rooms(name, head, epoch, sum, trimmed, trimmed_sum, owner, swept, key, opened_by, settings, archived, forked_of, fork_seq, depth)
		SELECT ?1, ?2, ?3, ?4, trimmed, trimmed_sum, ?5, min(swept, ?2), ?6, ?7, ?8, ?9, name, ?2, depth + 1 FROM rooms WHERE id = ?10 RETURNING id`,
		[]any{room, integer(p.At), integer(p.Epoch), p.Sum, p.Owner, sql.NullString{String: l.Key, Valid: l.Key != ""}, l.By, l.Settings, l.Archived, p.of}, &id)
	if store.Duplicate(err) {
		return 0, fmt.Errorf("%w: another room has the key of %q", journal.ErrConflict, room)
	}
	if err != nil {
		return 0, fmt.Errorf("make room: %w", err)
	}
	if p.forked > 0 {
		err = w.Exec(`INSERT INTO spans(room_id, lo, hi, src) SELECT ?1, lo, min(hi, ?3), src FROM spans WHERE room_id = ?2 AND lo <= ?3`, id, p.of, integer(p.At))
	} else {
		err = w.Exec(`INSERT INTO spans(room_id, lo, hi, src) VALUES(?, ?, ?, ?)`, id, integer(p.trimmed+1), integer(p.At), p.of)
	}
	if err == nil {
		err = w.Exec(`INSERT INTO spans(room_id, lo, hi, src) VALUES(?1, ?2, ?3, ?1)`, id, behind(p.At), int64(math.MaxInt64))
	}
	if err != nil {
		return 0, fmt.Errorf("share the past: %w", err)
	}
	return id, nil
}

// Sum gives the sum of an entry of a room, nil where it is not there.
func Sum(ctx context.Context, s *store.Store, room int64, seq uint64) (sum []byte, err error) {
	err = s.Row(ctx, `SELECT sum FROM entries WHERE room_id = ?1 AND seq = ?2
		UNION ALL SELECT e.sum FROM spans s CROSS JOIN entries e ON e.room_id = s.src AND e.seq = ?2
			WHERE s.room_id = ?1 AND s.src <> ?1 AND s.lo <= ?2 AND s.hi >= ?2 LIMIT 1`, []any{room, integer(seq)}, &sum)
	return sum, store.Present(err)
}

// Shares says whether a fork shares an entry with an id, where it parted at a seq.
func Shares(w *store.Store, room int64, id string, parted uint64) (bool, error) {
	return has(w, room, id, parted)
}

// has says whether a room has an entry with an id, of those up to a seq.
func has(s *store.Store, room int64, id string, upTo uint64) (bool, error) {
	var there int
	err := s.Row(context.Background(), `SELECT 1 FROM entries WHERE room_id = ?1 AND id = ?2 AND seq <= ?3
		UNION ALL SELECT 1 FROM spans s CROSS JOIN entries e ON e.room_id = s.src AND e.id = ?2 AND e.seq BETWEEN s.lo AND min(s.hi, ?3)
			WHERE s.room_id = ?1 AND s.src <> ?1 LIMIT 1`, []any{room, id, integer(upTo)}, &there)
	return there == 1, store.Present(err)
}

// Split gives what is meant for entries of a fork by the rooms under which they stand. What is meant for
// others is left out.
func Split(s *store.Store, room int64, bodies map[uint64][]byte) (map[int64]map[uint64][]byte, error) {
	by := map[int64]map[uint64][]byte{}
	for seq, body := range bodies {
		var src int64
		err := s.Row(context.Background(), `SELECT src FROM spans WHERE room_id = ?1 AND lo <= ?2 AND hi >= ?2`, []any{room, integer(seq)}, &src)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look for entry %d: %w", seq, err)
		}
		if by[src] == nil {
			by[src] = map[uint64][]byte{}
		}
		by[src][seq] = body
	}
	return by, nil
}

// Trim forgets entries of a room, in the writer's transaction, as journal.Admin says. The sum of the last that is
// forgotten is kept, so that Verify can start after it.
func Trim(w *store.Store, room string, upTo uint64) error {
	ctx := context.Background()
	var id int64
	var trimmed, snap uint64
	err := w.Row(ctx, `SELECT r.id, r.trimmed, max(p.seq) FROM rooms r JOIN snapshots p ON p.room_id = r.id
		WHERE r.name = ? GROUP BY r.id`, []any{room}, &id, &trimmed, &snap)
	switch {
	case store.Present(err) != nil:
		return fmt.Errorf("read snapshot: %w", err)
	case err != nil || snap < upTo:
		return fmt.Errorf("%w: no snapshot at or after %d", journal.ErrConflict, upTo)
	case upTo <= trimmed:
		return nil
	}
	var fork string
	err = w.Row(ctx, `SELECT name FROM rooms WHERE id = (SELECT room_id FROM spans WHERE src = ?1 AND lo <= ?2 AND room_id <> ?1)`,
		[]any{id, integer(upTo)}, &fork)
	if err == nil {
		return fmt.Errorf("%w: room %q was forked of it and has entries up to %d in common", journal.ErrConflict, fork, upTo)
	} else if store.Present(err) != nil {
		return fmt.Errorf("look for forks: %w", err)
	}
	sum, err := Sum(ctx, w, id, upTo)
	if err != nil {
		return fmt.Errorf("read sum: %w", err)
	}
	if err := w.Exec(`UPDATE rooms SET trimmed = ?1, trimmed_sum = ?3 WHERE id = ?2`, integer(upTo), id, sum); err != nil {
		return fmt.Errorf("keep last sum: %w", err)
	}
	for _, q := range []string{
		`DELETE FROM entries WHERE room_id = ?1 AND seq <= ?2`,
		`DELETE FROM snapshots WHERE room_id = ?1 AND seq < ?2`,
		`DELETE FROM spans WHERE room_id = ?1 AND hi <= ?2`,
		`UPDATE spans SET lo = ?2 + 1 WHERE room_id = ?1 AND lo <= ?2`,
	} {
		if err := w.Exec(q, id, integer(upTo)); err != nil {
			return fmt.Errorf("forget entries: %w", err)
		}
	}
	return nil
}
