package history_test

import (
	"testing"

	"github.com/companiond/companiond/host/history"
)

// TestErased: a text that lost its words lies over nothing, what lay below it comes to light, and its turns may be asked for anew, in part too.
func TestErased(t *testing.T) {
	var d desk
	lay := func(id string, from, to uint64, text string) {
		t.Helper()
		written := draft(id, history.Yes)
		written.Draft.Text = text
		for _, in := range []history.Input{propose(id, from, to), written, does(id, history.Approve)} {
			if err := d.happens(in); err != nil {
				t.Fatal(id, err)
			}
		}
	}
	lay("below", 1, 5, "x")
	lay("gone", 1, 9, "")
	lay("beside", 20, 29, "x")
	laid := d.Laid(d.seq)
	if len(laid) != 2 || laid[0].ID != "below" || laid[1].ID != "beside" {
		t.Errorf("%+v is laid", laid)
	}
	if p := d.Get("gone"); !p.Erased() || p.State != history.Approved || d.Get("beside").Erased() {
		t.Errorf("%+v", p)
	}
	was := d.Changed
	if d.Forgotten(func(uint64) bool { return false }, d.seq+1); d.Changed != was {
		t.Error("what others lost changes what is told")
	}
	if d.Forgotten(func(seq uint64) bool { return seq == d.Get("gone").Draft().Seq }, d.seq+1); d.Changed != d.seq+1 {
		t.Error("what it lost does not change what is told")
	}
	lay("over", 1, 9, "x")
	if err := d.happens(does("gone", history.Revert)); err != nil { // it lies over nothing, and nothing over it
		t.Error(err)
	}
	if err := d.happens(does("below", history.Revert)); err == nil {
		t.Error("what another lies over is taken off")
	}
	d.happens(does("over", history.Revert))
	waits := draft("waits", history.Yes)
	waits.Draft.Text = ""
	d.happens(propose("waits", 40, 49))
	d.happens(waits)
	if err := d.happens(propose("anew", 45, 50)); err != nil || d.Get("waits").State != history.Denied {
		t.Errorf("%v, %+v", err, d.Get("waits"))
	}
	for _, in := range []history.Input{propose("part", 6, 8), propose("more", 9, 12), does("below", history.Revert)} {
		if err := d.happens(in); err != nil {
			t.Errorf("%s of %s: %v", in.Kind, in.Proposal, err)
		}
	}
}
