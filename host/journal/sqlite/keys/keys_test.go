package keys

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/schema"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/waittest"
)

// file opens an empty journal.
func file(t testing.TB) *store.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.db")
	w, err := store.Open(path, store.Writing, store.Patience)
	if err == nil {
		err = w.Claim()
	}
	if err == nil {
		err = w.Configure("OFF")
	}
	if err == nil {
		err = schema.Usual().Migrate(w, path, 0, slog.New(slog.DiscardHandler))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// named puts a room into the index.
func named(t testing.TB, w *store.Store, id int64) string {
	t.Helper()
	name := fmt.Sprint("room ", id)
	if err := w.Exec(`INSERT INTO rooms(id, name, head, epoch, sum, trimmed_sum) VALUES(?, ?, 0, 0, x'', x'')`, id, name); err != nil {
		t.Fatal(err)
	}
	return name
}

func count(t testing.TB, w *store.Store, query string, args ...any) (n int) {
	t.Helper()
	if err := w.Row(context.Background(), query, args, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func mustSet(t testing.TB, w *store.Store, in Room, companion, key, value string) {
	t.Helper()
	if err := Set(w, in, companion, key, value); err != nil {
		t.Fatal(err)
	}
}

func wants(t testing.TB, w *store.Store, room, companion, key, value string) {
	t.Helper()
	got, ok, err := Get(context.Background(), w, room, companion, key)
	if err != nil || ok != (value != "") || got != value {
		t.Fatalf("%s has %.40q under %q, want %.40q: %v", room, got, key, value, err)
	}
}

// written is what was written under a key of the store that all share, by a room.
type written struct {
	room  int64
	seq   uint64
	value string
}

// A past is long here: what is left of it is bounded, a fork never shows what was written behind its place, shows for ever
// what it showed first, and that exactly where it is not long ago.
func TestPast(t *testing.T) {
	waittest.WithoutRaces(t)
	w, ctx, n := file(t), context.Background(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		who := fmt.Sprint("aya", n)
		pad := rapid.SampledFrom([]int{0, 0, 0, 50_000}).Draw(rt, "pad")
		rooms := []Room{{ID: int64(n) * 1000}, {ID: int64(n)*1000 + 1}}
		var all []written
		type branch struct{ name, shows string }
		var forks []branch
		next := int64(n)*1000 + 10
		if err := w.Script("BEGIN IMMEDIATE"); err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = w.Script("COMMIT") }()
		for range rapid.IntRange(1, 6).Draw(rt, "stretches") {
			in := &rooms[rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(rt, "room")]
			for range rapid.SampledFrom([]int{1, 3, 40, 150}).Draw(rt, "writes") {
				in.Seq += uint64(1 + len(all)%2)
				value := fmt.Sprint(len(all), strings.Repeat(" ", pad))
				mustSet(t, w, *in, who, "k", value)
				all = append(all, written{in.ID, in.Seq, value})
			}
			of := rapid.SampledFrom(rooms).Draw(rt, "of")
			at := rapid.Uint64Range(0, of.Seq+1).Draw(rt, "at")
			next++
			if err := Fork(w, next, of.ID, at); err != nil {
				rt.Fatal(err)
			}
			name := named(t, w, next)
			got, ok, err := Get(ctx, w, name, who, "k")
			if err != nil {
				rt.Fatal(err)
			}
			seen := slices.DeleteFunc(slices.Clone(all), func(a written) bool { return a.room == of.ID && a.seq >= at })
			i := slices.IndexFunc(seen, func(a written) bool { return a.value == got })
			if ok != (i >= 0) {
				rt.Fatalf("a fork of %d at %d shows %.20q, which was written behind it", of.ID, at, got)
			}
			if pad == 0 && len(seen) > 0 && len(all)-slices.Index(all, seen[len(seen)-1]) <= exact && i != len(seen)-1 {
				rt.Fatalf("a fork of %d at %d shows %.20q and not %.20q", of.ID, at, got, seen[len(seen)-1].value)
			}
			forks = append(forks, branch{name, got})
			for _, f := range forks {
				wants(t, w, f.name, who, "k", f.shows)
			}
		}
		rows := count(t, w, `SELECT count(*) FROM kv_past WHERE companion = ? AND pinned = 0`, who)
		bytes := count(t, w, `SELECT ifnull(sum(`+cost+`), 0) FROM kv_past WHERE companion = ? AND pinned = 0`, who)
		if rows > 8*exact || bytes > maxPast {
			rt.Fatalf("of %d there are left %d of %d bytes", len(all), rows, bytes)
		}
		if pinned := count(t, w, `SELECT count(*) FROM kv_past WHERE companion = ? AND pinned = 1`, who); pinned > 2*len(forks) {
			rt.Fatalf("%d are pinned for %d forks", pinned, len(forks))
		}
		summed(t, w, 0, who)
	})
}

// summed checks what is counted against what is there.
func summed(t testing.TB, w *store.Store, of int64, companion string) {
	t.Helper()
	var kept sums
	err := w.Row(context.Background(), `SELECT keys, bytes, past FROM kv_sums WHERE store = ? AND companion = ?`, []any{of, companion}, &kept.keys, &kept.bytes, &kept.past)
	if err != nil {
		t.Fatal(err)
	}
	if anew, err := counts(w, of, companion); anew != kept || err != nil {
		t.Fatalf("counted %+v, there are %+v: %v", kept, anew, err)
	}
}

// A fork of long ago has a past that is coarser in the middle, and none the less its own.
func TestLongPast(t *testing.T) {
	waittest.WithoutRaces(t)
	w := file(t)
	main := Room{ID: 1}
	if err := w.Script("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	const turns = 8000
	for main.Seq = 1; main.Seq < turns; main.Seq++ {
		mustSet(t, w, main, "aya", "turn", fmt.Sprint(main.Seq))
	}
	if err := w.Script("COMMIT"); err != nil {
		t.Fatal(err)
	}
	t.Log(count(t, w, `SELECT count(*) FROM kv_past`), "of", turns, "are left")
	for i, at := range []int{2, 20, 100, exact, 500, 1000, 3000, 4000, 5000, 7000, turns - exact, turns - 5, turns} {
		id := int64(10 + i)
		if err := Fork(w, id, 1, uint64(at)); err != nil {
			t.Fatal(err)
		}
		got, _, err := Get(t.Context(), w, named(t, w, id), "aya", "turn")
		var turn int
		if _, serr := fmt.Sscan(got, &turn); err != nil || serr != nil {
			t.Fatalf("fork at %d: %q %v", at, got, err)
		}
		if from := min(at, turns-at); turn >= at || from <= exact && turn != at-1 || at-turn > 1+from/32 {
			t.Errorf("a fork at %d shows the turn %d", at, turn)
		}
	}
}

// What many rooms write in turn needs no past: a fork sees what the others wrote.
func TestManyWriters(t *testing.T) {
	w := file(t)
	for n := range uint64(1000) {
		mustSet(t, w, Room{ID: 1 + int64(n%10), Seq: n}, "aya", "k", fmt.Sprint(n))
		mustSet(t, w, Room{}, ":house", "k", fmt.Sprint(n))
		mustSet(t, w, Room{}, "aya", "nowhere", fmt.Sprint(n))
	}
	if n := count(t, w, `SELECT count(*) FROM kv_past`); n != 1 {
		t.Errorf("%d former values are kept", n)
	}
	if err := Fork(w, 100, 10, 5); err != nil {
		t.Fatal(err)
	}
	wants(t, w, named(t, w, 100), "aya", "k", "998")
	summed(t, w, 0, "aya")
}

// Keys that come and go leave no more than is bounded, and a store is not full of them.
func TestDeletedKeys(t *testing.T) {
	waittest.WithoutRaces(t)
	w := file(t)
	if err := w.Script("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	value := strings.Repeat("v", 10_000)
	for n := range uint64(2000) {
		key := fmt.Sprint("k", n)
		mustSet(t, w, Room{ID: 1, Seq: 2 * n}, "aya", key, value)
		if old, ok, err := Del(w, Room{ID: 1, Seq: 2*n + 1}, "aya", key); old != value || !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, ok, err := Del(w, Room{ID: 1, Seq: 2*n + 1}, "aya", key); ok || err != nil {
			t.Fatal(ok, err)
		}
		mustSet(t, w, Room{ID: 1, Seq: 2 * n}, "aya", "at once "+key, value)
		if _, ok, err := Del(w, Room{ID: 1, Seq: 2 * n}, "aya", "at once "+key); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if err := w.Script("COMMIT"); err != nil {
		t.Fatal(err)
	}
	past, now := count(t, w, `SELECT count(*) FROM kv_past`), count(t, w, `SELECT count(*) FROM kv`)
	if most := maxPast / len(value); past > most || now > most || past < most*9/10 {
		t.Errorf("%d former values, %d deleted keys", past, now)
	}
	summed(t, w, 0, "aya")
	if keys, err := List(t.Context(), w, "", "aya", "", "", abi.MaxKVKeys); len(keys) != 0 || err != nil {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}

// Words go from every store, and from what stood there before, also where a fork shows that; what else was there
// does not come back in their place.
func TestErase(t *testing.T) {
	w := file(t)
	for id := range int64(3) {
		named(t, w, id+1)
	}
	main := Room{ID: 1, Seq: 1}
	mustSet(t, w, main, "aya", "cat", "none")
	mustSet(t, w, main, "aya", "タマ", "x")
	main.Seq = 5
	mustSet(t, w, main, "aya", "cat", "タマ")
	if err := Fork(w, 2, 1, 6); err != nil {
		t.Fatal(err)
	}
	fork := Room{ID: 2, Seq: 7}
	mustSet(t, w, fork, "aya", "own", "タマ")
	mustSet(t, w, fork, "aya", "タマ", "y")
	main.Seq = 9
	mustSet(t, w, main, "aya", "cat", "ミケ")
	if _, _, err := Del(w, main, "aya", "タマ"); err != nil {
		t.Fatal(err)
	}
	wants(t, w, "room 2", "aya", "cat", "タマ")

	seen := map[journal.Pair]bool{}
	all := func() (pairs []journal.Pair) {
		if err := Pairs(t.Context(), w, func(p journal.Pair) error { pairs = append(pairs, p); return nil }); err != nil {
			t.Fatal(err)
		}
		return pairs
	}
	for _, p := range all() {
		seen[p] = true
	}
	for _, p := range []journal.Pair{
		{Companion: "aya", Key: "cat", Value: "ミケ"}, {Companion: "aya", Key: "cat", Value: "タマ", Past: true}, {Companion: "aya", Key: "cat", Value: "none", Past: true},
		{Companion: "aya", Key: "own", Value: "タマ", Fork: "room 2"}, {Companion: "aya", Key: "タマ", Value: "y", Fork: "room 2"},
		{Companion: "aya", Key: "タマ"}, {Companion: "aya", Key: "タマ", Value: "x", Past: true},
	} {
		if !seen[p] {
			t.Errorf("%+v is not told", p)
		}
	}
	if len(seen) != 7 {
		t.Errorf("told: %+v", seen)
	}
	for _, p := range all() {
		if p.Key == "タマ" || p.Value == "タマ" {
			if err := Erase(w, p, p.Key == "タマ"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range all() {
		if strings.Contains(p.Key+p.Value, "タマ") {
			t.Errorf("%+v is left", p)
		}
	}
	wants(t, w, "room 1", "aya", "cat", "ミケ")
	wants(t, w, "room 2", "aya", "cat", "") // and not what was there before
	wants(t, w, "room 2", "aya", "own", "")
	for _, in := range []Room{main, fork} {
		mustSet(t, w, in, "aya", "after", "x")
	}
	summed(t, w, 0, "aya")
	summed(t, w, 2, "aya")
	if err := Fork(w, 3, 1, 4); err != nil {
		t.Fatal(err)
	}
	wants(t, w, "room 3", "aya", "cat", "none")
	if err := Forget(w, main, "aya", "cat"); err != nil {
		t.Fatal(err)
	}
	wants(t, w, "room 3", "aya", "cat", "")
	wants(t, w, "room 1", "aya", "cat", "ミケ")
}

// A fork writes one row, whatever is kept.
func TestForkCostsTheSame(t *testing.T) {
	w := file(t)
	if err := w.Script("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	for n := range uint64(abi.MaxKVKeys) {
		for seq := range uint64(4) {
			mustSet(t, w, Room{ID: 1, Seq: seq}, "aya", fmt.Sprint("key", n), fmt.Sprint(seq))
		}
	}
	before := count(t, w, `SELECT total_changes()`)
	if err := Fork(w, 2, 1, 2); err != nil {
		t.Fatal(err)
	}
	if after := count(t, w, `SELECT total_changes()`); after != before+1 {
		t.Errorf("%d rows were written", after-before)
	}
	name := named(t, w, 2)
	wants(t, w, name, "aya", "key7", "1")
	if keys, err := List(t.Context(), w, name, "aya", "key99", "", 9); len(keys) != 9 || err != nil {
		t.Errorf("%d %v", len(keys), err)
	}
	mustSet(t, w, Room{ID: 2, Seq: 3}, "aya", "key7", "own")
	if err := Set(w, Room{ID: 2, Seq: 3}, "aya", "one more", "x"); abi.CodeOf(err) != abi.CodeExhausted {
		t.Errorf("%v", err)
	}
	summed(t, w, 2, "aya")
}
