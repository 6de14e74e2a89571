package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/schema"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
	"github.com/companiond/companiond/host/waittest"
)

// otherTry runs statements as another program would.
func otherTry(t testing.TB, path, statements string) (sql.Result, error) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, store.Writing, "busy_timeout(1000)"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return db.Exec(statements)
}

func other(t testing.TB, path, statements string) {
	t.Helper()
	if _, err := otherTry(t, path, statements); err != nil {
		t.Fatal(err)
	}
}

// number asks another connection for one number.
func number(t testing.TB, path, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, store.OnlyReading, "busy_timeout(5000)"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOneDaemonADirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	j := mustOpen(t, path)
	me := fmt.Sprintf("process %d", os.Getpid())
	_, err := Open(Config{Path: path})
	want(t, err, journal.ErrLocked, filepath.Dir(path), me)
	_, err = Open(Config{Path: filepath.Join(filepath.Dir(path), "other.db")}) // the directory is what is locked
	want(t, err, journal.ErrLocked)

	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), lockChild+"="+path)
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "true ") || !strings.Contains(string(out), me) {
		t.Fatalf("another process said %q %v", out, err)
	}
	talk(t, j, "広場", 1)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	talk(t, mustOpen(t, path), "広場", 1)
}

func TestModesAndStrangePaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `日本 語?x=1#y%20&z;'"\`, "deep")
	path := filepath.Join(dir, "あや.db")
	j, err := Open(Config{Path: path, Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	talk(t, j, "広場", 3)
	if err := statedir.SaveMark(dir, statedir.Mark{}); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v %v", st.Mode(), err)
	}
	var names []string
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		names = append(names, d.Name())
		if st, err := d.Info(); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", p, st.Mode(), err)
		}
		return nil
	})
	if got, want := fmt.Sprint(names), "[heads lock reserve あや.db あや.db-shm あや.db-wal]"; got != want || err != nil {
		t.Errorf("files are %s, want %s (%v)", got, want, err)
	}
}

// TestSettings asserts what durability rests on, on the connections in use.
func TestSettings(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "secure_delete": "1", "trusted_schema": "0", "cell_size_check": "1",
		"wal_autocheckpoint": "1000", "journal_size_limit": "67108864", "busy_timeout": "5000", "query_only": "0",
		"application_id": fmt.Sprint(schema.ApplicationID), "user_version": fmt.Sprint(len(schema.Usual())),
	} {
		var got string
		if err := j.w.Row(t.Context(), "PRAGMA "+pragma, nil, &got); err != nil || got != want {
			t.Errorf("writer: %s is %q, want %q (%v)", pragma, got, want, err)
		}
	}
	for pragma, want := range map[string]string{"query_only": "1", "trusted_schema": "0", "cell_size_check": "1"} {
		var got string
		if err := j.r.Row(t.Context(), "PRAGMA "+pragma, nil, &got); err != nil || got != want {
			t.Errorf("readers: %s is %q, want %q (%v)", pragma, got, want, err)
		}
	}
}

func TestForeignFilesAreNotTouched(t *testing.T) {
	ours := len(schema.Usual())
	for name, statements := range map[string]string{
		"other application": `PRAGMA application_id = 7; CREATE TABLE t(x)`,
		"no application":    `CREATE TABLE rooms(x); INSERT INTO rooms VALUES(1)`,
		"newer schema":      fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d; CREATE TABLE t(x)`, schema.ApplicationID, ours+1),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "companion.db")
			other(t, path, statements)
			before := sha256.Sum256(readAll(t, path))
			_, err := Open(Config{Path: path})
			if name == "newer schema" {
				want(t, err, store.ErrRefused, path, fmt.Sprintf("schema %d is newer than this program's %d", ours+1, ours))
			} else {
				want(t, err, store.ErrRefused, path, "not a companiond journal")
			}
			if _, err := OpenReadOnly(path); !errors.Is(err, store.ErrRefused) {
				t.Errorf("open read-only: %v", err)
			}
			if sha256.Sum256(readAll(t, path)) != before {
				t.Error("the file was changed")
			}
			if errors.Is(err, journal.ErrCorrupt) || errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("refusal has the wrong kind: %v", err)
			}
		})
	}
}

func TestMigration(t *testing.T) {
	path, ours := built(t, 10), len(schema.Usual())
	copies := func() []string {
		names, _ := filepath.Glob(fmt.Sprintf("%s.v%d-*", path, ours))
		return names
	}
	tune := quick()
	tune.schema = append(schema.Usual(), schema.Step{Script: "CREATE TABLE x(y); INSERT INTO nowhere VALUES(1)"})
	for range 2 {
		if _, err := open(Config{Path: path}, tune); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("migrate to schema %d: apply", ours+1)) {
			t.Fatalf("a broken migration: %v", err)
		}
	}
	if len(copies()) != 1 {
		t.Fatalf("copies: %v", copies())
	}
	if v, x := number(t, path, "PRAGMA user_version"), number(t, path, "SELECT count(*) FROM sqlite_schema WHERE name = 'x'"); v != ours || x != 0 {
		t.Fatalf("half a migration is left: version %d, table %d", v, x)
	}
	old := mustOpen(t, path) // the old program still can
	whole(t, old, "広場", 11)
	talk(t, old, "カフェ", 1) // so that the copy is not of what is there
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	tune.schema = append(schema.Usual(), schema.Step{Script: "CREATE TABLE x(y TEXT) STRICT"})
	j, err := open(Config{Path: path}, tune)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, j, "広場", 11)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if v, x := number(t, path, "PRAGMA user_version"), number(t, path, "SELECT count(*) FROM x"); v != ours+1 || x != 0 {
		t.Fatalf("version %d", v)
	}
	if len(copies()) != 2 || number(t, copies()[1], "PRAGMA user_version") != ours || number(t, copies()[1], "SELECT count(*) FROM entries") != 17 {
		t.Fatalf("copies: %v", copies())
	}
	_, err = Open(Config{Path: path})
	want(t, err, store.ErrRefused, "newer")
	if _, err := OpenReadOnly(path); !errors.Is(err, store.ErrRefused) {
		t.Fatalf("open read-only: %v", err)
	}
}

func TestOpenReadOnly(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "companion.db")
	if _, err := OpenReadOnly(missing); !errors.Is(err, journal.ErrUnavailable) || exists(missing) {
		t.Fatalf("open what is not there: %v", err)
	}
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	h := talk(t, j, "広場", 5)
	if err := j.PutSnapshot(t.Context(), "広場", 3, []byte("s")); err != nil {
		t.Fatal(err)
	}
	if err := j.KVSet(t.Context(), "aya", "k", "v"); err != nil {
		t.Fatal(err)
	}
	tool, err := OpenReadOnly(j.path)
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	whole(t, tool, "広場", h.Seq)
	if seq, s, err := tool.GetSnapshot(t.Context(), "広場"); seq != 3 || string(s) != "s" || err != nil {
		t.Errorf("snapshot: %d %q %v", seq, s, err)
	}
	if v, ok, err := tool.KVGet(t.Context(), "aya", "k"); v != "v" || !ok || err != nil {
		t.Errorf("get: %q %v %v", v, ok, err)
	}
	for what, do := range map[string]func() error{
		"acquire":  func() error { _, err := tool.Acquire(t.Context(), "広場", "tool", time.Now()); return err },
		"append":   func() error { _, err := tool.Append(t.Context(), "広場", h, said("x", "x")); return err },
		"snapshot": func() error { return tool.PutSnapshot(t.Context(), "広場", 4, nil) },
		"rest":     func() error { return tool.Rest(t.Context(), "広場", h, time.Time{}) },
		"register": func() error { return tool.Register(t.Context(), "x", journal.Listing{}) },
		"blank":    func() error { return tool.Blank(t.Context(), "広場", 1, nil) },
		"trim":     func() error { return tool.Trim(t.Context(), "広場", 1) },
		"set":      func() error { return tool.KVSet(t.Context(), "aya", "k", "w") },
		"del":      func() error { _, _, err := tool.KVDel(t.Context(), "aya", "k"); return err },
		"health":   tool.Health,
	} {
		if err := do(); !errors.Is(err, journal.ErrUnavailable) || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s: %v", what, err)
		}
	}
	seen, done := make(chan uint64, 10), errors.New("done")
	from := h.Seq
	go func() {
		_ = tool.Follow(t.Context(), "広場", from, func(es []entry.Entry) error { seen <- es[0].Seq; return done })
	}()
	if h, err = j.Append(t.Context(), "広場", h, said("live", "いま")); err != nil {
		t.Fatal(err)
	}
	select {
	case seq := <-seen:
		if seq != h.Seq {
			t.Errorf("followed %d, want %d", seq, h.Seq)
		}
	case <-time.After(waittest.Long):
		t.Error("a tool does not see what the daemon writes")
	}
	if err := tool.Close(); err != nil {
		t.Fatal(err)
	}
	talk(t, j, "広場", 1) // the daemon did not notice
}
