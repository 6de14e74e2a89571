package journaltest

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/companiond/companiond/host/journal"
)

func wantSnapshot(t *testing.T, j journal.Journal, room string, seq uint64, state []byte) {
	t.Helper()
	s, b, err := j.GetSnapshot(t.Context(), room)
	if err != nil || s != seq || !bytes.Equal(b, state) {
		t.Fatalf("snapshot of %q is %d %q %v, want %d %q", room, s, b, err, seq, state)
	}
}

func snapshotTrim(t *testing.T, j journal.Journal) {
	ctx := t.Context()
	put := func(seq uint64, state []byte) error { return j.PutSnapshot(ctx, "広場", seq, state) }
	wantErr(t, put(1, []byte("x")), journal.ErrConflict) // no such room
	wantErr(t, j.Trim(ctx, "広場", 1), journal.ErrConflict)
	h := grow(t, j, "広場", acquire(t, j, "広場"), ids("m", 19)...)
	wantSnapshot(t, j, "広場", 0, nil)
	wantSnapshot(t, j, "nowhere", 0, nil)
	wantErr(t, put(h.Seq+1, []byte("x")), journal.ErrConflict)
	wantErr(t, j.Trim(ctx, "広場", 1), journal.ErrConflict) // no snapshot
	for _, c := range []struct {
		put   uint64
		state string
		seq   uint64
		want  string
	}{{10, "十\x00\xff", 10, "十\x00\xff"}, {8, "old", 10, "十\x00\xff"}, {10, "same", 10, "same"}, {12, "new", 12, "new"}} {
		if err := put(c.put, []byte(c.state)); err != nil {
			t.Fatalf("put snapshot at %d: %v", c.put, err)
		}
		wantSnapshot(t, j, "広場", c.seq, []byte(c.want))
	}
	wantErr(t, j.Trim(ctx, "広場", 13), journal.ErrConflict)
	intact(t, j, "広場", 1, h.Seq)
	for _, c := range []struct{ upTo, first uint64 }{{5, 6}, {5, 6}, {3, 6}, {12, 13}} {
		if err := j.Trim(ctx, "広場", c.upTo); err != nil {
			t.Fatalf("trim to %d: %v", c.upTo, err)
		}
		intact(t, j, "広場", c.first, h.Seq)
	}
	if _, ok, err := j.Find(ctx, "広場", "m3"); ok || err != nil {
		t.Fatalf("find what was trimmed: %v %v", ok, err)
	}
	wantHead(t, j, "広場", h)
	h = grow(t, j, "広場", h, "m3", "after") // a trimmed id is free again
	if err := put(h.Seq, nil); err != nil {
		t.Fatalf("put empty snapshot: %v", err)
	}
	wantSnapshot(t, j, "広場", h.Seq, nil)
	if err := j.Trim(ctx, "広場", h.Seq); err != nil {
		t.Fatalf("trim all: %v", err)
	}
	wantHead(t, j, "広場", h)
	if es := read(t, j, "広場", 0, 10); len(es) != 0 {
		t.Fatalf("%d entries are left", len(es))
	}
	for _, after := range []uint64{0, h.Seq - 1, h.Seq + 1} {
		if bad, err := j.Verify(ctx, "広場", after); bad != 0 || err != nil {
			t.Fatalf("verify nothing after %d: bad %d, %v", after, bad, err)
		}
	}
	first := h.Seq + 1
	h = grow(t, j, "広場", h, "again")
	intact(t, j, "広場", first, h.Seq)
	if err := follow(ctx, j, "広場", first-1, h.Seq); err != nil {
		t.Fatal(err)
	}
}

func keepsEverything(t *testing.T, j journal.Journal, reopen func(*testing.T, journal.Journal) journal.Journal) {
	h := grow(t, j, "広場", acquire(t, j, "広場"), ids("m", 20)...)
	grow(t, j, "カフェ", acquire(t, j, "カフェ"), "コーヒー")
	if err := j.PutSnapshot(t.Context(), "広場", 15, []byte("状態")); err != nil {
		t.Fatal(err)
	}
	if err := j.Trim(t.Context(), "広場", 5); err != nil {
		t.Fatal(err)
	}
	before := read(t, j, "広場", 0, 100)
	rooms, err := Heads(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		j = reopen(t, j)
		if after := read(t, j, "広場", 0, 100); !reflect.DeepEqual(after, before) {
			t.Fatalf("entries changed: %v, were %v", after, before)
		}
		if again, err := Heads(t.Context(), j); err != nil || !reflect.DeepEqual(again, rooms) {
			t.Fatalf("rooms changed: %v, were %v (%v)", again, rooms, err)
		}
		wantSnapshot(t, j, "広場", 15, []byte("状態"))
		intact(t, j, "広場", 6, h.Seq)
	}
	grow(t, j, "広場", h, "next") // a head outlives the process: it is the epoch that fences
	old := h
	old.Seq++
	h = acquire(t, j, "広場")
	if h.Epoch != 2 {
		t.Fatalf("epoch is %d, want 2", h.Epoch)
	}
	_, err = j.Append(t.Context(), "広場", old, message("late", "遅い"))
	wantErr(t, err, journal.ErrFenced)
	if err := errors.Join(j.Health(), j.Close()); err != nil {
		t.Fatal(err)
	}
}
