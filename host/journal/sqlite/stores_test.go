package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/journaltest"
	"github.com/companiond/companiond/host/journal/sqlite/chain"
	"github.com/companiond/companiond/host/journal/sqlite/keys"
)

func TestStores(t *testing.T) {
	t.Parallel()
	journaltest.RunStores(t, func(t *testing.T) journaltest.Branching {
		return unsynced(t, filepath.Join(t.TempDir(), "companion.db"))
	}, forkKeys)
}

// forkKeys forks a room as far as its keys know of it.
func forkKeys(b journaltest.Branching, room string, f journal.Fork) error {
	j := b.(*Journal)
	return j.submit(context.Background(), &request{run: func(w *writer) error {
		if err := w.Exec(`INSERT INTO rooms(name, head, epoch, sum, trimmed_sum) VALUES(?1, ?2, 0, ?3, ?3)`, room, int64(f.At), chain.Genesis(room)); err != nil {
			return err
		}
		own, err := w.room(room)
		if err != nil {
			return err
		}
		of, err := w.room(f.Of)
		if err != nil {
			return err
		}
		return keys.Fork(w.Store, own.id, of.id, f.At)
	}})
}
