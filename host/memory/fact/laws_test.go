package fact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
)

// TestLaws holds the table to its rules whatever is said, changed and erased, in whatever order:
// the fold of the entries is what is there; of a slot of a person one value at most is so; what is
// closed stays closed by folding; nothing is there twice; and no more than may be.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newStream(t, rapid.IntRange(3, 12).Draw(rt, "most"))
		most := s.table
		for i := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			s.now = start.Add(time.Duration(i) * time.Hour)
			s.step(rt, fmt.Sprintf("m%d", i))
			one(rt, s.table)
		}
		if !same(most, s.again()) {
			rt.Fatalf("after %d entries the fold is another one", len(s.entries))
		}
	})
}

func (s *stream) step(rt *rapid.T, id string) {
	switch rapid.SampledFrom([]string{"say", "say", "say", "erase", "revise"}).Draw(rt, "step") {
	case "say":
		n, source := cat(rapid.SampledFrom([]string{"タマ", "ミケ", "ﾀﾏ", "クロ"}).Draw(rt, "name"), rapid.Uint64Range(1, 30).Draw(rt, "turn"))
		n.SaidBy = rapid.SampledFrom([]string{"ken", "mari"}).Draw(rt, "who")
		n.Slot = rapid.SampledFrom([]string{"pet.name:cat", "name", ""}).Draw(rt, "slot")
		n.Room = rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "room")
		n.Visibility = rapid.SampledFrom([]abi.Visibility{"", abi.VisiblePerson}).Draw(rt, "visibility")
		before := len(s.entries)
		s.add(n, source, id)
		after := len(s.entries)
		// The same turn, read again, leads to nothing.
		as, changes, err := s.table.Add(n, source, id+"again", s.now)
		if err != nil || len(changes) > 0 || as == id+"again" {
			rt.Fatalf("again: %s, %v, %v, after %d entries more", as, changes, err, after-before)
		}
	case "erase":
		for _, f := range s.table.All() {
			if rapid.Bool().Draw(rt, "erased") {
				closed := map[string]time.Time{}
				for _, f := range s.table.All() {
					closed[f.ID] = f.ValidTo
				}
				s.write(s.table.Erase([]string{f.ID}, "ken")...)
				for _, f := range s.left() {
					if !f.ValidTo.Equal(closed[f.ID]) {
						rt.Fatalf("%s was so until %v, and now until %v", f.ID, closed[f.ID], f.ValidTo)
					}
				}
				if _, ok := s.table.Get(f.ID); ok {
					rt.Fatal("it is still there")
				}
			}
		}
	case "revise":
		for _, f := range s.table.All() {
			if text := rapid.SampledFrom([]string{"", "ソラ"}).Draw(rt, "text"); text != "" {
				c, err := s.table.Revise(entry.Revised{Of: f.ID, By: "mari", Text: &text})
				if err != nil {
					rt.Fatal(err)
				}
				s.write(c)
			}
		}
	}
}

// one holds a table to one value of a slot that is so.
func one(rt *rapid.T, table *fact.Table) {
	values := map[string]string{}
	for _, f := range table.All() {
		if f.Slot == "" || !f.ValidTo.IsZero() {
			continue
		}
		key := f.SaidBy + " " + f.Slot
		value := strings.NewReplacer("ﾀﾏ", "タマ").Replace(f.Value)
		if before, ok := values[key]; ok && before != value && before != "" && value != "" {
			rt.Fatalf("of %s both %q and %q are so", key, before, value)
		}
		values[key] = value
	}
}
