package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/host/bench"
)

// A configuration's room gives the rules, with the settings of its pool.
func TestBenchTakesTheRulesOfARoom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "companiond.toml")
	if err := os.WriteFile(file, []byte("[room.attic]\n[room.stage]\npolicy = \"pool\"\npace = \"20s\"\npool_size = 300\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	trm := &term{out: io.Discard, err: io.Discard}
	for _, c := range []struct {
		path, room string
		pace       int64
		pool       bool
	}{{"", "", bench.Rules().Pace, false}, {file, "", bench.Rules().Pace, false}, {file, "attic", bench.Rules().Pace, false}, {file, "stage", 20_000, true}} {
		r, err := trm.benchRules(c.path, c.room)
		if err != nil || r.Pace != c.pace || (len(r.PolicyRaw) > 0) != c.pool {
			t.Errorf("%s of %s: %+v, %v", c.room, c.path, r, err)
		}
	}
}
