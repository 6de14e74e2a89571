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

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/statedir"
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

// TestVerifyFinds changes every field of an entry in turn, and rooms.
func TestVerifyFinds(t *testing.T) {
	for name, c := range map[string]struct {
		sql string
		bad uint64
	}{
		"epoch":        {`UPDATE events SET epoch = 2 WHERE seq = 5`, 5},
		"time":         {`UPDATE events SET at_ms = at_ms + 1 WHERE seq = 5`, 5},
		"kind":         {`UPDATE events SET kind = 'vote' WHERE seq = 5`, 5},
		"id":           {`UPDATE events SET id = 'x' WHERE seq = 5`, 5},
		"body":         {`UPDATE events SET body = body || ' ' WHERE seq = 5`, 5},
		"sum":          {`UPDATE events SET sum = x'00' WHERE seq = 5`, 5},
		"first":        {`UPDATE events SET body = 'null' WHERE seq = 1`, 1},
		"last":         {`UPDATE events SET body = 'null' WHERE seq = 9`, 9},
		"gap":          {`DELETE FROM events WHERE seq = 5`, 5},
		"no beginning": {`DELETE FROM events WHERE seq < 3`, 1},
		"no end":       {`DELETE FROM events WHERE seq > 7`, 8},
		"nothing":      {`DELETE FROM events`, 1},
		"head's sum":   {`UPDATE rooms SET sum = x'00'`, 9},
		"other room":   {`UPDATE rooms SET name = 'カフェ'`, 1},
		"swapped":      {`UPDATE events SET seq = 99 WHERE seq = 4; UPDATE events SET seq = 4 WHERE seq = 5; UPDATE events SET seq = 5 WHERE seq = 99`, 4},
	} {
		t.Run(name, func(t *testing.T) {
			j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
			talk(t, j, "広場", 8)
			other(t, j.path, `DROP TRIGGER events_immutable; `+c.sql)
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
	if _, err := otherTry(t, j.path, `UPDATE events SET body = 'null'`); err == nil {
		t.Fatal("an entry was changed")
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
	eventually(t, "health says damaged", func() bool { return errors.Is(j.Health(), journal.ErrCorrupt) })
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
		eventually(t, "health says damaged", func() bool { return errors.Is(j.Health(), journal.ErrCorrupt) })
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
	eventually(t, "the writer has looked", func() bool { return len(j.suspect) == 0 })
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
		"schema noise": func(b []byte) []byte { copy(b[200:3900], bytes.Repeat([]byte{0xa5}, 3700)); return b },
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
	if err := settle(j.w, false); err != nil { // only this test and the idle writer use it
		t.Fatal(err)
	}
	h := talk(t, j, "広場", 5)
	talk(t, j, "カフェ", 5)
	eventually(t, "heads are kept", func() bool {
		heads, err := statedir.LoadHeads(filepath.Dir(j.path))
		return err == nil && heads["広場"] == h && len(heads) == 2
	})
	path := filepath.Join(dir, "b", "companion.db")
	writeAll(t, path, readAll(t, j.path))
	heads := filepath.Join(dir, "b", statedir.HeadsFile)
	writeAll(t, heads, readAll(t, filepath.Join(dir, "a", statedir.HeadsFile)))
	for range 2 {
		_, err := Open(Config{Path: path})
		want(t, err, journal.ErrCorrupt, `"広場" from 12 to 6`, `"カフェ" from 6 to 0`, "write-ahead log", heads)
	}
	if err := os.Remove(heads); err != nil { // the operator accepts the loss
		t.Fatal(err)
	}
	b := mustOpen(t, path)
	whole(t, b, "広場", 6)
	talk(t, b, "広場", 1)
}

// TestTornHeads goes on without the file of heads when it cannot be read.
func TestTornHeads(t *testing.T) {
	path := built(t, 5)
	writeAll(t, filepath.Join(filepath.Dir(path), statedir.HeadsFile), []byte(`{"広場":{"Seq":6,`))
	j := mustOpen(t, path)
	h := talk(t, j, "広場", 1)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if heads, err := statedir.LoadHeads(filepath.Dir(path)); err != nil || heads["広場"] != h || heads["カフェ"].Seq != 4 {
		t.Fatalf("heads after close: %v %v", heads, err)
	}
}

// TestTornLog cuts the end of the log off: what is whole before is kept.
func TestTornLog(t *testing.T) {
	dir := t.TempDir()
	j := quickOpen(t, Config{Path: filepath.Join(dir, "a", "companion.db")})
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

// TestChainIsStable pins the sums: a file of today must verify for ever.
func TestChainIsStable(t *testing.T) {
	e := entry.Entry{Seq: 1, Epoch: 1, At: time.UnixMilli(1795219200000), Kind: entry.KindSaid, ID: "m1", Body: []byte(`{"text":"おはよう"}`)}
	got := fmt.Sprintf("%x", chain(genesis("広場"), e))
	if want := "ca68d1953267c8a2d8254e8e8a6ba26f"; got != want {
		t.Errorf("sum is %s, want %s", got, want)
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
