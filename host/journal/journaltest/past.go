package journaltest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// This file is what forks know of their past besides its entries: states, and how it is followed and listed.

func forkSnapshots(t *testing.T, j journal.Journal) {
	plain(t, j, "広場")
	put := func(room string, seq uint64, state string) {
		t.Helper()
		if err := j.PutSnapshot(t.Context(), room, seq, []byte(state)); err != nil {
			t.Fatal(err)
		}
	}
	at := func(room string, at, seq uint64, state string) {
		t.Helper()
		if s, b, err := j.SnapshotAt(t.Context(), room, at); s != seq || string(b) != state || err != nil {
			t.Errorf("%s at %d: %d %q %v, want %d %q", room, at, s, b, err, seq, state)
		}
	}
	latest := func(room string, seq uint64, state string) {
		t.Helper()
		if s, b, err := j.GetSnapshot(t.Context(), room); s != seq || string(b) != state || err != nil {
			t.Errorf("%s: %d %q %v, want %d %q", room, s, b, err, seq, state)
		}
	}
	put("広場", 4, "P4")
	fork(t, j, "枝", "広場", 6, "own0", "own1")
	fork(t, j, "孫", "枝", 8, "g0")
	fork(t, j, "早い", "枝", 3, "e0")
	for _, room := range []string{"広場", "枝", "孫"} {
		latest(room, 4, "P4")
		at(room, 3, 0, "")
		at(room, 4, 4, "P4")
		at(room, 1<<63, 4, "P4")
	}
	latest("早い", 0, "")
	put("枝", 7, "C7")
	latest("枝", 7, "C7")
	latest("孫", 7, "C7")
	latest("広場", 4, "P4")
	at("孫", 6, 4, "P4")
	at("孫", 7, 7, "C7")
	put("孫", 2, "G2") // its own, though those of its past are newer
	latest("孫", 2, "G2")
	at("孫", 9, 7, "C7")
	put("孫", 9, "G9")
	latest("孫", 9, "G9")
	at("孫", 8, 7, "C7")
	if err := j.PutSnapshot(t.Context(), "孫", 10, nil); err == nil {
		t.Error("a snapshot above the head was kept")
	}
}

// snapshotsApart puts many snapshots, of which some stay, however often they were put.
func snapshotsApart(t *testing.T, j journal.Journal) {
	const all, every = 4 * journal.Apart, 300
	h := acquire(t, j, "広場")
	var put []uint64
	for h.Seq < all {
		news := make([]journal.New, every/2)
		for i := range news {
			news[i] = message(fmt.Sprint(h.Seq, "-", i), "長い話")
		}
		var err error
		if h, err = j.Append(t.Context(), "広場", h, news...); err != nil {
			t.Fatal(err)
		}
		if err := j.PutSnapshot(t.Context(), "広場", h.Seq, fmt.Append(nil, h.Seq)); err != nil {
			t.Fatal(err)
		}
		put = append(put, h.Seq)
	}
	fork(t, j, "枝", "広場", 2*journal.Apart, "x")
	kept := map[uint64]bool{}
	for _, room := range []string{"広場", "枝"} {
		for at := uint64(1); at <= h.Seq; at += 37 {
			seq, state, err := j.SnapshotAt(t.Context(), room, at)
			if seq > 0 && string(state) != fmt.Sprint(seq) || err != nil || seq > at {
				t.Fatalf("%s at %d: %d %q %v", room, at, seq, state, err)
			}
			if to := min(at, map[string]uint64{"広場": h.Seq, "枝": 2 * journal.Apart}[room]); to-seq > journal.Apart {
				t.Errorf("%s at %d: the newest snapshot is of %d", room, at, seq)
			}
			kept[seq] = true
		}
	}
	if len(kept) > all/journal.Apart+3 {
		t.Errorf("%d of %d snapshots are kept", len(kept), len(put))
	}
	if seq, _, err := j.GetSnapshot(t.Context(), "広場"); seq != h.Seq || err != nil {
		t.Errorf("the newest is of %d, want %d (%v)", seq, h.Seq, err)
	}
	if err := j.Trim(t.Context(), "広場", 10); err == nil {
		t.Error("a fork lost its past")
	}
}

// forkFollow: a follower gets the shared entries and then the fork's own, over the seam, none twice.
func forkFollow(t *testing.T, j journal.Journal) {
	const before, own, later = 600, 300, 50
	h := acquire(t, j, "広場")
	var err error
	for part := range 6 {
		var news []journal.New
		for _, id := range ids(fmt.Sprint("b", part, "-"), before/6) {
			news = append(news, message(id, "前"))
		}
		if h, err = j.Append(t.Context(), "広場", h, news...); err != nil {
			t.Fatal(err)
		}
	}
	at := uint64(before / 2)
	fh := fork(t, j, "枝", "広場", at, ids("own", own)...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	last := fh.Seq + later
	var wg sync.WaitGroup
	for _, after := range []uint64{0, 1, at - 1, at, at + 1, fh.Seq - 1, fh.Seq, fh.Seq + later/2} {
		wg.Go(func() {
			if err := follow(ctx, j, "枝", after, last); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range later {
		h = grow(t, j, "広場", h, fmt.Sprint("p", i)) // which nobody sees there
		fh = grow(t, j, "枝", fh, fmt.Sprint("l", i))
	}
	wg.Wait()
	if err := follow(ctx, j, "広場", 0, h.Seq); err != nil {
		t.Error(err)
	}
}

// forkFollowEarly: who follows a room that is not there yet gets all of it when it was forked, also
// where nothing was appended.
func forkFollowEarly(t *testing.T, j journal.Journal) {
	plain(t, j, "広場")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, own := range []int{0, 2} {
		room := fmt.Sprint("枝", own)
		got, waits := make(chan error, 1), make(chan struct{})
		go func() {
			close(waits)
			got <- follow(ctx, j, room, 0, 6+uint64(own))
		}()
		<-waits
		fork(t, j, room, "広場", 6, ids("own", own)...)
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
}

func forkIndex(t *testing.T, j journal.Journal) {
	h := plain(t, j, "広場")
	l := journal.Listing{Key: "eda", By: "mika", Settings: []byte(`{"policy":"pool"}`)}
	fh, err := j.Fork(t.Context(), "枝", journal.Fork{Of: "広場", At: 4}, l, message("own", "x"))
	if err != nil {
		t.Fatal(err)
	}
	fork(t, j, "静か", "広場", 5) // nothing was appended
	fork(t, j, "孫", "枝", 5, "g")
	want := journal.Room{Name: "枝", Head: fh, Owner: "suite", Awake: true, Fork: journal.Fork{Of: "広場", At: 4}, Listing: l}
	if r, ok, err := j.Room(t.Context(), "枝"); !ok || err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("the fork's row: %+v %v, want %+v", r, err, want)
	}
	forks := func(room string, want ...string) {
		t.Helper()
		rs, err := j.Forks(t.Context(), room)
		var got []string
		for _, r := range rs {
			got = append(got, r.Name)
			if one, _, err := j.Room(t.Context(), r.Name); err != nil || !reflect.DeepEqual(one, r) {
				t.Errorf("%+v is listed as %+v (%v)", one, r, err)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("forks of %q: %q %v, want %q", room, got, err, want)
		}
	}
	forks("広場", "枝", "静か")
	forks("枝", "孫")
	forks("孫")
	forks("どこにも")
	forks("")
	waking, err := j.Waking(t.Context(), day, "", 100)
	if err != nil || len(waking) != 3 { // all but the one in which nothing happened
		t.Errorf("awake: %+v %v", waking, err)
	}
	if n, err := j.Registered(t.Context(), "mika"); n != 3 || err != nil {
		t.Errorf("mika has %d rooms (%v)", n, err)
	}
	wantErr(t, j.Rest(t.Context(), "枝", fh, day), nil)
	if r, _, err := j.Room(t.Context(), "枝"); err != nil || r.Awake || !r.Due.Equal(day) {
		t.Errorf("after its rest: %+v %v", r, err)
	}
	if at, err := j.NextDue(t.Context()); err != nil || !at.Equal(day) {
		t.Errorf("next due %v %v", at, err)
	}
	l.Archived, l.Key = true, "other"
	wantErr(t, j.Register(t.Context(), "枝", l), nil)
	if r, _, err := j.Room(t.Context(), "枝"); err != nil || !r.Archived || r.Fork != want.Fork {
		t.Errorf("registered anew: %+v %v", r, err)
	}
	wantHead(t, j, "広場", h)
	acquire(t, j, "広場")
	_, err = j.Append(t.Context(), "枝", fh, message("still", "x")) // the parent's new owner is not the fork's
	wantErr(t, err, nil)
}

// forkLeaves: whatever happens in a fork, the other room's entries stay as they are, byte for byte.
func forkLeaves(t *testing.T, j journal.Journal) {
	h := plain(t, j, "広場")
	before, said := read(t, j, "広場", 100), journal.Span{Limit: 100}
	was, err := j.Said(t.Context(), "広場", said)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range []uint64{2, 5, 10} {
		room := fmt.Sprint("枝", i)
		fh := fork(t, j, room, "広場", at, "own")
		grow(t, j, room, fh, "more")
		grow(t, j, room, acquire(t, j, room), "after")
		if at == 10 {
			continue
		}
		if err := j.Blank(t.Context(), room, at+2, map[uint64][]byte{at + 1: nil, at + 2: nil}); err != nil {
			t.Fatal(err)
		}
		if es := read(t, j, room, 100); es[at].Kind != entry.KindSaid || !es[at].Blank {
			t.Errorf("%s: %+v", room, es[at])
		}
	}
	now, err := j.Said(t.Context(), "広場", said)
	if es := read(t, j, "広場", 100); !reflect.DeepEqual(es, before) || !reflect.DeepEqual(now, was) || err != nil {
		t.Errorf("the parent is %v, was %v (%v)", es, before, err)
	}
	wantHead(t, j, "広場", h)
	intact(t, j, "広場", 10)
}
