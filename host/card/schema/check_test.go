package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/tree"
)

// judged gives what a schema says of a value, a line each.
func judged(t *testing.T, schema, value string) string {
	t.Helper()
	s, why := compiled(schema)
	if s == nil {
		t.Fatalf("%s: %s", schema, why)
	}
	var none tree.Faults
	n := tree.Read([]byte(value), "v", &none)
	if n == nil || len(none) > 0 {
		t.Fatalf("%s: %v", value, none)
	}
	faults, code := s.Check(n, "v")
	if (code == abi.CodeInvalid) != (len(faults) > 0) {
		t.Errorf("%s: %s: %q %v", schema, value, code, faults)
	}
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.Path+": "+f.Text)
	}
	return strings.Join(lines, "\n")
}

// What is wrong with a value is said of the value: where, what it is, and what it
// has to be. Wherever it can be, all of it at once.
func TestWhy(t *testing.T) {
	const seven = `{"$schema": "http://json-schema.org/draft-07/schema#", `
	for _, c := range [][3]string{
		{`{"type": "number"}`, `"1"`, `v: is a string, must be a number`},
		{`{"type": "integer"}`, `1.5`, `v: is 1.5, must be a whole number`},
		{`{"type": "integer"}`, `1.0`, ``},
		{`{"type": "number"}`, `1`, ``},
		{`{"type": ["string", "null", "integer"]}`, `[]`, `v: is an array, must be null or a whole number or a string`},
		{`{"enum": ["a", 1, null, {"b": 2}]}`, `"c"`, `v: is "c", must be one of "a", 1, null, {"b":2}`},
		{`{"enum": ["a", {"b": [2]}]}`, `{"b": [2.0]}`, ``},
		{`{"const": {"a": 1}}`, `{"a": 2}`, `v: is {"a":2}, must be {"a":1}`},
		{`{"const": ["` + strings.Repeat("a", 60) + `"]}`, `null`, `v: is null, must be an array`},
		{`{"const": false}`, `0`, `v: is 0, must be false`},
		{`{"minimum": 2, "multipleOf": 3}`, `1`, "v: is 1, must be a multiple of 3\nv: is 1, must be at least 2"},
		{`{"maximum": 2}`, `2.5`, `v: is 2.5, must be at most 2`},
		{`{"exclusiveMinimum": 0}`, `0`, `v: is 0, must be more than 0`},
		{`{"exclusiveMaximum": 1e21}`, `1e22`, `v: is 1e+22, must be less than 1e+21`},
		{`{"minLength": 3}`, `"あい"`, `v: has 2 characters, must have at least 3`},
		{`{"maxLength": 1}`, `"あい"`, `v: has 2 characters, must have at most 1`},
		{`{"pattern": "^a+$"}`, `"b"`, `v: is "b", must match the pattern "^a+$"`},
		{`{"items": {"type": "string"}}`, `["a", 1, "b", 2]`, "v[1]: is a number, must be a string\nv[3]: is a number, must be a string"},
		{`{"prefixItems": [{}, {"type": "null"}], "items": false}`, `[1, 2, 3]`, "v[1]: is a number, must be null\nv[2]: is not allowed"},
		{seven + `"items": [{}, {"type": "null"}], "additionalItems": false}`, `[1, 2, 3]`, "v[1]: is a number, must be null\nv[2]: is not allowed"},
		{seven + `"items": {"type": "null"}, "additionalItems": false}`, `[null, 2]`, `v[1]: is a number, must be null`},
		{`{"minItems": 1}`, `[]`, `v: has 0 items, must have at least 1`},
		{`{"maxItems": 1}`, `[1, 2]`, `v: has 2 items, must have at most 1`},
		{`{"uniqueItems": true}`, `[1, {"a": 2}, {"a": 2.0}]`, `v[2]: is the same as item 1, and items must differ`},
		{`{"contains": {"type": "null"}}`, `[1]`, `v: has none of the items that it must contain`},
		{`{"contains": {"type": "null"}, "minContains": 2}`, `[null]`, `v: has 1 of the items that it must contain, must have at least 2`},
		{`{"contains": {"type": "null"}, "maxContains": 1}`, `[null, null]`, `v: has 2 of the items that it must contain, must have at most 1`},
		{`{"required": ["a", "b"], "properties": {"c": {"type": "string"}}}`, `{"c": 1, "a": 1}`, "v.c: is a number, must be a string\nv.b: is missing"},
		{`{"properties": {"a": {"properties": {"b c": {"items": {"type": "number"}}}}}}`, `{"a": {"b c": [0, "x"]}}`, `v.a["b c"][1]: is a string, must be a number`},
		{`{"properties": {"a": true}, "patternProperties": {"^x": {"type": "number"}}, "additionalProperties": false}`, `{"a": 1, "x1": "", "b": 1}`, "v.x1: is a string, must be a number\nv.b: is not allowed"},
		{`{"additionalProperties": {"type": "number"}}`, `{"a": ""}`, `v.a: is a string, must be a number`},
		{`{"propertyNames": {"pattern": "^[a-z]$"}}`, `{"a": 1, "B": 1}`, `v.B: is not allowed by this name`},
		{`{"minProperties": 2}`, `{"a": 1}`, `v: has 1 members, must have at least 2`},
		{`{"maxProperties": 0}`, `{"a": 1}`, `v: has 1 members, must have at most 0`},
		{`{"dependentRequired": {"a": ["b"], "x": ["y"]}}`, `{"a": 1}`, `v.b: is missing, where there is a`},
		{seven + `"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}`, `{"a": 1, "c": 1}`, "v.b: is missing, where there is a\nv.d: is missing"},
		{`{"dependentSchemas": {"a": {"maxProperties": 1}}}`, `{"a": 1, "b": 2}`, `v: has 2 members, must have at most 1`},
		{`{"$ref": "#/$defs/n", "$defs": {"n": {"minimum": 1}}, "maximum": -1}`, `0`, "v: is 0, must be at least 1\nv: is 0, must be at most -1"},
		{`{"properties": {"a": {"$ref": "#"}, "n": {"type": "null"}}}`, `{"a": {"a": {"n": 1}}}`, `v.a.a.n: is a number, must be null`},
		{seven + `"items": {"$ref": "#/definitions/n", "maximum": -1}, "definitions": {"n": {"minimum": 1}}}`, `[0]`, `v[0]: is 0, must be at least 1`},
		{`{"allOf": [{"minimum": 1}, {"maximum": -1}]}`, `0`, "v: is 0, must be at least 1\nv: is 0, must be at most -1"},
		{`{"anyOf": [{"type": "string"}, {"properties": {"a": {"type": "null"}}, "type": "object"}]}`, `{"a": 1}`, `v: fits none of 2 alternatives; the nearest fails because v.a is a number, must be null`},
		{`{"anyOf": [{"type": "string"}, {"anyOf": [{"type": "null"}]}]}`, `1`, `v: fits none of 2 alternatives; the nearest fails because v is a number, must be a string`},
		{`{"oneOf": [{"type": "number"}, {"minimum": 0}]}`, `1`, `v: fits more than one of the alternatives, must fit exactly one`},
		{`{"oneOf": [{"const": 1}, {"const": 2}]}`, `3`, `v: fits none of 2 alternatives; the nearest fails because v is 3, must be 1`},
		{`{"not": {"type": "number"}}`, `1`, `v: is what the schema excludes`},
		{`{"if": {"type": "number"}, "then": {"minimum": 1}, "else": {"maxLength": 1}}`, `0`, `v: is 0, must be at least 1`},
		{`{"if": {"type": "number"}, "then": {"minimum": 1}, "else": {"maxLength": 1}}`, `"ab"`, `v: has 2 characters, must have at most 1`},
		{`{"then": false, "else": false}`, `1`, ``},
		{`false`, `{"a": 1}`, `v: is not allowed`},
		{`{"properties": {"a": true}, "unevaluatedProperties": false}`, `{"a": 1, "b": 1}`, `v.b: is not known; there are a`},
		{`{"prefixItems": [true], "unevaluatedItems": false}`, `[1, 2]`, `v[1]: is not allowed`},
		{`{"multipleOf": 0.1}`, `0.3`, ``},
		{`{"multipleOf": 0.1}`, `0.35`, `v: is 0.35, must be a multiple of 0.1`},
		{`{"enum": ["happy", "angry", 7]}`, `"angyr"`, `v: is "angyr", must be one of "happy", "angry", 7; did you mean "angry"?`},
		{`{"items": {"propertyNames": {"maxLength": 1}}}`, `[{"ab": 1}, {"cd": 1}, {}]`, "v[0].ab: is not allowed by this name\nv[1].cd: is not allowed by this name"},
		{seven + `"format": "email"}`, `"nobody"`, ``},
		{seven + `"properties": {"a": {"format": "regex"}}}`, `{"a": "("}`, ``},
		{`{"items": {"type": "null"}}`, `[1, 2, 3, 4, 5, 6, 7]`, strings.TrimSpace(strings.Join([]string{"v[0]", "v[1]", "v[2]", "v[3]", "v[4]"}, ": is a number, must be null\n") + ": is a number, must be null")},
	} {
		if got := judged(t, c[0], c[1]); got != c[2] {
			t.Errorf("%s of %s:\n got %s\nwant %s", c[0], c[1], got, c[2])
		}
	}
}

func TestStrangers(t *testing.T) {
	for _, c := range [][3]string{
		{`{"properties": {"x": {}, "y": {}}}`, `{"x": 1, "z": 2}`, `v.z: is not known; there are x, y`},
		{`{"properties": {"message": {}}}`, `{"mesage": 1}`, `v.mesage: is not known; there are message; did you mean "message"?`},
		{`{}`, `{"a": 1}`, `v.a: is not known; there are none`},
		{`{"additionalProperties": true}`, `{"a": 1}`, ``},
		{`{"additionalProperties": {"type": "string"}}`, `{"a": 1}`, ``},
		{`{"unevaluatedProperties": true}`, `{"a": 1}`, ``},
		{`{"patternProperties": {"^x-": {}}}`, `{"x-a": 1, "a": 1}`, `v.a: is not known; there are none`},
		{`{"required": ["a"], "allOf": [{"properties": {"b": {}}}, {"$ref": "#/$defs/c"}], "anyOf": [{"required": ["d"]}], "if": true, "then": {"properties": {"e": true}}, "$defs": {"c": {"properties": {"c": true}}}}`,
			`{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}`, `v.f: is not known; there are a, b, c, d, e`},
		{`{"allOf": [{"additionalProperties": true}]}`, `{"a": 1}`, ``},
		{`{"properties": {"a": {"properties": {"b": {}}}}}`, `{"a": {"x": 1}}`, ``}, // below, JSON Schema's own rule holds
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [{"$ref": "#/definitions/n"}], "definitions": {"n": {"properties": {"a": true}}}}`, `{"a": 1, "b": 1}`, `v.b: is not known; there are a`},
		{`{}`, `{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}`, strings.Join([]string{"v.a", "v.b", "v.c", "v.d", "v.e"}, ": is not known; there are none\n") + ": is not known; there are none"},
	} {
		s, why := compiled(c[0])
		if s == nil {
			t.Fatal(why)
		}
		var none tree.Faults
		var lines []string
		for _, f := range s.Strangers(tree.Read([]byte(c[1]), "v", &none), "v") {
			lines = append(lines, f.Path+": "+f.Text)
		}
		if got := strings.Join(lines, "\n"); got != c[2] {
			t.Errorf("%s of %s:\n got %s\nwant %s", c[0], c[1], got, c[2])
		}
	}
}

func TestOnlyRef(t *testing.T) {
	for src, want := range map[string]bool{
		`{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "definitions": {"a": true}}`: true,
		`{"$ref": "#/$defs/a", "$defs": {"a": true}}`:                                                                   false,
		`{"$schema": "http://json-schema.org/draft-07/schema#"}`:                                                        false,
	} {
		if s, why := compiled(src); s == nil || s.OnlyRef() != want {
			t.Errorf("%s: want %v %s", src, want, why)
		}
	}
}

// What the schema accepts it accepts again, however it is written; and it judges
// the same each time. What it refuses it explains.
func TestSameAgain(t *testing.T) {
	const src = `{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]},
		"c": {"items": {"$ref": "#"}}}, "required": ["a"], "patternProperties": {"^x": {"enum": [1, "あ", null]}}, "additionalProperties": false}`
	s, why := compiled(src)
	if s == nil {
		t.Fatal(why)
	}
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		value := drawObject(t, 2)
		plain, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var spaced, escaped bytes.Buffer
		if err := json.Indent(&spaced, plain, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		json.HTMLEscape(&escaped, plain)
		var first bool
		for i, data := range [][]byte{plain, spaced.Bytes(), escaped.Bytes()} {
			var none tree.Faults
			n := tree.Read(data, "v", &none)
			if n == nil || len(none) > 0 {
				t.Fatalf("%s: %v", data, none)
			}
			told, _ := s.Check(n, "v")
			if ok := len(told) == 0; i == 0 {
				first = ok
			} else if ok != first {
				t.Fatalf("%s is judged otherwise than %s: %v", data, plain, told)
			}
			for _, f := range told {
				if !strings.HasPrefix(f.Path, "v") || f.At < 0 || f.At > len(data) || strings.Contains(f.Text, "as a whole") {
					t.Fatalf("%s: %+v", data, f)
				}
			}
		}
		if first {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("nothing was accepted")
	}
}

func drawObject(t *rapid.T, depth int) map[string]any {
	m := map[string]any{}
	if rapid.IntRange(0, 9).Draw(t, "a") > 0 {
		m["a"] = rapid.SampledFrom([]any{1, -2.0, 1e300, 0.5, "1"}).Draw(t, "a")
	}
	if rapid.Bool().Draw(t, "b?") {
		m["b"] = rapid.SampledFrom([]any{"", "abc", "<&>", "abcd", nil, 1}).Draw(t, "b")
	}
	if rapid.Bool().Draw(t, "x?") {
		m["x"+rapid.StringN(0, 3, -1).Draw(t, "name")] = rapid.SampledFrom([]any{1.0, "あ", nil, true}).Draw(t, "x")
	}
	if depth > 0 && rapid.Bool().Draw(t, "c?") {
		var list []any
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, drawObject(t, depth-1))
		}
		m["c"] = list
	}
	return m
}

// A schema and a value that anybody may have made: nothing panics or hangs, and a
// refusal has a place and words.
func FuzzCheck(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type": "object", "properties": {"x": {"type": "number", "minimum": 1}}}`, `{"x": 0}`},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"$ref": "#/definitions/a"}], "definitions": {"a": {"enum": [1]}}}`, `[2]`},
		{`{"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}`, `1`},
		{`{"unevaluatedItems": false, "prefixItems": [{"$anchor": "x"}], "contains": {"$ref": "#x"}, "minContains": 0}`, `[1, null, {}]`},
		{`{"patternProperties": {"^(a|b)+$": false}, "propertyNames": {"maxLength": 2}, "dependentSchemas": {"a": {"not": {}}}}`, `{"a": {"b": []}, "ccc": ""}`},
		{`{"if": {"const": null}, "then": false, "else": {"oneOf": [true, {}]}, "uniqueItems": true, "multipleOf": 3}`, `[[], [], 1e308]`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, src, value string) {
		s, why := compiled(src, "mine")
		if (s == nil) == (why == "") {
			t.Fatalf("%v %q", s, why)
		}
		var faults tree.Faults
		n := tree.Read([]byte(value), "v", &faults)
		if s == nil || n == nil || len(value) > 1<<16 {
			return
		}
		begin := time.Now()
		told, code := s.Check(n, "v")
		if took := time.Since(begin); took > 20*time.Second {
			t.Fatalf("took %v", took)
		}
		if (len(told) == 0) != (code == "") {
			t.Fatalf("%q %v", code, told)
		}
		for _, x := range append(told, s.Strangers(n, "v")...) {
			if x.Text == "" || x.Path == "" || x.At < 0 || x.At > len(value) {
				t.Fatalf("%+v", x)
			}
		}
		if again, _ := s.Check(n, "v"); fmt.Sprint(again) != fmt.Sprint(told) {
			t.Fatalf("%v, and then %v", told, again)
		}
	})
}
