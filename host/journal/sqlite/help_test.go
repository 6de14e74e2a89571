package sqlite

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// quick probes often, so that tests of recovery are short.
func quick() tuning {
	tune := usual()
	tune.probe = 20 * time.Millisecond
	tune.busy = 50 * time.Millisecond
	return tune
}

func quickOpen(t testing.TB, cfg Config) *Journal {
	t.Helper()
	cfg.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	j, err := open(cfg, quick())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func said(id, text string) journal.New {
	return journal.New{ID: id, Kind: entry.KindSaid, At: time.Now(), Body: fmt.Appendf(nil, `{"from":"aya","text":%q}`, text)}
}

// talk acquires the room and appends n entries, said together.
func talk(t testing.TB, j *Journal, room string, n int) journal.Head {
	t.Helper()
	h, err := j.Acquire(t.Context(), room, "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	news := make([]journal.New, n)
	for i := range news {
		news[i] = said(fmt.Sprintf("e%d-m%d", h.Epoch, i), fmt.Sprintf("%s %d %s", room, i, strings.Repeat("あ", 60)))
	}
	if h, err = j.Append(t.Context(), room, h, news...); err != nil {
		t.Fatal(err)
	}
	return h
}

// whole checks that a room has all its entries and that they verify.
func whole(t testing.TB, j *Journal, room string, head uint64) {
	t.Helper()
	es, err := j.Read(t.Context(), room, 0, 1<<30)
	if err != nil || uint64(len(es)) != head {
		t.Fatalf("room %s has %d entries, want %d: %v", room, len(es), head, err)
	}
	if bad, err := j.Verify(t.Context(), room, 0); bad != 0 || err != nil {
		t.Fatalf("verify %s: bad %d, %v", room, bad, err)
	}
}

func want(t testing.TB, err, target error, words ...string) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want %v", err, target)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Fatalf("error %q does not say %q", err, w)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readAll reads a file.
func readAll(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeAll(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// built makes a journal with two rooms and closes it.
func built(t testing.TB, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state", "companion.db")
	j := mustOpen(t, path)
	talk(t, j, "広場", n)
	talk(t, j, "カフェ", 3)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// dsn names a file as another program would, which opens it in its own way.
func dsn(path string, access store.Access, pragmas ...string) string {
	return "file:" + path + "?" + string(access) + "&" + url.Values{"_pragma": pragmas}.Encode()
}

func reserveOf(j *Journal) string { return filepath.Join(filepath.Dir(j.path), "reserve") }
