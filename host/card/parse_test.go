package card_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// wrong gives what Parse says of a file, a line each.
func wrong(t testing.TB, src string) string {
	t.Helper()
	c, err := card.Parse("f", []byte(src))
	if (c == nil) == (err == nil) {
		t.Fatalf("%s: %v %v", src, c, err)
	}
	if err == nil {
		return ""
	}
	var problems card.Problems
	if !errors.As(err, &problems) || abi.CodeOf(err) != abi.CodeInvalid || abi.AsError(err).Message != err.Error() {
		t.Errorf("%T %v", err, abi.AsError(err))
	}
	last := 0
	for _, p := range problems {
		if p.File != "f" || p.Line < max(last, 1) || p.Line > 1+strings.Count(src, "\n") || p.Text == "" {
			t.Errorf("%+v after line %d", p, last)
		}
		if syntax := strings.HasPrefix(p.Text, "is no JSON") || p.Text == "is not UTF-8"; syntax != (p.Column > 0) {
			t.Errorf("%+v", p)
		}
		last = p.Line
	}
	return err.Error()
}

func TestMistakes(t *testing.T) {
	long := strings.Repeat("x", 65)
	for src, want := range map[string]string{
		``:                              `f:1:1: is no JSON: it ends too early: there is nothing in it`,
		"{\n\"name\": \"a\"\n":          `f:3:1: is no JSON: it ends too early: the { in line 1 is not closed`,
		"{\n\"name\": \"a\",\n}":        `f:2:12: is no JSON: there is a comma before }; take it out`,
		"\ufeff{\"name\": \"a\"}":       `f:1: begins with a byte order mark; save it as UTF-8 without one`,
		"{\n\"name\": \"\x80\"}":        `f:2:10: is not UTF-8`,
		`{"name": "a", "queries": {}}`:  `f:1: queries: is an object, must be an array`,
		`{"name": "a", "querries": []}`: `f:1: querries: is not a key of a card; did you mean "queries"?`,
		`{"name": "a", "queries": [{"title": "speak"}]}`:                          `f:1: queries[0].title: "speak" is how a companion speaks, and no query`,
		`{"name": "a", "actions": [{"title": "x"}], "queries": [{"title": "x"}]}`: `f:1: queries[0].title: "x" is there twice`,
		`[]`:                                  `f:1: is an array, must be an object`,
		`{}`:                                  `f:1: name: is missing`,
		`{"name": ""}`:                        `f:1: name: must not be empty`,
		`{"name": " "}`:                       `f:1: name: must not be empty`,
		`{"name": 1}`:                         `f:1: name: is a number, must be a string`,
		`{"name": "a\u0007"}`:                 `f:1: name: "a\a" has characters that cannot be printed`,
		`{"name": "` + long + `"}`:            `f:1: name: has 65 bytes, at most 64`,
		`{"name": "a", "id": ""}`:             `f:1: id: must not be empty`,
		`{"name": "a", "id": "a/b"}`:          `f:1: id: "a/b" may not contain '/'`,
		`{"name": "a", "id": null}`:           `f:1: id: is null, must be a string`,
		`{"name": "a", "name": "b"}`:          `f:1: name: is there twice`,
		`{"name": "a", "story": []}`:          `f:1: story: is an array, must be a string`,
		`{"name": "a", "Name": "b"}`:          `f:1: Name: is not a key of a card; did you mean "name"?`,
		`{"name": "a", "action": []}`:         `f:1: action: is not a key of a card; did you mean "actions"?`,
		`{"name": "a", "event": {}}`:          `f:1: event: is not a key of a card; did you mean "events"?`,
		`{"name": "a", "talkativness": 1}`:    `f:1: talkativness: is not a key of a card; did you mean "talkativeness"?`,
		`{"name": "a", "talkativeness": 1.1}`: `f:1: talkativeness: is 1.1, must be from 0 to 1`,
		`{"name": "a", "talkativeness": "1"}`: `f:1: talkativeness: is a string, must be a number`,
		`{"name": "a", "voice": "aya"}`:       `f:1: voice: is a string, must be an object`,
		`{"name": "a", "voice": {"v": "` + strings.Repeat("x", 4096) + `"}}`:                                       `f:1: voice: has 4105 bytes, at most 4096`,
		`{"name": "a", "talkativeness": 1e999}`:                                                                    `f:1: talkativeness: "1e999" is out of the range of numbers`,
		`{"name": "a", "mode": "allow"}`:                                                                           `f:1: mode: is "allow", must be "deny" or "warn"`,
		`{"name": "a", "aliases": ["b", 2, ""]}`:                                                                   "f:1: aliases[1]: is a number, must be a string\nf:1: aliases[2]: must not be empty",
		`{"name": "a", "aliases": "b"}`:                                                                            `f:1: aliases: is a string, must be an array`,
		`{"name": "a", "metadata": {"tags": [1], "auhtor": "", "thumbnail": {}}}`:                                  "f:1: metadata.tags[0]: is a number, must be a string\nf:1: metadata.auhtor: is not a key of a card; did you mean \"author\"?\nf:1: metadata.thumbnail: is an object, must be a string",
		`{"name": "a", "metadata": []}`:                                                                            `f:1: metadata: is an array, must be an object`,
		`{"name": "a", "actions": {}}`:                                                                             `f:1: actions: is an object, must be an array`,
		`{"name": "a", "actions": [1]}`:                                                                            `f:1: actions[0]: is a number, must be an object`,
		`{"name": "a", "actions": [{}]}`:                                                                           `f:1: actions[0].title: is missing`,
		`{"name": "a", "actions": [{"title": 1}]}`:                                                                 `f:1: actions[0].title: is a number, must be a string`,
		`{"name": "a", "actions": [{"title": ""}]}`:                                                                `f:1: actions[0].title: "" is no title: 1 to 64 letters, digits and _ - . of any script`,
		`{"name": "a", "actions": [{"title": "a b"}]}`:                                                             `f:1: actions[0].title: "a b" is no title: 1 to 64 letters, digits and _ - . of any script`,
		`{"name": "a", "actions": [{"title": "` + long + `"}]}`:                                                    `f:1: actions[0].title: "` + long[:60] + `…" is no title: 1 to 64 letters, digits and _ - . of any script`,
		`{"name": "a", "actions": [{"title": "b"}, {"title": "b"}]}`:                                               `f:1: actions[1].title: "b" is there twice`,
		`{"name": "a", "actions": [{"title": "b", "type": "string"}]}`:                                             `f:1: actions[0].type: must be "object"`,
		`{"name": "a", "actions": [{"title": "b", "type": ["object"]}]}`:                                           `f:1: actions[0].type: must be "object"`,
		`{"name": "a", "actions": [{"title": "b", "description": 1}]}`:                                             `f:1: actions[0].description: is a number, must be a string`,
		`{"name": "a", "actions": [{"title": "b", "propertys": {}}]}`:                                              `f:1: actions[0].propertys: is not known here; did you mean "properties"?`,
		"{\"name\": \"a\", \"actions\": [{\"title\": \"b\",\n\"properties\": {\"x\": {\n\"type\": \"nubmer\"}}}]}": `f:3: actions[0].properties.x.type: is "nubmer", must be one of "array", "boolean", "integer", "null", "number", "object", "string"; did you mean "number"?`,
		`{"name": "a", "actions": [{"title": "b", "properties": {"x": {"$ref": "https://example.com/x.json"}}}]}`:  `f:1: actions[0].properties.x.$ref: "https://example.com/x.json" is not supported: a reference stays inside its schema and begins with #`,
		`{"name": "a", "actions": [{"title": "b"}, {"title": "c", "properties": {"x": {"$ref": "#/actions/0"}}}]}`: `f:1: actions[1].properties.x.$ref: "#/actions/0" is no schema here`,
		`{"name": "a", "actions": [{"title": "b", "$schema": "http://json-schema.org/draft-07/schema", "$ref": "#/definitions/x", "definitions": {"x": {}}}]}`: `f:1: actions[0].$ref: is not supported at the top: in draft-07 it would hide all that stands beside it`,
		`{"name": "a", "actions": [{"title": "b", "properties": {"x": {}, "x": {}}}]}`:                                                                         `f:1: actions[0].properties.x: is there twice`,
		`{"name": "a", "perceptions": [[]]}`:                                                                        `f:1: perceptions[0]: is an array, must be an object`,
		`{"name": "a", "perceptions": [{"title": "b"}, {"title": "b"}]}`:                                            `f:1: perceptions[1].title: "b" is there twice`,
		`{"name": "a", "perceptions": [{"title": "b", "type": "string"}]}`:                                          `f:1: perceptions[0].type: must be "object"`,
		`{"name": "a", "perceptions": [{"title": "b", "input": 1}]}`:                                                `f:1: perceptions[0].input: is a number, must be a boolean`,
		`{"name": "a", "perceptions": [{"title": "b", "coalesce": "no"}]}`:                                          `f:1: perceptions[0].coalesce: is a string, must be a boolean`,
		`{"name": "a", "perceptions": [{"title": "b", "coalesce": null}]}`:                                          `f:1: perceptions[0].coalesce: is null, must be a boolean`,
		`{"name": "a", "perceptions": [{"title": "b", "coalesc": true}]}`:                                           `f:1: perceptions[0].coalesc: is not known here; did you mean "coalesce"?`,
		`{"name": "a", "perceptions": [{"title": "b", "cool_down": 2}]}`:                                            `f:1: perceptions[0].cool_down: is a number, must be a string`,
		`{"name": "a", "perceptions": [{"title": "b", "cool_down": "2"}]}`:                                          `f:1: perceptions[0].cool_down: is "2", must be a time from 0s to 1h such as "2s" or "500ms"`,
		`{"name": "a", "perceptions": [{"title": "b", "cool_down": "-1s"}]}`:                                        `f:1: perceptions[0].cool_down: is "-1s", must be a time from 0s to 1h such as "2s" or "500ms"`,
		`{"name": "a", "perceptions": [{"title": "b", "cool_down": "61m"}]}`:                                        `f:1: perceptions[0].cool_down: is "61m", must be a time from 0s to 1h such as "2s" or "500ms"`,
		`{"name": "a", "perceptions": [{"title": "b", "coolDown": "1s"}]}`:                                          `f:1: perceptions[0].coolDown: is not known here; did you mean "cool_down"?`,
		`{"name": "a", "perceptions": [{"title": "b", "max_bytes": 0.5}]}`:                                          `f:1: perceptions[0].max_bytes: is 0.5, must be a whole number from 1 to 33554432`,
		`{"name": "a", "perceptions": [{"title": "b", "max_bytes": 1e9}]}`:                                          `f:1: perceptions[0].max_bytes: is 1e+09, must be a whole number from 1 to 33554432`,
		`{"name": "a", "perceptions": [{"title": "b", "media_types": ["image/png", "text/html", "image/JPG", 1]}]}`: "f:1: perceptions[0].media_types[1]: \"text/html\" is not the media type of an image, such as \"image/png\"\nf:1: perceptions[0].media_types[2]: \"image/JPG\" is not the media type of an image, such as \"image/png\"\nf:1: perceptions[0].media_types[3]: is a number, must be a string\nf:1: perceptions[0].media_types[3]: \"\" is not the media type of an image, such as \"image/png\"",
		`{"name": "a", "perceptions": [{"title": "b", "properties": {"format": {"enum": ["text", "audio", 1]}}}]}`:  "f:1: perceptions[0].properties.format.enum[1]: is \"audio\"; the formats are object, text, image\nf:1: perceptions[0].properties.format.enum[2]: is 1; the formats are object, text, image",
		`{"name": "a", "perceptions": [{"title": "b", "properties": {"format": {"const": "video"}}}]}`:              `f:1: perceptions[0].properties.format.const: is "video"; the formats are object, text, image`,
		`{"name": "a", "perceptions": [{"title": "b", "properties": {"format": {"enum": []}}}]}`:                    `f:1: perceptions[0].properties.format.enum: must not be empty`,
		`{"name": "a", "perceptions": [{"title": "b", "required": ["title", "at"]}]}`:                               `f:1: perceptions[0].required[1]: "at" is never there: a perception has title, format, body`,
		`{"name": "a", "events": {}}`:                                                                               `f:1: events: is an object, must be an array`,
		`{"name": "a", "events": [1, {}]}`:                                                                          "f:1: events[0]: is a number, must be an object\nf:1: events[1].action: is missing\nf:1: events[1].condition: is missing\nf:1: events[1].perception: is missing",
		`{"name": "a", "perceptions": [{"title": "vision"}], "actions": [{"title": "speak", "properties": {"message": {"type": "string"}}}], "events": [{"perception": "visoin", "action": ["speek", "fly"], "condition": " "}]}`: `f:1: events[0].perception: the card has no perception "visoin"; there are vision; did you mean "vision"?` + "\n" + `f:1: events[0].action[0]: the card has no action "speek"; there are speak; did you mean "speak"?` + "\n" + `f:1: events[0].action[1]: the card has no action "fly"; there are speak` + "\n" + `f:1: events[0].condition: must not be empty`,
		`{"name": "a", "perceptions": [{"title": "b"}], "events": [{"perception": "b", "action": "speak", "condition": "c"}]}`:                                                                                                    `f:1: events[0].action: is a string, must be an array`,
		`{"name": "a", "perceptions": [{"title": "b"}], "events": [{"perception": "b", "action": [], "conditions": "c", "condition": "c"}]}`:                                                                                      `f:1: events[0].conditions: is not a key of a card; did you mean "condition"?`,
		`{"name": "a", "actions": [{"title": "speak", "properties": {"message": {"type": "string"}}}, {}], "events": [{"perception": "b", "action": ["c"], "condition": "c"}]}`:                                                   `f:1: actions[1].title: is missing` + "\n" + `f:1: events[0].perception: the card has no perception "b"; there are none` + "\n" + `f:1: events[0].action[0]: the card has no action "c"; there are speak`,
		`{"name": "a", "events": [{"perception": "b", "action": [], "condition": "c"}]}`:                                                                                                                                          `f:1: events[0].perception: the card has no perception "b"; there are none`,
		`{"name": "a", "x": ` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`:                                                                                                                                           `f:1: x` + strings.Repeat("[0]", 63) + `: lies more than 64 levels deep`,
	} {
		if got := wrong(t, src); got != want {
			t.Errorf("%.150s:\n got %s\nwant %s", src, got, want)
		}
	}
}

// Everything that is wrong is told at once, in the order of the lines.
func TestAllAtOnce(t *testing.T) {
	src, err := os.ReadFile("testdata/bad/everything.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/bad/everything.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := wrong(t, string(src)) + "\n"; got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The bounds of a file: one that is just within them is taken.
func TestBounds(t *testing.T) {
	many := func(n int, form string) string {
		var list []string
		for i := range n {
			list = append(list, strings.ReplaceAll(form, "#", fmt.Sprint(i)))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	const row = `{"perception": "p", "action": ["a"], "condition": "c"}`
	const base = `{"name": "n", "actions": [{"title": "a"}], "perceptions": [{"title": "p"}], `
	for src, want := range map[string]string{
		`{"name": "n", "actions": ` + many(64, `{"title": "a#"}`) + `}`:                            ``,
		`{"name": "n", "actions": ` + many(65, `{"title": "a#"}`) + `}`:                            `f:1: actions: has 65 items, at most 64`,
		`{"name": "n", "perceptions": ` + many(64, `{"title": "a#"}`) + `}`:                        ``,
		`{"name": "n", "perceptions": ` + many(65, `{"title": "a#"}`) + `}`:                        `f:1: perceptions: has 65 items, at most 64`,
		base + `"events": ` + many(256, row) + `}`:                                                 ``,
		base + `"events": ` + many(257, row) + `}`:                                                 `f:1: events: has 257 items, at most 256`,
		`{"name": "n", "aliases": ` + many(32, `"a"`) + `}`:                                        ``,
		`{"name": "n", "aliases": ` + many(33, `"a"`) + `}`:                                        `f:1: aliases: has 33 items, at most 32`,
		`{"name": "n", "story": "` + strings.Repeat("x", card.MaxFile-26) + `"}`:                   ``,
		`{"name": "n", "story": "` + strings.Repeat("x", card.MaxFile-25) + `"}`:                   `f:1: has 1048577 bytes, at most 1048576`,
		`{"name": "n", "x": ` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`:            ``,
		`{"name": "` + strings.Repeat("x", 64) + `", "id": "` + strings.Repeat("x", 64) + `"}`:     ``,
		`{"name": "n", "actions": [{"title": "` + strings.Repeat("あ", 64) + `"}]}`:                 ``,
		`{"name": "n", "actions": [{"title": "がか\u3099.-_९"}], "talkativeness": 0}`:                ``,
		`{"name": "n", "perceptions": [{"title": "p", "max_bytes": 33554432, "cool_down": "1h"}]}`: ``,
	} {
		if got := wrong(t, src); got != want {
			t.Errorf("%.80s: got %.300s, want %s", src, got, want)
		}
	}
	// A file made to have much wrong with it is not told much about.
	var problems card.Problems
	_, err := card.Parse("f", []byte(`{"name": "n", "aliases": `+strings.Repeat("[", 1)+strings.Repeat("1,", 31)+`1], "actions": [`+strings.Repeat(`{"title": 1, "type": 1, "required": [1, 1, 1]},`, 63)+`{}]}`))
	if !errors.As(err, &problems) || len(problems) != 101 || !strings.Contains(problems[100].Text, "there is more") {
		t.Errorf("%d problems, %v", len(problems), problems[len(problems)-1])
	}
}
