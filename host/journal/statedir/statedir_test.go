package statedir

import (
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/waittest"
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
	if err := fill(a, size); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(b, a); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{a, b} {
		if st, err := os.Stat(path); err != nil || st.Size() != size || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, st, err)
		}
	}
	if err := copyFile(b, a); err == nil {
		t.Error("copied over a file")
	}
	if err := copyFile(filepath.Join(dir, "c"), filepath.Join(dir, "nothing")); err == nil {
		t.Error("copied a file that is not there")
	}
	if err := fill(filepath.Join(dir, "no", "where"), 1); err == nil {
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

// TestReserve makes it, gives it back and makes it again.
func TestReserve(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "reserve")
	r := NewReserve(dir, 1<<20, slog.New(slog.DiscardHandler))
	for range 2 {
		for range 2 { // the second time it is there
			if !r.Regrow() {
				t.Fatal("there is no reserve, and no lack of space")
			}
		}
		if st, err := os.Stat(path); err != nil || st.Size() != 1<<20 {
			t.Errorf("reserve: %v %v", st, err)
		}
		r.Release()
		r.Release()
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("released: %v", err)
		}
	}
	if none := NewReserve(dir, 0, slog.New(slog.DiscardHandler)); !none.Regrow() {
		t.Error("no reserve is wanted, and no lack of space")
	}
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// TestAside copies what is damaged once, and once more when it, or its log, is
// damaged otherwise.
func TestAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	put := func(suffix, text string) {
		t.Helper()
		if err := os.WriteFile(path+suffix, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	aside := func() (dir string) {
		t.Helper()
		waittest.Until(t, "the name, which is the time, is another", func() bool {
			var err error
			dir, err = Aside(path)
			return err == nil
		})
		return dir
	}
	put("", "damaged")
	first := aside()
	put("-wal", "") // a log that is empty is like none
	put("-shm", "made anew")
	if again := aside(); again != first {
		t.Errorf("the same damage is in %s, then in %s", first, again)
	}
	put("-wal", "damaged, too")
	second := aside()
	if second == first || aside() != second {
		t.Errorf("another damage is in %s, the first in %s", second, first)
	}
	for suffix, want := range map[string]string{"": "damaged", "-wal": "damaged, too", "-shm": "made anew"} {
		if b, err := os.ReadFile(filepath.Join(second, "a.db"+suffix)); string(b) != want || err != nil {
			t.Errorf("the copy of %q holds %q %v", suffix, b, err)
		}
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	mine, other := NewLock(dir), NewLock(dir)
	for range 2 { // the second time it is held already
		if err := mine.Take(); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Take(); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("a second one: %v", err)
	}
	// Another lock in the place of the one that is held, as of another disk.
	if err := os.Remove(filepath.Join(dir, "lock")); err != nil {
		t.Fatal(err)
	}
	if err := other.Take(); err != nil {
		t.Fatal(err)
	}
	if err := mine.Take(); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("a lock that was taken away: %v", err)
	}
	if err := other.Release(); err != nil {
		t.Fatal(err)
	}
	if err := mine.Take(); err != nil {
		t.Errorf("released: %v", err)
	}
	if err := NewLock(filepath.Join(dir, "nowhere")).Take(); !errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("of a directory that is not there: %v", err)
	}
}

// TestHeld finds a file gone, and another in its place.
func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	if _, err := Hold(path); !errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("held what is not there: %v", err)
	}
	for _, p := range []string{path, path + "2"} {
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held, err := Hold(path)
	if err != nil || held.Look() != nil {
		t.Fatalf("held: %v %v", err, held.Look())
	}
	if err := os.Rename(path+"2", path); err != nil {
		t.Fatal(err)
	}
	var gone Gone
	if err := held.Look(); !errors.As(err, &gone) || !errors.Is(err, journal.ErrUnavailable) || !strings.Contains(err.Error(), "is another file") {
		t.Errorf("another file: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := held.Look(); !errors.As(err, &gone) || !strings.Contains(err.Error(), "was deleted or moved away") {
		t.Errorf("deleted: %v", err)
	}
}
