package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/journal"
)

// The file heads, beside the database, holds every room's head as it was a
// moment ago. SQLite opens a database whose write-ahead log is gone without a
// word; a head below the one in this file gives the loss away.
const headsFile = "heads"

func loadHeads(dir string) (map[string]journal.Head, error) {
	heads := map[string]journal.Head{}
	b, err := os.ReadFile(filepath.Join(dir, headsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return heads, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &heads)
	}
	if err != nil {
		return map[string]journal.Head{}, fmt.Errorf("load heads: %w", err)
	}
	return heads, nil
}

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
		if err := saveHeads(filepath.Dir(j.path), heads); err != nil {
			j.log.Warn("keep heads", "err", err)
			j.mu.Lock()
			j.fresh = true // once more
			j.mu.Unlock()
		}
	}
}

// saveHeads replaces the file; a crash leaves the old one or the new one.
func saveHeads(dir string, heads map[string]journal.Head) error {
	b, err := json.Marshal(heads)
	if err != nil {
		return fmt.Errorf("encode heads: %w", err)
	}
	path := filepath.Join(dir, headsFile)
	if err := writeFile(path+".new", b); err != nil {
		return fmt.Errorf("write heads: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("replace heads: %w", err)
	}
	return syncDir(path)
}

// writeFile writes and syncs a file of mode 0600.
func writeFile(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// compareHeads refuses a database in which a room went back, and takes its
// heads over.
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
			filepath.Join(filepath.Dir(j.path), headsFile))
	}
	j.fresh = j.fresh || !maps.Equal(j.heads, now)
	j.heads = now
	return nil
}
