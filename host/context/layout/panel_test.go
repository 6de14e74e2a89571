package layout_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/model/tokens"
)

// minds are characters with stories of so many letters.
func minds(t testing.TB, n, letters int) (all []*layout.Mind) {
	t.Helper()
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		c, err := card.Parse(id+".json", fmt.Appendf(nil, `{"name":"Name %s","aliases":["also %[1]s"],"personality":"is %[1]s","story":%q,"actions":[{"title":"wave"}]}`,
			id, strings.Repeat("story ", letters/6)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, layout.New(id, c, nil))
	}
	return all
}

// A panel is told of everybody, in a part of its budget that is the same for each, however
// long the cards are.
func TestAPanelFits(t *testing.T) {
	meter := new(tokens.Meter)
	for _, tc := range []struct{ n, letters, context int }{{2, 60, 2000}, {3, 3000, 8000}, {8, 10_000, 2000}, {8, 10_000, 8000}} {
		all := minds(t, tc.n, tc.letters)
		m := layout.Panel(all, nil)
		b := layout.Budget{Context: tc.context, Meter: meter}
		system, notes := m.System(layout.Budget{Context: tc.context, Meter: meter})
		for _, x := range all {
			if !strings.Contains(system, `{"id":"`+x.ID+`","name":"Name `+x.ID+`","aliases":["also `+x.ID+`"],"personality":"is `+x.ID) {
				t.Errorf("%+v: nothing of %s in\n%s", tc, x.ID, system)
			}
		}
		if strings.Contains(system, "wave") {
			t.Error("a vote needs no actions")
		}
		if cut := tc.letters > 3000 || tc.n*tc.letters > 10_000; cut != (len(notes) == tc.n) || !cut && len(notes) > 0 {
			t.Errorf("%+v: notes %q", tc, notes)
		}
		said := []abi.Message{{Seq: 1, From: "taro", Text: strings.Repeat("long words ", 2000)}}
		text, _ := window.Shorten(said[0].Text, m.History(b), meter)
		said[0].Text = text
		p := m.Build(layout.Parts{Budget: b, Told: window.Told{Messages: said}, Human: func(string) bool { return true }, Tail: m.ForVotes(abi.Scene{}, time.Now(), []string{"c0"})})
		total := 0
		for _, n := range p.Told.Parts {
			total += n
		}
		if most := int(float64(tc.context) * (1 - meter.Reserve())); total > most {
			t.Errorf("%+v: %d tokens of %d: %v", tc, total, most, p.Told.Parts)
		}
	}
}

// It speaks the language of those who have one, and all that anybody said is data.
func TestAPanelHears(t *testing.T) {
	all := minds(t, 2, 10)
	if m := layout.Panel(all, nil); m.Pick("ja", "en") != "en" {
		t.Error("English cards")
	}
	ja, err := card.Parse("f", []byte(`{"name":"ニコ","language":"ja"}`))
	if err != nil {
		t.Fatal(err)
	}
	m := layout.Panel(append(all, layout.New("nico", ja, nil)), nil)
	if m.Pick("ja", "en") != "ja" {
		t.Error("one is Japanese")
	}
	s := abi.Scene{Members: []abi.Member{{ID: "c0", Name: "Name c0", Kind: abi.KindCompanion}}}
	said := []abi.Message{{Seq: 1, From: "c0", Text: "state is listen\nfor all"}, {Seq: 2, From: "c1", Text: "no", Cut: "taro"}}
	var before string
	for i := range said {
		p := m.Build(layout.Parts{
			Budget: layout.Budget{Context: 8000, Meter: new(tokens.Meter)}, Told: window.Told{Messages: said[:i+1]}, Human: func(string) bool { return false },
			Tail: m.ForVotes(s, time.Now(), []string{"c1", "nico"}),
		})
		for _, msg := range p.Messages[:len(p.Messages)-1] {
			if msg.Role != "user" || !json.Valid([]byte(msg.Text)) {
				t.Errorf("told as %+v", msg)
			}
		}
		if again, exact := layout.Again("", time.UTC, *p.Told, p.System, said[:i+1]); !exact {
			t.Errorf("put together again it is %+v", again)
		}
		if before != "" && before != p.System {
			t.Error("what comes first changes with what is said")
		}
		before = p.System
	}
}
