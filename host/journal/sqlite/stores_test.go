package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/host/journal/journaltest"
)

func TestStores(t *testing.T) {
	t.Parallel()
	journaltest.RunStores(t, func(t *testing.T) journaltest.Branching {
		return unsynced(t, filepath.Join(t.TempDir(), "companion.db"))
	}, nil)
}
