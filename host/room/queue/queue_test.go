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

func ask(a *Answers, m abi.Message, meant []string) { a.Ask(Unanswered{Message: m, Meant: meant}, 0) }

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
	ask(&a, said(1, "taro"), []string{"aya"})
	ask(&a, said(2, "hanako"), nil)
	ask(&a, said(3, "taro"), nil)
	if got := seqs(a); !slices.Equal(got, []uint64{2, 3}) || a.Next() != 3 || !a.Calls("aya") || a.Turn(1) != nil {
		t.Fatalf("%v wait, %d is next", got, a.Next())
	}
	if asked := a.Answer(entry.Said{From: "mio", Basis: 3}, 3); !asked || !slices.Equal(seqs(a), []uint64(nil)) {
		t.Errorf("mio was asked: %v, %v wait", asked, seqs(a)) // 3 was its, and 2 was nobody's
	}
	a = Answers{}
	ask(&a, said(1, "taro"), []string{"aya"})
	for seq := uint64(2); seq < 2+maxPassed; seq++ {
		if ask(&a, said(seq, "hanako"), nil); a.Next() != seq {
			t.Errorf("%d is next, want %d", a.Next(), seq)
		}
		a.Answer(entry.Said{From: "mio", Basis: seq}, seq)
	}
	if ask(&a, said(9, "hanako"), nil); a.Next() != 1 {
		t.Errorf("%d is next, though 1 was passed over", a.Next())
	}
}

// TestTheQueueIsBounded: too many drop the oldest that calls nobody.
func TestTheQueueIsBounded(t *testing.T) {
	var a Answers
	ask(&a, said(1, "taro"), []string{"aya"})
	for i := range uint64(maxUnanswered) {
		ask(&a, said(2+i, fmt.Sprint("viewer", i)), nil)
	}
	if got := seqs(a); len(got) != maxUnanswered || got[0] != 1 || got[1] != 3 {
		t.Errorf("%v wait", got)
	}
}

// TestOneOfMany: what one of many said to nobody is next when nothing else waits, and goes
// first where too many wait; what an answer is being made to stays.
func TestOneOfMany(t *testing.T) {
	var a Answers
	crowd := func(seq uint64, meant ...string) {
		a.Ask(Unanswered{Message: said(seq, fmt.Sprint("viewer", seq)), Meant: meant, Crowd: true}, 3)
	}
	crowd(1)
	if crowd(2); a.Next() != 2 {
		t.Errorf("%d is next", a.Next())
	}
	crowd(3)
	crowd(4, "aya")
	crowd(5)
	ask(&a, said(6, "taro"), nil)
	if crowd(7); a.Next() != 6 {
		t.Errorf("%d is next, want the human's", a.Next())
	}
	for _, u := range a.Unanswered {
		if want := u.Seq == 4 || u.Seq == 6; u.For("aya", 9) != want || u.For("aya", 3) || u.For("ben", 9) != (u.Seq == 6) {
			t.Errorf("%d is told: %v", u.Seq, u.For("aya", 9))
		}
	}
	for seq := uint64(8); seq < 100; seq++ {
		crowd(seq)
	}
	if got := seqs(a); len(got) != maxUnanswered || !slices.Equal(got[:3], []uint64{3, 4, 6}) || a.Next() != 6 {
		t.Errorf("%v wait, %d is next", got, a.Next())
	}
	a.Answer(entry.Said{From: "ben", Basis: 6}, 6)
	if a.Answer(entry.Said{From: "ben", Basis: 70}, 70); a.Next() != 4 || a.Turn(70) != nil {
		t.Errorf("%d is next, want what calls aya", a.Next())
	}
}

// TestBars: one at a time for each, in the order of their names, until their time has come.
func TestBars(t *testing.T) {
	var b Bars
	for i, who := range []string{"eri", "aya", "ben", "aya"} {
		b.Bar(Bar{Who: who, Until: noon.Add(time.Duration(i) * time.Second), Why: "busy"})
	}
	var who []string
	for _, bar := range b.Barred {
		who = append(who, bar.Who)
	}
	if !slices.Equal(who, []string{"aya", "ben", "eri"}) || b.BarOf("eri", noon) != nil || b.BarOf("ben", noon.Add(2*time.Second)) != nil {
		t.Errorf("%v", b.Barred)
	}
	if bar := b.BarOf("aya", noon.Add(2999*time.Millisecond)); bar == nil || bar.Note(noon) != "over its rate until 12:00:03 UTC: busy" {
		t.Errorf("%+v", bar)
	}
	if b.Lift(noon.Add(2 * time.Second)); len(b.Barred) != 1 {
		t.Errorf("%v", b.Barred)
	}
	if b.Lift(noon.Add(3 * time.Second)); b.Barred != nil {
		t.Errorf("%v", b.Barred)
	}
}

// TestDismissed: what nobody wants to answer is recalled only where it may be.
func TestDismissed(t *testing.T) {
	for _, keep := range []bool{true, false} {
		var a Answers
		ask(&a, said(1, "taro"), nil)
		ask(&a, said(2, "hanako"), []string{"aya"})
		ask(&a, said(3, "jiro"), nil)
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

// TestWhenItMayBeAsked has its date where that is not today's to whoever reads it, and the reason
// where nothing is cut from it.
func TestWhenItMayBeAsked(t *testing.T) {
	for until, want := range map[time.Duration]string{
		3 * time.Second:     "until 12:00:03 UTC: model.main.calls_day: 9 a day are used up",
		12 * time.Hour:      "until 00:00:00 UTC: model.main.calls_day: 9 a day are used up",
		12*time.Hour + 1:    "until 2026-11-23 00:00:00 UTC: model.main.calls_day: 9 a day are used up",
		-13 * time.Hour:     "until 2026-11-21 23:00:00 UTC: model.main.calls_day: 9 a day are used up",
		80 * 24 * time.Hour: "until 2027-02-10 12:00:00 UTC: model.main.calls_day: 9 a day are used up",
	} {
		now := time.Date(2026, 11, 22, 21, 0, 0, 0, time.FixedZone("JST", 9*60*60))
		if got := (Bar{Who: "aya", Until: now.Add(until), Why: "model.main.calls_day: 9 a day are used up", House: true}).Note(now); got != want {
			t.Errorf("%v: %q, want %q", until, got, want)
		}
	}
}

// TestQueriesStay however much else is done: each has an end of its own.
func TestQueriesStay(t *testing.T) {
	var d Deeds
	due := time.Unix(30, 0)
	d.Act(entry.Action{ID: "q2", Who: "aya", Action: "camera", Due: due.Add(time.Second)})
	d.Act(entry.Action{ID: "q1", Who: "aya", Action: "camera", Due: due})
	for i := range 2 * maxActs {
		d.Act(entry.Action{ID: fmt.Sprint(i), Who: "aya", Action: "camera"})
	}
	if d.Waiting("aya", "q1") == nil || d.Waiting("aya", "q2") == nil || d.Waiting("kyoko", "q1") != nil || d.Queries("aya") != 2 || len(d.Acts) != maxActs+2 {
		t.Errorf("%d wait: %+v", len(d.Acts), d.Acts)
	}
	if first := d.Overdue(); first == nil || first.ID != "q1" {
		t.Errorf("the first that is overdue is %+v", first)
	}
	if d.Unask(); d.Queries("aya") != 0 || d.Overdue() != nil || len(d.Acts) != maxActs {
		t.Errorf("then %+v", d.Acts)
	}
}
