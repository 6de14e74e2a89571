package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/host/journal/journaltest/storetest"
)

func TestStores(t *testing.T) {
	t.Parallel()
	storetest.RunStores(t, func(t *testing.T) storetest.Branching {
		return unsynced(t, filepath.Join(t.TempDir(), "companion.db"))
	}, nil)
}
