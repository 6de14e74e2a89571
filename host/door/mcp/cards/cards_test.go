package cards

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func cardOf(id, source string) Card {
	return Card{ID: id, Name: "name of " + id, Source: json.RawMessage(source)}
}

func TestTheUsualCard(t *testing.T) {
	for _, tc := range []struct{ ids, usual, of, want string }{
		{"", "", "", ""},
		{"kyoko", "", "", ""},
		{"aya kyoko main", "kyoko", "", "kyoko"}, // and not aya, nor main
		{"aya kyoko", "gone", "", ""},
		{"aya kyoko", "kyoko", "aya", "aya"},
		{"aya kyoko", "kyoko", "gone", ""},
	} {
		var all []Card
		for _, id := range strings.Fields(tc.ids) {
			c := cardOf(id, id)
			c.Usual = id == tc.usual
			all = append(all, c)
		}
		set := Of(all)
		c, ok := set.For(tc.of).Find("")
		if at, here := set.For(tc.of).At(Main); c.ID != tc.want || ok != (tc.want != "") || !reflect.DeepEqual(at, c) || here != ok {
			t.Errorf("%+v: %q %v, at spec://main %q %v", tc, c.ID, ok, at.ID, here)
		}
		if c, _ := set.Find(""); tc.of != "" && c.ID != tc.usual {
			t.Errorf("%+v: it is %q for all others now", tc, c.ID)
		}
	}
}

// usual gives the card as that of the usual companion.
func usual(c Card) Card {
	c.Usual = true
	return c
}

func TestURIs(t *testing.T) {
	s := Of([]Card{cardOf("aya", "1"), cardOf("アヤ", "2"), usual(cardOf("a.b-c_d", "3")), cardOf("aya", "not this")})
	for uri, want := range map[string]string{
		"spec://main": "3", "spec://aya": "1", "spec://アヤ": "2", "spec://%E3%82%A2%E3%83%A4": "2", URI("アヤ"): "2", "spec://a.b-c_d": "3",
		"spec://": "", "spec://nobody": "", "spec:/aya": "", "room://aya": "", "spec://%": "", "spec://aya/x": "", "aya": "",
	} {
		if c, ok := s.At(uri); string(c.Source) != want || ok != (want != "") {
			t.Errorf("%s: %s %v", uri, c.Source, ok)
		}
	}
	if URI("アヤ") != "spec://%E3%82%A2%E3%83%A4" || !IsURI(Main) || IsURI("room://main/history") {
		t.Errorf("%s", URI("アヤ"))
	}
	if got := s.IDs(); !slices.Equal(got, []string{"a.b-c_d", "aya", "アヤ"}) {
		t.Errorf("%v", got)
	}
}

// Each step says what is new since the one before, and no more.
func TestSince(t *testing.T) {
	aya, kyoko := usual(cardOf("aya", "1")), cardOf("kyoko", "2")
	aya.Actions = []Action{{Name: "wave", Schema: json.RawMessage(`{"type":"object"}`)}}
	bold := aya
	bold.Source = json.RawMessage("3")
	dances := bold
	dances.Actions = append(slices.Clone(bold.Actions), Action{Name: "dance", Schema: json.RawMessage(`{"type":"object"}`)})
	renamed := dances
	renamed.Name = "アヤ"
	row := func(uri, id string) Listed { return Listed{uri, id, "name of aya"} }
	before := Set{}
	for _, step := range []struct {
		what string
		now  []Card
		want Change
	}{
		{"nothing", nil, Change{}},
		{"one comes", []Card{aya}, Change{Listed: []Listed{row(Main, "main"), row("spec://aya", "aya")}, Updated: []string{Main, "spec://aya"}, Play: true}},
		{"nothing changes", []Card{aya}, Change{}},
		{"its text changes", []Card{bold}, Change{Updated: []string{Main, "spec://aya"}}},
		{"it has one action more", []Card{dances}, Change{Play: true}},
		{"its name changes", []Card{renamed}, Change{Listed: []Listed{{Main, "main", "アヤ"}, {"spec://aya", "aya", "アヤ"}}}},
		{"and back", []Card{dances}, Change{Listed: []Listed{row(Main, "main"), row("spec://aya", "aya")}}},
		{"another comes", []Card{kyoko, dances}, Change{Listed: []Listed{{"spec://kyoko", "kyoko", "name of kyoko"}}, Updated: []string{"spec://kyoko"}, Play: true}},
		{"the usual one goes", []Card{usual(kyoko)}, Change{
			Listed: []Listed{{Main, "main", "name of kyoko"}}, Gone: []string{"spec://aya"}, Updated: []string{Main, "spec://aya"}, Play: true,
		}},
		{"the last goes", nil, Change{Gone: []string{Main, "spec://kyoko"}, Updated: []string{Main, "spec://kyoko"}}},
		{"one without actions", []Card{usual(kyoko)}, Change{Listed: []Listed{{Main, "main", "name of kyoko"}, {"spec://kyoko", "kyoko", "name of kyoko"}}, Updated: []string{Main, "spec://kyoko"}}},
		{"one by the name of main", []Card{usual(cardOf("main", "m")), kyoko}, Change{Listed: []Listed{{Main, "main", "name of main"}}, Updated: []string{Main}}},
	} {
		now := Of(step.now)
		if got := now.Since(before); !reflect.DeepEqual(got, step.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", step.what, got, step.want)
		}
		before = now
	}
}

// Whatever comes and goes: who follows the changes has the list that there is,
// reads again what it has, and is not told of what is as it was.
func TestFollowersKnowWhatThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		read := func(s Set) map[string]string {
			all := map[string]string{}
			for _, row := range s.list() {
				c, ok := s.At(row.URI)
				if !ok {
					t.Fatalf("%s is listed and cannot be read", row.URI)
				}
				all[row.URI] = string(c.Source)
			}
			return all
		}
		listed, known, play := map[string]Listed{}, map[string]string{}, json.RawMessage(nil)
		before := Set{}
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			var all []Card
			whose := rapid.SampledFrom([]string{"aya", "kyoko", "main", "アヤ"}).Draw(t, "whose")
			for _, id := range rapid.SliceOfN(rapid.SampledFrom([]string{"aya", "kyoko", "main", "アヤ"}), 0, 3).Draw(t, "ids") {
				c := cardOf(id, rapid.SampledFrom([]string{"1", "2"}).Draw(t, "source"))
				for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"move", "look"}), 0, 2, rapid.ID[string]).Draw(t, "actions") {
					c.Actions = append(c.Actions, Action{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
				}
				c.Usual = id == whose
				all = append(all, c)
			}
			now := Of(all)
			change := now.Since(before)
			for _, uri := range change.Gone {
				delete(listed, uri)
			}
			for _, row := range change.Listed {
				listed[row.URI] = row
			}
			there := read(now)
			for _, uri := range change.Updated {
				if was, had := known[uri]; had && was == there[uri] {
					t.Fatalf("%s is as it was", uri)
				}
				if delete(known, uri); there[uri] != "" {
					known[uri] = there[uri]
				}
			}
			if change.Play {
				play = now.Play()
			}
			rows := map[string]Listed{}
			for _, row := range now.list() {
				rows[row.URI] = row
			}
			if !reflect.DeepEqual(listed, rows) || !reflect.DeepEqual(known, there) || string(play) != string(now.Play()) {
				t.Fatalf("after %+v: knows %v %v, there are %v %v", change, listed, known, rows, there)
			}
			if again := now.Since(now); !reflect.DeepEqual(again, Change{}) {
				t.Fatalf("nothing has changed but %+v", again)
			}
			before = now
		}
	})
}

func ExampleSet_Play() {
	aya := Card{ID: "aya", Usual: true, Actions: []Action{{Name: "wave", Description: "手を振ります。", Schema: json.RawMessage(`{"type":"object","properties":{"hand":{"enum":["left","right"]}}}`)}}}
	fmt.Println(string(Of([]Card{aya}).Play()))
	// Output: {"type":"object","properties":{"actionName":{"type":"string","description":"Which action of the card.","enum":["wave"]},"parameters":{"description":"手を振ります。","properties":{"hand":{"enum":["left","right"]}},"title":"wave","type":"object"},"companion":{"type":"string","description":"Whose action; when absent, of the one whom the URL names behind /mcp/, or else of aya.","enum":["aya"]},"perception":{"type":"string","description":"The title of the perception that led to it, if one did: the card's events must then allow the action for it."}},"required":["actionName","parameters"],"additionalProperties":false}
}
