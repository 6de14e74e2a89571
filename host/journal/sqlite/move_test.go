package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/journaltest"
	"github.com/companiond/companiond/host/journal/sqlite/chain"
	"github.com/companiond/companiond/host/journal/sqlite/schema"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
	"github.com/companiond/companiond/host/waittest"
)

// schema1 writes a file as the program of schema 1 would have: rooms of n entries
// each, the heads beside it, a snapshot, a key, and the last room trimmed.
func schema1(t testing.TB, path string, rooms, n int) map[string][]entry.Entry {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", dsn(path, store.Writing, "journal_mode(WAL)"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(q string, args ...any) {
		t.Helper()
		if _, err := db.Exec(q, args...); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	exec(schema.Usual()[0].Script + fmt.Sprintf("; PRAGMA application_id=%d; PRAGMA user_version=1; BEGIN", schema.ApplicationID))
	all, heads := map[string][]entry.Entry{}, map[string]journal.Head{}
	for r := range rooms {
		name := fmt.Sprintf("部屋%d", r)
		sum := chain.Genesis(name)
		exec(`INSERT INTO rooms(id, name, head, epoch, sum, trimmed_sum) VALUES(?, ?, ?, 1, ?, ?)`, r+1, name, n, sum, sum)
		for i := range n {
			e := entry.Entry{Seq: uint64(i) + 1, Epoch: 1, At: time.UnixMilli(1795219200000 + int64(i)).UTC(), Kind: entry.KindVote, ID: fmt.Sprint("m", i), V: 1}
			if i%7 == 0 {
				e.Kind = entry.KindSaid
			}
			e.Body = fmt.Appendf(nil, `{"from":"aya","text":"%s %d %s"}`, name, i, strings.Repeat("今日は", 20))
			sum = chain.Old(sum, e)
			exec(`INSERT INTO events(room_id, seq, epoch, at_ms, kind, id, body, sum) VALUES(?,?,?,?,?,?,?,?)`,
				r+1, int64(e.Seq), int64(e.Epoch), e.At.UnixMilli(), string(e.Kind), e.ID, string(e.Body), sum)
			all[name] = append(all[name], e)
		}
		exec(`UPDATE rooms SET sum = ? WHERE id = ?`, sum, r+1)
		heads[name] = journal.Head{Seq: uint64(n), Epoch: 1}
	}
	last := fmt.Sprintf("部屋%d", rooms-1)
	exec(`INSERT INTO snapshots VALUES(?, ?, CAST('state' AS BLOB))`, rooms, n/2)
	exec(`UPDATE rooms SET trimmed = ?1, trimmed_sum = (SELECT sum FROM events WHERE room_id = ?2 AND seq = ?1) WHERE id = ?2`, n/3, rooms)
	exec(`DELETE FROM events WHERE room_id = ? AND seq <= ?`, rooms, n/3)
	all[last] = all[last][n/3:]
	exec(`INSERT INTO kv VALUES('aya', '好き', 'りんご'); COMMIT`)
	b, err := json.Marshal(heads)
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, filepath.Join(filepath.Dir(path), statedir.MarkFile), b)
	return all
}

// wantMoved compares a journal with what schema 1 held.
func wantMoved(t *testing.T, j *Journal, all map[string][]entry.Entry) {
	t.Helper()
	for name, want := range all {
		got, err := j.Read(t.Context(), name, 0, 1<<20)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("room %s has %d entries, want %d (%v)", name, len(got), len(want), err)
		}
		if bad, err := j.Verify(t.Context(), name, 0); bad != 0 || err != nil {
			t.Fatalf("verify %s: bad %d, %v", name, bad, err)
		}
		head := journal.Head{Seq: want[len(want)-1].Seq, Epoch: 1}
		if r, ok, err := j.Room(t.Context(), name); err != nil || !ok || r.Head != head || !r.Awake {
			t.Fatalf("room %s in the index: %+v %v", name, r, err)
		}
		var said []entry.Entry
		for _, e := range want {
			if e.Kind == entry.KindSaid {
				said = append(said, e)
			}
		}
		if got, err := j.Said(t.Context(), name, journal.Span{Limit: 1 << 20}); err != nil || !reflect.DeepEqual(got, said) {
			t.Fatalf("room %s: %d were said, want %d (%v)", name, len(got), len(said), err)
		}
	}
}

func copies(t testing.TB, path string) []string {
	t.Helper()
	names, err := filepath.Glob(path + ".v1-*Z")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMoveFromSchema1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	all := schema1(t, path, 3, 60)
	for _, left := range []string{".new", ".new-journal"} { // by a kill
		writeAll(t, path+".v1-20260101T000000.000Z"+left, []byte("half a copy"))
	}
	j := mustOpen(t, path)
	wantMoved(t, j, all)
	if halves, err := filepath.Glob(path + "*.new*"); err != nil || len(halves) > 0 {
		t.Errorf("left behind: %q %v", halves, err)
	}
	if seq, state, err := j.GetSnapshot(t.Context(), "部屋2"); seq != 30 || string(state) != "state" || err != nil {
		t.Errorf("snapshot: %d %q %v", seq, state, err)
	}
	if v, ok, err := j.KVGet(t.Context(), "aya", "好き"); v != "りんご" || !ok || err != nil {
		t.Errorf("key: %q %v %v", v, ok, err)
	}
	for name := range all {
		talk(t, j, name, 3)
	}
	if bad, err := j.Verify(t.Context(), "部屋2", 0); bad != 0 || err != nil {
		t.Errorf("verify what grew: bad %d, %v", bad, err)
	}
	if c := copies(t, path); len(c) != 1 || number(t, c[0], "PRAGMA user_version") != 1 || number(t, c[0], "SELECT count(*) FROM events") != 160 {
		t.Errorf("copies: %q", c)
	}
	again(t, j)
	if m, err := statedir.LoadMark(filepath.Dir(path)); err != nil || m.Room == "" {
		t.Errorf("mark: %+v %v", m, err)
	}
}

// TestReadSchema1 reads an older file with a tool, which changes nothing there.
func TestReadSchema1(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	all := schema1(t, path, 2, 30)
	before := readAll(t, path)
	tool, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	wantMoved(t, tool, all)
	if err := tool.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readAll(t, path), before) || len(copies(t, path)) != 0 {
		t.Error("the file was changed, or copied beside itself")
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestHeadsOfSchema1 still notices that an older file was put in place.
func TestHeadsOfSchema1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	schema1(t, path, 2, 20)
	writeAll(t, filepath.Join(filepath.Dir(path), statedir.MarkFile), []byte(`{"部屋0":{"Seq":25,"Epoch":1},"部屋1":{"Seq":20,"Epoch":1}}`))
	_, err := Open(Config{Path: path})
	want(t, err, journal.ErrCorrupt, `"部屋0" from 25 to 20`)
}

// TestDamageIsNotMended: what did not fit its sum before does not fit afterwards.
func TestDamageIsNotMended(t *testing.T) {
	for name, c := range map[string]struct {
		sql string
		bad uint64
	}{
		"body":       {`UPDATE events SET body = '{}' WHERE seq = 5 AND room_id = 1`, 5},
		"first":      {`UPDATE events SET body = '{}' WHERE seq = 1 AND room_id = 1`, 1},
		"gap":        {`DELETE FROM events WHERE seq = 5 AND room_id = 1`, 5},
		"head's sum": {`UPDATE rooms SET sum = x'00' WHERE id = 1`, 20},
		"no end":     {`DELETE FROM events WHERE seq = 20 AND room_id = 1`, 20},
		"genesis":    {`UPDATE rooms SET trimmed_sum = x'00' WHERE id = 1`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state", "companion.db")
			schema1(t, path, 2, 20)
			other(t, path, `DROP TRIGGER events_immutable; `+c.sql)
			j := mustOpen(t, path)
			if bad, err := j.Verify(t.Context(), "部屋0", 0); bad != c.bad || err != nil {
				t.Errorf("verify: bad %d, %v, want %d", bad, err, c.bad)
			}
			if bad, err := j.Verify(t.Context(), "部屋1", 0); bad != 0 || err != nil {
				t.Errorf("verify the other room: bad %d, %v", bad, err)
			}
		})
	}
}

// TestMoveInterrupted kills a daemon in the middle of the migration, again and
// again: it ends well, and with one copy of what was there.
func TestMoveInterrupted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	all := schema1(t, path, 3, 1200) // three pieces
	moved := func() int {
		if number(t, path, "SELECT count(*) FROM sqlite_schema WHERE name = 'entries'") == 0 {
			return 0
		}
		return number(t, path, "SELECT count(*) FROM entries")
	}
	kills, between := 0, 0
	for ; number(t, path, "PRAGMA user_version") == 1 && kills < 30; kills++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), openChild+"="+path)
		before := moved()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		if kills%2 == 0 { // at any moment, the copy's too
			time.Sleep(rand.N(300 * time.Millisecond))
		} else { // when one more piece is there
			waittest.Until(t, "a piece is moved, or all", func() bool {
				select {
				case <-ended:
					return true
				default:
					return moved() != before
				}
			})
		}
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		if number(t, path, "PRAGMA user_version") == 1 && moved() > 0 {
			between++
		}
	}
	t.Logf("%d kills, %d of them between two pieces; version %d", kills, between, number(t, path, "PRAGMA user_version"))
	j := mustOpen(t, path)
	wantMoved(t, j, all)
	if c := copies(t, path); len(c) != 1 {
		t.Errorf("copies: %q", c)
	}
}

// openChild names a journal that this test binary opens and closes as a child.
const openChild = "COMPANIOND_TEST_OPEN"

// TestGolden66dce41 moves a journal that the program of schema 1 wrote.
func TestGolden66dce41(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "companiond.db")
	writeAll(t, path, journaltest.Unzip(t, filepath.Join("..", "..", "testdata", "golden", "66dce41", "companiond.db.gz")))
	before := map[string]int{}
	db, err := sql.Open("sqlite", dsn(path, store.OnlyReading))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(`SELECT r.name, count(*) FROM events e JOIN rooms r ON r.id = e.room_id GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		before[name] = n
	}
	if err := rows.Err(); err != nil || len(before) != 6 {
		t.Fatal(before, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	j := mustOpen(t, path)
	heads, err := journaltest.Heads(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range before {
		if heads[name].Seq != uint64(n) {
			t.Errorf("room %s has %v, had %d", name, heads[name], n)
		}
		if bad, err := j.Verify(t.Context(), name, 0); bad != 0 || err != nil {
			t.Errorf("verify %s: bad %d, %v", name, bad, err)
		}
	}
}
