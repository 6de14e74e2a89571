package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/journaltest"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/waittest"
)

// commits counts the transactions in a write-ahead log: a frame that ends one
// holds the size of the database.
func commits(t testing.TB, wal string) (n int) {
	t.Helper()
	b := readAll(t, wal)
	const header, frame = 32, 24 + 4096
	salt := b[16:24]
	for at := header; at+frame <= len(b); at += frame {
		if string(b[at+8:at+16]) != string(salt) {
			break // left from before the last checkpoint
		}
		if binary.BigEndian.Uint32(b[at+4:]) > 0 {
			n++
		}
	}
	return n
}

// hold takes SQLite's write lock as another program would, until released.
func hold(t testing.TB, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, store.Writing))
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		_, err := c.ExecContext(context.Background(), "ROLLBACK")
		if err := errors.Join(err, c.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestGroupCommit queues appends of 64 rooms behind a request that is slow: they
// share very few transactions, and one that conflicts fails alone.
func TestGroupCommit(t *testing.T) {
	const rooms = 64
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	heads := make([]journal.Head, rooms)
	for i := range heads {
		heads[i] = talk(t, j, fmt.Sprintf("部屋%d", i), 1)
	}
	if err := j.w.Settle(true); err != nil { // only this test and the idle writer use it
		t.Fatal(err)
	}
	entered, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := j.submit(t.Context(), &request{run: func(*writer) error { close(entered); <-release; return nil }}); err != nil {
			t.Error(err)
		}
	})
	<-entered
	for i, h := range heads {
		if i%8 == 7 {
			h.Seq-- // stale
		}
		wg.Go(func() {
			nh, err := j.Append(t.Context(), fmt.Sprintf("部屋%d", i), h, said("grouped", "一緒に"), said("grouped too", "はい"))
			switch {
			case i%8 == 7 && !errors.Is(err, journal.ErrConflict):
				t.Errorf("a stale append answered %v", err)
			case i%8 != 7 && (err != nil || nh.Seq != h.Seq+2):
				t.Errorf("append: %v %v", nh, err)
			}
		})
	}
	waittest.Until(t, "all queue", func() bool { return len(j.queue) == rooms })
	close(release)
	wg.Wait()
	if n := commits(t, j.path+"-wal"); n < 1 || n > 3 {
		t.Errorf("%d requests took %d transactions, want at most 3", rooms, n)
	}
	for i, h := range heads {
		if i%8 == 7 {
			whole(t, j, fmt.Sprintf("部屋%d", i), h.Seq)
		} else {
			whole(t, j, fmt.Sprintf("部屋%d", i), h.Seq+2)
		}
	}
}

// TestBusy fails a whole group when another program holds the lock for too
// long, and comes back when it lets go.
func TestBusy(t *testing.T) {
	j := quickOpen(t, Config{Path: filepath.Join(t.TempDir(), "companion.db")})
	h := talk(t, j, "広場", 1)
	release := hold(t, j.path)
	defer release()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := j.Append(t.Context(), "広場", h, said(fmt.Sprint(i), "待って")); !errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("append: %v", err)
			}
		})
	}
	wg.Wait()
	want(t, j.Health(), journal.ErrUnavailable, "locked")
	whole(t, j, "広場", h.Seq)
	release()
	waittest.Until(t, "health is nil", func() bool { return j.Health() == nil })
	if _, err := j.Append(t.Context(), "広場", h, said("after", "どうぞ")); err != nil {
		t.Fatal(err)
	}
}

// TestSettleAfterFailure insists that the whole log gets into the database
// after an I/O error, which another program's view of it prevents.
func TestSettleAfterFailure(t *testing.T) {
	j := quickOpen(t, Config{Path: filepath.Join(t.TempDir(), "companion.db")})
	talk(t, j, "広場", 5)
	tool, err := OpenReadOnly(j.path)
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	view, err := tool.r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := view.QueryRow("SELECT count(*) FROM entries").Scan(&n); err != nil || n != 6 {
		t.Fatalf("%d entries: %v", n, err)
	}
	talk(t, j, "カフェ", 5)
	want(t, j.w.Settle(true), journal.ErrUnavailable, "another process reads")
	if err := j.w.Settle(false); err != nil {
		t.Fatal(err)
	}
	if err := view.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := j.w.Settle(true); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(j.path + "-wal"); err != nil || st.Size() != 0 {
		t.Fatalf("log after settling: %v %v", st, err)
	}
}

// TestCloseAnswersEverybody closes under load: whoever got nil is stored, and
// nobody waits for ever.
func TestCloseAnswersEverybody(t *testing.T) {
	for range 3 {
		path := filepath.Join(t.TempDir(), "companion.db")
		j := mustOpen(t, path)
		var acked [16]atomic.Uint64
		var wg sync.WaitGroup
		for i := range acked {
			room := fmt.Sprintf("部屋%d", i)
			h := talk(t, j, room, 1)
			wg.Go(func() {
				for n := 0; ; n++ {
					nh, err := j.Append(t.Context(), room, h, said(fmt.Sprint(n), "まだ"))
					if err != nil {
						if !errors.Is(err, journal.ErrUnavailable) {
							t.Errorf("append: %v", err)
						}
						return
					}
					h = nh
					acked[i].Store(h.Seq)
				}
			})
		}
		time.Sleep(5 * time.Millisecond)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		j = mustOpen(t, path)
		for i := range acked {
			whole(t, j, fmt.Sprintf("部屋%d", i), max(acked[i].Load(), 2))
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	j := mustOpen(t, filepath.Join(dir, "state", "companion.db"))
	first := talk(t, j, "広場", 2000)
	if err := j.KVSet(t.Context(), "aya", "k", "v"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 4 {
		room := fmt.Sprintf("部屋%d", i)
		h := talk(t, j, room, 1)
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				nh, err := j.Append(t.Context(), room, h, said(fmt.Sprint(n), "書きながら"))
				if err != nil {
					t.Errorf("append while backing up: %v", err)
					return
				}
				h = nh
			}
		})
	}
	dst := filepath.Join(dir, "バックアップ", "copy.db")
	if err := j.Backup(t.Context(), dst); err == nil {
		t.Fatal("a directory was made that nobody asked for")
	}
	if err := os.Mkdir(filepath.Dir(dst), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := j.Backup(t.Context(), dst); err != nil {
		t.Fatal(err)
	}
	if err := j.Backup(t.Context(), dst); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("an existing file is not refused: %v", err)
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	if err := j.Backup(over, dst+"2"); err == nil || exists(dst+"2") || exists(dst+"2.new") {
		t.Fatalf("a backup that was given up: %v", err)
	}
	cancel()
	wg.Wait()
	if st, err := os.Stat(dst); err != nil || st.Mode().Perm() != 0o600 {
		t.Fatalf("backup: %v %v", st, err)
	}
	checkBackup(t, dst, first)
}

func checkBackup(t *testing.T, dst string, first journal.Head) {
	t.Helper()
	tool, err := OpenReadOnly(dst)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Check(tool.path); err != nil {
		t.Fatal(err)
	}
	if err := tool.Backup(t.Context(), dst+".second"); err != nil { // also a tool can
		t.Fatal(err)
	}
	if err := tool.Close(); err != nil {
		t.Fatal(err)
	}
	b := mustOpen(t, dst)
	rooms, err := journaltest.Heads(t.Context(), b)
	if err != nil || len(rooms) != 5 {
		t.Fatalf("rooms: %v %v", rooms, err)
	}
	for room, h := range rooms {
		whole(t, b, room, h.Seq)
	}
	whole(t, b, "広場", first.Seq)
	if v, ok, err := b.KVGet(t.Context(), "aya", "k"); v != "v" || !ok || err != nil {
		t.Fatalf("get: %q %v %v", v, ok, err)
	}
	talk(t, b, "広場", 1)
}
