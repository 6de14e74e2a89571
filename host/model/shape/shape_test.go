package shape_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/model/shape"
)

func TestName(t *testing.T) {
	const taken = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	for _, name := range []string{"wave", "look_at-me", strings.Repeat("a", 64)} {
		if got := shape.Name(name); got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
	if got := shape.Name("手を振る"); !strings.HasPrefix(got, "tool_") {
		t.Errorf("a name without a letter that is taken became %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.StringMatching(`[a-zA-Z0-9_.あ-ん-]{1,80}`).Draw(t, "b")
		for _, name := range []string{a, b} {
			wire := shape.Name(name)
			if len(wire) < 1 || len(wire) > 64 || strings.ContainsFunc(wire, func(r rune) bool { return !strings.ContainsRune(taken, r) }) {
				t.Fatalf("%q became %q", name, wire)
			}
		}
		if a != b && shape.Name(a) == shape.Name(b) {
			t.Fatalf("%q and %q are both %q", a, b, shape.Name(a))
		}
	})
}

func TestParameters(t *testing.T) {
	for in, want := range map[string]string{
		``:                  `{"properties":{},"type":"object"}`,
		`{"type":"object"}`: `{"properties":{},"type":"object"}`,
		`{"type":"object","properties":{"b":{},"a":{}}}`:                              `{"type":"object","properties":{"b":{},"a":{}}}`,
		`{"type":"object","properties":{"a":{"oneOf":[{}]}},"anyOf":[{}],"enum":[1]}`: `{"properties":{"a":{"oneOf":[{}]}},"type":"object"}`,
		`{"properties":{}}`: `{"properties":{},"type":"object"}`,
	} {
		if got, err := shape.Parameters(json.RawMessage(in)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}

// Arguments that the model wrote wrong become an object.
func TestArguments(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, ``: `{}`, ` {} `: `{}`,
		`left!`: `{"not_an_object":"left!"}`, `[1]`: `{"not_an_object":"[1]"}`, `{"a":`: `{"not_an_object":"{\"a\":"}`,
	} {
		if got := shape.Arguments(json.RawMessage(in)); string(got) != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// JSON is found where a model puts it.
func TestObject(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, " \n{\"a\":1}\n": `{"a":1}`,
		"```json\n{\"a\":1}\n```":                           `{"a":1}`,
		"Like {x}:\n```json\n{\"a\":1}\n```":                `{"a":1}`,
		"Here it is: {\"a\":{\"b\":\"}\"}} - as you wished": `{"a":{"b":"}"}}`,
		"{\"a\":[1,\n],\"b\":\"\\\",}\", }":                 "{\"a\":[1\n],\"b\":\"\\\",}\" }",
		`{"a":1,,}`:                                         "", `{"a":[1,],`: "",
		`{"a":{"b":1}`: "", `[1]`: "", `"x"`: "", ``: "", `{a:1}`: "", "```\nno\n```": "",
	} {
		got, ok := shape.Object(in)
		if string(got) != want || ok != (want != "") {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// One object is one answer, however often it is written; two that mean otherwise are none.
func TestDiffer(t *testing.T) {
	for in, want := range map[string]bool{
		``: false, `no`: false, `{"a":1}`: false, "Like {x} and {{y}}: {\"a\":1} {z}": false, `{"a":"{\"a\":2}"}`: false, `{"a":[{"b":1},{"b":2}]}`: false,
		"{\"a\":1,\"b\":2}\n```json\n{ \"b\": 2, \"a\": 1.0 }\n```": false, `{"a":1,} or {"a":1}`: false,
		"{\"a\":1}\n{\"a\":2}": true, "{\"a\":1}\nWait:\n```json\n{\"a\":2}\n```": true, "```json\n{\"a\":1}\n```\nNo: {\"a\":2}": true, `[{"a":1},{"a":2}]`: true,
		`{"a":1} {"a":2,}`: true, `{"a":1} {'a':2}`: true, `{"a":2} {"a":`: true, "{\"a\": NO}\n```\n{\"a\":1}\n```": true, `{"a":1} {}`: true, `{"a":1}{"a":1}{"b":1}`: true,
		strings.Repeat(`{"a":1}`, 17): true, strings.Repeat(`{"a":`, 1<<18) + `{"a":1}`: true,
	} {
		if got := shape.Differ(in); got != want {
			t.Errorf("%.60q: %v", in, got)
		}
	}
}

func TestStrict(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"state":{"enum":["speak"]}},"required":["state"],"additionalProperties":false}`: true,
		`{"type":"object"}`: false,
		`{"type":"object","additionalProperties":false}`:                                                                                                true,
		`{"type":"object","properties":{"a":{}},"additionalProperties":false}`:                                                                          false,
		`{"type":"object","properties":{"a":{}},"required":["a"]}`:                                                                                      false,
		`{"type":"object","properties":{},"additionalProperties":false,"$defs":{"x":{"type":"object"}}}`:                                                false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{}}}},"required":["a"],"additionalProperties":false}`: false,
		`no`: false,
	} {
		if got := shape.Strict(json.RawMessage(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}
