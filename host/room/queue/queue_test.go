package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func said(seq uint64, from string) abi.Message { return abi.Message{Seq: seq, From: from} }

func seqs(a Answers) (all []uint64) {
	for _, u := range a.Unanswered {
		all = append(all, u.Seq)
	}
	return all
}

// TestWhatWaitsForAnAnswer: one turn a human, which keeps whom the one before addressed; the
// newest is next until others went before the oldest twice.
func TestWhatWaitsForAnAnswer(t *testing.T) {
	var a Answers
	a.Ask(said(1, "taro"), []string{"aya"})
	a.Ask(said(2, "hanako"), nil)
	a.Ask(said(3, "taro"), nil)
	if got := seqs(a); !slices.Equal(got, []uint64{2, 3}) || a.Next() != 3 || !a.Calls("aya") || a.Turn(1) != nil {
		t.Fatalf("%v wait, %d is next", got, a.Next())
	}
	if asked := a.Answer(entry.Said{From: "mio", Basis: 3}, 3); !asked || !slices.Equal(seqs(a), []uint64(nil)) {
		t.Errorf("mio was asked: %v, %v wait", asked, seqs(a)) // 3 was its, and 2 was nobody's
	}
	a = Answers{}
	a.Ask(said(1, "taro"), []string{"aya"})
	for seq := uint64(2); seq < 2+maxPassed; seq++ {
		if a.Ask(said(seq, "hanako"), nil); a.Next() != seq {
			t.Errorf("%d is next, want %d", a.Next(), seq)
		}
		a.Answer(entry.Said{From: "mio", Basis: seq}, seq)
	}
	if a.Ask(said(9, "hanako"), nil); a.Next() != 1 {
		t.Errorf("%d is next, though 1 was passed over", a.Next())
	}
}

// TestTheQueueIsBounded: too many drop the oldest that calls nobody.
func TestTheQueueIsBounded(t *testing.T) {
	var a Answers
	a.Ask(said(1, "taro"), []string{"aya"})
	for i := range uint64(maxUnanswered) {
		a.Ask(said(2+i, fmt.Sprint("viewer", i)), nil)
	}
	if got := seqs(a); len(got) != maxUnanswered || got[0] != 1 || got[1] != 3 {
		t.Errorf("%v wait", got)
	}
}

// TestDismissed: what nobody wants to answer is recalled only where it may be.
func TestDismissed(t *testing.T) {
	for _, keep := range []bool{true, false} {
		var a Answers
		a.Ask(said(1, "taro"), nil)
		a.Ask(said(2, "hanako"), []string{"aya"})
		a.Ask(said(3, "jiro"), nil)
		a.Dismiss(3, keep)
		if got := seqs(a); !slices.Equal(got, []uint64{2}) || (a.Dismissed != nil) != keep {
			t.Errorf("%v wait, %+v was dismissed", got, a.Dismissed)
		}
		if a.Recall(); (a.Turn(3) != nil) != keep || a.Dismissed != nil {
			t.Errorf("%v wait after a silence", seqs(a))
		}
	}
}

// TestTheOldestOfItsName: an action that takes long is not lost to many short ones.
func TestTheOldestOfItsName(t *testing.T) {
	var d Deeds
	d.Act(entry.Action{ID: "long", Who: "aya", Action: "walk"})
	d.Act(entry.Action{ID: "other", Who: "mio", Action: "nod"})
	for i := range 2 * maxActs {
		d.Act(entry.Action{ID: fmt.Sprint(i), Who: "aya", Action: "nod"})
	}
	has := func(id string) bool { return slices.ContainsFunc(d.Acts, func(a Act) bool { return a.ID == id }) }
	if len(d.Acts) != maxActs+1 || !has("long") || !has("other") || has("0") || !has(fmt.Sprint(2*maxActs-1)) {
		t.Errorf("%d wait: %+v", len(d.Acts), d.Acts)
	}
	if d.Finish("long"); has("long") {
		t.Error("its result has come, and it still waits")
	}
}

// TestAbsence: a room asks again after twice the time each time, at most a minute, and not
// for ever.
func TestAbsence(t *testing.T) {
	var a *Absence
	want := []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute}
	for n := range MaxAbsent {
		at, ok := a.Again(noon, 10*time.Second)
		if d := want[min(n, len(want)-1)]; !ok || !at.Equal(noon.Add(d)) {
			t.Errorf("after %d: %v, %v, want %v", n, at.Sub(noon), ok, d)
		}
		a = a.And(entry.Decision{Until: at, Reason: "nobody could vote"}, uint64(n), true)
	}
	if _, ok := a.Again(noon, 0); ok || a.N != MaxAbsent || a.Of != MaxAbsent-1 {
		t.Errorf("%+v is asked again", a)
	}
}
