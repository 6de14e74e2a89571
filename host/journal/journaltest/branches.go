package journaltest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
)

// branches gives the cases of journal.Branches.
func branches() map[string]func(t *testing.T, j journal.Journal) {
	return map[string]func(t *testing.T, j journal.Journal){
		"fork_anywhere":          forkAnywhere,
		"fork_refused":           forkRefused,
		"fork_ids":               forkIDs,
		"fork_of_a_fork":         forkOfAFork,
		"fork_depth":             forkDepth,
		"forks_side_by_side":     forksSideBySide,
		"fork_trim":              forkTrim,
		"fork_trim_states":       forkTrimStates,
		"fork_blank":             forkBlank,
		"fork_snapshots":         forkSnapshots,
		"snapshots_stay_apart":   snapshotsApart,
		"fork_follow":            forkFollow,
		"fork_follow_waits":      forkFollowEarly,
		"fork_in_the_index":      forkIndex,
		"fork_leaves_the_parent": forkLeaves,
	}
}

// fork forks a room, with entries of these ids.
func fork(t testing.TB, j journal.Journal, room, of string, at uint64, ids ...string) journal.Head {
	t.Helper()
	h, err := tryFork(t.Context(), j, room, of, at, ids...)
	if err != nil {
		t.Fatalf("fork %q of %q at %d: %v", room, of, at, err)
	}
	return h
}

func tryFork(ctx context.Context, j journal.Journal, room, of string, at uint64, ids ...string) (journal.Head, error) {
	var news []journal.New
	for _, id := range ids {
		news = append(news, message(id, room+" "+id))
	}
	return j.Fork(ctx, room, journal.Fork{Of: of, At: at}, journal.Listing{By: "mika"}, news...)
}

// plain makes a room of ten entries with the ids owner/1 and m0 to m8.
func plain(t *testing.T, j journal.Journal, room string) journal.Head {
	t.Helper()
	return grow(t, j, room, acquire(t, j, room), ids("m", 9)...)
}

// idsOf gives the ids of a room's entries.
func idsOf(t *testing.T, j journal.Journal, room string) string {
	t.Helper()
	var all []string
	for _, e := range read(t, j, room, 1000) {
		all = append(all, e.ID)
	}
	return strings.Join(all, " ")
}

func forkAnywhere(t *testing.T, j journal.Journal) {
	h := plain(t, j, "広場")
	all := read(t, j, "広場", 100)
	for _, at := range []uint64{1, 2, 5, 9, 10} {
		for _, own := range []int{0, 1, 40} {
			room := fmt.Sprintf("枝%d-%d", at, own)
			fh := fork(t, j, room, "広場", at, ids("own", own)...)
			if want := (journal.Head{Seq: at + uint64(own), Epoch: h.Epoch}); fh != want {
				t.Fatalf("fork at %d gave %v, want %v", at, fh, want)
			}
			wantHead(t, j, room, fh)
			intact(t, j, room, fh.Seq)
			if es := read(t, j, room, int(at)); !reflect.DeepEqual(es, all[:at]) {
				t.Errorf("%s begins with %v, want %v", room, es, all[:at])
			}
			if ah := acquire(t, j, room); ah != (journal.Head{Seq: fh.Seq + 1, Epoch: fh.Epoch + 1}) {
				t.Errorf("acquire %s gave %v", room, ah)
			} else {
				grow(t, j, room, ah, "later")
			}
			intact(t, j, room, fh.Seq+2)
			for _, after := range []uint64{0, at - 1, at, at + 1, fh.Seq} {
				if bad, err := j.Verify(t.Context(), room, after); bad != 0 || err != nil {
					t.Errorf("verify %s after %d: %d %v", room, after, bad, err)
				}
			}
		}
	}
	intact(t, j, "広場", 10)
	grow(t, j, "広場", h, "more")
}

func forkRefused(t *testing.T, j journal.Journal) {
	plain(t, j, "広場")
	if err := j.Register(t.Context(), "名だけ", journal.Listing{Key: "taken"}); err != nil {
		t.Fatal(err)
	}
	before, err := j.Rooms(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		room string
		f    journal.Fork
		l    journal.Listing
		ids  []string
		code abi.Code // or ErrConflict
	}{
		"no such room":      {room: "枝", f: journal.Fork{Of: "どこにも", At: 1}, code: abi.CodeNotFound},
		"no entries there":  {room: "枝", f: journal.Fork{Of: "名だけ", At: 1}, code: abi.CodeNotFound},
		"before all":        {room: "枝", f: journal.Fork{Of: "広場"}, code: abi.CodeNotFound},
		"behind all":        {room: "枝", f: journal.Fork{Of: "広場", At: 11}, code: abi.CodeNotFound},
		"far behind all":    {room: "枝", f: journal.Fork{Of: "広場", At: ^uint64(0)}, code: abi.CodeNotFound},
		"no name":           {room: "", f: journal.Fork{Of: "広場", At: 3}, code: abi.CodeInvalid},
		"reserved id":       {room: "枝", f: journal.Fork{Of: "広場", At: 3}, ids: []string{journal.OwnerID + "2"}, code: abi.CodeInvalid},
		"itself":            {room: "広場", f: journal.Fork{Of: "広場", At: 3}},
		"registered before": {room: "名だけ", f: journal.Fork{Of: "広場", At: 3}},
		"key of another":    {room: "枝", f: journal.Fork{Of: "広場", At: 3}, l: journal.Listing{Key: "taken"}, ids: []string{"x"}},
		"id of the past":    {room: "枝", f: journal.Fork{Of: "広場", At: 3}, ids: []string{"x", "m1"}},
		"id twice":          {room: "枝", f: journal.Fork{Of: "広場", At: 3}, ids: []string{"x", "x"}},
		"one of many twice": {room: "枝", f: journal.Fork{Of: "広場", At: 3}, ids: append(ids("n", 50), "n7")},
	} {
		var news []journal.New
		for _, id := range c.ids {
			news = append(news, message(id, id))
		}
		h, err := j.Fork(t.Context(), c.room, c.f, c.l, news...)
		if h != (journal.Head{}) {
			t.Errorf("%s: head %v", name, h)
		}
		if c.code != "" && abi.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		} else if c.code == "" {
			wantErr(t, err, journal.ErrConflict)
		}
	}
	after, err := j.Rooms(t.Context(), "", 100)
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Fatalf("rooms are %+v %v, were %+v", after, err, before)
	}
	if es := read(t, j, "枝", 10); len(es) != 0 {
		t.Errorf("a room that was refused has %v", es)
	}
	fork(t, j, "枝", "広場", 3, "x", "m2")
	intact(t, j, "枝", 5)
}

// forkIDs: what is in the shared past counts as there, what came behind it does not.
func forkIDs(t *testing.T, j journal.Journal) {
	plain(t, j, "広場")
	h := fork(t, j, "枝", "広場", 5, "own")
	for _, id := range []string{"m0", "m3", "own"} {
		nh, err := j.Append(t.Context(), "枝", h, message("new", ""), message(id, "again"))
		wantErr(t, err, journal.ErrConflict)
		if nh != h {
			t.Fatalf("head %v, want %v", nh, h)
		}
	}
	h = grow(t, j, "枝", h, "m4", "m8")
	for id, want := range map[string]uint64{"m0": 2, "m3": 5, "own": 6, "m4": 7, "m8": 8, journal.OwnerID + "1": 1} {
		if e, ok, err := j.Find(t.Context(), "枝", id); !ok || err != nil || e.Seq != want || e.ID != id {
			t.Errorf("find %s: %v %v %v, want %d", id, e, ok, err, want)
		}
	}
	for _, id := range []string{"m5", "new", ""} {
		if e, ok, err := j.Find(t.Context(), "枝", id); ok || err != nil {
			t.Errorf("find %s: %v %v", id, e, err)
		}
	}
	if e, ok, err := j.Find(t.Context(), "広場", "m8"); !ok || err != nil || e.Seq != 10 {
		t.Errorf("find in the parent: %v %v %v", e, ok, err)
	}
	if _, ok, err := j.Find(t.Context(), "広場", "own"); ok || err != nil {
		t.Errorf("the parent has what was said in the fork (%v)", err)
	}
	intact(t, j, "枝", h.Seq)
}

func forkOfAFork(t *testing.T, j journal.Journal) {
	plain(t, j, "広場")
	h := fork(t, j, "子", "広場", 6, "c0", "c1")
	grow(t, j, "子", h, "c2")
	fork(t, j, "孫", "子", 8, "g0")
	fork(t, j, "早い孫", "子", 3, "e0") // before the child parted
	fork(t, j, "ひ孫", "孫", 9, "gg0")
	for room, want := range map[string]string{
		"子":   "owner/1 m0 m1 m2 m3 m4 c0 c1 c2",
		"孫":   "owner/1 m0 m1 m2 m3 m4 c0 c1 g0",
		"早い孫": "owner/1 m0 m1 e0",
		"ひ孫":  "owner/1 m0 m1 m2 m3 m4 c0 c1 g0 gg0",
	} {
		if got := idsOf(t, j, room); got != want {
			t.Errorf("%s has %s, want %s", room, got, want)
		}
		intact(t, j, room, uint64(len(strings.Fields(want))))
		all := read(t, j, room, 100)
		for after := range all {
			for limit := range 4 {
				got, err := j.Read(t.Context(), room, uint64(after), limit)
				if want := first(all[after:], limit); err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %d after %d: %v %v, want %v", room, limit, after, got, err, want)
				}
			}
		}
		newest, err := j.Said(t.Context(), room, journal.Span{After: 3, Before: uint64(len(all)), Limit: 3, Newest: true})
		said := all[3 : len(all)-1]
		if want := said[len(said)-min(3, len(said)):]; err != nil || len(newest)+len(want) > 0 && !reflect.DeepEqual(newest, want) {
			t.Errorf("%s: newest said %v %v, want %v", room, newest, err, want)
		}
	}
}

func forkDepth(t *testing.T, j journal.Journal) {
	plain(t, j, "枝0")
	at := uint64(3)
	for n := 1; n <= journal.MaxDepth; n++ {
		at = fork(t, j, fmt.Sprintf("枝%d", n), fmt.Sprintf("枝%d", n-1), at, fmt.Sprintf("own%d", n)).Seq
	}
	deepest := fmt.Sprintf("枝%d", journal.MaxDepth)
	if _, err := tryFork(t.Context(), j, "深すぎる", deepest, at, "x"); abi.CodeOf(err) != abi.CodeExhausted {
		t.Errorf("fork %d deep: %v", journal.MaxDepth+1, err)
	}
	if _, ok, err := j.Room(t.Context(), "深すぎる"); ok || err != nil {
		t.Errorf("it is there (%v)", err)
	}
	intact(t, j, deepest, at)
	for id, seq := range map[string]uint64{"m0": 2, "own1": 4, "own63": 66, "own64": 67} {
		if e, ok, err := j.Find(t.Context(), deepest, id); !ok || err != nil || e.Seq != seq {
			t.Errorf("find %s: %v %v %v", id, e, ok, err)
		}
	}
	fork(t, j, "横に", "枝5", at-64+5, "x") // others at that depth have room
}

// forksSideBySide: two forks and their parent grow at once.
func forksSideBySide(t *testing.T, j journal.Journal) {
	const each = 60
	heads := map[string]journal.Head{"広場": plain(t, j, "広場")}
	heads["左"] = fork(t, j, "左", "広場", 7, "own")
	heads["右"] = fork(t, j, "右", "広場", 4, "own")
	var wg sync.WaitGroup
	for room, h := range heads {
		wg.Go(func() {
			for i := range each {
				var err error
				if h, err = j.Append(t.Context(), room, h, message(fmt.Sprint("n", i), room)); err != nil {
					t.Errorf("append to %s: %v", room, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for room, h := range heads {
		intact(t, j, room, h.Seq+each)
		said, err := j.Said(t.Context(), room, journal.Span{After: h.Seq, Limit: 1000})
		if err != nil || len(said) != each {
			t.Errorf("%s: %d were said, %v", room, len(said), err)
		}
		for _, e := range said {
			if !strings.Contains(string(e.Body), `"`+room+`"`) {
				t.Errorf("in %s: %s", room, e.Body)
			}
		}
	}
}

func forkTrim(t *testing.T, j journal.Journal) {
	plain(t, j, "広場")
	h := fork(t, j, "枝", "広場", 6, "own0", "own1")
	put := func(room string, seq uint64) {
		t.Helper()
		if err := j.PutSnapshot(t.Context(), room, seq, []byte(room)); err != nil {
			t.Fatal(err)
		}
	}
	put("広場", 10)
	for _, upTo := range []uint64{1, 6, 7, 10} {
		err := j.Trim(t.Context(), "広場", upTo)
		wantErr(t, err, journal.ErrConflict)
		if !strings.Contains(err.Error(), `"枝"`) {
			t.Errorf("it does not say which fork needs them: %v", err)
		}
	}
	intact(t, j, "広場", 10)
	wantErr(t, j.Trim(t.Context(), "枝", 4), journal.ErrConflict) // the parent's snapshot is not its own
	put("枝", 8)
	wantErr(t, j.Trim(t.Context(), "枝", 4), nil)
	if got := idsOf(t, j, "枝"); got != "m3 m4 own0 own1" {
		t.Errorf("the fork has %s", got)
	}
	intact(t, j, "広場", 10)
	wantErr(t, j.Trim(t.Context(), "広場", 5), journal.ErrConflict)
	wantErr(t, j.Trim(t.Context(), "広場", 4), nil) // the fork does without them now
	if got := idsOf(t, j, "広場"); got != "m3 m4 m5 m6 m7 m8" {
		t.Errorf("the parent has %s", got)
	}
	if _, err := tryFork(t.Context(), j, "遅い", "枝", 4, "x"); abi.CodeOf(err) != abi.CodeNotFound {
		t.Errorf("fork at what was trimmed: %v", err)
	}
	fork(t, j, "孫", "枝", 7, "g0")
	wantErr(t, j.Trim(t.Context(), "枝", 7), journal.ErrConflict) // the grandchild has own0
	wantErr(t, j.Trim(t.Context(), "枝", 6), nil)                 // m4 is the parent's
	h = grow(t, j, "枝", h, "m0", "own2")
	for room, want := range map[string]string{"枝": "own0 own1 m0 own2", "孫": "m3 m4 own0 g0", "広場": "m3 m4 m5 m6 m7 m8"} {
		if got := idsOf(t, j, room); got != want {
			t.Errorf("%s has %s, want %s", room, got, want)
		}
		if bad, err := j.Verify(t.Context(), room, 0); bad != 0 || err != nil {
			t.Errorf("verify %s: %d %v", room, bad, err)
		}
		if _, ok, err := j.Find(t.Context(), room, "m1"); ok || err != nil {
			t.Errorf("%s still has m1 (%v)", room, err)
		}
	}
	wantHead(t, j, "枝", h)
}

// forkTrimStates: a state of before what was trimmed is none any more, whichever room it is of.
func forkTrimStates(t *testing.T, j journal.Journal) {
	plain(t, j, "広場")
	fork(t, j, "枝", "広場", 6, "own0", "own1")
	for room, seq := range map[string]uint64{"広場": 3, "枝": 8} {
		wantErr(t, j.PutSnapshot(t.Context(), room, seq, []byte(room)), nil)
	}
	for upTo, want := range []uint64{3, 3, 3, 3, 0, 0} {
		wantErr(t, j.Trim(t.Context(), "枝", uint64(upTo)), nil)
		if seq, _, err := j.SnapshotAt(t.Context(), "枝", 7); seq != want || err != nil {
			t.Errorf("trimmed to %d: the snapshot at 7 is of %d (%v), want %d", upTo, seq, err, want)
		}
	}
	if seq, _, err := j.SnapshotAt(t.Context(), "広場", 7); seq != 3 || err != nil {
		t.Errorf("the parent's is of %d (%v)", seq, err)
	}
}

// forkBlank: a body that is shared goes in all rooms, whichever is named.
func forkBlank(t *testing.T, j journal.Journal) {
	plain(t, j, "広場")
	fork(t, j, "枝", "広場", 6, "own0")
	fork(t, j, "孫", "枝", 7, "g0")
	blank := func(room string, upTo uint64, bodies map[uint64][]byte) {
		t.Helper()
		if err := j.Blank(t.Context(), room, upTo, bodies); err != nil {
			t.Fatal(err)
		}
	}
	blank("孫", 5, map[uint64][]byte{2: nil, 7: []byte(`{"left":1}`), 8: nil, 99: nil, 0: nil})
	blank("広場", 3, map[uint64][]byte{3: nil, 7: nil})
	blanks := func(room string) (seqs []uint64) {
		for _, e := range read(t, j, room, 100) {
			if e.Blank {
				seqs = append(seqs, e.Seq)
			}
		}
		return seqs
	}
	for room, want := range map[string][]uint64{"孫": {2, 3, 7, 8}, "枝": {2, 3, 7}, "広場": {2, 3, 7}} {
		if got := blanks(room); !slices.Equal(got, want) {
			t.Errorf("blank in %s: %v, want %v", room, got, want)
		}
		if bad, err := j.Verify(t.Context(), room, 0); bad != 0 || err != nil {
			t.Errorf("verify %s: %d %v", room, bad, err)
		}
	}
	for room, swept := range map[string]uint64{"孫": 5, "枝": 0, "広場": 3} {
		if r, _, err := j.Room(t.Context(), room); err != nil || r.Swept != swept {
			t.Errorf("%s is swept to %d, want %d (%v)", room, r.Swept, swept, err)
		}
	}
	fork(t, j, "後", "孫", 4)
	if r, _, err := j.Room(t.Context(), "後"); err != nil || r.Swept != 4 {
		t.Errorf("a fork of what was swept is swept to %d (%v)", r.Swept, err)
	}
	for room, left := range map[string]string{"枝": `{"left":1}`, "広場": `null`} { // 7 is another entry there
		if es, err := j.Read(t.Context(), room, 6, 1); err != nil || string(es[0].Body) != left {
			t.Errorf("%s: %s %v", room, es[0].Body, err)
		}
	}
}
