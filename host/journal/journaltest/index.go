package journaltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// saidOnly mixes what was said with what was not: Said gives the first alone.
func saidOnly(t *testing.T, j journal.Journal) {
	h := acquire(t, j, "広場")
	var said []entry.Entry
	for i := range 40 {
		n := message(fmt.Sprint("m", i), fmt.Sprint("こんにちは", i))
		if i%3 != 0 {
			n.Kind = entry.KindPerceived
		}
		var err error
		if h, err = j.Append(t.Context(), "広場", h, n); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			said = append(said, read(t, j, "広場", h.Seq-1, 1)...)
		}
	}
	seqs := func(es []entry.Entry) (s []uint64) {
		for _, e := range es {
			s = append(s, e.Seq)
		}
		return s
	}
	for _, c := range []struct {
		span journal.Span
		want []entry.Entry
	}{
		{journal.Span{Limit: 100}, said}, {journal.Span{Limit: 4}, said[:4]}, {journal.Span{Limit: 4, Newest: true}, said[len(said)-4:]},
		{journal.Span{After: said[2].Seq, Limit: 3}, said[3:6]}, {journal.Span{After: said[2].Seq - 1, Limit: 1}, said[2:3]},
		{journal.Span{Before: said[5].Seq, Limit: 2, Newest: true}, said[3:5]}, {journal.Span{Before: said[5].Seq + 1, Limit: 2, Newest: true}, said[4:6]},
		{journal.Span{After: said[1].Seq, Before: said[4].Seq, Limit: 9}, said[2:4]}, {journal.Span{After: 20, Before: 10, Limit: 9}, nil},
		{journal.Span{}, nil}, {journal.Span{Limit: -1, Newest: true}, nil}, {journal.Span{After: ^uint64(0), Limit: 5}, nil}, {journal.Span{Before: ^uint64(0), Limit: 1}, said[:1]},
	} {
		got, err := j.Said(t.Context(), "広場", c.span)
		if err != nil || len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %v %v, want %v", c.span, seqs(got), err, seqs(c.want))
		}
	}
	if got, err := j.Said(t.Context(), "nowhere", journal.Span{Limit: 5}); err != nil || len(got) != 0 {
		t.Errorf("of an unknown room: %v %v", got, err)
	}
}

func row(t *testing.T, j journal.Journal, room string) journal.Room {
	t.Helper()
	r, ok, err := j.Room(t.Context(), room)
	if err != nil || !ok || r.Name != room {
		t.Fatalf("room %q: %+v %v %v", room, r, ok, err)
	}
	return r
}

// resting says who is awake and when the others are due.
func resting(t *testing.T, j journal.Journal) {
	ctx := t.Context()
	if r, ok, err := j.Room(ctx, "広場"); ok || err != nil || !reflect.DeepEqual(r, journal.Room{}) {
		t.Fatalf("a room that is not there: %+v %v %v", r, ok, err)
	}
	wantErr(t, j.Rest(ctx, "広場", journal.Head{}, time.Time{}), journal.ErrConflict)
	h := acquire(t, j, "広場")
	if r := row(t, j, "広場"); !r.Awake || !r.Due.IsZero() || r.Head != h || r.Owner != "suite" {
		t.Fatalf("acquired: %+v", r)
	}
	due := day.Add(90 * time.Second)
	old := h
	h = grow(t, j, "広場", h, "a")
	wantErr(t, j.Rest(ctx, "広場", old, due), journal.ErrConflict)
	if err := j.Rest(ctx, "広場", h, due); err != nil {
		t.Fatal(err)
	}
	if r := row(t, j, "広場"); r.Awake || !r.Due.Equal(due) || r.Head != h {
		t.Fatalf("at rest: %+v", r)
	}
	if at, err := j.NextDue(ctx); err != nil || !at.Equal(due) {
		t.Fatalf("next due %v %v", at, err)
	}
	h = grow(t, j, "広場", h, "b")
	if r := row(t, j, "広場"); !r.Awake {
		t.Fatalf("grown: %+v", r)
	}
	if at, err := j.NextDue(ctx); err != nil || !at.IsZero() {
		t.Fatalf("next due %v %v, while it is awake", at, err)
	}
	if err := j.Rest(ctx, "広場", h, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if r := row(t, j, "広場"); r.Awake || !r.Due.IsZero() {
		t.Fatalf("at rest for good: %+v", r)
	}
	if at, err := j.NextDue(ctx); err != nil || !at.IsZero() {
		t.Fatalf("next due %v %v", at, err)
	}
	if nh, err := j.Acquire(ctx, "広場", "the next", day); err != nil || row(t, j, "広場").Owner != "the next" || !row(t, j, "広場").Awake || nh.Epoch != 2 {
		t.Fatalf("acquired again: %+v %v", row(t, j, "広場"), err)
	}
	wantErr(t, j.Rest(ctx, "広場", h, due), journal.ErrFenced)
}

// waking lists rooms in pages, and those to be looked at.
func waking(t *testing.T, j journal.Journal) {
	ctx := t.Context()
	var all, soon []string
	for i := range 25 {
		name := fmt.Sprintf("部屋%02d", i)
		all = append(all, name)
		h := acquire(t, j, name)
		switch i % 5 {
		case 0: // stays awake
			soon = append(soon, name)
			continue
		case 1:
			soon = append(soon, name)
			h = grow(t, j, name, h, "a")
		}
		due := map[int]time.Time{1: day, 2: day.Add(time.Hour)}[i%5]
		if err := j.Rest(ctx, name, h, due); err != nil {
			t.Fatal(err)
		}
	}
	pages := func(list func(after string) ([]journal.Room, error)) (names []string) {
		for after := ""; ; {
			rs, err := list(after)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rs {
				names, after = append(names, r.Name), r.Name
			}
			if len(rs) == 0 {
				return names
			}
		}
	}
	if got := pages(func(after string) ([]journal.Room, error) { return j.Rooms(ctx, after, 7) }); !slices.Equal(got, all) {
		t.Errorf("rooms %q", got)
	}
	if got := pages(func(after string) ([]journal.Room, error) { return j.Waking(ctx, day, after, 3) }); !slices.Equal(got, soon) {
		t.Errorf("waking %q, want %q", got, soon)
	}
	if got, err := j.Waking(ctx, day.Add(-time.Millisecond), "", 100); err != nil || len(got) != 5 {
		t.Errorf("before any is due: %v %v", got, err)
	}
	if at, err := j.NextDue(ctx); err != nil || !at.Equal(day) {
		t.Errorf("next due %v %v", at, err)
	}
}

// registered keeps what is known of a room besides its entries.
func registered(t *testing.T, j journal.Journal) {
	ctx := t.Context()
	l := journal.Listing{Key: "hiroba", By: "mika", Settings: []byte(`{"policy":"pool"}`)}
	for _, name := range []string{"", "a\xff"} {
		if err := j.Register(ctx, name, l); err == nil {
			t.Errorf("%q was registered", name)
		}
	}
	if err := j.Register(ctx, "広場", l); err != nil {
		t.Fatal(err)
	}
	if r := row(t, j, "広場"); r.Head != (journal.Head{}) || r.Awake || !reflect.DeepEqual(r.Listing, l) {
		t.Fatalf("registered: %+v", r)
	}
	wantErr(t, j.Register(ctx, "ひろば", journal.Listing{Key: "hiroba", By: "taro"}), journal.ErrConflict)
	if _, ok, err := j.Room(ctx, "ひろば"); ok || err != nil {
		t.Fatalf("a room that was refused is there: %v %v", ok, err)
	}
	_, err := j.Append(ctx, "広場", journal.Head{}, message("a", "a"))
	wantErr(t, err, journal.ErrConflict) // nobody acquired it
	if h := acquire(t, j, "広場"); h != (journal.Head{Seq: 1, Epoch: 1}) {
		t.Fatalf("first head %v", h)
	}
	if err := j.Register(ctx, "カフェ", journal.Listing{By: "mika"}); err != nil {
		t.Fatal(err)
	}
	if err := j.Register(ctx, "喫茶", journal.Listing{}); err != nil { // no key is like another
		t.Fatal(err)
	}
	count := func(by string, want int) {
		t.Helper()
		if n, err := j.Registered(ctx, by); n != want || err != nil {
			t.Fatalf("%q has %d rooms (%v), want %d", by, n, err, want)
		}
	}
	count("mika", 2)
	count("taro", 0)
	count("", 0)
	l.Archived, l.Key = true, ""
	if err := j.Register(ctx, "広場", l); err != nil {
		t.Fatal(err)
	}
	count("mika", 1)
	if r := row(t, j, "広場"); r.Head.Seq != 1 || !r.Archived {
		t.Fatalf("archived: %+v", r)
	}
	if err := j.Register(ctx, "ひろば", journal.Listing{Key: "hiroba", By: "taro"}); err != nil {
		t.Fatalf("the key is free again: %v", err)
	}
}

// blank takes bodies out: the chain holds, and nothing else changes.
func blank(t *testing.T, j journal.Journal) {
	ctx := t.Context()
	h := grow(t, j, "広場", acquire(t, j, "広場"), ids("m", 9)...)
	before := read(t, j, "広場", 0, 20)
	bodies := map[uint64][]byte{3: nil, 5: []byte(`{"text":""}`), 99: nil}
	for _, upTo := range []uint64{6, 4} { // what is blank stays as it is
		if err := j.Blank(ctx, "広場", upTo, bodies); err != nil {
			t.Fatal(err)
		}
		bodies = map[uint64][]byte{3: []byte(`{"text":"back"}`), 5: nil}
	}
	if err := j.Blank(ctx, "nowhere", 1, bodies); err != nil {
		t.Fatalf("of an unknown room: %v", err)
	}
	if r := row(t, j, "広場"); r.Swept != 6 || r.Head != h {
		t.Errorf("swept: %+v", r)
	}
	after := read(t, j, "広場", 0, 20)
	for i, e := range before {
		switch e.Seq {
		case 3:
			e.Body, e.Blank = []byte("null"), true
		case 5:
			e.Body, e.Blank = []byte(`{"text":""}`), true
		}
		if !reflect.DeepEqual(after[i], e) {
			t.Errorf("entry %d is %+v, want %+v", e.Seq, after[i], e)
		}
	}
	intact(t, j, "広場", 1, h.Seq)
	if e, ok, err := j.Find(ctx, "広場", "m1"); err != nil || !ok || !e.Blank || string(e.Body) != "null" {
		t.Errorf("found: %+v %v %v", e, ok, err)
	}
	got := 0
	stop := errors.New("enough")
	err := j.Follow(context.Background(), "広場", 2, func(es []entry.Entry) error {
		if got += len(es); got == 8 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	grow(t, j, "広場", h, "after")
}
