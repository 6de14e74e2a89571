package cast

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// TestWhoComesAndGoes: the cast is in order of ids, whoever comes first; an id is there once.
func TestWhoComesAndGoes(t *testing.T) {
	var p Present
	for _, id := range []string{"mio", "aya", "ken"} {
		p.Joins(entry.Joined{ID: id, Kind: abi.KindCompanion})
	}
	p.Joins(entry.Joined{ID: "ken", Name: "Ken", Kind: abi.KindAgent, NoVote: true})
	if got := p.Voters(""); !slices.Equal(got, []string{"aya", "mio"}) {
		t.Errorf("%v vote", got)
	}
	if got := p.Voters("aya"); !slices.Equal(got, []string{"mio"}) {
		t.Errorf("%v vote on what aya said", got)
	}
	p.Leaves("aya")
	if got := p.Members(); len(got) != 2 || got[0] != (abi.Member{ID: "ken", Name: "Ken", Kind: abi.KindAgent}) || p.Kinds()["mio"] != abi.KindCompanion {
		t.Errorf("%+v are here", got)
	}
}

// TestLoads: others are asked as soon as one of those who are meant is there.
func TestLoads(t *testing.T) {
	p := Present{Awaits: []string{"aya", "mio"}}
	for _, c := range []struct {
		who  []string
		want bool
	}{{nil, false}, {[]string{"aya"}, true}, {[]string{"mio", "aya"}, true}, {[]string{"aya", "ken"}, false}} {
		if got := p.Loads(c.who); got != c.want {
			t.Errorf("%v: %v", c.who, got)
		}
	}
}

// TestTheNewestGuests: those who spoke last are remembered, each once, and fewer are shown.
func TestTheNewestGuests(t *testing.T) {
	var p Present
	for i := range 2 * maxPeople {
		p.Hears("taro", noon.Add(time.Duration(i)*time.Second))
		p.Hears(fmt.Sprint("viewer", i), noon.Add(time.Duration(i)*time.Second))
	}
	if n := len(p.People); n != maxPeople || p.People[n-2].Name != "taro" || !p.People[n-2].At.Equal(p.People[n-1].At) {
		t.Errorf("%d people, the newest %+v", n, p.People[n-2:])
	}
	if ms := p.Members(); len(ms) != MaxGuests || !slices.IsSortedFunc(ms, func(a, b abi.Member) int { return strings.Compare(a.Name, b.Name) }) || ms[0].Name != "taro" {
		t.Errorf("%d members: %+v", len(ms), ms)
	}
}

// TestShown: of too many the first are shown, and whoever the scene is about.
func TestShown(t *testing.T) {
	var all []abi.Member
	for i := range abi.MaxMembers + 5 {
		all = append(all, abi.Member{ID: fmt.Sprint("m", i)})
	}
	if got := Shown(all[:abi.MaxMembers], "m0"); len(got) != abi.MaxMembers {
		t.Errorf("%d of as many as may be", len(got))
	}
	last := all[len(all)-1]
	if got := Shown(all, last.ID, "m0"); len(got) != abi.MaxMembers-1 || got[len(got)-1] != last {
		t.Errorf("%d are shown: %v", len(got), got)
	}
}
