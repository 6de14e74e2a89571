package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/journaltest"
	"github.com/companiond/companiond/host/journal/journaltest/storetest"
	"github.com/companiond/companiond/host/waittest"
)

func TestJournal(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, opens, opensAgain)
}

func TestJournalModel(t *testing.T) {
	waittest.WithoutRaces(t)
	t.Parallel()
	journaltest.Model(t, opens, opensAgain)
}

func opens(t *testing.T) journal.Journal {
	return unsynced(t, filepath.Join(t.TempDir(), "companion.db"))
}

func opensAgain(t *testing.T, j journal.Journal) journal.Journal { return reopened(t, j.(*Journal)) }

func TestKV(t *testing.T) {
	t.Parallel()
	storetest.RunKV(t,
		func(t *testing.T) journal.KV { return unsynced(t, filepath.Join(t.TempDir(), "companion.db")) },
		func(t *testing.T, kv journal.KV) journal.KV { return reopened(t, kv.(*Journal)) })
}

// unsynced opens a journal that does not wait for the disk, which only a power cut
// can tell from one that does: the suite is thousands of commits.
func unsynced(t testing.TB, path string) *Journal {
	t.Helper()
	tune := usual()
	tune.synchronous = "OFF"
	j, err := open(Config{Path: path}, tune)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func reopened(t testing.TB, j *Journal) *Journal {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return unsynced(t, j.path)
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
