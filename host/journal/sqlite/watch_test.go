package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
	"github.com/companiond/companiond/host/waittest"
)

// rescued gives the one copy that was saved of a journal that is gone.
func rescued(t *testing.T, path string) string {
	t.Helper()
	names, err := filepath.Glob(path + ".rescued-*")
	if err != nil || len(names) != 1 {
		t.Fatalf("copies: %v %v", names, err)
	}
	return names[0]
}

// removeAll takes a folder away, also while the journal saves a copy into it.
func removeAll(t *testing.T, dir string) {
	t.Helper()
	waittest.Until(t, "the folder can be removed", func() bool { return os.RemoveAll(dir) == nil })
}

// TestDeletedWhileOpen takes the files away under a daemon: it says so at once,
// goes on reading, and has saved all that it acknowledged.
func TestDeletedWhileOpen(t *testing.T) {
	for name, remove := range map[string]func(t *testing.T, path string){
		"files": func(t *testing.T, path string) {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(path + suffix); err != nil {
					t.Fatal(err)
				}
			}
		},
		"folder": func(t *testing.T, path string) {
			removeAll(t, filepath.Dir(path))
		},
		"log": func(t *testing.T, path string) {
			if err := os.Remove(path + "-wal"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state", "companion.db")
			j := quickOpen(t, Config{Path: path})
			h := talk(t, j, "広場", 10)
			remove(t, path)
			_, err := j.Append(t.Context(), "広場", h, said("lost", "どこへ"))
			want(t, err, journal.ErrUnavailable, "was deleted or moved away", "writes have stopped")
			want(t, j.Health(), journal.ErrUnavailable, rescued(t, path))
			_, err = j.Append(t.Context(), "広場", h, said("lost", "どこへ"))
			want(t, err, journal.ErrUnavailable, rescued(t, path))
			whole(t, j, "広場", h.Seq)
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if name == "folder" && exists(filepath.Join(filepath.Dir(path), statedir.MarkFile)) {
				t.Error("a mark was left in a folder that is another's")
			}
			saved := rescued(t, path)
			half := path + ".rescued-9" + store.HalfDone // of another, that was killed at it
			if err := os.WriteFile(half, []byte("SQLite format 3"), 0o600); err != nil {
				t.Fatal(err)
			}
			if name != "log" { // an empty journal in its place would be a second history
				_, err := open(Config{Path: path}, usual())
				want(t, err, journal.ErrCorrupt, saved, "rename that to companion.db")
			}
			if name == "log" { // what was not yet in the database went with it
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Rename(saved, path); err != nil {
				t.Fatal(err)
			}
			again := mustOpen(t, path)
			whole(t, again, "広場", h.Seq)
			talk(t, again, "広場", 1)
		})
	}
}

// killed copies a journal that is open into another folder, as a kill leaves it: its file
// without the newest entries, which are in its log.
func killed(t *testing.T, path string) (copied string) {
	t.Helper()
	copied = filepath.Join(t.TempDir(), "state", filepath.Base(path))
	if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

// TestCopyBesideTheLogOfAnother puts a copy of all in the place of a file that is gone,
// as the log says, and leaves what lay beside that: nothing of it is played into the copy.
func TestCopyBesideTheLogOfAnother(t *testing.T) {
	j := quickOpen(t, Config{Path: filepath.Join(t.TempDir(), "companion.db")})
	h := talk(t, j, "広場", 40)
	path := killed(t, j.path)
	more := talk(t, j, "広場", 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := j.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, path)
	if h == more {
		t.Fatal("nothing was said")
	}
	whole(t, again, "広場", more.Seq)
	if bad, err := again.Verify(t.Context(), "広場", 0); err != nil || bad != 0 {
		t.Errorf("entry %d, %v", bad, err)
	}
	last := talk(t, again, "広場", 1)
	if aside, _ := filepath.Glob(path + "-wal.stray-*"); len(aside) != 1 {
		t.Errorf("put aside: %q", aside)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	whole(t, mustOpen(t, path), "広場", last.Seq)
}

// TestLogWithoutItsFile refuses to begin an empty journal beside the log of one, which would
// delete it; with the file put back nothing is lost.
func TestLogWithoutItsFile(t *testing.T) {
	j := quickOpen(t, Config{Path: filepath.Join(t.TempDir(), "companion.db")})
	h := talk(t, j, "広場", 40)
	path := killed(t, j.path)
	away := filepath.Join(t.TempDir(), "away.db")
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := open(Config{Path: path}, usual())
		want(t, err, journal.ErrCorrupt, "its newest entries are, in companion.db-wal", "put companion.db back")
		if exists(path) || !exists(path+"-wal") {
			t.Fatal("a refused start made a file, or took the log away")
		}
	}
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	whole(t, mustOpen(t, path), "広場", h.Seq)
}

// TestNoticedWhileIdle says so too when nobody writes.
func TestNoticedWhileIdle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	j := quickOpen(t, Config{Path: path})
	talk(t, j, "広場", 3)
	removeAll(t, filepath.Dir(path))
	waittest.Until(t, "the loss is noticed", func() bool { return j.Health() != nil })
	want(t, j.Health(), journal.ErrUnavailable, "was deleted or moved away")
}

// TestTwoDaemons starts a second one after the folder of the first was deleted:
// the first takes nothing any more, and leaves the second alone.
func TestTwoDaemons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	first := quickOpen(t, Config{Path: path})
	h := talk(t, first, "広場", 5)
	removeAll(t, filepath.Dir(path))
	second := quickOpen(t, Config{Path: path})
	mine := talk(t, second, "広場", 2)
	_, err := first.Append(t.Context(), "広場", h, said("lost", "どこへ"))
	want(t, err, journal.ErrUnavailable)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	talk(t, second, "カフェ", 1)
	if second = again(t, second); second.Health() != nil {
		t.Fatal(second.Health())
	}
	whole(t, second, "広場", mine.Seq)
}

// TestPutBack moves the files away and back: writing goes on where it was.
func TestPutBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "companion.db")
	j := quickOpen(t, Config{Path: path})
	h := talk(t, j, "広場", 5)
	if err := os.Rename(filepath.Join(dir, "state"), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the loss is noticed", func() bool { return j.Health() != nil })
	removeAll(t, filepath.Join(dir, "state")) // the copy was saved there
	if err := os.Rename(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "state")); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "writes go on", func() bool { return j.Health() == nil })
	h, err := j.Append(t.Context(), "広場", h, said("again", "ただいま"))
	if err != nil {
		t.Fatal(err)
	}
	whole(t, j, "広場", h.Seq)
}

// TestNoMarkInAnothersFolder lets the mark come due while the journal's folder is
// gone and, made anew, somebody else's, and no write has noticed yet.
func TestNoMarkInAnothersFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	j := quickOpen(t, Config{Path: path})
	talk(t, j, "広場", 10)
	removeAll(t, filepath.Dir(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil { // the mark is due at the latest now
		t.Fatal(err)
	}
	if exists(filepath.Join(filepath.Dir(path), statedir.MarkFile)) {
		t.Error("a mark was left in a folder that is another's")
	}
}
