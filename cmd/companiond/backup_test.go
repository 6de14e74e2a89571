package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/waittest"
)

// TestBackupOfARunningDaemon saves while a daemon runs, kills it, goes back, and finds what was acknowledged before and nothing that came later.
func TestBackupOfARunningDaemon(t *testing.T) {
	waittest.WithoutRaces(t)
	dir := t.TempDir()
	t.Chdir(dir) // paths are of the folder that the daemon runs in
	d := start(t, dir, "")
	ask := func(args ...string) (string, int) {
		var out bytes.Buffer
		code := (&term{out: &out, err: &out}).do(t.Context(), args)
		return out.String(), code
	}
	for i := range 20 {
		if _, err := d.say("mika", fmt.Sprint("before ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := ask("backup", "b.tar.gz"); code != exitOK || !strings.Contains(out, "which fit their hashes") {
		t.Fatalf("%d %s", code, out)
	}
	if _, err := d.say("mika", "behind"); err != nil {
		t.Fatal(err)
	}
	if out, code := ask("restore", "-force", "b.tar.gz"); code != exitFailed || !strings.Contains(out, fmt.Sprintf("held by process %d", d.cmd.Process.Pid)) {
		t.Fatalf("beside the daemon: %d %s", code, out)
	}
	d.kill()
	if out, code := ask("restore", "b.tar.gz"); code != exitFailed || !strings.Contains(out, "-force") {
		t.Fatalf("over a journal: %d %s", code, out)
	}
	if out, code := ask("restore", "-force", "-o", "json", "b.tar.gz"); code != exitOK || !strings.Contains(out, `"aside": [`) {
		t.Fatalf("%d %s", code, out)
	}
	d = start(t, dir, "")
	var texts []string
	for _, e := range d.entries(0) {
		if m, ok := e.Message(); ok {
			texts = append(texts, m.Text)
		}
	}
	if len(texts) != 20 || texts[19] != "before 19" || slices.Contains(texts, "behind") {
		t.Errorf("after going back there are %q", texts)
	}
	checkReplay(t, d)
	d.stop()
	aside, err := filepath.Glob("state/companiond.db.before-*/companiond.db")
	if err != nil || len(aside) != 1 {
		t.Fatal(aside, err)
	}
	if out, code := ask("replay", aside[0]); code != exitOK || !strings.Contains(out, "no difference") {
		t.Errorf("what was moved aside: %d %s", code, out)
	}
	if _, err := os.Stat("b.tar.gz"); err != nil {
		t.Error(err)
	}
}
