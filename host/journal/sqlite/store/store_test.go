package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// writer gives a store that writes to a new file.
func writer(t *testing.T) (s *Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	s, err := Open(path, Writing, Patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Claim(); err != nil {
		t.Fatal(err)
	}
	return s, path
}

// TestSettingsAreReadBack: a setting that did not come to be is noticed.
func TestSettingsAreReadBack(t *testing.T) {
	s, _ := writer(t)
	if err := s.readBack("FULL"); !errors.Is(err, ErrRefused) {
		t.Errorf("a file without a log passes: %v", err)
	}
	if err := s.Configure("FULL"); err != nil {
		t.Fatal(err)
	}
	if err := s.readBack("OFF"); err != nil {
		t.Errorf("read back: %v", err) // a weaker wish does not matter, what is set does
	}
	if err := s.Exec("PRAGMA synchronous = NORMAL"); err != nil {
		t.Fatal(err)
	}
	if err := s.readBack("FULL"); !errors.Is(err, ErrRefused) {
		t.Errorf("synchronous = 1 passes: %v", err)
	}
}

// TestSQLiteIsNewEnough wants one without the WAL-reset race, which loses committed
// writes (sqlite.org/wal.html#the_wal_reset_bug).
func TestSQLiteIsNewEnough(t *testing.T) {
	s, _ := writer(t)
	var version string
	v := make([]int, 3)
	if err := s.Row(t.Context(), "SELECT sqlite_version()", nil, &version); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil || v[0] != 3 || slices.Compare(v, []int{3, 51, 3}) < 0 {
		t.Errorf("SQLite %s can lose writes; 3.51.3 or newer is needed (%v)", version, err)
	}
}

// TestDuplicate tells a value that is there already from other trouble.
func TestDuplicate(t *testing.T) {
	s, _ := writer(t)
	if err := s.Script("CREATE TABLE t(x UNIQUE NOT NULL); INSERT INTO t VALUES(1)"); err != nil {
		t.Fatal(err)
	}
	if err := s.Exec("INSERT INTO t VALUES(1)"); !Duplicate(err) {
		t.Errorf("a second one: %v", err)
	}
	if err := s.Exec("INSERT INTO t VALUES(NULL)"); err == nil || Duplicate(err) {
		t.Errorf("nothing: %v", err)
	}
	if Duplicate(nil) {
		t.Error("no error is a duplicate")
	}
}
