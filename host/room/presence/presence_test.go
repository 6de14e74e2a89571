package presence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/cast"
	"github.com/companiond/companiond/host/room/presence"
)

// house is one in which ids are companions, and those of loading are being loaded.
type house struct{ ids, loading, holders []string }

func (h house) Residents() []string { return h.ids }
func (h house) Loading() []string   { return slices.Clone(h.loading) }
func (h house) Resident(name string) (string, bool) {
	return name, slices.Contains(h.ids, name)
}
func (h house) Holder(name string) (string, bool) {
	return name, slices.Contains(h.holders, name)
}

func TestChange(t *testing.T) {
	here := func(id string) entry.Joined { return entry.Joined{ID: id, Kind: abi.KindCompanion} }
	p := presence.New(house{ids: []string{"aya", "ken", "mio"}, loading: []string{"ken", "mio"}}, func(id string) bool { return id != "mio" }, func(string) {})
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

// TestWhoMakesRoom when there are as many agents as there may be: guests that only talk go
// first, the one that was not heard of for longest. The holder of a token also takes the
// place of a guest that votes, and no guest takes the place of a holder.
func TestWhoMakesRoom(t *testing.T) {
	holders := []string{"h0", "h1", "h2"}
	for _, test := range []struct {
		what, talks, comes string // talks: who of those that are here only talk
		votes              bool
		gone               string // "" for nobody: who comes is refused
	}{
		{"a guest, of talkers the oldest", "g1 g2", "new", true, "g1"},
		{"a guest, though a holder that talks is older", "h1 g2", "new", false, "g2"},
		{"a guest, where a holder alone talks", "h1", "new", true, ""},
		{"a guest, where all vote", "", "new", false, ""},
		{"a holder, where guests talk", "h1 g2 g3", "h0", true, "g2"},
		{"a holder, where guests vote", "", "h0", true, "g0"},
		{"a holder that only talks, where guests vote", "h1", "h0", false, "g0"},
	} {
		now := time.Unix(1_700_000_000, 0)
		p := presence.New(house{holders: holders}, func(string) bool { return true }, func(string) {})
		attend := func(who string, votes bool) {
			t.Helper()
			now = now.Add(time.Second)
			if changed, err := p.Attend(who, votes, now); err != nil || !changed {
				t.Fatalf("%s: %s: %v, %v", test.what, who, changed, err)
			}
		}
		attend("h1", !strings.Contains(test.talks, "h1"))
		attend("h2", true)
		for i := range presence.MaxAgents - 2 {
			who := fmt.Sprint("g", i)
			attend(who, !slices.Contains(strings.Fields(test.talks), who))
		}
		was := cast.Present{Cast: p.Cast()}
		_, err := p.Attend(test.comes, test.votes, now.Add(time.Second))
		if test.gone == "" && abi.CodeOf(err) != abi.CodeExhausted || test.gone != "" && err != nil {
			t.Errorf("%s: %v", test.what, err)
		}
		var want []entry.Left
		if test.gone != "" {
			want = []entry.Left{{ID: test.gone, Reason: "made room for " + test.comes}}
		}
		if change, _ := p.Change(was); !slices.Equal(change.Left, want) || p.Agents() != presence.MaxAgents {
			t.Errorf("%s: %d agents, left %+v, want %+v", test.what, p.Agents(), change.Left, want)
		}
	}
}

// TestARoomOfHolders: of holders alone one that only talks makes room, one that votes never does.
func TestARoomOfHolders(t *testing.T) {
	var all []string
	for i := range presence.MaxAgents + 2 {
		all = append(all, fmt.Sprint("h", i))
	}
	now := time.Unix(1_700_000_000, 0)
	p := presence.New(house{holders: all}, func(string) bool { return true }, func(string) {})
	for i, who := range all[:presence.MaxAgents] {
		if _, err := p.Attend(who, i > 0, now); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Attend("guest", true, now); abi.CodeOf(err) != abi.CodeExhausted {
		t.Errorf("a guest: %v", err)
	}
	if _, err := p.Attend(all[presence.MaxAgents], true, now); err != nil || p.Attends("h0") {
		t.Errorf("a holder, where one talks: %v, it is here: %v", err, p.Attends("h0"))
	}
	if _, err := p.Attend(all[presence.MaxAgents+1], true, now); abi.CodeOf(err) != abi.CodeExhausted {
		t.Errorf("a holder, where all vote: %v", err)
	}
}
