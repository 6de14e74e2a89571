package statedir

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/journal"
)

func TestHeadsComeBack(t *testing.T) {
	dir := t.TempDir()
	if heads, err := LoadHeads(dir); err != nil || heads == nil || len(heads) != 0 {
		t.Errorf("a directory without the file: %v %v", heads, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.String(), rapid.Custom(func(t *rapid.T) journal.Head {
			return journal.Head{Seq: rapid.Uint64().Draw(t, "seq"), Epoch: rapid.Uint64().Draw(t, "epoch")}
		})).Filter(func(m map[string]journal.Head) bool { // JSON cannot say what is not UTF-8
			for name := range m {
				if strings.ToValidUTF8(name, "") != name {
					return false
				}
			}
			return true
		}).Draw(t, "heads")
		if err := SaveHeads(dir, want); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadHeads(dir); err != nil || !maps.Equal(got, want) {
			t.Fatalf("got %v %v, want %v", got, err, want)
		}
	})
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// TestCutShort reads every beginning of the file: it is whole or an error, and
// the map can be written to all the same.
func TestCutShort(t *testing.T) {
	dir := t.TempDir()
	want := map[string]journal.Head{"広場": {Seq: 12, Epoch: 3}}
	if err := SaveHeads(dir, want); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, HeadsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := LoadHeads(dir)
		if err == nil || len(got) != 0 {
			t.Fatalf("the first %d bytes read as %v, %v", n, got, err)
		}
		got["x"] = journal.Head{}
	}
}

func TestSaveFails(t *testing.T) {
	if err := SaveHeads(filepath.Join(t.TempDir(), "nowhere"), nil); err == nil {
		t.Error("saved into a directory that is not there")
	}
}

func TestCopyAndFill(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	const size = 3<<20 + 17
	if err := Fill(a, size); err != nil {
		t.Fatal(err)
	}
	if err := Copy(b, a); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{a, b} {
		if st, err := os.Stat(path); err != nil || st.Size() != size || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, st, err)
		}
	}
	if err := Copy(b, a); err == nil {
		t.Error("copied over a file")
	}
	if err := Copy(filepath.Join(dir, "c"), filepath.Join(dir, "nothing")); err == nil {
		t.Error("copied a file that is not there")
	}
	if err := Fill(filepath.Join(dir, "no", "where"), 1); err == nil {
		t.Error("filled a file in a directory that is not there")
	}
}

func TestFree(t *testing.T) {
	free, ok := Free(t.TempDir())
	if ok && free <= 0 {
		t.Errorf("%d bytes free where a test has just written", free)
	}
	if _, ok := Free(filepath.Join(t.TempDir(), "nowhere")); ok {
		t.Error("knows how much is free nowhere")
	}
}
