package fact_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
)

func vector(of string, numbers ...byte) fact.Change {
	return fact.Change{Kind: entry.KindVector, Body: entry.Vector{Of: of, Model: "m", Dims: len(numbers), Numbers: numbers}}
}

// TestVectors: a fact has the newest vector of the text that it has, and all others are to be taken out: those
// of before, of another text, and of what is gone, whenever they come.
func TestVectors(t *testing.T) {
	s := newStream(t, 0)
	has := func(want byte, blank ...uint64) {
		t.Helper()
		for _, table := range []*fact.Table{s.table, s.again()} {
			f, _ := table.Get("a")
			if got := f.Vector.Numbers; len(got) > 1 || len(got) == 1 != (want > 0) || len(got) == 1 && got[0] != want {
				t.Errorf("has %v, want %d", got, want)
			}
			if !slices.Equal(table.Blank(), blank) {
				t.Errorf("to blank: %v, want %v", table.Blank(), blank)
			}
		}
	}
	s.add(fact.New{How: entry.HowModule, Memory: abi.Memory{Text: "a thing", Room: "main"}}, "", "a") // 1
	if got := s.write(vector("a", 7)); !slices.Equal(got, []string{"a"}) {                            // 2
		t.Errorf("changed %v", got)
	}
	has(7)
	s.write(vector("a", 8), vector("nobody", 9)) // 3, 4
	has(8, 2)
	importance, same, text := 5, "a thing", "another"
	s.write(fact.Change{Kind: entry.KindRevised, Body: entry.Revised{Of: "a", By: "me", Importance: &importance, Text: &same}}) // 5
	has(8, 2)
	s.write(fact.Change{Kind: entry.KindRevised, Body: entry.Revised{Of: "a", By: "me", Text: &text}}) // 6
	has(0, 2, 3)
	s.write(fact.Change{Kind: entry.KindVector, Body: entry.Vector{Of: "a", Model: "m", Dims: 2, Numbers: []byte{1}}}) // 7
	has(0, 2, 3)
	s.write(vector("a", 10)) // 8
	s.table.Blanked([]uint64{2, 3})
	s.entries[1].Body, s.entries[2].Body = nil, json.RawMessage(`null`)
	has(10)
	if f, _ := s.table.Get("a"); !slices.Equal(f.Entries, []uint64{1, 5, 6, 7, 8}) {
		t.Errorf("entries %v", f.Entries)
	}
	s.write(fact.Change{Kind: entry.KindErased, Body: entry.Erased{IDs: []string{"a", "nobody"}, Why: entry.GoneForgotten}}, vector("a", 11)) // 9, 10
	has(0, 1, 4, 5, 6, 7, 8, 10)
}
