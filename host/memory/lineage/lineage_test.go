package lineage_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/memory/lineage"
)

// learned gives a tree of forks, in which these rooms are known.
func learned(t interface{ Fatal(...any) }, forks map[string]lineage.Fork, rooms ...string) *lineage.Tree {
	tree := lineage.NewTree()
	for _, r := range rooms {
		if err := tree.Learn(r, func(room string) (lineage.Fork, bool, error) { return forks[room], true, nil }); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

func TestPast(t *testing.T) {
	forks := map[string]lineage.Fork{"f": {Of: "a", At: 50}, "early": {Of: "f", At: 20}, "g": {Of: "f", At: 60}}
	tree := learned(t, forks, "g", "early", "z")
	for _, c := range []struct {
		in, room   string
		seq        uint64
		lived, own bool
	}{
		{"f", "f", 0, true, true}, {"f", "a", 50, true, true}, {"f", "a", 51, false, true}, {"f", "a", 0, false, true},
		{"g", "f", 60, true, true}, {"g", "f", 61, false, true}, {"g", "a", 50, true, true}, {"g", "a", 51, false, true},
		{"early", "a", 20, true, true}, {"early", "a", 21, false, true}, {"early", "f", 20, true, true},
		{"a", "f", 1, false, false}, {"a", "g", 1, false, false}, {"early", "g", 1, false, false},
		{"a", "z", 1, true, false}, {"z", "a", 1, true, false}, {"z", "f", 99, true, false}, {"z", "z", 0, true, true}, {"f", "nowhere", 1, true, false},
		{"a", "", 0, true, false}, {"", "f", 99, true, false}, {"", "", 0, true, false},
	} {
		p := tree.Past(c.in)
		if p.Lived(c.room, c.seq) != c.lived || p.Own(c.room) != c.own {
			t.Errorf("in %q of %q at %d: lived %v, own %v", c.in, c.room, c.seq, p.Lived(c.room, c.seq), p.Own(c.room))
		}
	}
	var everything *lineage.Past
	if !everything.Lived("f", 1) || everything.Own("f") {
		t.Error("nil is not everything")
	}
}

// A room that is asked for before it is forked, or made, is known when it is.
func TestLearnLater(t *testing.T) {
	tree, there := lineage.NewTree(), false
	find := func(room string) (lineage.Fork, bool, error) {
		if room == "f" {
			return lineage.Fork{Of: "a", At: 5}, there, nil
		}
		return lineage.Fork{}, true, nil
	}
	learn := func(room string) {
		t.Helper()
		if err := tree.Learn(room, find); err != nil {
			t.Fatal(err)
		}
	}
	learn("a")
	learn("f")
	a := tree.Past("a")
	if !tree.Past("f").Lived("a", 6) || !a.Lived("f", 6) {
		t.Error("it is a fork before it is there")
	}
	there = true
	learn("f")
	if tree.Past("f").Lived("a", 6) || !tree.Past("f").Lived("a", 5) || a.Lived("f", 6) || tree.Past("a").Lived("f", 6) {
		t.Error("it is no fork")
	}
	away := errors.New("away")
	if err := tree.Learn("g", func(string) (lineage.Fork, bool, error) { return lineage.Fork{}, false, away }); !errors.Is(err, away) {
		t.Error(err)
	}
}

// Whatever is forked of whatever, in whatever order it is heard of: what a room has lived through is what it would have if
// everything before it had been copied. A ring ends.
func TestCopies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		forks, rooms := map[string]lineage.Fork{}, []string{"0"}
		copies := map[string]map[string]uint64{"0": {"0": math.MaxUint64}} // up to which entry of which room
		for i := range rapid.IntRange(1, 70).Draw(rt, "rooms") {
			of, at, room := rapid.SampledFrom(rooms).Draw(rt, "of"), rapid.Uint64Range(1, 30).Draw(rt, "at"), fmt.Sprint(i+1)
			forks[room], copies[room] = lineage.Fork{Of: of, At: at}, map[string]uint64{room: math.MaxUint64}
			for r, upto := range copies[of] {
				copies[room][r] = min(upto, at)
			}
			rooms = append(rooms, room)
		}
		tree := learned(rt, forks, rapid.Permutation(rooms).Draw(rt, "order")...)
		for range 50 {
			in, of, seq := rapid.SampledFrom(rooms).Draw(rt, "in"), rapid.SampledFrom(rooms).Draw(rt, "of"), rapid.Uint64Range(1, 31).Draw(rt, "seq")
			if got := tree.Past(in).Lived(of, seq); got != (seq <= copies[in][of]) {
				rt.Fatalf("in %s of %s at %d: %v; %v", in, of, seq, got, copies[in])
			}
		}
	})
	learned(t, map[string]lineage.Fork{"a": {Of: "b", At: 1}, "b": {Of: "a", At: 1}}, "a", "b").Past("a").Lived("b", 1)
}
