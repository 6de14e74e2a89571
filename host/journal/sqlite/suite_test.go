package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/journaltest"
)

func TestJournal(t *testing.T) {
	journaltest.Run(t,
		func(t *testing.T) journal.Journal { return mustOpen(t, filepath.Join(t.TempDir(), "companion.db")) },
		func(t *testing.T, j journal.Journal) journal.Journal { return again(t, j.(*Journal)) })
}

func TestKV(t *testing.T) {
	journaltest.RunKV(t,
		func(t *testing.T) journal.KV { return mustOpen(t, filepath.Join(t.TempDir(), "companion.db")) },
		func(t *testing.T, kv journal.KV) journal.KV { return again(t, kv.(*Journal)) })
}

// mustOpen opens a journal without a reserve, which tests of a full disk have.
func mustOpen(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := Open(Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func again(t testing.TB, j *Journal) *Journal {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, j.path)
}
