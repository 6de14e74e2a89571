package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/host/entry"
)

const handlerRoom = "[room.main]\nsilence = \"0s\"\npatience = \"10s\"\nfloor = \"30s\"\npace = \"0s\"\n"

// install puts a program into a folder the way careful tools do.
func install(t testing.TB, from, dir, name string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".tmp"), b, 0o755)
	}
	if err == nil {
		err = os.Rename(filepath.Join(dir, name+".tmp"), filepath.Join(dir, name))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lampProgram makes a program of the lamp and gives its path.
func lampProgram(t testing.TB) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "lamp")
	if b, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, "./testdata/lamp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return out
}

// kinds gives the entries of one kind in the room main.
func (h *home) kinds(kind entry.Kind) (all []entry.Entry) {
	for _, e := range h.entries("main") {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	return all
}
