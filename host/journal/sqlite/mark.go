package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
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
	lost, err := branch.Lost(r, j.mark)
	switch {
	case err != nil:
		return store.Classify(fmt.Errorf("look for mark: %w", err), journal.ErrUnavailable)
	case lost != "":
		return fmt.Errorf("%w: %s: the write-ahead log was lost or an older database put in place; to go on with what is left, delete %s",
			journal.ErrCorrupt, lost, filepath.Join(filepath.Dir(j.path), statedir.MarkFile))
	}
	return nil
}
