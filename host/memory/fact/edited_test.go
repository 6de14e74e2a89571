package fact_test

import (
	"slices"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
)

// What somebody wrote by hand is out of its slot: what is said later of the same does not close it, live and in
// the fold, and neither does an entry of a journal from when it did.
func TestWrittenByHandStays(t *testing.T) {
	s := newStream(t, 0)
	s.cat("タマ", 1, "a")
	s.add(fact.New{Memory: abi.Memory{Text: "猫は三毛", Room: "main", SaidBy: "ken"}}, "", "x")
	text, importance := "猫の名前はタマ、と書く", 5
	c, err := s.table.Revise(entry.Revised{Of: "a", By: "mari", Text: &text})
	if err != nil {
		t.Fatal(err)
	}
	s.write(c, fact.Change{Kind: entry.KindRevised, Body: entry.Revised{Of: "x", By: "mari", Importance: &importance}})
	if _, changed := s.cat("ソラ", 3, "b"); !slices.Equal(changed, []string{"b"}) {
		t.Errorf("changed %v", changed)
	}
	n, _ := cat("クロ", 4)
	n.ID, n.Kind, n.Visibility = "c", abi.MemoryFact, abi.VisibleRoom
	old := entry.Remembered{Memory: n.Memory, Slot: n.Slot, Value: n.Value, How: n.How, Closes: []string{"a", "b"}}
	if changed := s.write(fact.Change{Kind: entry.KindRemembered, Body: old}); !slices.Equal(changed, []string{"c", "b"}) {
		t.Errorf("changed %v", changed)
	}
	for _, table := range []*fact.Table{s.table, s.again()} {
		if got, _ := table.Get("a"); !got.ValidTo.IsZero() || got.Slot != "" || got.Text != text {
			t.Errorf("%+v", got)
		}
		if got, _ := table.Get("b"); got.ValidTo.IsZero() {
			t.Errorf("%+v", got)
		}
	}
	// By its id it is closed as anything else.
	s.add(fact.New{Memory: abi.Memory{Text: "the cat is gone", Room: "main"}, Replaces: []string{"a"}}, "", "d")
	if got, _ := s.table.Get("a"); got.ValidTo.IsZero() {
		t.Error("it is still so")
	}
}
