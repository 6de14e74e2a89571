package card_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// Anything may be dropped as a card: nothing panics, each problem has a line that
// is there, and a card that is taken holds what a card promises.
func FuzzParse(f *testing.F) {
	for _, file := range append(goodCards(f), "testdata/bad/everything.json") {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, src := range []string{
		`{"name": "a", "perceptions": [{"title": "p", "properties": {"format": true, "body": false}}], "events": [{"perception": "p", "action": [null], "condition": ""}]}`,
		`{"name": "a", "actions": [{"title": "b", "patternProperties": {"(": 1}, "patternProperties": {}}]}`, "{\n\"name\":\n\"\\ud800\"}", `{"a":{}}`,
	} {
		f.Add([]byte(src))
	}
	s := published(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		begin := time.Now()
		c, err := card.Parse("f", data)
		if took := time.Since(begin); took > 10*time.Second {
			t.Fatalf("took %v", took)
		}
		if err != nil {
			var problems card.Problems
			if !errors.As(err, &problems) || len(problems) == 0 || len(problems) > 101 || abi.CodeOf(err) != abi.CodeInvalid {
				t.Fatalf("%T %v", err, err)
			}
			last := 1
			for _, p := range problems {
				if p.File != "f" || p.Line < last || p.Line > 1+strings.Count(string(data), "\n") || p.Text == "" || !utf8.ValidString(p.String()) {
					t.Fatalf("%+v", p)
				}
				last = p.Line
			}
			return
		}
		holds(t, c)
		if why := judge(t, s, data); why != nil && why[0].Text != "would take too long to check: make it shorter, or its schema simpler" {
			t.Fatalf("Parse takes what the published schema does not: %v", why)
		}
		again, err := card.Parse("f", c.Source())
		if err != nil || !reflect.DeepEqual(names(again), names(c)) {
			t.Fatalf("%v %v", again, err)
		}
	})
}

// names gives what of a card can be compared.
func names(c *card.Card) any {
	plain := *c
	plain.Actions, plain.Perceptions = nil, nil
	var titles []string
	for _, a := range c.Actions {
		titles = append(titles, a.Title, string(a.Schema))
	}
	for _, p := range c.Perceptions {
		p := p
		titles = append(titles, p.Title, p.CoolDown.String())
	}
	return []any{plain, titles}
}

// holds holds what a card promises.
func holds(t *testing.T, c *card.Card) {
	t.Helper()
	if c.Name == "" || c.Talkativeness < 0 || c.Talkativeness > 1 || c.Mode != card.Deny && c.Mode != card.Warn || c.ID != "" && abi.CheckName("id", c.ID) != nil {
		t.Fatalf("%+v", c)
	}
	for _, a := range c.Actions {
		if found, ok := c.Action(a.Title); !ok || found.Title == "" || !json.Valid(a.Schema) {
			t.Fatalf("%+v", a)
		}
		if err := a.Check(json.RawMessage(`[]`)); err == nil {
			t.Fatalf("%s takes a list", a.Title)
		}
		_ = a.Check(json.RawMessage(`{"x": [1, null, {"y": "z"}]}`))
	}
	for _, p := range c.Perceptions {
		if len(p.Formats) == 0 || p.MaxBytes < 1 || p.CoolDown < 0 {
			t.Fatalf("%+v", p)
		}
	}
	for _, e := range c.Events {
		if _, ok := c.Perception(e.Perception); !ok || e.Condition == "" {
			t.Fatalf("%+v", e)
		}
		for _, a := range c.Allowed(e.Perception) {
			if _, ok := c.Action(a); !ok {
				t.Fatalf("%s is allowed and is not there", a)
			}
		}
	}
}

// Anything may arrive at a card: it is refused with a place, or taken, and then
// taken again.
func FuzzCheck(f *testing.F) {
	cards := []*card.Card{load(f, nikoniFile), load(f, "testdata/everything.json"), load(f, "testdata/large.json")}
	for _, s := range [][4]string{
		{"vision", "image", quoted("data:image/png;base64,", png), ""}, {"vision", "image", quoted("", jpeg), "image/jpeg"}, {"目.eye-1", "image", `"https://a"`, ""},
		{"input", "text", `"\u003c\u2028"`, ""}, {"vision", "object", `"{\"a\": [1e5, -0, \"\\ud800\"]}"`, ""}, {"sensor", "object", `{"temperature": 1.0}`, ""}, {"ear", "text", `""`, ""},
	} {
		f.Add(s[0], s[1], []byte(s[2]), s[3], []byte(nil), `{"x": 1, "y": 2, "z": 3}`)
	}
	f.Add("vision", "image", []byte(nil), "", []byte("GIF89a"), `{"bones": [{"name": "a", "children": [{"name": "B"}]}], "place": [1, 2]}`)
	f.Fuzz(func(t *testing.T, title, format string, body []byte, mediaType string, image []byte, parameters string) {
		for _, c := range cards {
			got, err := c.Check(card.Percept{Title: title, Format: format, Body: body, MediaType: mediaType, Image: image})
			if err == nil {
				if (got.Format == "image") != (len(got.Image) > 0) || (len(got.Body) > 0) == (len(got.Image) > 0) {
					t.Fatalf("%+v", got)
				}
				again(t, c, got)
			} else if message := abi.AsError(err).Message; !strings.Contains(message, ": ") || abi.CodeOf(err) == abi.CodeInternal {
				t.Fatal(err)
			}
			for i := range c.Actions {
				checkAgain(t, &c.Actions[i], json.RawMessage(parameters))
			}
		}
	})
}

// checkAgain holds that parameters that are taken are taken again when somebody
// has read and written them, and that a refusal names a place.
func checkAgain(t fataler, a *card.Action, parameters json.RawMessage) (taken bool) {
	t.Helper()
	err := a.Check(parameters)
	if err != nil {
		if code := abi.CodeOf(err); code != abi.CodeInvalid && code != abi.CodeTooLarge || !strings.HasPrefix(abi.AsError(err).Message, "parameters") {
			t.Fatalf("%v", err)
		}
		return false
	}
	v := map[string]any{}
	if len(parameters) > 0 {
		if err := json.Unmarshal(parameters, &v); err != nil {
			t.Fatalf("%v", err)
		}
	}
	written, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := a.Check(written); err != nil && abi.CodeOf(err) != abi.CodeTooLarge {
		t.Fatalf("%s: %s was taken, and is not as %s: %v", a.Title, parameters, written, err)
	}
	return true
}

// TestTakenAgain draws parameters that are nearly right.
func TestTakenAgain(t *testing.T) {
	c, large := load(t, nikoniFile), load(t, "testdata/large.json")
	taken := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{}
		for _, name := range []string{"x", "y", "z", "message", "a", "b"} {
			if rapid.IntRange(0, 2).Draw(t, name) > 0 {
				v[name] = rapid.OneOf(rapid.Float64().AsAny(), rapid.Float64Range(-9, 9).AsAny(), rapid.String().AsAny(), rapid.Int64().AsAny()).Draw(t, name)
			}
		}
		for _, list := range [][]string{{"x", "y", "z"}, {"message"}, {"a"}, {"b"}, {}} {
			part := map[string]any{}
			for _, name := range list {
				if x, ok := v[name]; ok {
					part[name] = x
				}
			}
			data, err := json.Marshal(part)
			if err != nil {
				t.Skip(err)
			}
			for _, actions := range [][]card.Action{c.Actions, large.Actions} {
				for i := range actions {
					if checkAgain(t, &actions[i], data) {
						taken[actions[i].Title]++
					}
				}
			}
		}
	})
	for _, title := range []string{"move", "look", "speak", "either"} {
		if taken[title] == 0 {
			t.Errorf("%s was never taken", title)
		}
	}
}

// TestPerceptsTakenAgain draws bodies of every form.
func TestPerceptsTakenAgain(t *testing.T) {
	c, mine := load(t, nikoniFile), load(t, "testdata/everything.json")
	taken := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		inner, err := json.Marshal(map[string]any{"temperature": rapid.Float64().Draw(t, "temperature"), "near": []string{rapid.String().Draw(t, "near")}})
		if err != nil {
			t.Skip(err)
		}
		asText, err := json.Marshal(string(inner))
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(rapid.String().Draw(t, "line"))
		if err != nil {
			t.Fatal(err)
		}
		image := append([]byte("\x89PNG\r\n\x1a\n"), rapid.SliceOf(rapid.Byte()).Draw(t, "image")...)
		for _, p := range []card.Percept{
			{Title: "vision", Format: "object", Body: inner}, {Title: "vision", Format: "object", Body: asText},
			{Title: "sensor", Format: "object", Body: inner}, {Title: "sensor", Format: "object", Body: asText},
			{Title: "input", Format: "text", Body: line}, {Title: "ear", Format: "text", Body: line},
			{Title: "vision", Format: "image", Body: json.RawMessage(quoted("", image))}, {Title: "目.eye-1", Format: "image", Body: json.RawMessage(quoted("data:image/png;base64,", image))},
		} {
			for _, def := range []*card.Card{c, mine} {
				if got, err := def.Check(p); err == nil {
					taken[p.Title+" "+p.Format]++
					again(t, def, got)
				}
			}
		}
	})
	if len(taken) != 6 {
		t.Errorf("taken were %v", taken)
	}
}
