package sqlite

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/statedir"
)

// keepHeads writes the file every other probe while it changes, and at the end.
func (j *Journal) keepHeads() {
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
		if !j.fresh || j.health != nil && !end { // in trouble it could not be written either
			j.mu.Unlock()
			continue
		}
		j.fresh = false
		heads := maps.Clone(j.heads)
		j.mu.Unlock()
		if err := statedir.SaveHeads(filepath.Dir(j.path), heads); err != nil {
			j.log.Warn("keep heads", "err", err)
			j.mu.Lock()
			j.fresh = true // once more
			j.mu.Unlock()
		}
	}
}

// compareHeads refuses a database in which a room went back, and takes its
// heads over. SQLite opens a database whose write-ahead log is gone without a
// word; a head below the one that was kept gives the loss away.
func (j *Journal) compareHeads(r *store) error {
	now, err := r.heads(context.Background())
	if err != nil {
		return classify(fmt.Errorf("read rooms: %w", err), journal.ErrUnavailable)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var back []string
	for _, room := range slices.Sorted(maps.Keys(j.heads)) {
		if was, is := j.heads[room], now[room]; is.Seq < was.Seq || is.Epoch < was.Epoch {
			back = append(back, fmt.Sprintf("%q from %d to %d", room, was.Seq, is.Seq))
		}
	}
	if n := len(back); n > 0 {
		return fmt.Errorf("%w: %d rooms went back (%s): the write-ahead log was lost or an older database put in place; "+
			"to go on with what is left, delete %s", journal.ErrCorrupt, n, strings.Join(back[:min(n, 8)], ", "),
			filepath.Join(filepath.Dir(j.path), statedir.HeadsFile))
	}
	j.fresh = j.fresh || !maps.Equal(j.heads, now)
	j.heads = now
	return nil
}
