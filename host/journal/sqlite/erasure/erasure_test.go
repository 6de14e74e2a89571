package erasure_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/journal/sqlite/erasure"
)

func open(t *testing.T) (*sqlite.Journal, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "companiond.db")
	j, err := sqlite.Open(sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	h, err := j.Acquire(t.Context(), "main", "test", time.Now())
	if err == nil {
		_, err = j.Append(t.Context(), "main", h,
			journal.New{ID: "a", Kind: "said", At: time.Now(), Body: []byte(`{"text":"ひみつ"}`)},
			journal.New{ID: "b", Kind: "said", At: time.Now(), Body: []byte(`{"text":"そのまま"}`)},
			journal.New{ID: "c", Kind: "vote", At: time.Now(), Body: []byte(`{"reason":"ひみつ"}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	return j, path
}

func body(t *testing.T, j *sqlite.Journal, id string) string {
	t.Helper()
	e, ok, err := j.Find(t.Context(), "main", id)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return string(e.Body)
}

// What was left of a body can be less a second time, the chain holds, and nothing comes back.
func TestErase(t *testing.T) {
	j, path := open(t)
	ctx := context.Background()
	steps := []func() error{
		func() error { return j.Blank(ctx, "main", 0, map[uint64][]byte{4: nil}) },
		func() error {
			return j.Erase(ctx, "main", map[uint64][]byte{2: []byte(`{"text":"","of":"ひみつ2"}`), 4: []byte(`{"x":1}`), 9: nil})
		},
		func() error { return j.Erase(ctx, "main", map[uint64][]byte{2: []byte(`{"text":""}`)}) },
		func() error { return j.Erase(ctx, "nowhere", map[uint64][]byte{2: nil}) },
		func() error { return j.Purge(ctx, false) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if bad, err := j.Verify(ctx, "main", 0); bad != 0 || err != nil {
			t.Fatalf("step %d: the chain breaks at %d: %v", i, bad, err)
		}
	}
	if a, b, c := body(t, j, "a"), body(t, j, "b"), body(t, j, "c"); a != `{"text":""}` || b != `{"text":"そのまま"}` || c != "null" && c != "" {
		t.Errorf("%s %s %s", a, b, c)
	}
	for _, f := range []string{path, path + "-wal"} {
		raw, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(raw), "ひみつ") {
			t.Errorf("%s: %v, or it is still there", f, err)
		}
	}
}

func TestMarkAndPairs(t *testing.T) {
	j, _ := open(t)
	if at, err := j.Erased(t.Context()); at != "" || err != nil {
		t.Errorf("%q %v", at, err)
	}
	for _, id := range []string{"o1", "o2"} {
		if err := j.SetErased(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if at, err := j.Erased(t.Context()); at != id || err != nil {
			t.Errorf("%q %v", at, err)
		}
	}
	for _, c := range []string{"b", "a"} {
		if err := j.KVSet(t.Context(), c, "k", "v"+c); err != nil {
			t.Fatal(err)
		}
	}
	var got []journal.Pair
	if err := j.Pairs(t.Context(), func(p journal.Pair) error { got = append(got, p); return nil }); err != nil || len(got) != 2 || got[0] != (journal.Pair{Companion: "a", Key: "k", Value: "va"}) {
		t.Errorf("%v %v", got, err)
	}
}

func TestCopies(t *testing.T) {
	_, path := open(t)
	dir := filepath.Dir(path)
	if err := os.MkdirAll(filepath.Join(dir, "corrupt-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{path + ".v1-2026", filepath.Join(dir, "corrupt-1", "x.db"), path + ".rescued-1"} {
		if err := os.WriteFile(f, []byte("ひみつ"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := erasure.Copies(path)
	if err != nil || len(got) != 3 {
		t.Fatalf("%v %v", got, err)
	}
	if err := erasure.Delete(got); err != nil {
		t.Fatal(err)
	}
	if got, err := erasure.Copies(path); err != nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error("the journal itself is gone")
	}
}
