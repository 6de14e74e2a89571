package replay_test

import (
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/replay"
	"github.com/companiond/companiond/host/room/rules"
)

// talk is a journal that is being written.
type talk struct {
	t  *testing.T
	m  *rules.Machine
	at time.Time
	es []entry.Entry
}

func (w *talk) took(err error) []entry.Entry {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	made := w.m.Take()
	w.es = append(w.es, made...)
	w.at = w.at.Add(5 * time.Millisecond)
	return made
}

func (w *talk) input(kind entry.Kind, body any) { w.t.Helper(); w.took(w.m.Input(kind, w.at, body)) }

// start is a daemon that takes the room over.
func (w *talk) start() {
	w.t.Helper()
	e, err := entry.Entry{Seq: w.m.State.Head + 1, Epoch: w.m.State.Epoch + 1, At: w.at, Kind: entry.KindOwner, ID: "owner" + w.at.String(), V: 2}.WithBody(entry.Owner{Owner: "x"})
	if err == nil {
		err = w.m.Adopt(e)
	}
	w.took(err)
}

func (w *talk) say(from string) uint64 {
	w.t.Helper()
	_, err := w.m.Say(rules.Line{Said: entry.Said{From: from, By: abi.KindHuman, Text: "hello"}, ID: from + "'s"}, w.at)
	return w.took(err)[0].Seq
}

// erase takes a line out, as host/forget does.
func (w *talk) erase(order string, seq uint64) {
	e := w.es[seq-1]
	w.es[seq-1] = entry.Entry{Seq: seq, Epoch: e.Epoch, At: e.At, Kind: e.Kind, ID: e.ID, V: e.V, Blank: true, Body: []byte(`{"by":"human","erased":"` + order + `","from":"forgotten-` + order + `","kind":"turn","text":""}`)}
	st := fold.New()
	for _, e := range w.es {
		if err := st.Apply(e); err != nil {
			w.t.Fatal(err)
		}
	}
	w.m = &rules.Machine{State: st}
}

// TestErasedLater has two forgotten, one after the other, while a turn waits for an answer that the second
// order erased: when the first was written down the turn was still there, and a round followed.
func TestErasedLater(t *testing.T) {
	w := &talk{t: t, m: &rules.Machine{State: fold.New()}, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	lulu := entry.Cast{Joined: []entry.Joined{{ID: "lulu", Name: "Lulu", Kind: abi.KindCompanion}}}
	w.start()
	w.input(entry.KindRules, entry.Rules{Version: fold.Version, Policy: "vote", Seed: "x", Patience: 5000, Floor: 5000, Stale: entry.StaleReask})
	w.input(entry.KindCast, lulu)
	bob := w.say("bob")
	mika := w.say("mika")
	for _, of := range []struct {
		order string
		seq   uint64
	}{{"o1", bob}, {"o2", mika}} {
		w.start()
		w.erase(of.order, of.seq)
		w.input(entry.KindForgotten, entry.Forgotten{Order: of.order, As: "forgotten-" + of.order, Count: 1, Upto: w.m.State.Head, Seqs: [][2]uint64{{of.seq, of.seq}}})
		w.start()
		w.input(entry.KindCast, lulu)
		if w.m.State.Round != nil != (of.order == "o1") {
			t.Fatalf("behind %s: %+v", of.order, w.m.State.Round)
		}
	}
	w.say("hana")
	p := replay.NewPlayer(fold.New())
	for from := 0; from < len(w.es); {
		upto := from + 1
		for upto < len(w.es) && !w.es[upto].Kind.IsInput() {
			upto++
		}
		if diff, err := p.Group(w.es[from:upto]); diff != nil || err != nil {
			t.Fatalf("%v %v", diff, err)
		}
		from = upto
	}
	if p.Derived < 3 || p.Folded == 0 || len(p.Erased) != 2 {
		t.Errorf("%d made again, %d folded, erased %v", p.Derived, p.Folded, p.Erased)
	}
}
