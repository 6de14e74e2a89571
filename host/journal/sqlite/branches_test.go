package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/chain"
	"github.com/companiond/companiond/host/journal/sqlite/schema"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
	"github.com/companiond/companiond/host/waittest"
)

func forked(t testing.TB, j *Journal, room, of string, at uint64, ids ...string) journal.Head {
	t.Helper()
	var news []journal.New
	for _, id := range ids {
		news = append(news, said(id, room+" "+id))
	}
	h, err := j.Fork(t.Context(), room, journal.Fork{Of: of, At: at}, journal.Listing{Key: room}, news...)
	if err != nil {
		t.Fatalf("fork %s of %s at %d: %v", room, of, at, err)
	}
	return h
}

// TestKillForks kills a child that forks and appends, again and again in the same directory: a fork that was
// acknowledged is whole, and of one that was not there is all or nothing.
func TestKillForks(t *testing.T) {
	waittest.WithoutRaces(t)
	t.Parallel()
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	known := map[string]uint64{}
	acked, missing, forks := 0, 0, 0
	for round := 0; round < rounds || forks < rounds/2 && round < 10*rounds; round++ { // on a slow machine a child forks seldom
		c := startChild(t, path, forksToo)
		c.waitReady(t)
		time.Sleep(5*time.Millisecond + rand.N(35*time.Millisecond))
		c.kill()
		j, err := Open(Config{Path: path})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		n := lost(t, j, c.acks, known)
		if n > 0 {
			t.Errorf("round %d: %d of %d acknowledged entries are lost", round, n, len(c.acks))
		}
		acked, missing = acked+len(c.acks), missing+n
		forks = wholeForks(t, j)
		if round >= rounds-1 {
			lost(t, j, nil, map[string]uint64{}) // once more from the beginning
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rounds: %d forks, %d entries acknowledged, %d lost", rounds, forks, acked, missing)
	if forks < rounds/2 {
		t.Errorf("only %d forks were made: the test had no load", forks)
	}
}

// wholeForks counts the forks, each of which has its past, its listing and the two entries that it was made with.
func wholeForks(t *testing.T, j *Journal) (n int) {
	t.Helper()
	for r, err := range journal.AllRooms(t.Context(), j) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Fork.Of == "" {
			continue
		}
		n++
		es, err := j.Read(t.Context(), r.Name, r.Fork.At-1, 3)
		if err != nil || len(es) != 3 || !strings.HasSuffix(es[1].ID, "own0") || !strings.HasSuffix(es[2].ID, "own1") || r.Key != r.Name {
			t.Fatalf("%+v has %v behind where it parted (%v)", r, es, err)
		}
	}
	if spans := number(t, j.path, "SELECT count(*) FROM spans WHERE room_id NOT IN (SELECT id FROM rooms WHERE fork_seq > 0)"); spans > 0 {
		t.Fatalf("%d spans are of no fork", spans)
	}
	return n
}

// forksToo is for a child that forks. It acknowledges as appendForEver does.
const forksToo = "forks"

func forkForEver(j *Journal) error {
	ctx := context.Background()
	var names []string
	for r, err := range journal.AllRooms(ctx, j) {
		if err != nil {
			return err
		}
		names = append(names, r.Name)
	}
	for n := 0; ; n++ {
		of, _, err := j.Room(ctx, names[rand.N(len(names))])
		if err != nil {
			return err
		}
		room, at := fmt.Sprintf("枝%d-%d", os.Getpid(), n), 1+rand.Uint64N(of.Head.Seq)
		id := fmt.Sprintf("%d-%d-", os.Getpid(), n)
		news := []journal.New{said(id+"own0", room), said(id+"own1", room)}
		h, err := j.Fork(ctx, room, journal.Fork{Of: of.Name, At: at}, journal.Listing{Key: room}, news...)
		if err != nil {
			return err
		}
		acks := fmt.Sprintf("%s %d %s\n%s %d %s\n", room, at+1, news[0].ID, room, at+2, news[1].ID)
		if h, err = j.Append(ctx, room, h, said(id+"later", room)); err != nil {
			return err
		}
		if h, err = j.Acquire(ctx, room, "child", time.Now()); err != nil {
			return err
		}
		acks += fmt.Sprintf("%s %d %slater\n%s %d %s%d\n", room, at+3, id, room, h.Seq, journal.OwnerID, h.Epoch)
		if _, err := io.WriteString(os.Stdout, acks); err != nil {
			return err
		}
		if len(names) < 40 && n%3 == 0 && of.Fork.Of == "" {
			names = append(names, room) // so that there are grandchildren, and not too deep
		}
	}
}

// TestMarkOfAFork: that the file holds what was its newest is seen, also where that is an entry of another room.
func TestMarkOfAFork(t *testing.T) {
	for name, ids := range map[string][]string{"shared": nil, "own": {"x"}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state", "companion.db")
			j := mustOpen(t, path)
			talk(t, j, "広場", 8)
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			before := readAll(t, path)
			j = mustOpen(t, path)
			h := forked(t, j, "枝", "広場", 5, ids...)
			j = again(t, j)
			m, err := statedir.LoadMark(filepath.Dir(path))
			if err != nil || m.Room != "枝" || m.Seq != h.Seq {
				t.Fatalf("mark %+v %v", m, err)
			}
			whole(t, j, "枝", h.Seq)
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			writeAll(t, path, before)
			for _, log := range []string{"-wal", "-shm"} {
				_ = os.Remove(path + log)
			}
			_, err = Open(Config{Path: path})
			want(t, err, journal.ErrCorrupt, `room "枝" has lost entry`)
		})
	}
}

// TestEraseThroughAFork reaches what is shared, and a second order what the first left.
func TestEraseThroughAFork(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	talk(t, j, "広場", 8)
	forked(t, j, "枝", "広場", 6, "own")
	forked(t, j, "孫", "枝", 7, "g")
	erase := func(room string, bodies map[uint64][]byte) {
		t.Helper()
		if err := j.Erase(t.Context(), room, bodies); err != nil {
			t.Fatal(err)
		}
	}
	erase("孫", map[uint64][]byte{3: []byte(`{"left":"ひみつ"}`), 7: nil, 8: nil, 1 << 63: nil})
	erase("枝", map[uint64][]byte{3: []byte(`{"left":""}`)})
	for room, blank := range map[string]string{"広場": "3", "枝": "3 7", "孫": "3 7 8"} {
		var got []string
		es, err := j.Read(t.Context(), room, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			if e.Blank {
				got = append(got, fmt.Sprint(e.Seq))
			}
		}
		if strings.Join(got, " ") != blank || string(es[2].Body) != `{"left":""}` {
			t.Errorf("%s: blank are %s, want %s; 3 is %s", room, got, blank, es[2].Body)
		}
		if bad, err := j.Verify(t.Context(), room, 0); bad != 0 || err != nil {
			t.Errorf("verify %s: %d %v", room, bad, err)
		}
	}
}

func TestDropSnapshots(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	h := talk(t, j, "広場", 3*journal.Apart)
	for seq := uint64(journal.Apart); seq < h.Seq; seq += journal.Apart / 2 {
		if err := j.PutSnapshot(t.Context(), "広場", seq, fmt.Append(nil, seq)); err != nil {
			t.Fatal(err)
		}
	}
	newest, _, err := j.GetSnapshot(t.Context(), "広場")
	if n := number(t, j.path, "SELECT count(*) FROM snapshots"); n != 3 || err != nil {
		t.Fatalf("%d snapshots, %v", n, err)
	}
	for _, c := range []struct{ from, left uint64 }{{newest, 3}, {journal.Apart + 1, 2}, {0, 1}, {0, 1}} {
		if err := j.DropSnapshots(t.Context(), "広場", c.from); err != nil {
			t.Fatal(err)
		}
		if n := number(t, j.path, "SELECT count(*) FROM snapshots"); n != int(c.left) {
			t.Errorf("%d are left from %d on, want %d", n, c.from, c.left)
		}
	}
	if seq, _, err := j.GetSnapshot(t.Context(), "広場"); seq != newest || err != nil {
		t.Errorf("the newest is of %d, was of %d (%v)", seq, newest, err)
	}
	if err := j.DropSnapshots(t.Context(), "どこにも", 0); err != nil {
		t.Error(err)
	}
}

// TestVerifyFindsInForks changes rows of a parent, of its fork and where they meet. Each room whose past it is tells of it.
func TestVerifyFindsInForks(t *testing.T) {
	const main, child = `(SELECT id FROM rooms WHERE name = '広場')`, `(SELECT id FROM rooms WHERE name = '枝')`
	for name, c := range map[string]struct {
		sql                string
		main, child, grand uint64
	}{
		"nothing":              {`SELECT 1`, 0, 0, 0},
		"shared by all":        {`UPDATE entries SET body = 'null' WHERE seq = 3 AND room_id = ` + main, 3, 3, 3},
		"behind where it left": {`UPDATE entries SET body = 'null' WHERE seq = 8 AND room_id = ` + main, 8, 0, 0},
		"the last shared":      {`UPDATE entries SET kind = 'vote' WHERE seq = 6 AND room_id = ` + main, 6, 6, 6},
		"the first own":        {`UPDATE entries SET kind = 'vote' WHERE seq = 7 AND room_id = ` + child, 0, 7, 7},
		"own, unshared":        {`UPDATE entries SET kind = 'vote' WHERE seq = 8 AND room_id = ` + child, 0, 8, 0},
		"another seam":         {`UPDATE spans SET hi = 5 WHERE hi = 6 AND room_id = ` + child, 0, 6, 0},
		"another past":         {`UPDATE spans SET src = ` + child + ` WHERE hi = 6`, 0, 1, 1},
		"no spans":             {`DELETE FROM spans`, 0, 1, 1},
		"another parent":       {`UPDATE rooms SET forked_of = 'カフェ' WHERE name = '枝'`, 0, 1, 1},
		"its own parent":       {`UPDATE rooms SET forked_of = '枝' WHERE name = '枝'`, 0, 1, 1},
		"head's sum":           {`UPDATE rooms SET sum = x'00' WHERE name = '枝'`, 0, 8, 0},
		"root renamed":         {`UPDATE rooms SET name = '駅' WHERE name = '広場'; UPDATE rooms SET forked_of = '駅' WHERE forked_of = '広場'`, 0, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
			talk(t, j, "カフェ", 1)
			talk(t, j, "広場", 8)
			forked(t, j, "枝", "広場", 6, "own0", "own1")
			forked(t, j, "孫", "枝", 7, "g")
			other(t, j.path, `DROP TRIGGER entries_immutable; DROP TRIGGER bodies_immutable; `+c.sql)
			for room, want := range map[string]uint64{"広場": c.main, "枝": c.child, "孫": c.grand} {
				if bad, err := j.Verify(t.Context(), room, 0); bad != want || err != nil {
					t.Errorf("verify %s: bad %d, %v, want %d", room, bad, err, want)
				}
			}
		})
	}
}

// TestReadForksReadOnly reads with a tool while the daemon forks.
func TestReadForksReadOnly(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	talk(t, j, "広場", 8)
	tool, err := OpenReadOnly(j.path)
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	h := forked(t, j, "枝", "広場", 6, "own")
	whole(t, tool, "枝", h.Seq)
	if rs, err := tool.Forks(t.Context(), "広場"); err != nil || len(rs) != 1 || rs[0].Head != h {
		t.Errorf("forks: %+v %v", rs, err)
	}
	_, err = tool.Fork(t.Context(), "孫", journal.Fork{Of: "枝", At: 2}, journal.Listing{})
	want(t, err, journal.ErrUnavailable)
	es, err := tool.Read(t.Context(), "枝", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	done, i := errors.New("all of it"), 0
	err = tool.Follow(t.Context(), "枝", 0, func(got []entry.Entry) error {
		for _, e := range got {
			if !reflect.DeepEqual(e, es[i]) {
				return fmt.Errorf("%v, want %v", e, es[i])
			}
			i++
		}
		if i == len(es) {
			return done
		}
		return nil
	})
	want(t, err, done)
}

// schema2 writes a file as the program of schema 2 would have: a room of n entries, a snapshot, a key.
func schema2(t testing.TB, path string, n int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(path, store.Writing, store.Patience)
	if err == nil {
		err = s.Claim()
	}
	if err == nil {
		err = schema.Usual()[:2].Migrate(s, path, 0, slog.New(slog.DiscardHandler))
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
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
	sum := chain.Genesis("広場")
	exec(`INSERT INTO rooms(id, name, head, epoch, sum, trimmed_sum, owner, key, opened_by, settings) VALUES(1, '広場', ?1, 1, ?2, ?2, 'old', 'hiroba', 'mika', CAST('{}' AS BLOB))`, n, sum)
	for i := range n {
		m := prepare([]journal.New{said(fmt.Sprint("m", i), fmt.Sprint("言葉", i))})[0]
		e := entry.Entry{Seq: uint64(i) + 1, Epoch: 1, At: time.UnixMilli(m.At.UnixMilli()), Kind: m.Kind, ID: m.ID, V: m.V}
		sum = chain.Next(sum, e, m.digest)
		exec(`INSERT INTO entries(room_id, seq, epoch, at_ms, kind, id, v, salt, body, sum) VALUES(1,?,1,?,?,?,?,?,?,?)`,
			i+1, e.At.UnixMilli(), string(e.Kind), e.ID, e.V, m.salt, string(m.Body), sum)
	}
	exec(`UPDATE rooms SET sum = ? WHERE id = 1`, sum)
	exec(`INSERT INTO snapshots VALUES(1, ?, CAST('state' AS BLOB)); INSERT INTO kv VALUES('aya', '好き', 'りんご')`, n/2)
}

// TestFromSchema2 opens a file of before forks, and forks there; a tool reads it and changes nothing.
func TestFromSchema2(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	schema2(t, path, 40)
	before := readAll(t, path)
	check := func(j *Journal) {
		t.Helper()
		whole(t, j, "広場", 40)
		r, ok, err := j.Room(t.Context(), "広場")
		if err != nil || !ok || r.Head != (journal.Head{Seq: 40, Epoch: 1}) || r.Fork != (journal.Fork{}) || r.Key != "hiroba" || r.By != "mika" || r.Owner != "old" {
			t.Errorf("%+v %v", r, err)
		}
		for at, want := range map[uint64]uint64{19: 0, 20: 20, 40: 20} {
			if seq, state, err := j.SnapshotAt(t.Context(), "広場", at); seq != want || (string(state) == "state") != (want > 0) || err != nil {
				t.Errorf("snapshot at %d: %d %q %v", at, seq, state, err)
			}
		}
		if v, _, err := j.KVGet(t.Context(), "aya", "好き"); v != "りんご" || err != nil {
			t.Errorf("key: %q %v", v, err)
		}
	}
	tool, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	check(tool)
	if err := tool.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readAll(t, path), before) {
		t.Error("the file was changed")
	}
	j := mustOpen(t, path)
	check(j)
	if old, err := filepath.Glob(path + ".v2-*Z"); err != nil || len(old) != 1 || number(t, old[0], "SELECT count(*) FROM entries") != 40 {
		t.Errorf("copies: %q %v", old, err)
	}
	h := forked(t, j, "枝", "広場", 30, "own")
	j = again(t, j)
	check(j)
	whole(t, j, "枝", h.Seq)
	if seq, _, err := j.GetSnapshot(t.Context(), "枝"); seq != 20 || err != nil {
		t.Errorf("the fork's snapshot is of %d (%v)", seq, err)
	}
}

// TestForkInOneTransaction forks what grew, and what was forked, in the same transaction, in which others are refused.
func TestForkInOneTransaction(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	h := talk(t, j, "広場", 3) // 4 entries, epoch 1
	busy, free := make(chan struct{}), make(chan struct{})
	answers := make(chan error, 20)
	go func() {
		answers <- j.submit(t.Context(), &request{run: func(*writer) error { close(busy); <-free; return nil }})
	}()
	<-busy
	fork := func(room, of string, at uint64, ids ...string) func() error {
		return func() error {
			var news []journal.New
			for _, id := range ids {
				news = append(news, said(id, room))
			}
			_, err := j.Fork(t.Context(), room, journal.Fork{Of: of, At: at}, journal.Listing{Key: room}, news...)
			return err
		}
	}
	for i, act := range []func() error{
		func() error { _, err := j.Acquire(t.Context(), "広場", "next", time.Now()); return err },
		func() error {
			_, err := j.Append(t.Context(), "広場", journal.Head{Seq: h.Seq + 1, Epoch: 2}, said("new", "x"))
			return err
		},
		fork("枝", "広場", 6, "own"),
		fork("孫", "枝", 7, ids("g", 40)...),
		func() error {
			_, err := j.Append(t.Context(), "枝", journal.Head{Seq: 7, Epoch: 2}, said("more", "x"))
			return err
		},
		fork("静か", "広場", 5),
		refused(fork("枝", "広場", 6)), refused(fork("別", "広場", 6, "new")), refused(fork("別", "広場", 6, "a", "a")), refused(fork("別", "広場", 99)),
		fork("別", "静か", 5, "a"),
		func() error { return j.Rest(t.Context(), "静か", journal.Head{Seq: 5, Epoch: 2}, time.Time{}) },
	} {
		go func() { answers <- act() }()
		waittest.Until(t, "it waits", func() bool { return len(j.queue) == i+1 })
	}
	close(free)
	for range 13 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	j = again(t, j)
	for room, want := range map[string]journal.Head{"広場": {Seq: 6, Epoch: 2}, "枝": {Seq: 8, Epoch: 2}, "孫": {Seq: 47, Epoch: 2}, "静か": {Seq: 5, Epoch: 2}, "別": {Seq: 6, Epoch: 2}} {
		r, _, err := j.Room(t.Context(), room)
		if err != nil || r.Head != want || r.Owner != "next" {
			t.Errorf("%s: %+v %v, want %v", room, r, err, want)
		}
		whole(t, j, room, want.Seq)
	}
}

// refused turns an answer round: it is an error where there is none.
func refused(f func() error) func() error {
	return func() error {
		if f() == nil {
			return errors.New("it was not refused")
		}
		return nil
	}
}

func ids(prefix string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(prefix, i))
	}
	return all
}
