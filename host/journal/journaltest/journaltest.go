// Package journaltest is the suite every journal engine passes: what
// host/journal promises, as tests, and compares it with a model in memory under random
// use. That of the stores of characters is storetest.
//
// It never knows which engine it tests, and it does not test crashes: each
// engine's own tests kill, cut and fill what it stands on.
package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/waittest"
	"pgregory.net/rapid"
)

// patience bounds what should come at once.
const patience = waittest.Long

// day is when the suite's entries happen: 2026-11-21 09:00 in Tokyo.
var day = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// Run holds the engine that open gives, empty each time, to journal.Journal.
// The suite closes what it opened. reopen closes j and opens the same again;
// without it (nil) what needs it is skipped. [Model] is the rest of the suite.
func Run(t *testing.T, open func(t *testing.T) journal.Journal, reopen func(t *testing.T, j journal.Journal) journal.Journal) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, j journal.Journal)
	}{
		{"append_read", appendRead},
		{"bad_input_is_named", badInput},
		{"racing_writers_one_wins", racingWriters},
		{"cancelled_append_is_unknown_or_nothing", cancelled},
		{"follow_has_no_gap_or_dup", followers},
		{"follow_waits_for_the_room", followEarly},
		{"follow_ends", followEnds},
		{"many_rooms_concurrently", manyRooms},
		{"closed_says_so", closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := open(t)
			defer j.Close()
			c.test(t, j)
		})
	}
	for name, test := range branches() {
		t.Run(name, func(t *testing.T) {
			j := open(t)
			defer j.Close()
			test(t, j)
		})
	}
}

// entry makes an entry said by a client.
func message(id, text string) journal.New {
	b, err := json.Marshal(entry.Said{From: "aya", By: abi.KindCompanion, Text: text, Kind: abi.KindTurn})
	if err != nil {
		panic(err) // strings only
	}
	return journal.New{ID: id, Kind: entry.KindSaid, At: day, Body: b}
}

func acquire(t *testing.T, j journal.Journal, room string) journal.Head {
	t.Helper()
	h, err := j.Acquire(t.Context(), room, "suite", day)
	if err != nil {
		t.Fatalf("acquire %q: %v", room, err)
	}
	return h
}

func grow(t *testing.T, j journal.Journal, room string, h journal.Head, ids ...string) journal.Head {
	t.Helper()
	for _, id := range ids {
		nh, err := j.Append(t.Context(), room, h, message(id, "こんにちは "+id))
		if err != nil {
			t.Fatalf("append %q to %q at %v: %v", id, room, h, err)
		}
		h = nh
	}
	return h
}

// ids gives n ids beginning with prefix.
func ids(prefix string, n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return s
}

func read(t *testing.T, j journal.Journal, room string, limit int) []entry.Entry {
	t.Helper()
	es, err := j.Read(t.Context(), room, 0, limit)
	if err != nil {
		t.Fatalf("read %q: %v", room, err)
	}
	return es
}

// intact checks that a room's entries are 1..head in order and verify.
func intact(t *testing.T, j journal.Journal, room string, head uint64) {
	t.Helper()
	es := read(t, j, room, int(head)+10)
	if uint64(len(es)) != head {
		t.Fatalf("room %q has %d entries, want %d", room, len(es), head)
	}
	seen := map[string]bool{}
	for i, e := range es {
		if e.Seq != uint64(i)+1 {
			t.Fatalf("room %q: entry %d has seq %d", room, i, e.Seq)
		}
		if seen[e.ID] {
			t.Fatalf("room %q: id %q twice", room, e.ID)
		}
		seen[e.ID] = true
	}
	if bad, err := j.Verify(t.Context(), room, 0); bad != 0 || err != nil {
		t.Fatalf("verify %q: bad %d, %v", room, bad, err)
	}
}

func wantErr(t rapid.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

// Heads gives every room's head, page by page.
func Heads(ctx context.Context, j journal.Index) (map[string]journal.Head, error) {
	const page = 3 // so that a few rooms have several
	heads := map[string]journal.Head{}
	for after := ""; ; {
		rooms, err := j.Rooms(ctx, after, page)
		if err != nil {
			return nil, err
		}
		for _, r := range rooms {
			if r.Name <= after {
				return nil, fmt.Errorf("room %q comes after %q", r.Name, after)
			}
			heads[r.Name], after = r.Head, r.Name
		}
		if len(rooms) < page {
			return heads, nil
		}
	}
}

func wantHead(t *testing.T, j journal.Journal, room string, want journal.Head) {
	t.Helper()
	r, _, err := j.Room(t.Context(), room)
	if err != nil || r.Head != want {
		t.Fatalf("head of %q is %v, want %v: %v", room, r.Head, want, err)
	}
}

func appendRead(t *testing.T, j journal.Journal) {
	if err := j.Health(); err != nil {
		t.Fatalf("health: %v", err)
	}
	for _, room := range []string{"広場", "カフェ-2階", "プラネタリウム", "main", "it's; \"quoted\"% _", strings.Repeat("長", 40)} {
		h := acquire(t, j, room)
		if h != (journal.Head{Seq: 1, Epoch: 1}) {
			t.Fatalf("first head of %q is %v", room, h)
		}
		at := day.Add(1234567 * time.Microsecond)
		in := []journal.New{
			{ID: "一", Kind: entry.KindSaid, At: at, Body: []byte(`{"text":"おはよう☀\u0000"}`)},
			{ID: "two", Kind: entry.KindVote, At: at.In(time.FixedZone("JST", 9*3600)), Body: []byte(` [1, 2.50, null] `)},
			{ID: "three", Kind: "new.kind", At: time.Time{}, Body: []byte(`"` + strings.Repeat("あ", 100_000) + `"`)},
		}
		nh, err := j.Append(t.Context(), room, h, in...)
		if err != nil {
			t.Fatalf("append to %q: %v", room, err)
		}
		if nh != (journal.Head{Seq: 4, Epoch: 1}) {
			t.Fatalf("head after append to %q is %v", room, nh)
		}
		es := read(t, j, room, 10)
		if len(es) != 4 {
			t.Fatalf("read %d entries, want 4", len(es))
		}
		var o entry.Owner
		if err := json.Unmarshal(es[0].Body, &o); err != nil || o.Owner != "suite" || es[0].Kind != entry.KindOwner ||
			es[0].ID != journal.OwnerID+"1" || !es[0].At.Equal(day) {
			t.Fatalf("owner entry is %+v (%v)", es[0], err)
		}
		for i, e := range es[1:] {
			want := entry.Entry{Seq: uint64(i) + 2, Epoch: 1, At: in[i].At.UTC().Truncate(time.Millisecond), Kind: in[i].Kind, ID: in[i].ID, Body: in[i].Body}
			if e.Seq != want.Seq || e.Epoch != want.Epoch || e.Kind != want.Kind || e.ID != want.ID || string(e.Body) != string(want.Body) {
				t.Fatalf("entry %d is %.300v, want %.300v", i, e, want)
			}
			if !e.At.Equal(want.At) || e.At.Location() != time.UTC {
				t.Fatalf("entry %d is of %v, want %v", i, e.At, want.At)
			}
		}
		wantHead(t, j, room, nh)
	}
}

func badInput(t *testing.T, j journal.Journal) {
	h := acquire(t, j, "広場")
	ok := message("fine", "fine")
	for name, n := range map[string]journal.New{
		"empty id":       {ID: "", Kind: ok.Kind, At: day, Body: ok.Body},
		"id not UTF-8":   {ID: "a\xff", Kind: ok.Kind, At: day, Body: ok.Body},
		"reserved id":    {ID: journal.OwnerID + "2", Kind: ok.Kind, At: day, Body: ok.Body},
		"empty kind":     {ID: "x", At: day, Body: ok.Body},
		"no body":        {ID: "x", Kind: ok.Kind, At: day},
		"body not JSON":  {ID: "x", Kind: ok.Kind, At: day, Body: []byte(`{"a":`)},
		"two JSON texts": {ID: "x", Kind: ok.Kind, At: day, Body: []byte(`{} {}`)},
	} {
		nh, err := j.Append(t.Context(), "広場", h, ok, n)
		if abi.CodeOf(err) != abi.CodeInvalid || nh != h {
			t.Errorf("%s: head %v, error %v", name, nh, err)
		}
	}
	for _, room := range []string{"", "a\xff"} {
		if _, err := j.Acquire(t.Context(), room, "suite", day); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("acquire %q: %v", room, err)
		}
		if err := j.Register(t.Context(), room, journal.Listing{}); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("register %q: %v", room, err)
		}
	}
	wantHead(t, j, "広場", h)
	acquire(t, j, "広場")
}

func closed(t *testing.T, j journal.Journal) {
	h := acquire(t, j, "広場")
	following := make(chan error, 1)
	go func() {
		following <- j.Follow(context.Background(), "広場", 0, func([]entry.Entry) error { return nil })
	}()
	if err := j.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	_, err := j.Append(t.Context(), "広場", h, message("a", "a"))
	wantErr(t, err, journal.ErrUnavailable)
	_, err = j.Read(t.Context(), "広場", 0, 1)
	wantErr(t, err, journal.ErrUnavailable)
	_, err = Heads(t.Context(), j)
	wantErr(t, err, journal.ErrUnavailable)
	wantErr(t, j.Health(), journal.ErrUnavailable)
	select {
	case err := <-following:
		wantErr(t, err, journal.ErrUnavailable)
	case <-time.After(patience):
		t.Fatal("a follower outlived Close")
	}
	if err := j.Close(); err != nil {
		t.Fatalf("second close: %v", err)
	}
}
