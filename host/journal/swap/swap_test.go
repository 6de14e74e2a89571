package swap

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestFinishFromAnywhere stops an exchange behind each of its renames, and has it finished: new is where old was, and old aside.
func TestFinishFromAnywhere(t *testing.T) {
	for done := range 6 {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		for name, text := range map[string]string{"a": "old a", "a.new": "new a", "b": "old b", "c": "old c", "d.new": "new d"} {
			if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		steps := []Step{
			{Place: at("b"), Old: at("before/b")}, {Place: at("c")},
			{New: at("a.new"), Place: at("a"), Old: at("before/a")}, {New: at("d.new"), Place: at("d"), Old: at("before/d")},
		}
		b, err := json.Marshal(steps)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(at(File), b); err != nil {
			t.Fatal(err)
		}
		// What the steps come to, one system call after the other.
		calls := []func() error{
			func() error { return steps[0].do() },
			func() error { return steps[1].do() },
			func() error { return steps[2].clear() },
			func() error { return steps[2].do() },
			func() error { return steps[3].do() },
		}
		for _, call := range calls[:done] {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}
		if !Pending(dir) {
			t.Error("nobody would finish it")
		}
		if err := Finish(dir); err != nil {
			t.Fatal(err)
		}
		if Pending(dir) {
			t.Error("it would be finished once more")
		}
		if err := Finish(dir); err != nil {
			t.Error(err)
		}
		for name, want := range map[string]string{"a": "new a", "d": "new d", "b": "", "c": "", "before/a": "old a", "before/b": "old b", "a.new": "", "d.new": "", "before/d": ""} {
			if got, _ := os.ReadFile(at(name)); string(got) != want {
				t.Errorf("stopped behind %d calls: %s has %q, want %q", done, name, got, want)
			}
		}
	}
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	if err := os.WriteFile(one, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Commit(dir, []Step{{New: one, Place: two}}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(two); string(got) != "1" || Pending(dir) {
		t.Errorf("%q %v", got, err)
	}
}
