package statedir

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/journal"
)

func TestMarkComesBack(t *testing.T) {
	dir := t.TempDir()
	if m, err := LoadMark(dir); err != nil || !reflect.DeepEqual(m, Mark{}) {
		t.Errorf("a directory without the file: %v %v", m, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := Mark{
			Room: rapid.StringMatching(`.*`).Draw(t, "room"), Seq: rapid.Uint64().Draw(t, "seq"),
			Sum: rapid.SliceOfN(rapid.Byte(), 1, 16).Draw(t, "sum"),
		}
		if err := SaveMark(dir, want); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadMark(dir); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v %v, want %v", got, err, want)
		}
	})
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// A file of before holds every room's head, also that of a room called "v".
func TestHeadsOfBefore(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]map[string]journal.Head{
		`{}`: {}, `{"広場":{"Seq":12,"Epoch":3}}`: {"広場": {Seq: 12, Epoch: 3}},
		`{"seq":{"Seq":1,"Epoch":1},"v":{"Seq":2,"Epoch":1}}`: {"seq": {Seq: 1, Epoch: 1}, "v": {Seq: 2, Epoch: 1}},
	} {
		if err := os.WriteFile(filepath.Join(dir, MarkFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := LoadMark(dir); err != nil || m.Room != "" || !maps.Equal(m.Rooms, want) {
			t.Errorf("%s: %+v %v", text, m, err)
		}
	}
}

// TestCutShort reads every beginning of the file: it is whole or an error.
func TestCutShort(t *testing.T) {
	dir := t.TempDir()
	if err := SaveMark(dir, Mark{Room: "広場", Seq: 12, Sum: []byte{1, 2, 3}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, MarkFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadMark(dir); err == nil || !reflect.DeepEqual(got, Mark{}) {
			t.Fatalf("the first %d bytes read as %v, %v", n, got, err)
		}
	}
}

func TestSaveFails(t *testing.T) {
	if err := SaveMark(filepath.Join(t.TempDir(), "nowhere"), Mark{}); err == nil {
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
