package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/statedir"
	"github.com/companiond/companiond/host/waittest"
)

// TestFlippedBit changes one letter of one body on the disk. SQLite does not
// see it; the hash chain does.
func TestFlippedBit(t *testing.T) {
	path := built(t, 50)
	b := readAll(t, path)
	at := bytes.Index(b, []byte(`"広場 31 `))
	if at < 0 || bytes.LastIndex(b, []byte(`"広場 31 `)) != at {
		t.Fatal("the body is not there once")
	}
	b[at+len(`"広場 `)] ^= 4 // 31 becomes 71
	writeAll(t, path, b)
	j := mustOpen(t, path)
	es, err := j.Read(t.Context(), "広場", 32, 1) // entry 1 is the owner's, 2 is number 0
	if err != nil || !bytes.Contains(es[0].Body, []byte("広場 71")) {
		t.Fatalf("read: %s %v", es[0].Body, err)
	}
	for _, c := range []struct{ after, bad uint64 }{{0, 33}, {32, 33}, {33, 0}, {40, 0}} {
		if bad, err := j.Verify(t.Context(), "広場", c.after); bad != c.bad || err != nil {
			t.Errorf("verify after %d: bad %d, %v, want %d", c.after, bad, err, c.bad)
		}
	}
	whole(t, j, "カフェ", 4)
}

// TestBodyThatIsNoJSON cuts a body in half: it is told of wherever it is read, and
// what is behind it, and in other rooms, can be read.
func TestBodyThatIsNoJSON(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	talk(t, j, "広場", 8)
	talk(t, j, "カフェ", 4)
	es, err := j.Read(t.Context(), "広場", 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	other(t, j.path, `DROP TRIGGER bodies_immutable; UPDATE entries SET body = substr(body, 1, 9) WHERE seq = 5 AND room_id = (SELECT id FROM rooms WHERE name = '広場')`)
	_, err = j.Read(t.Context(), "広場", 0, 100)
	want(t, err, journal.ErrCorrupt, "entry 5 is no JSON; since=5 reads")
	_, err = j.Said(t.Context(), "広場", journal.Span{Limit: 100})
	want(t, err, journal.ErrCorrupt, "entry 5 is no JSON")
	_, _, err = j.Find(t.Context(), "広場", es[0].ID)
	want(t, err, journal.ErrCorrupt, "entry 5 is no JSON")
	if es, err := j.Read(t.Context(), "広場", 5, 100); err != nil || len(es) != 4 {
		t.Errorf("behind it: %d entries, %v", len(es), err)
	}
	whole(t, j, "カフェ", 5)
	if err := j.Health(); err != nil {
		t.Error(err)
	}
}

// TestVerifyFinds changes every field of an entry in turn, and rooms.
func TestVerifyFinds(t *testing.T) {
	for name, c := range map[string]struct {
		sql string
		bad uint64
	}{
		"epoch":        {`UPDATE entries SET epoch = 2 WHERE seq = 5`, 5},
		"time":         {`UPDATE entries SET at_ms = at_ms + 1 WHERE seq = 5`, 5},
		"kind":         {`UPDATE entries SET kind = 'vote' WHERE seq = 5`, 5},
		"version":      {`UPDATE entries SET v = 3 WHERE seq = 5`, 5},
		"id":           {`UPDATE entries SET id = 'x' WHERE seq = 5`, 5},
		"body":         {`UPDATE entries SET body = body || ' ' WHERE seq = 5`, 5},
		"salt":         {`UPDATE entries SET salt = x'00' WHERE seq = 5`, 5},
		"blanked":      {`UPDATE entries SET salt = NULL, body = NULL, digest = x'00', blanked_ms = 1 WHERE seq = 5`, 5},
		"sum":          {`UPDATE entries SET sum = x'00' WHERE seq = 5`, 5},
		"first":        {`UPDATE entries SET body = 'null' WHERE seq = 1`, 1},
		"last":         {`UPDATE entries SET body = 'null' WHERE seq = 9`, 9},
		"gap":          {`DELETE FROM entries WHERE seq = 5`, 5},
		"no beginning": {`DELETE FROM entries WHERE seq < 3`, 1},
		"no end":       {`DELETE FROM entries WHERE seq > 7`, 8},
		"nothing":      {`DELETE FROM entries`, 1},
		"head's sum":   {`UPDATE rooms SET sum = x'00'`, 9},
		"other room":   {`UPDATE rooms SET name = 'カフェ'`, 1},
		"swapped":      {`UPDATE entries SET seq = 99 WHERE seq = 4; UPDATE entries SET seq = 4 WHERE seq = 5; UPDATE entries SET seq = 5 WHERE seq = 99`, 4},
	} {
		t.Run(name, func(t *testing.T) {
			j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
			talk(t, j, "広場", 8)
			other(t, j.path, `DROP TRIGGER entries_immutable; DROP TRIGGER bodies_immutable; `+c.sql)
			room := "広場"
			if name == "other room" {
				room = "カフェ"
			}
			if bad, err := j.Verify(t.Context(), room, 0); bad != c.bad || err != nil {
				t.Errorf("verify: bad %d, %v, want %d", bad, err, c.bad)
			}
		})
	}
}

func TestAppendOnly(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	talk(t, j, "広場", 3)
	if err := j.Blank(t.Context(), "広場", 0, map[uint64][]byte{2: nil}); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`UPDATE entries SET kind = 'vote'`, `UPDATE entries SET body = 'null' WHERE seq = 1`, `UPDATE entries SET sum = x'00' WHERE seq = 1`,
		`UPDATE entries SET body = '{}', salt = x'00', digest = NULL, blanked_ms = NULL WHERE seq = 2`, `UPDATE entries SET body = 'null' WHERE seq = 2`,
	} {
		if _, err := otherTry(t, j.path, sql); err == nil {
			t.Errorf("%s was done", sql)
		}
	}
	whole(t, j, "広場", 4)
}

// TestZeroedPage damages the middle of a file: reads tell, writes stop, a copy
// is put aside, the rest can still be read.
func TestZeroedPage(t *testing.T) {
	path := built(t, 3000)
	b := readAll(t, path)
	at := bytes.Index(b, []byte(`"広場 1500 `)) &^ 4095
	clear(b[at : at+4096])
	writeAll(t, path, b)
	j := quickOpen(t, Config{Path: path})
	_, err := j.Read(t.Context(), "広場", 0, 10_000)
	want(t, err, journal.ErrCorrupt)
	waittest.Until(t, "health says damaged", func() bool { return errors.Is(j.Health(), journal.ErrCorrupt) })
	want(t, j.Health(), journal.ErrCorrupt, "restore a backup", "corrupt-")
	_, err = j.Acquire(t.Context(), "カフェ", "test", time.Now())
	want(t, err, journal.ErrCorrupt)
	want(t, j.KVSet(t.Context(), "aya", "k", "v"), journal.ErrCorrupt)
	whole(t, j, "カフェ", 4)
	if es, err := j.Read(t.Context(), "広場", 0, 100); err != nil || len(es) != 100 {
		t.Fatalf("read what is sound: %d %v", len(es), err)
	}
	if bad, err := j.Verify(t.Context(), "広場", 0); !errors.Is(err, journal.ErrCorrupt) || bad < 1400 || bad > 1510 {
		t.Fatalf("verify: bad %d, %v", bad, err)
	}
	time.Sleep(5 * j.tune.probe) // it must not come back by itself
	want(t, j.Health(), journal.ErrCorrupt)
	dirs, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "corrupt-*"))
	if len(dirs) != 1 {
		t.Fatalf("copies: %v", dirs)
	}
	if aside := readAll(t, filepath.Join(dirs[0], "companion.db")); !bytes.Equal(aside, b) {
		t.Fatal("the copy is not the damaged file")
	}
	if err := j.Close(); err != nil {
		t.Logf("close: %v", err)
	}
}

// TestOneCopyOfOneDamage starts over and over with the same damage: it is put
// aside once. Another damage is another copy.
func TestOneCopyOfOneDamage(t *testing.T) {
	path := built(t, 3000)
	meets := func(number string) string {
		t.Helper()
		b := readAll(t, path)
		at := bytes.Index(b, []byte(`"広場 `+number+` `))
		if at >= 0 { // not damaged yet
			at &^= 4095
			clear(b[at : at+4096])
			writeAll(t, path, b)
		}
		j := quickOpen(t, Config{Path: path})
		_, err := j.Read(t.Context(), "広場", 0, 10_000)
		want(t, err, journal.ErrCorrupt)
		waittest.Until(t, "health says damaged", func() bool { return errors.Is(j.Health(), journal.ErrCorrupt) })
		want(t, j.Health(), journal.ErrCorrupt, "a copy is in ")
		_ = j.Close() // it is damaged
		_, dir, _ := strings.Cut(j.Health().Error(), "a copy is in ")
		return dir
	}
	copies := func(want int) {
		t.Helper()
		if dirs, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "corrupt-*")); len(dirs) != want {
			t.Errorf("copies: %v, want %d", dirs, want)
		}
	}
	first := meets("1500")
	for range 2 {
		if again := meets("1500"); again != first {
			t.Errorf("the same damage is said to be in %s, then in %s", first, again)
		}
		copies(1)
	}
	meets("1000")
	copies(2)
}

// TestWriteMeetsDamage finds the damage by an append.
func TestWriteMeetsDamage(t *testing.T) {
	path := built(t, 3000)
	b := readAll(t, path)
	for at := 4096; at < len(b); at += 4096 {
		if b[at] == 10 { // leaves of indexes: appends look ids up there
			clear(b[at : at+4096])
		}
	}
	writeAll(t, path, b)
	j, err := open(Config{Path: path}, quick())
	if err != nil {
		want(t, err, journal.ErrCorrupt, path, "restore a backup")
		return
	}
	defer j.Close()
	_, err = j.Acquire(t.Context(), "広場", "test", time.Now())
	want(t, err, journal.ErrCorrupt)
	want(t, j.Health(), journal.ErrCorrupt)
}

// TestSeemsDamaged reports damage where there is none, as SQLite does after an
// I/O error: the file is checked, and writes go on.
func TestSeemsDamaged(t *testing.T) {
	path := built(t, 10)
	j := quickOpen(t, Config{Path: path})
	j.suspect <- fmt.Errorf("%w: malformed", journal.ErrCorrupt)
	waittest.Until(t, "the writer has looked", func() bool { return len(j.suspect) == 0 })
	talk(t, j, "広場", 1)
	if err := j.Health(); err != nil {
		t.Fatal(err)
	}
	if dirs, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "corrupt-*")); len(dirs) > 0 {
		t.Fatalf("copies: %v", dirs)
	}
}

// TestDamagedAtStart refuses, and says which file and what to do.
func TestDamagedAtStart(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"header gone":  func(b []byte) []byte { clear(b[:100]); return b },
		"cut to 60 %":  func(b []byte) []byte { return b[:len(b)*6/10] },
		"other file":   func([]byte) []byte { return bytes.Repeat([]byte("これはデータベースではない\n"), 1000) },
		"empty":        func([]byte) []byte { return nil },
		"schema noise": func(b []byte) []byte { copy(b[100:4096], bytes.Repeat([]byte{0xa5}, 3996)); return b },
	} {
		t.Run(name, func(t *testing.T) {
			path := built(t, 500)
			bad := damage(readAll(t, path))
			writeAll(t, path, bad)
			j, err := Open(Config{Path: path})
			if err == nil {
				j.Close()
				t.Fatal("a damaged journal was opened")
			}
			want(t, err, journal.ErrCorrupt, path, "restore a backup")
			if _, err := Open(Config{Path: path}); !errors.Is(err, journal.ErrCorrupt) {
				t.Fatalf("second try: %v", err)
			}
		})
	}
}

// TestLostLog takes the write-ahead log away, as a careless copy does.
func TestLostLog(t *testing.T) {
	dir := t.TempDir()
	j := quickOpen(t, Config{Path: filepath.Join(dir, "a", "companion.db")})
	talk(t, j, "広場", 5)
	if err := j.w.Settle(false); err != nil { // only this test and the idle writer use it
		t.Fatal(err)
	}
	talk(t, j, "広場", 5)
	last := talk(t, j, "カフェ", 5)
	waittest.Until(t, "the mark is kept", func() bool {
		m, err := statedir.LoadMark(filepath.Dir(j.path))
		return err == nil && m.Room == "カフェ" && m.Seq == last.Seq
	})
	path := filepath.Join(dir, "b", "companion.db")
	writeAll(t, path, readAll(t, j.path))
	mark := filepath.Join(dir, "b", statedir.MarkFile)
	writeAll(t, mark, readAll(t, filepath.Join(dir, "a", statedir.MarkFile)))
	for range 2 {
		_, err := Open(Config{Path: path})
		want(t, err, journal.ErrCorrupt, `room "カフェ" has lost entry 6`, "write-ahead log", mark)
	}
	if err := os.Remove(mark); err != nil { // the operator accepts the loss
		t.Fatal(err)
	}
	b := mustOpen(t, path)
	whole(t, b, "広場", 6)
	talk(t, b, "広場", 1)
}

// TestOtherHistory puts a database in place that has as many entries, but others.
func TestOtherHistory(t *testing.T) {
	here, there := built(t, 5), built(t, 5)
	for _, suffix := range []string{"", "-wal"} {
		writeAll(t, here+suffix, readAll(t, there+suffix))
	}
	_, err := Open(Config{Path: here})
	want(t, err, journal.ErrCorrupt, `entry 4 of room "カフェ" is another`)
}

// TestTornMark goes on without the mark when it cannot be read.
func TestTornMark(t *testing.T) {
	path := built(t, 5)
	writeAll(t, filepath.Join(filepath.Dir(path), statedir.MarkFile), []byte(`{"v":2,"room":"広場","seq":`))
	j := mustOpen(t, path)
	h := talk(t, j, "広場", 1)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err := statedir.LoadMark(filepath.Dir(path)); err != nil || m.Room != "広場" || m.Seq != h.Seq {
		t.Fatalf("mark after close: %v %v", m, err)
	}
}

// TestTornLog cuts the end of the log off: what is whole before is kept.
func TestTornLog(t *testing.T) {
	dir := t.TempDir()
	j := quickOpen(t, Config{Path: filepath.Join(dir, "a", "companion.db")})
	if err := j.w.Settle(true); err != nil { // what is in the log from now on is at its end
		t.Fatal(err)
	}
	h := talk(t, j, "広場", 5)
	if _, err := j.Append(t.Context(), "広場", h, said("torn", "途中で")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "b", "companion.db")
	writeAll(t, path, readAll(t, j.path))
	wal := readAll(t, j.path+"-wal")
	writeAll(t, path+"-wal", wal[:len(wal)-100])
	b := mustOpen(t, path)
	whole(t, b, "広場", h.Seq)
	if _, err := b.Append(t.Context(), "広場", h, said("torn", "もう一度")); err != nil {
		t.Fatal(err)
	}
}

func TestNoJournalToRead(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{filepath.Join(dir, "none.db"): "none.db", dir: "which is a folder"} {
		_, err := OpenReadOnly(path)
		if err == nil || !strings.HasPrefix(err.Error(), "no journal at "+dir) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("looking made %v", files)
	}
}
