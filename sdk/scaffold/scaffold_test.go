package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

// The folder is complete by itself: it has no test of ours, no import of ours,
// and it builds, passes its test and becomes a module with the network off.
func TestCharacter(t *testing.T) {
	dir := t.TempDir()
	written, err := Character(dir, "momo")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"momo/main.go", "momo/main_test.go", "momo/go.mod", "momo/README.md", "momo/.gitignore", "momo/companion/guest_wasip1.go", "momo/companion/talk/doc.go", "momo/abi/abi.go"} {
		if !slices.Contains(written, want) {
			t.Errorf("%s is missing in %v", want, written)
		}
	}
	for _, name := range written {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if name != "momo/main_test.go" && strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "/source.go") {
			t.Errorf("%s was copied", name)
		}
		if strings.Contains(string(b), "github.com/companiond") || strings.Contains(string(b), "TITLE") || strings.Contains(string(b), "NAME") && name != "momo/companion/talk/doc.go" {
			t.Errorf("%s has a word of the template or the house", name)
		}
	}
	if testing.Short() {
		t.Skip("builds are slow")
	}
	root := filepath.Join(dir, "momo")
	run(t, root, nil, "vet", "./...")
	run(t, root, nil, "test", "./...")
	run(t, root, nil, "build", "-o", os.DevNull, ".")
	run(t, root, []string{"GOOS=wasip1", "GOARCH=wasm"}, "build", "-buildmode=c-shared", "-o", "momo.wasm", ".")
	b, err := os.ReadFile(filepath.Join(root, "momo.wasm"))
	if err != nil || !strings.HasPrefix(string(b), "\x00asm") || !strings.Contains(string(b), abi.Export) {
		t.Errorf("momo.wasm: %d bytes, %v", len(b), err)
	}
}

func run(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// A folder that is there stays as it is.
func TestExisting(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "momo"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Character(dir, "momo"); abi.CodeOf(err) != abi.CodeConflict {
		t.Errorf("error: %v", err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "momo"))
	if err != nil || len(left) != 0 {
		t.Errorf("written into it: %v, %v", left, err)
	}
	if _, err := Character(filepath.Join(dir, "nowhere"), "momo"); err == nil {
		t.Error("a folder in no folder")
	}
}

// Bad names are refused with a way out, and nothing is written.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		"": "empty", "../up": "may not contain", "a/b": "may not contain", "with space": "may not contain", "-x": "may not contain", ".hidden": "may not contain",
		"もも": `try "momo"`, "キョウコ": `try "kyouko"`, "桃": "Latin letters", "しゅっぱ": `try "shuppa"`, "nikoニ": "Latin letters",
		"vendor": "choose another", "ABI": "choose another", "momo.": "dot", strings.Repeat("m", 65): "at most",
	} {
		if _, err := Character(dir, name); abi.CodeOf(err) == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("something was written: %v", left)
	}
}
