package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHistoryFromTheShell: turns are compressed, approved, exported and told as they were again, and a room is
// forked, by verbs that ask a daemon without a model.
func TestHistoryFromTheShell(t *testing.T) {
	dir := t.TempDir()
	d := start(t, dir, "[journal]\nballast = \"0\"\n")
	for i := range 8 {
		if _, err := d.say("mika", fmt.Sprint("おはよう、今日は暑いね", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.say("mika", "予算は84,000円にしよう"); err != nil {
		t.Fatal(err)
	}
	said := d.verb("history", "show", "1-9")
	if got := d.verb("history", "show"); got != said || strings.Count(got, "\n") != 9 {
		t.Errorf("show says\n%s", got)
	}
	draft := filepath.Join(dir, "draft.txt")
	if err := os.WriteFile(draft, []byte("予算は84,000円にしよう。"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := d.verb("history", "compress", "1-9", "-policy", "予算は残す。", "-text", draft)
	id, _, _ := strings.Cut(out, " ")
	if !strings.Contains(out, "  turns 1-9 of main: verified; it waits for a person\n") || !strings.Contains(out, "companiond history approve "+id) {
		t.Fatalf("compress says\n%s", out)
	}
	if got := d.verb("history", "show"); !strings.HasPrefix(got, said+id) {
		t.Errorf("before it is approved show says\n%s", got)
	}
	if got := d.verb("history", "approve", "-yes", id); !strings.Contains(got, "the turns are told so, approved by guest") {
		t.Errorf("approve says\n%s", got)
	}
	if got := d.verb("history", "show"); !strings.Contains(got, "1-9 ") || !strings.Contains(got, "(compressed) 予算は84,000円にしよう。\n") || strings.Contains(got, "暑い") {
		t.Errorf("show says\n%s", got)
	}
	if got := d.verb("history", "export", "-format", "jsonl"); !strings.HasPrefix(got, `{"type":"compressed_history","content":"予算は84,000円にしよう。","original_turns_range":[1,9],`) || strings.Count(got, "\n") != 1 {
		t.Errorf("export says\n%s", got)
	}
	if got := d.verb("history", "export", "-original"); strings.Count(got, "暑い") != 8 {
		t.Errorf("export says\n%s", got)
	}
	if got := d.verb("history", "fork", "-at", "3"); !strings.HasPrefix(got, "main-2 begins with the turns of main up to 3;") {
		t.Errorf("fork says\n%s", got)
	}
	if got := d.verb("history", "show", "-room", "main-2"); got != strings.Join(strings.SplitAfter(said, "\n")[:3], "") {
		t.Errorf("the fork is told\n%s", got)
	}
	if got := d.verb("history", "branches"); !strings.HasPrefix(got, "* main  9 turns\n    main-2  3 turns, of main up to turn 3") {
		t.Errorf("branches says\n%s", got)
	}
	if got := d.verb("history", "diff", "main", "main-2"); !strings.Contains(got, "3 turns in common") || strings.Count(got, "mika: ") != 6 {
		t.Errorf("diff says\n%s", got)
	}
	d.verb("history", "revert", "-yes", id)
	if got := d.verb("history", "show"); got != said {
		t.Errorf("reverted, show says\n%s", got)
	}
	d.stop()
}
