package schema

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// TestVersion brings an empty file to each version in turn, which a program of
// another schema refuses in its own words.
func TestVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := store.Open(path, store.Writing, store.Patience)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Claim(); err != nil {
		t.Fatal(err)
	}
	usual := Usual()
	for n := range usual {
		if v, err := usual.Version(s); v != n || err != nil {
			t.Fatalf("version %d %v, want %d", v, err, n)
		}
		if err := usual.Current(s); !errors.Is(err, ErrOlder) || !errors.Is(err, store.ErrRefused) {
			t.Errorf("version %d is the current one: %v", n, err)
		}
		if err := usual[:n+1].Migrate(s, path, n, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		if _, err := usual[:n].Version(s); !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), "use the newer companiond") {
			t.Errorf("an older program: %v", err)
		}
	}
	if err := usual.Current(s); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(path + ".v*"); err != nil || len(left) > 0 {
		t.Errorf("copies of a file that held nothing: %q %v", left, err)
	}
	if err := s.Script("PRAGMA application_id = 7"); err != nil {
		t.Fatal(err)
	}
	if _, err := usual.Version(s); !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), "0x7") {
		t.Errorf("another program's: %v", err)
	}
}
