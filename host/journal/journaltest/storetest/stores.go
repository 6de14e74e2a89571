package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"pgregory.net/rapid"
)

// Branching is an engine that has stores of characters by rooms.
type Branching interface {
	journal.Journal
	journal.Stores
}

// RunStores holds an engine to journal.Stores. The suite closes what open gives; fork forks a room, nil does it as
// journal.Branches has it.
func RunStores(t *testing.T, open func(t *testing.T) Branching, fork func(j Branching, room string, f journal.Fork) error) {
	if fork == nil {
		fork = func(j Branching, room string, f journal.Fork) error {
			_, err := j.(journal.Branches).Fork(context.Background(), room, f, journal.Listing{}, message("forked/"+room, "forked"))
			return err
		}
	}
	for _, c := range []struct {
		name string
		test func(t *testing.T, b *branching)
	}{
		{"stores_part", storesPart},
		{"stores_are_bounded_by_what_they_show", storesBounds},
		{"stores_64_deep", storesDeep},
		{"stores_model", storesModel},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := open(t)
			defer j.Close()
			c.test(t, &branching{Branching: j, fork: fork, heads: map[string]journal.Head{}})
		})
	}
}

// branching is an engine under test, and the heads of its rooms.
type branching struct {
	Branching
	fork  func(j Branching, room string, f journal.Fork) error
	heads map[string]journal.Head
}

// enter makes a room, of another where that is not "".
func (b *branching) enter(t rapid.TB, room, of string, at uint64) {
	t.Helper()
	var err error
	if of != "" {
		err = b.fork(b.Branching, room, journal.Fork{Of: of, At: at})
	}
	if err == nil {
		b.heads[room], err = b.Acquire(context.Background(), room, "suite", day)
	}
	if err != nil {
		t.Fatalf("fork %q of %q at %d: %v", room, of, at, err)
	}
}

// say has a room grow to so many entries.
func (b *branching) say(t rapid.TB, room string, to uint64) {
	t.Helper()
	for h := b.heads[room]; h.Seq < to; b.heads[room] = h {
		var err error
		if h, err = b.Append(context.Background(), room, h, message(fmt.Sprint("m", h.Seq+1), "うん")); err != nil {
			t.Fatalf("append to %q: %v", room, err)
		}
	}
}

func storesPart(t *testing.T, b *branching) {
	b.enter(t, "main", "", 0)
	b.enter(t, "side", "", 0)
	main, side := b.KVIn("main"), b.KVIn("side")
	set(t, b.KVIn(""), "aya", "house", "0")
	set(t, main, "aya", "cat", "タマ") // behind entry 1
	set(t, main, "aya", "dog", "ポチ")
	b.say(t, "main", 20)
	set(t, main, "aya", "cat", "ミケ") // behind entry 20
	set(t, main, "aya", "late", "x")
	b.say(t, "main", 30)
	set(t, side, "aya", "cat", "クロ")
	set(t, side, "aya", "side", "1")
	set(t, main, "aya", "cat", "シロ")
	if _, ok, err := main.KVDel(t.Context(), "aya", "dog"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	b.enter(t, "fork", "main", 20)
	fork := b.KVIn("fork")
	for key, want := range map[string]string{"house": "0", "cat": "クロ", "dog": "ポチ", "side": "1"} {
		wantValue(t, fork, "aya", key, want, true)
	}
	wantValue(t, fork, "aya", "late", "", false)

	set(t, fork, "aya", "cat", "トラ")
	set(t, main, "aya", "side", "2")
	set(t, main, "aya", "dog", "ハチ")
	wantValue(t, main, "aya", "cat", "シロ", true)
	wantValue(t, side, "aya", "side", "2", true)
	wantValue(t, fork, "aya", "side", "1", true)
	wantValue(t, fork, "aya", "dog", "ポチ", true)
	b.say(t, "fork", 40)
	if old, ok, err := fork.KVDel(t.Context(), "aya", "dog"); old != "ポチ" || !ok || err != nil {
		t.Fatalf("%q %v %v", old, ok, err)
	}
	b.enter(t, "again", "fork", 39)
	b.enter(t, "back", "fork", 20) // of main, for that has the entry
	wantValue(t, b.KVIn("again"), "aya", "cat", "トラ", true)
	wantValue(t, b.KVIn("again"), "aya", "dog", "ポチ", true)
	wantValue(t, b.KVIn("back"), "aya", "cat", "クロ", true)
	wantValue(t, b.KVIn("back"), "aya", "side", "1", true) // main wrote 2 behind it
	wantValue(t, fork, "aya", "dog", "", false)

	if err := b.KVForget(t.Context(), "fork", "aya", "dog"); err != nil {
		t.Fatal(err)
	}
	if keys, err := fork.KVList(t.Context(), "aya", "", "", 9); err != nil || !slices.Equal(keys, []string{"cat", "house", "side"}) {
		t.Fatalf("%q %v", keys, err)
	}
}

// storesBounds: what a fork hides does not count there, what it shows of another store does.
func storesBounds(t *testing.T, b *branching) {
	ctx := t.Context()
	b.enter(t, "main", "", 0)
	full := abi.MaxKVTotal/abi.MaxKVValue - 1
	for i := range full {
		set(t, b.KVIn("main"), "aya", fmt.Sprintf("%02d", i), strings.Repeat("v", abi.MaxKVValue))
	}
	b.say(t, "main", 2)
	b.enter(t, "fork", "main", 2)
	fork := b.KVIn("fork")
	big := strings.Repeat("w", abi.MaxKVValue)
	wantRefused(t, fork.KVSet(ctx, "aya", "one more", big), abi.CodeExhausted, "MaxKVTotal")
	set(t, fork, "aya", "00", big)
	wantRefused(t, fork.KVSet(ctx, "aya", "one more", big), abi.CodeExhausted, "MaxKVTotal")
	if _, ok, err := fork.KVDel(ctx, "aya", "01"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	set(t, fork, "aya", "one more", big)
	wantRefused(t, b.KVIn("main").KVSet(ctx, "aya", "one more", big), abi.CodeExhausted, "MaxKVTotal")
	wantValue(t, b.KVIn("main"), "aya", "01", strings.Repeat("v", abi.MaxKVValue), true)
}

func storesDeep(t *testing.T, b *branching) {
	b.enter(t, "0", "", 0)
	for d := range journal.MaxDepth {
		room := fmt.Sprint(d)
		set(t, b.KVIn(room), "aya", fmt.Sprintf("key %02d", d), room)
		set(t, b.KVIn(room), "aya", "depth", room)
		b.say(t, room, b.heads[room].Seq+1)
		set(t, b.KVIn(room), "aya", "behind", room)
		b.enter(t, fmt.Sprint(d+1), room, b.heads[room].Seq)
	}
	deepest := b.KVIn(fmt.Sprint(journal.MaxDepth))
	for d := range journal.MaxDepth {
		wantValue(t, deepest, "aya", fmt.Sprintf("key %02d", d), fmt.Sprint(d), true)
	}
	wantValue(t, deepest, "aya", "depth", fmt.Sprint(journal.MaxDepth-1), true)
	wantValue(t, deepest, "aya", "behind", "", false)
	if keys, err := deepest.KVList(t.Context(), "aya", "key ", "key 10", 3); err != nil || !slices.Equal(keys, []string{"key 11", "key 12", "key 13"}) {
		t.Fatalf("%q %v", keys, err)
	}
}

// version is a plain store: a copy of what it began with, and all that was written since.
type version struct {
	began map[string]string
	log   []edit
}

type edit struct {
	room, key, value string
	at               uint64
	gone             bool
}

// without gives what a store holds if nothing was written in a room behind an entry.
func (v *version) without(room string, at uint64) map[string]string {
	m := maps.Clone(v.began)
	for _, e := range v.log {
		if e.room == room && e.at >= at {
			continue
		}
		if delete(m, e.key); !e.gone {
			m[e.key] = e.value
		}
	}
	return m
}

// versions are the stores of a plain model.
type versions struct {
	shared *version
	forks  map[string]*version
	left   map[string]journal.Fork
}

func (vs *versions) of(room string) *version {
	if v := vs.forks[room]; v != nil {
		return v
	}
	return vs.shared
}

func (vs *versions) fork(room, of string, at uint64) {
	for vs.forks[of] != nil && at <= vs.left[of].At {
		of = vs.left[of].Of
	}
	vs.forks[room], vs.left[room] = &version{began: vs.of(of).without(of, at)}, journal.Fork{Of: of, At: at}
}

func (vs *versions) holds(room string) map[string]string { return vs.of(room).without("", 0) }

func storesModel(t *testing.T, b *branching) {
	n := 0
	all := []string{"a", "ab", "b", "猫", "猫が"}
	keys := rapid.SampledFrom(all)
	part := rapid.SampledFrom([]string{"", "", "a", "ab", "猫"})
	rapid.Check(t, func(rt *rapid.T) {
		n++
		ctx, who := context.Background(), fmt.Sprintf("aya%d", n)
		vs := versions{shared: &version{began: map[string]string{}}, forks: map[string]*version{}, left: map[string]journal.Fork{}}
		names := []string{fmt.Sprintf("%d-a", n), fmt.Sprintf("%d-b", n)}
		for _, name := range names {
			b.enter(rt, name, "", 0)
		}
		room := func(rt *rapid.T) string { return rapid.SampledFrom(names).Draw(rt, "room") }
		shows := func(rt *rapid.T, in string) {
			got := map[string]string{}
			for _, key := range all {
				v, ok, err := b.KVIn(in).KVGet(ctx, who, key)
				if err != nil {
					rt.Fatal(err)
				}
				if ok {
					got[key] = v
				}
			}
			if want := vs.holds(in); !maps.Equal(got, want) {
				rt.Fatalf("%q (of %+v) shows %v, want %v", in, vs.left[in], got, want)
			}
		}
		writes := 0
		rt.Repeat(map[string]func(*rapid.T){
			"set": func(rt *rapid.T) {
				in, key := room(rt), keys.Draw(rt, "key")
				writes++
				e := edit{room: in, key: key, value: fmt.Sprint(writes / 2), at: b.heads[in].Seq} // twice the same, now and then
				if err := b.KVIn(in).KVSet(ctx, who, key, e.value); err != nil {
					rt.Fatal(err)
				}
				vs.of(in).log = append(vs.of(in).log, e)
			},
			"del": func(rt *rapid.T) {
				in, key := room(rt), keys.Draw(rt, "key")
				want, there := vs.holds(in)[key]
				if old, ok, err := b.KVIn(in).KVDel(ctx, who, key); err != nil || ok != there || old != want {
					rt.Fatalf("del %q in %q: %q %v %v, want %q", key, in, old, ok, err, want)
				}
				vs.of(in).log = append(vs.of(in).log, edit{room: in, key: key, at: b.heads[in].Seq, gone: true})
			},
			"nowhere": func(rt *rapid.T) {
				key := keys.Draw(rt, "key")
				if err := b.KVIn("").KVSet(ctx, who, key, "nowhere"); err != nil {
					rt.Fatal(err)
				}
				vs.shared.log = append(vs.shared.log, edit{room: "(nowhere)", key: key, value: "nowhere"})
			},
			"say":  func(rt *rapid.T) { in := room(rt); b.say(rt, in, b.heads[in].Seq+1) },
			"say2": func(rt *rapid.T) { in := room(rt); b.say(rt, in, b.heads[in].Seq+2) },
			"fork": func(rt *rapid.T) {
				if len(names) > 12 {
					rt.Skip("enough rooms")
				}
				of, name := room(rt), fmt.Sprintf("%d-%d", n, len(names))
				at := rapid.Uint64Range(1, b.heads[of].Seq).Draw(rt, "at")
				b.enter(rt, name, of, at)
				vs.fork(name, of, at)
				names = append(names, name)
			},
			"": func(rt *rapid.T) {
				in, prefix, after, limit := room(rt), part.Draw(rt, "prefix"), part.Draw(rt, "after"), rapid.IntRange(-1, 5).Draw(rt, "limit")
				shows(rt, in)
				want := slices.Sorted(maps.Keys(vs.holds(in)))
				want = first(slices.DeleteFunc(want, func(k string) bool { return !strings.HasPrefix(k, prefix) || k <= after }), limit)
				if got, err := b.KVIn(in).KVList(ctx, who, prefix, after, limit); err != nil || !slices.Equal(got, want) {
					rt.Fatalf("list of %q: %q %v, want %q", in, got, err, want)
				}
			},
		})
		for _, in := range names {
			shows(rt, in)
		}
	})
}
