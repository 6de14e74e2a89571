package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/branch"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
)

// keepMark writes the mark down every other probe while it changes, and at the end,
// beside the database it is of: held.
func (j *Journal) keepMark(held statedir.Held) {
	defer close(j.kept)
	tick := time.NewTicker(2 * j.tune.probe)
	defer tick.Stop()
	for end := false; !end; {
		select {
		case <-tick.C:
		case <-j.stopped:
			end = true
		}
		j.mu.Lock()
		if !j.fresh || j.health != nil && !end || errors.As(j.health, new(statedir.Gone)) { // the directory may be another daemon's by now
			j.mu.Unlock()
			continue
		}
		j.fresh = false
		mark := j.mark
		j.mu.Unlock()
		if held.Look() != nil { // which the next write will find out
			continue
		}
		if err := statedir.SaveMark(filepath.Dir(j.path), mark); err != nil {
			j.log.Warn("keep mark", "err", err)
			j.mu.Lock()
			j.fresh = true // once more
			j.mu.Unlock()
		}
	}
}

// compareMark refuses a database that does not hold what was its newest entry.
// SQLite opens a database whose write-ahead log is gone without a word; the
// missing entry gives the loss away.
func (j *Journal) compareMark(r *store.Store) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	lost, err := lostSince(r, j.mark)
	switch {
	case err != nil:
		return store.Classify(fmt.Errorf("look for mark: %w", err), journal.ErrUnavailable)
	case lost != "":
		return fmt.Errorf("%w: %s: the write-ahead log was lost or an older database put in place; to go on with what is left, delete %s",
			journal.ErrCorrupt, lost, filepath.Join(filepath.Dir(j.path), statedir.MarkFile))
	}
	return nil
}

// lostSince says what a database has lost since a mark was set.
func lostSince(r *store.Store, m statedir.Mark) (string, error) {
	if m.Room == "" {
		return backFrom(r, m.Rooms)
	}
	var id int64
	var head, trimmed uint64
	var sum []byte
	err := r.Row(context.Background(), `SELECT id, head, trimmed FROM rooms WHERE name = ?`, []any{m.Room}, &id, &head, &trimmed)
	if err == nil {
		sum, err = branch.Sum(context.Background(), r, id, m.Seq)
	}
	switch {
	case store.Present(err) != nil:
		return "", err
	case head < m.Seq:
		return fmt.Sprintf("room %q has lost entry %d, and ends at %d", m.Room, m.Seq, head), nil
	case trimmed < m.Seq && !bytes.Equal(sum, m.Sum):
		return fmt.Sprintf("entry %d of room %q is another", m.Seq, m.Room), nil
	}
	return "", nil
}

// backFrom is lostSince for a mark of before, which had every room's head.
func backFrom(r *store.Store, was map[string]journal.Head) (string, error) {
	var back []string
	for _, room := range slices.Sorted(maps.Keys(was)) {
		var is journal.Head
		err := r.Row(context.Background(), `SELECT head, epoch FROM rooms WHERE name = ?`, []any{room}, &is.Seq, &is.Epoch)
		if store.Present(err) != nil {
			return "", err
		}
		if was := was[room]; is.Seq < was.Seq || is.Epoch < was.Epoch {
			back = append(back, fmt.Sprintf("%q from %d to %d", room, was.Seq, is.Seq))
		}
	}
	if n := len(back); n > 0 {
		return fmt.Sprintf("%d rooms went back (%s)", n, strings.Join(back[:min(n, 8)], ", ")), nil
	}
	return "", nil
}
