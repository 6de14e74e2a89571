package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
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
		r, err := trm.benchRules(c.path, c.room, false)
		if err != nil || r.Pace != c.pace || (len(r.PolicyRaw) > 0) != c.pool {
			t.Errorf("%s of %s: %+v, %v", c.room, c.path, r, err)
		}
	}
}

func TestBenchOfAJournal(t *testing.T) {
	path := talked(t)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"-policy aikyo", exitOK, "main: 0 rounds were decided, aikyo decides 0 of them as they were"},
		{"-policy vote -room main -json", exitOK, `"policy": "vote"`},
		{"", exitUsage, "-journal wants one -policy: vote, "},
		{"-policy random", exitFailed, `"random" cannot be asked about a journal`},
		{"-policy vote -room attic", exitFailed, `room "attic" is not in `},
	} {
		var out bytes.Buffer
		code := (&term{out: &out, err: &out}).do(t.Context(), append([]string{"bench", "-journal", path}, strings.Fields(c.args)...))
		if code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: %d, %s", c.args, code, &out)
		}
	}
	var out bytes.Buffer
	if code := (&term{out: &out, err: &out}).do(t.Context(), []string{"bench", "-journal", "nothing.db", "-policy", "vote"}); code != exitFailed || !strings.Contains(out.String(), "no journal at nothing.db") {
		t.Errorf("%d, %s", code, &out)
	}
}
