package glance_test

import (
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/glance"
)

// A room whose companions are being loaded says so, asleep or awake; one in which nobody
// lives waits for nobody.
func TestLoading(t *testing.T) {
	for _, c := range []struct {
		companions []string
		known      bool
		want       bool
	}{{[]string{"*"}, false, true}, {[]string{"*"}, true, false}, {nil, false, false}, {nil, true, false}} {
		set := glance.Settings{Name: "main", Companions: c.companions, Rules: entry.Rules{Policy: "vote", Seed: "x", Stale: entry.StaleReask}}
		var cast []entry.Joined
		if c.known {
			cast = []entry.Joined{{ID: "aya", Kind: abi.KindCompanion}}
		}
		board, err := glance.Asleep(t.Context(), memory.New(), set, cast)
		if err != nil {
			t.Fatal(err)
		}
		asleep := board.Info()
		var b glance.Board
		b.Show(set, fold.New(), 7, nil, c.known, nil)
		if awake := b.Info(); asleep.Loading != c.want || awake.Loading != c.want || awake.Head != 7 {
			t.Errorf("%+v: asleep %v, awake %v up to %d", c, asleep.Loading, awake.Loading, awake.Head)
		}
		if lives := len(c.companions) > 0 && c.known; (len(asleep.Members) == 1) != lives {
			t.Errorf("%+v: members %v", c, asleep.Members)
		}
	}
}

func TestBoard(t *testing.T) {
	var b glance.Board
	b.Count("vote late")
	b.Count("vote late")
	b.Show(glance.Settings{Name: "main"}, fold.New(), 0, nil, true, nil)
	b.Count("line late") // is shown the next time
	if i := b.Info(); i.Counts["vote late"] != 2 || len(i.Counts) != 1 || i.Pool != nil {
		t.Errorf("%+v", i)
	}
	b.Show(glance.Settings{Name: "main"}, fold.New(), 0, nil, true, abi.Errorf(abi.CodeUnavailable, "the disk is full"))
	if i := b.Info(); i.State != "unavailable" || i.Error != "the disk is full" || i.Counts["line late"] != 1 {
		t.Errorf("%+v", i)
	}
}
