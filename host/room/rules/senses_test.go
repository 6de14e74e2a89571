package rules_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/companiond/companiond/host/entry"
	. "github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/queue"
)

// TestWhatWaitsToBeJudged: only what was kept waits, until it is judged, could not be, or
// everything ends; it outlives a new owner, a companion that leaves, and a snapshot.
func TestWhatWaitsToBeJudged(t *testing.T) {
	for name, c := range map[string]struct {
		kind entry.Kind
		body func(seqs []uint64) any
		want []int // which of the three wait
	}{
		"nothing":        {entry.KindUsage, func(s []uint64) any { return entry.Usage{Who: "a"} }, []int{0, 1, 2}},
		"one is judged":  {entry.KindJudged, func(s []uint64) any { return entry.Judged{Who: "a", Perceptions: s[:1]} }, []int{1, 2}},
		"two are judged": {entry.KindJudged, func(s []uint64) any { return entry.Judged{Who: "a", Perceptions: s[:2], Wish: 1} }, []int{2}},
		"one could not":  {entry.KindFailed, func(s []uint64) any { return entry.Failed{Who: "a", Perception: s[1]} }, []int{0, 2}},
		"a vote failed":  {entry.KindFailed, func(s []uint64) any { return entry.Failed{Who: "a", Round: s[0]} }, []int{0, 1, 2}},
		"a human's STOP": {entry.KindStop, func(s []uint64) any { return entry.Stop{From: "taro"} }, nil},
		"it is closed":   {entry.KindArchived, func(s []uint64) any { return entry.Archived{By: "taro"} }, nil},
		"another daemon": {entry.KindOwner, func(s []uint64) any { return entry.Owner{Owner: "b"} }, []int{0, 1, 2}},
		"it leaves":      {entry.KindCast, func(s []uint64) any { return entry.Cast{Left: []entry.Left{{ID: "a"}}} }, []int{0, 1, 2}},
		"a wish alone":   {entry.KindWish, func(s []uint64) any { return entry.Wish{Who: "a", Perception: s[0]} }, []int{0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTable(t, poolRules())
			w.input(entry.KindPerceived, entry.Perceived{Who: "a", Title: "vision"}) // nobody has to judge that any more
			var all []queue.Percept
			var seqs []uint64
			for _, who := range []string{"a", "a", "b"} {
				w.input(entry.KindPerceived, entry.Perceived{Who: who, Title: "gift", Kept: true})
				all, seqs = append(all, queue.Percept{Seq: w.m.State.Head, Who: who}), append(seqs, w.m.State.Head)
			}
			w.input(c.kind, c.body(seqs))
			var want []queue.Percept
			for _, i := range c.want {
				want = append(want, all[i])
			}
			if got := w.m.State.Perceived; len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
				t.Errorf("%+v wait, want %+v", got, want)
			}
			blob, err := json.Marshal(w.m.State)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Decode(blob)
			if err != nil || len(back.Perceived) != len(want) || len(want) > 0 && !back.ToJudge(want[0].Seq, want[0].Who) || back.ToJudge(seqs[0], "b") {
				t.Errorf("in a snapshot: %+v, %v", back.Perceived, err)
			}
			w.replay()
		})
	}
}

// TestNothingWaitsAfterAStop until a human speaks.
func TestNothingWaitsAfterAStop(t *testing.T) {
	w := newTable(t, poolRules())
	w.input(entry.KindStop, entry.Stop{From: "taro"})
	w.input(entry.KindPerceived, entry.Perceived{Who: "a", Title: "gift", Kept: true})
	if got := w.m.State.Perceived; len(got) != 0 {
		t.Errorf("%+v wait", got)
	}
	w.human("go on")
	w.input(entry.KindPerceived, entry.Perceived{Who: "a", Title: "gift", Kept: true})
	if got := w.m.State.Perceived; len(got) != 1 {
		t.Errorf("%+v wait", got)
	}
	w.replay()
}
