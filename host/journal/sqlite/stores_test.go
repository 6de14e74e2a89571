package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/host/journal/journaltest/storetest"

	"github.com/companiond/companiond/host/waittest"
)

func TestStores(t *testing.T) {
	waittest.WithoutRaces(t)
	t.Parallel()
	storetest.RunStores(t, func(t *testing.T) storetest.Branching {
		return unsynced(t, filepath.Join(t.TempDir(), "companion.db"))
	}, nil)
}
