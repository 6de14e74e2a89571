package cards

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	place = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}},"required":["x","y"]}`
	words = `{"type":"object","properties":{"message":{"type":"string","maxLength":100}},"required":["message"],"additionalProperties":false}`
)

func with(id string, actions ...Action) Card { return Card{ID: id, Name: id, Actions: actions} }

func action(name, about, schema string) Action {
	return Action{name, about, json.RawMessage(schema)}
}

// parts takes a schema of action-play apart and holds it to what every one is.
func parts(t testing.TB, raw json.RawMessage) (names []string, ways []map[string]any) {
	t.Helper()
	var s struct {
		Type       string
		AnyOf      any
		OneOf      any
		AllOf      any
		Required   []string
		Properties struct {
			ActionName struct{ Enum []string }
			Parameters map[string]any
		}
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	if s.Type != "object" || s.AnyOf != nil || s.OneOf != nil || s.AllOf != nil || !slices.Equal(s.Required, []string{"actionName", "parameters"}) {
		t.Fatalf("%s", raw)
	}
	choice, ok := s.Properties.Parameters["anyOf"].([]any)
	if !ok || s.Properties.Parameters["title"] != nil {
		return s.Properties.ActionName.Enum, []map[string]any{s.Properties.Parameters}
	}
	if len(s.Properties.Parameters) != 1 {
		t.Fatalf("there is something beside the choice: %v", s.Properties.Parameters)
	}
	for _, way := range choice {
		ways = append(ways, way.(map[string]any))
	}
	return s.Properties.ActionName.Enum, ways
}

func TestWaysToPlay(t *testing.T) {
	for _, tc := range []struct {
		what  string
		cards []Card
		names string
		ways  string // title: description, with ! where the parameters are spelled out
	}{
		{"one action", []Card{with("aya", action("move", "動く", place))}, "move", "move: 動く!"},
		{"two", []Card{with("aya", action("move", "動く", place), action("speak", "", words))}, "move speak", "move: 動く!, speak: !"},
		{"the same for two", []Card{with("aya", action("move", "動く", place)), with("kyoko", action("move", "動く", place))}, "move", "move: 動く!"},
		{"not the same", []Card{with("aya", action("move", "動く", place)), with("kyoko", action("move", "動く", words))}, "move", "move: 動く (aya)!, move: 動く (kyoko)!"},
		{"one has it", []Card{with("aya", action("move", "", place)), with("kyoko")}, "move", "move: (aya)!"},
		{"it refers to a place", []Card{with("aya", action("move", "動く", `{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`))}, "move", "move: 動く"},
		{"it is a header", []Card{with("aya", action("move", "動く", `{"type":"object","properties":{"a":{"type":"array","x-mcp-header":1}}}`))}, "move", "move: 動く"},
		{"deep in a list", []Card{with("aya", action("move", "動く", `{"type":"object","allOf":[{"anyOf":[{"$dynamicRef":"#x"}]}]}`))}, "move", "move: 動く"},
		{"no object", []Card{with("aya", action("move", "動く", `{"type":"string"}`), action("look", "", `true`), action("sit", "", `nonsense`), action("stand", "", ``))},
			"move look sit stand", "move: 動く, look: , sit: , stand: "},
	} {
		names, ways := parts(t, Of(tc.cards).Play())
		var got []string
		for _, w := range ways {
			about, _ := w["description"].(string)
			one := fmt.Sprintf("%v: %s", w["title"], about)
			if w["properties"] != nil {
				one += "!"
			}
			if w["type"] != "object" || w["$schema"] != nil {
				t.Errorf("%s: %v", tc.what, w)
			}
			got = append(got, one)
		}
		if strings.Join(names, " ") != tc.names || strings.Join(got, ", ") != tc.ways {
			t.Errorf("%s:\n got %q %q\nwant %q %q", tc.what, names, got, tc.names, tc.ways)
		}
	}
	for _, none := range [][]Card{nil, {with("aya")}} {
		if got := Of(none).Play(); got != nil {
			t.Errorf("nothing can be played: %s", got)
		}
	}
	// A number goes out as it came.
	large := strings.Replace(words, "100", "9007199254740993", 1)
	if raw := Of([]Card{with("aya", action("speak", "", large))}).Play(); !strings.Contains(string(raw), `"maxLength":9007199254740993,`) {
		t.Errorf("%s", raw)
	}
}

// What models read is bounded, however many cards there are.
func TestPlayIsBounded(t *testing.T) {
	var many []Card
	for n := range maxNames + 1 {
		many = append(many, with(fmt.Sprintf("c%03d", n), action("move", "", place), action(fmt.Sprintf("trick%d", n), "", words)))
	}
	for n := range maxOwners + 1 {
		many[n].Actions = append(many[n].Actions, action("bow", "", words))
	}
	raw := Of(many).Play()
	names, ways := parts(t, raw)
	if names != nil || len(ways) != maxNames+3 || strings.Contains(string(raw), `"enum"`) {
		t.Errorf("%d names, %d ways", len(names), len(ways))
	}
	for _, w := range ways { // it is not said of each who all can move, nor who of many can bow
		about, _ := w["description"].(string)
		if want, ok := map[any]string{"move": "", "bow": "", "trick7": "(c007)"}[w["title"]]; ok && about != want {
			t.Errorf("%v: %s", w["title"], about)
		}
	}
	long := strings.Replace(place, `"object"`, `"object","description":"`+strings.Repeat("x", maxSchema)+`"`, 1)
	raw = Of([]Card{with("aya", action("move", "", place), action("look", "", long))}).Play()
	if names, ways := parts(t, raw); len(names) != 2 || len(ways) != 1 || ways[0]["properties"] != nil || len(raw) > 2000 {
		t.Errorf("%v, %d bytes", ways, len(raw))
	}
}

// What a card takes, the tool takes; the choice is no stricter than its parts.
func TestPlayTakesWhatTheCardsTake(t *testing.T) {
	raw := Of([]Card{with("aya", action("move", "動く", place), action("speak", "", words))}).Play()
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]bool{
		`{"actionName":"move","parameters":{"x":1,"y":2}}`:                                           true,
		`{"actionName":"speak","parameters":{"message":"やあ"}}`:                                       true,
		`{"actionName":"speak","parameters":{"message":"x"},"companion":"aya","perception":"input"}`: true,
		`{"actionName":"move","parameters":{"x":"1"}}`:                                               false,
		`{"actionName":"fly","parameters":{"x":1,"y":2}}`:                                            false,
		`{"actionName":"move","parameters":{"x":1,"y":2},"companion":"kyoko"}`:                       false,
		`{"actionName":"move","parameters":{"x":1,"y":2},"form":1}`:                                  false,
		`{"actionName":"move"}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(args), &v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(v); (err == nil) != want {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// Whatever a card's schema is, the tool has one.
func FuzzPlay(f *testing.F) {
	for _, s := range []string{place, words, `{`, `null`, `[]`, `{"type":"object","properties":[1]}`, `{"type":"object","a":1e999}`, "{\"type\":\"object\",\"\xff\":1}"} {
		f.Add("move", "動く", s)
	}
	f.Fuzz(func(t *testing.T, name, about, schema string) {
		cards := []Card{with("aya", action(name, about, schema)), with("kyoko", action("speak", "", words))}
		names, ways := parts(t, Of(cards).Play())
		if want := len(slices.Compact([]string{name, "speak"})); len(names) != want || len(ways) == 0 || len(ways) > 2 {
			t.Fatalf("%d names, %d ways", len(names), len(ways))
		}
	})
}
