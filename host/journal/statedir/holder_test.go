package statedir

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestHolder asks who has a directory, and leaves its lock as it is.
func TestHolder(t *testing.T) {
	dir := t.TempDir()
	if _, held := Holder(dir); held {
		t.Error("nobody was there, and it is held")
	}
	l := NewLock(dir)
	if err := l.Take(); err != nil {
		t.Fatal(err)
	}
	pid, held := Holder(dir)
	if !held || pid != os.Getpid() && runtime.GOOS != "windows" {
		t.Errorf("%d %v", pid, held)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, held := Holder(dir); held {
		t.Error("it was given back")
	}
	if after, err := os.ReadFile(filepath.Join(dir, "lock")); err != nil || string(after) != string(before) {
		t.Errorf("%q became %q %v", before, after, err)
	}
}
