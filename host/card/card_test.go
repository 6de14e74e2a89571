package card_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

const nikoniFile = "../../characters/nikoni.json"

func load(t testing.TB, file string) *card.Card {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := card.Parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func parse(t testing.TB, src string) *card.Card {
	t.Helper()
	c, err := card.Parse("c.json", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The sample card of the AI Companion Protocol is taken as it is, byte for byte.
func TestNikoni(t *testing.T) {
	c := load(t, nikoniFile)
	data, err := os.ReadFile(nikoniFile)
	if err != nil {
		t.Fatal(err)
	}
	const sum = "fc87179e5a0f4245d551f271b01a6e5b16bad6dc0c3dc7110afc9371d8bac8cf"
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != sum {
		t.Errorf("the file is not the protocol's sample any more: sha256 %s", got)
	}
	if !bytes.Equal(c.Source(), data) {
		t.Error("the source is not the file")
	}
	if c.Name != "ニコニ立体ちゃん" || c.ID != "" || c.Version != "1.0.0" || !strings.HasPrefix(c.Personality, "明るく好奇心旺盛な") ||
		!strings.Contains(c.Story, "14歳") || c.Talkativeness != 0.5 || c.Mode != card.Deny || c.Model+c.Role+c.Sample+c.Language != "" || c.Aliases != nil {
		t.Errorf("%+v", c)
	}
	var actions, perceptions []string
	for _, a := range c.Actions {
		actions = append(actions, a.Title)
	}
	for _, p := range c.Perceptions {
		perceptions = append(perceptions, p.Title)
		if p.Input != (p.Title == "input") || !slices.Equal(p.Formats, []string{"object", "text", "image"}) || p.CoolDown != 0 || p.MaxBytes != 8<<20 ||
			!slices.Equal(p.MediaTypes, []string{"image/png", "image/jpeg", "image/webp", "image/gif"}) {
			t.Errorf("%+v", p)
		}
	}
	if !slices.Equal(actions, []string{"move", "look", "speak"}) || !slices.Equal(perceptions, []string{"vision", "input"}) || len(c.Events) != 4 {
		t.Errorf("%v %v %d", actions, perceptions, len(c.Events))
	}
	if got := c.Allowed("vision"); !slices.Equal(got, []string{"speak"}) {
		t.Errorf("for vision: %v", got)
	}
	if got := c.Allowed("input"); !slices.Equal(got, []string{"speak", "move"}) {
		t.Errorf("for input: %v", got)
	}
	if rows := c.EventsOf("input"); len(rows) != 2 || !slices.Equal(rows[1].Actions, []string{"move", "speak"}) || !strings.HasPrefix(rows[1].Condition, "ユーザーが、移動を") {
		t.Errorf("%+v", rows)
	}
	if c.Allowed("smell") != nil || c.EventsOf("smell") != nil {
		t.Error("there are events for what is not perceived")
	}
	move, ok := c.Action("move")
	if !ok || move.Description != "三次元空間上で座標 (x, y, z) に移動します。" || !bytes.HasPrefix(move.Schema, []byte("{\n      \"title\": \"move\"")) {
		t.Errorf("%+v", move)
	}
	if _, ok := c.Action("jump"); ok {
		t.Error("there is a jump")
	}
}

func TestParameters(t *testing.T) {
	c := load(t, nikoniFile)
	for _, a := range []struct{ action, parameters, want string }{
		{"move", `{"x": 1, "y": -2.5, "z": 1e3}`, ""},
		{"speak", `{"message": "こんにちは"}`, ""},
		{"move", `{"x": "1", "y": 0, "z": 0}`, `invalid: parameters.x: is a string, must be a number`},
		{"move", `{"x": 1}`, `invalid: parameters.y: is missing; parameters.z: is missing`},
		{"move", ``, `invalid: parameters.x: is missing; parameters.y: is missing; parameters.z: is missing`},
		{"move", `{"x": 1, "y": 0, "z": 0, "w": 0}`, `invalid: parameters.w: is not known; there are x, y, z`},
		{"speak", `{"mesage": "a"}`, `invalid: parameters.mesage: is not known; there are message; did you mean "message"?; parameters.message: is missing`},
		{"speak", `{"message": "a", "message": "b"}`, `invalid: parameters.message: is there twice`},
		{"speak", `["a"]`, `invalid: parameters: is an array, must be an object`},
		{"speak", `null`, `invalid: parameters: is null, must be an object`},
		{"speak", `{"message": `, `invalid: parameters: is no JSON: it ends too early: the { in column 1 is not closed`},
		{"speak", "{\"message\": \"\xff\"}", `invalid: parameters: is not UTF-8`},
		{"speak", `{"message": "` + strings.Repeat("a", card.MaxParameters) + `"}`, `too_large: parameters: 65551 bytes, at most 65536`},
		{"speak", strings.Repeat("[", 70) + strings.Repeat("]", 70), `invalid: parameters` + strings.Repeat("[0]", 64) + `: lies more than 64 levels deep`},
	} {
		action, ok := c.Action(a.action)
		if !ok {
			t.Fatal(a.action)
		}
		got := ""
		if err := action.Check(json.RawMessage(a.parameters)); err != nil {
			got = err.Error()
			if !errors.As(err, new(*abi.Error)) {
				t.Errorf("%T", err)
			}
		}
		if got != a.want {
			t.Errorf("%s %.60s:\n got %s\nwant %s", a.action, a.parameters, got, a.want)
		}
	}
}

// An action without a type takes an object all the same, and says so to a model.
func TestTypeLeftOut(t *testing.T) {
	c := parse(t, `{"name": "a", "actions": [{"title": "wave"}, {  "properties": {"n": {"type": "integer"}}, "title": "nod"}, {"title": "any", "additionalProperties": true}]}`)
	for i, want := range []string{
		`{"type": "object", "title": "wave"}`,
		`{"type": "object", "properties": {"n": {"type": "integer"}}, "title": "nod"}`,
		`{"type": "object", "title": "any", "additionalProperties": true}`,
	} {
		if got := string(c.Actions[i].Schema); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s, want %s", got, want)
		}
		for _, p := range []string{`[]`, `1`, `"a"`} {
			if err := c.Actions[i].Check(json.RawMessage(p)); abi.CodeOf(err) != abi.CodeInvalid {
				t.Errorf("%s takes %s: %v", c.Actions[i].Title, p, err)
			}
		}
		if err := c.Actions[i].Check(nil); err != nil {
			t.Error(err)
		}
	}
	if err := c.Actions[0].Check(json.RawMessage(`{"a": 1}`)); err == nil {
		t.Error("wave takes a parameter")
	}
	if err := c.Actions[2].Check(json.RawMessage(`{"a": 1}`)); err != nil {
		t.Error(err)
	}
}

// A perception is only followed by what its events allow: the protocol itself only tells the model.
func TestPermit(t *testing.T) {
	src, err := os.ReadFile(nikoniFile)
	if err != nil {
		t.Fatal(err)
	}
	deny := load(t, nikoniFile)
	warn := parse(t, strings.Replace(string(src), "{", `{"mode": "warn",`, 1))
	const to = `{"x": 1, "y": 2, "z": 3}`
	for _, c := range []struct {
		card                           *card.Card
		action, parameters, perception string
		warning, refusal               string
	}{
		{deny, "move", to, "", "", ""},
		{deny, "move", to, "input", "", ""},
		{deny, "move", to, "vision", "", "denied: action: the events of ニコニ立体ちゃん do not allow move for the perception vision; there are speak"},
		{warn, "move", to, "vision", "action: the events of ニコニ立体ちゃん do not allow move for the perception vision; there are speak", ""},
		{warn, "move", to, "input", "", ""},
		{warn, "move", `{}`, "vision", "", "invalid: parameters.x: is missing; parameters.y: is missing; parameters.z: is missing"},
		{deny, "look", to, "input", "", "denied: action: the events of ニコニ立体ちゃん do not allow look for the perception input; there are speak, move"},
		{deny, "jump", to, "", "", `not_found: action: ニコニ立体ちゃん has no "jump"; there are move, look, speak`},
		{deny, "move", to, "smell", "", `not_found: perception: ニコニ立体ちゃん does not perceive "smell"; there are vision, input`},
		{deny, "speak", `{"message": 1}`, "input", "", "invalid: parameters.message: is a number, must be a string"},
	} {
		warning, err := c.card.Permit(abi.ActionAsk{Action: c.action, Parameters: json.RawMessage(c.parameters), Perception: c.perception})
		refusal := ""
		if err != nil {
			refusal = err.Error()
		}
		if warning != c.warning || refusal != c.refusal {
			t.Errorf("%s for %q:\n got %q %q\nwant %q %q", c.action, c.perception, warning, refusal, c.warning, c.refusal)
		}
	}
}

// Everything that a file may say is read.
func TestEverything(t *testing.T) {
	c := load(t, "testdata/everything.json")
	if c.ID != "あや.2" || c.Name != "Aya" || !slices.Equal(c.Aliases, []string{"あや", "アヤ"}) || c.Talkativeness != 0.8 || c.Mode != card.Warn ||
		c.Model != "local" || c.Language != "ja" || c.Role != "聞き手" || c.Sample != "「そうなんだ！」" || c.Version != "2" {
		t.Errorf("%+v", c)
	}
	eye, ok := c.Perception("目.eye-1")
	if !ok || eye.Input || !slices.Equal(eye.Formats, []string{"image"}) || !slices.Equal(eye.MediaTypes, []string{"image/avif", "image/png"}) ||
		eye.MaxBytes != 1000 || eye.CoolDown != 1500*time.Millisecond || eye.Description != "sees" {
		t.Errorf("%+v", eye)
	}
	if ear, _ := c.Perception("ear"); !ear.Input || !slices.Equal(ear.Formats, []string{"text"}) {
		t.Errorf("%+v", ear)
	}
	if input, _ := c.Perception("input"); input.Input {
		t.Errorf("%+v", input)
	}
	if got := c.Allowed("ear"); !slices.Equal(got, []string{"手を振る", "move.to"}) {
		t.Error(got)
	}
	if len(c.EventsOf("目.eye-1")[0].Actions) != 0 {
		t.Errorf("%+v", c.EventsOf("目.eye-1"))
	}
}

// A card does not change with what it was read from.
func TestSourceIsACopy(t *testing.T) {
	src := []byte(`{"name": "a", "actions": [{"title": "wave", "type": "object"}]}`)
	c, err := card.Parse("f", src)
	if err != nil {
		t.Fatal(err)
	}
	for i := range src {
		src[i] = 'x'
	}
	if string(c.Source()) != `{"name": "a", "actions": [{"title": "wave", "type": "object"}]}` || string(c.Actions[0].Schema) != `{"title": "wave", "type": "object"}` {
		t.Errorf("%s %s", c.Source(), c.Actions[0].Schema)
	}
}

// Good cards are all of testdata and the shipped one.
func goodCards(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	return append(files, nikoniFile)
}

func TestUsual(t *testing.T) {
	everybody := card.Home{Companions: []string{"*"}}
	some := func(ids ...string) card.Home { return card.Home{Companions: ids} }
	kyokos := card.Home{Companion: "kyoko", Companions: []string{"*"}}
	for _, c := range []struct {
		ids   []string
		homes []card.Home
		want  string
	}{
		{nil, []card.Home{everybody}, ""},
		{[]string{"aya"}, nil, ""},
		{[]string{"aya", "bo"}, []card.Home{some()}, ""},
		{[]string{"aya", "bo"}, []card.Home{some("kyoko")}, ""}, // aya lives nowhere
		{[]string{"bo", "aya", "main"}, []card.Home{everybody}, "main"},
		{[]string{"bo", "aya"}, []card.Home{everybody}, "aya"},
		{[]string{"aya", "bo", "kyoko"}, []card.Home{some("kyoko", "aya")}, "kyoko"},
		{[]string{"aya", "bo", "main"}, []card.Home{some("kyoko", "bo", "main")}, "bo"},
		{[]string{"aya", "bo"}, []card.Home{some("bo", "*")}, "bo"},
		{[]string{"aya", "kyoko", "main"}, []card.Home{kyokos}, "kyoko"},
		{[]string{"aya"}, []card.Home{kyokos}, "kyoko"}, // her file is being loaded
		{[]string{"aya", "bo"}, []card.Home{some("mika"), some("bo"), everybody}, "bo"},
		{[]string{"aya", "bo"}, []card.Home{everybody, kyokos}, "aya"},
		{[]string{"aya", "bo"}, []card.Home{some("mika"), kyokos}, "kyoko"},
	} {
		if got := card.Usual(c.ids, c.homes...); got != c.want {
			t.Errorf("of %v in %+v: %q, want %q", c.ids, c.homes, got, c.want)
		}
	}
}
