package presence_test

import (
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/cast"
	"github.com/companiond/companiond/host/room/presence"
)

// house is one in which ids are companions, and those of loading are being loaded.
type house struct{ ids, loading []string }

func (h house) Residents() []string { return h.ids }
func (h house) Loading() []string   { return slices.Clone(h.loading) }
func (h house) Resident(name string) (string, bool) {
	return name, slices.Contains(h.ids, name)
}
func (house) Holder(string) (string, bool) { return "", false }

func TestChange(t *testing.T) {
	here := func(id string) entry.Joined { return entry.Joined{ID: id, Kind: abi.KindCompanion} }
	p := presence.New(house{[]string{"aya", "ken", "mio"}, []string{"ken", "mio"}}, func(id string) bool { return id != "mio" }, func(string) {})
	change, some := p.Change(cast.Present{Gathering: true})
	if some || !change.Loading {
		t.Errorf("nobody is known yet: %+v, %v", change, some)
	}
	var called []string
	for _, m := range p.Called(nil) {
		called = append(called, m.ID)
	}
	if !slices.Equal(called, []string{"aya", "ken"}) {
		t.Errorf("called while nobody is known: %v", called)
	}

	p.SetCast([]entry.Joined{})
	if change, some = p.Change(cast.Present{Gathering: true, Awaits: []string{"ken"}}); !some || change.Loading || len(change.Joined)+len(change.Left) > 0 {
		t.Errorf("it is known that nobody is here, which is news: %+v, %v", change, some)
	}
	if change, some = p.Change(cast.Present{}); !some || !slices.Equal(change.Awaits, []string{"ken"}) {
		t.Errorf("one is being loaded, which is news: %+v, %v", change, some)
	}

	p.SetCast([]entry.Joined{here("ken"), here("mio")})
	p.Settle(nil, time.Time{})
	change, some = p.Change(cast.Present{Cast: []entry.Joined{here("aya"), here("mio")}})
	if !some || len(change.Awaits) > 0 || len(change.Joined) != 1 || change.Joined[0].ID != "ken" {
		t.Errorf("ken came: %+v, %v", change, some)
	}
	if want := []entry.Left{{ID: "aya", Reason: "its file is not loaded"}, {ID: "mio", Reason: "it does not live here any more"}}; !slices.Equal(change.Left, want) {
		t.Errorf("left: %+v, want %+v", change.Left, want)
	}
	if change, some = p.Change(cast.Present{Cast: []entry.Joined{here("ken")}}); some {
		t.Errorf("nothing changed: %+v", change)
	}
	renamed := here("ken")
	renamed.Generation = 2
	if change, some = p.Change(cast.Present{Cast: []entry.Joined{renamed}}); !some || len(change.Joined) != 1 || len(change.Left) > 0 {
		t.Errorf("it was reloaded: %+v, %v", change, some)
	}
}
