package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
)

// TestReplayOfStreams: what stands beside the rooms is verified and not decided again; it is no room.
func TestReplayOfStreams(t *testing.T) {
	path := talked(t)
	j, err := sqlite.Open(sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	name := journal.MemoryOf("aya")
	head, err := j.Acquire(t.Context(), name, "test", time.Now())
	if err == nil {
		_, err = j.Append(t.Context(), name, head, journal.New{ID: "a", V: 1, Kind: entry.KindRead, At: time.Now(), Body: []byte(`{"room":"main","upto":7700001}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	replayed := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := (&term{out: &out, err: &errs}).do(t.Context(), append([]string{"replay"}, args...))
		return code, out.String() + errs.String()
	}
	code, said := replayed(path)
	if code != exitOK || !strings.Contains(said, "main: ") || !strings.Contains(said, "(memory)/aya: 2 entries, which fit their hashes; nothing is decided there\n") {
		t.Errorf("%d, %s", code, said)
	}
	if code, said := replayed("-room", name, path); code == exitOK || !strings.Contains(said, "is not in") {
		t.Errorf("as a room: %d, %s", code, said)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b = bytes.Replace(b, []byte("7700001"), []byte("7700002"), 1); os.WriteFile(path, b, 0o600) != nil {
		t.Fatal("not written")
	}
	if code, said := replayed(path); code != exitFailed || !strings.Contains(said, "(memory)/aya: entry 2 does not fit its hash") || !strings.Contains(said, "no difference") {
		t.Errorf("damaged: %d, %s", code, said)
	}
}
