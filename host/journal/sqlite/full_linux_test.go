package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/waittest"
)

// appendUntilRefused appends until an error comes, and gives the head and it.
func appendUntilRefused(t *testing.T, j *Journal, h journal.Head, prefix string) (journal.Head, error) {
	t.Helper()
	for i := range 100_000 {
		id := fmt.Sprintf("%s%d", prefix, i)
		nh, err := j.Append(t.Context(), "広場", h, said(id, strings.Repeat("満", 1000)))
		if errors.Is(err, journal.ErrUnknown) { // then only a read can tell
			_, ok, ferr := j.Find(t.Context(), "広場", id)
			if ferr != nil {
				t.Fatal(ferr)
			}
			if nh, err = h, nil; ok {
				nh.Seq++
			}
		}
		if err != nil {
			return h, err
		}
		h = nh
	}
	t.Fatal("the disk never became full")
	return h, nil
}

func TestFullDisk(t *testing.T) {
	const reserve = 2 << 20
	d := newDisk(t, 24)
	j := quickOpen(t, Config{Path: d.path(), Reserve: reserve})
	h := talk(t, j, "広場", 10)
	if st, err := os.Stat(reserveOf(j)); err != nil || st.Size() != reserve || st.Sys() == nil {
		t.Fatalf("reserve: %v %v", st, err)
	}
	filler := d.fill()

	h, err := appendUntilRefused(t, j, h, "first")
	want(t, err, journal.ErrUnavailable, "full")
	want(t, j.Health(), journal.ErrUnavailable, "disk full")
	if exists(reserveOf(j)) {
		t.Fatal("the reserve was not released")
	}
	whole(t, j, "広場", h.Seq)

	// The reserve lets the room write down its end.
	for i := range 20 {
		if h, err = j.Append(t.Context(), "広場", h, said(fmt.Sprintf("end%d", i), "終わり")); err != nil {
			t.Fatalf("append with the reserve released: %v", err)
		}
	}
	if err := j.Health(); err == nil {
		t.Fatal("health is nil on a full disk")
	}
	h, err = appendUntilRefused(t, j, h, "second")
	want(t, err, journal.ErrUnavailable, "full")
	whole(t, j, "広場", h.Seq)
	if _, ok, err := j.Find(t.Context(), "広場", "end19"); !ok || err != nil {
		t.Fatalf("find: %v %v", ok, err)
	}
	if err := j.KVSet(t.Context(), "aya", "k", strings.Repeat("v", 60_000)); !errors.Is(err, journal.ErrUnavailable) {
		t.Fatalf("set on a full disk: %v", err)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if h, err = j.Append(t.Context(), "広場", h, said("space again", "空いた")); err != nil {
		t.Fatalf("first append after space was freed: %v", err)
	}
	waittest.Until(t, "health is nil", func() bool { return j.Health() == nil })
	if st, err := os.Stat(reserveOf(j)); err != nil || st.Size() != reserve {
		t.Fatalf("the reserve was not made again: %v", err)
	}
	whole(t, j, "広場", h.Seq)
	j = again(t, j)
	whole(t, j, "広場", h.Seq)
}

func TestFullDiskWithoutReserve(t *testing.T) {
	d := newDisk(t, 16)
	j := quickOpen(t, Config{Path: d.path()})
	h := talk(t, j, "広場", 10)
	filler := d.fill()
	h, err := appendUntilRefused(t, j, h, "first")
	want(t, err, journal.ErrUnavailable, "full")
	if exists(filepath.Join(filepath.Dir(d.path()), "reserve")) {
		t.Fatal("a reserve was made that nobody asked for")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "health is nil", func() bool { return j.Health() == nil })
	h, err = j.Append(t.Context(), "広場", h, said("again", "また"))
	if err != nil {
		t.Fatal(err)
	}
	whole(t, j, "広場", h.Seq)
}

// TestFullDiskAtStart comes up to read, and to write when there is space.
func TestFullDiskAtStart(t *testing.T) {
	d := newDisk(t, 16)
	j := quickOpen(t, Config{Path: d.path()})
	h := talk(t, j, "広場", 100)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	filler := d.fill()
	j = quickOpen(t, Config{Path: d.path()})
	whole(t, j, "広場", h.Seq)
	if _, err := appendUntilRefused(t, j, h, "m"); !errors.Is(err, journal.ErrUnavailable) {
		t.Fatalf("append: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "health is nil", func() bool { return j.Health() == nil })
	talk(t, j, "広場", 1)
}

// TestReadOnlyAtStart starts on a read-only disk, once after a clean end and
// once after a crash, and writes when the disk is writable again.
func TestReadOnlyAtStart(t *testing.T) {
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprintf("crash=%v", crash), func(t *testing.T) {
			d := newDisk(t, 64)
			var acks []ack
			if crash {
				c := startChild(t, d.path(), "")
				c.waitReady(t)
				time.Sleep(50 * time.Millisecond)
				c.kill()
				acks = c.acks
			} else {
				j := quickOpen(t, Config{Path: d.path()})
				talk(t, j, "広場", 50)
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
			d.remount("ro")
			j := quickOpen(t, Config{Path: d.path(), Reserve: 1 << 20})
			want(t, j.Health(), journal.ErrUnavailable, "read-only file system")
			_, err := j.Acquire(t.Context(), "広場", "test", time.Now())
			want(t, err, journal.ErrUnavailable, "read-only file system")
			if n := lost(t, j, acks, map[string]uint64{}); n > 0 {
				t.Fatalf("%d acknowledged entries cannot be read", n)
			}
			tool, err := OpenReadOnly(d.path())
			if err != nil {
				t.Fatal(err)
			}
			if n := lost(t, tool, acks, map[string]uint64{}); n > 0 {
				t.Fatalf("a tool cannot read %d acknowledged entries", n)
			}
			if err := tool.Close(); err != nil {
				t.Fatal(err)
			}
			d.remount("rw")
			waittest.Until(t, "health is nil", func() bool { return j.Health() == nil })
			talk(t, j, "広場", 5)
			if n := lost(t, j, acks, map[string]uint64{}); n > 0 {
				t.Fatalf("%d acknowledged entries are lost", n)
			}
			waittest.Until(t, "the reserve is there", func() bool { return exists(reserveOf(j)) })
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestDiskFails cuts the disk off under a running journal and puts it back.
func TestDiskFails(t *testing.T) {
	d := newDisk(t, 32)
	j := quickOpen(t, Config{Path: d.path()})
	h := talk(t, j, "広場", 50)
	d.cut()
	_, err := j.Append(t.Context(), "広場", h, said("unknown", "届いた？"))
	if !errors.Is(err, journal.ErrUnknown) {
		t.Fatalf("append to a failing disk: %v", err)
	}
	if j.Health() == nil {
		t.Fatal("health is nil on a failed disk")
	}
	_, err = j.Append(t.Context(), "広場", h, said("later", "だめ"))
	want(t, err, journal.ErrUnavailable)
	d.run("umount", "-l", d.dir)
	d.mountElsewhere() // the journal still has files on the dead one
	waittest.Until(t, "health is nil", func() bool { return j.Health() == nil })
	whole(t, j, "広場", h.Seq) // the cut came before anything of the append was synced
	if _, ok, err := j.Find(t.Context(), "広場", "unknown"); ok || err != nil {
		t.Fatalf("find: %v %v", ok, err)
	}
	if h, err = j.Append(t.Context(), "広場", h, said("unknown", "もう一度")); err != nil {
		t.Fatal(err)
	}
	whole(t, j, "広場", h.Seq)
	if _, err := open(Config{Path: d.path()}, quick()); !errors.Is(err, journal.ErrLocked) {
		t.Fatalf("the directory that came back is not locked: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDiskGoesReadOnly lets the kernel make the disk read-only in the middle
// of the work, as it does after errors.
func TestDiskGoesReadOnly(t *testing.T) {
	d := newDisk(t, 32)
	j := quickOpen(t, Config{Path: d.path()})
	h := talk(t, j, "広場", 50)
	d.remount("abort")
	waittest.Until(t, "an append fails", func() bool {
		nh, err := j.Append(t.Context(), "広場", h, said(fmt.Sprint("m", h.Seq), "まだ"))
		if err == nil {
			h = nh
		}
		return err != nil
	})
	waittest.Until(t, "health says read-only", func() bool {
		err := j.Health()
		return err != nil && strings.Contains(err.Error(), "read-only file system")
	})
	es, err := j.Read(t.Context(), "広場", 0, 1000)
	if err != nil || uint64(len(es)) < h.Seq {
		t.Fatalf("read %d entries of %d: %v", len(es), h.Seq, err)
	}
	if err := j.Close(); err != nil {
		t.Logf("close: %v", err)
	}
}
