package schema

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// compiled compiles a schema and gives what is wrong with it, a line each.
func compiled(src string, extra ...string) (*Schema, string) {
	var why Faults
	n := Read([]byte(src), "", &why)
	if n == nil {
		return nil, "unread: " + told(why)
	}
	s := new(Compiler).Compile([]byte(src), n, "s", &why, extra...)
	return s, told(why)
}

// Whatever is wrong with a schema is said where it is, and what the validator
// would pass over in silence, too.
func TestMistakes(t *testing.T) {
	const seven = `"$schema": "http://json-schema.org/draft-07/schema#", `
	for src, want := range map[string]string{
		`1`:    `0 s: is a number, must be a schema`,
		`null`: `0 s: is null, must be a schema`,
		`{"$schema": "http://json-schema.org/draft-04/schema#"}`: `12 s.$schema: "http://json-schema.org/draft-04/schema#" is not supported; draft 2020-12 and draft-07 are`,
		`{"$schema": 7}`:               `12 s.$schema: is a number, must be a string`,
		`{"items": {"$schema": "x"}}`:  `22 s.items.$schema: is not supported inside a schema, only at its top`,
		`{"items": {"$id": "x"}}`:      `18 s.items.$id: is not supported inside a schema, only at its top`,
		`{"type": "nubmer"}`:           `9 s.type: "nubmer" is no type; did you mean "number"?; the types are object, array, string, number, integer, boolean, null`,
		`{"type": ["string", "text"]}`: `20 s.type[1]: "text" is no type; the types are object, array, string, number, integer, boolean, null`,
		`{"type": ["null", "null"]}`:   `18 s.type[1]: "null" is there twice`,
		`{"type": ["null", 1]}`:        `18 s.type[1]: is a number, must be the name of a type`,
		`{"type": []}`:                 `9 s.type: is an array, must be the name of a type or a list of such names`,
		`{"type": null}`:               `9 s.type: is null, must be the name of a type or a list of such names`,
		`{"enum": "a"}`:                `9 s.enum: is a string, must be an array`,
		`{"minimum": "1"}`:             `12 s.minimum: is a string, must be a number`,
		`{"minLength": -1}`:            `14 s.minLength: must be a whole number from 0 to 2147483647`,
		`{"maxItems": 1.5}`:            `13 s.maxItems: must be a whole number from 0 to 2147483647`,
		`{"maxItems": 1e10}`:           `13 s.maxItems: must be a whole number from 0 to 2147483647`,
		`{"uniqueItems": 1}`:           `16 s.uniqueItems: is a number, must be a boolean`,
		`{"multipleOf": 0}`:            `15 s.multipleOf: must be more than 0`,
		`{"multipleOf": 0.1}`:          `15 s.multipleOf: 0.1 is not supported: only multiples of whole numbers can be told without rounding`,
		`{"multipleOf": true}`:         `15 s.multipleOf: is a boolean, must be a number`,
		`{"required": ["a", 1, "a"]}`:  "19 s.required[1]: is a number, must be a string\n22 s.required[2]: \"a\" is there twice",
		`{"required": true}`:           `13 s.required: is a boolean, must be an array`,
		`{"properties": []}`:           `15 s.properties: is an array, must be an object`,
		`{"properties": {"a": null}}`:  `21 s.properties.a: is null, must be a schema`,
		`{"items": null}`:              `10 s.items: is null, must be a schema`,
		`{"not": 0}`:                   `8 s.not: is a number, must be a schema`,
		`{"items": [true]}`:            `10 s.items: is a list, which draft 2020-12 calls prefixItems`,
		`{"allOf": []}`:                `10 s.allOf: must not be empty`,
		`{"anyOf": {}}`:                `10 s.anyOf: is an object, must be an array`,
		`{"oneOf": [{}, 3]}`:           `15 s.oneOf[1]: is a number, must be a schema`,
		`{"pattern": "a(?=b)"}`:        "12 s.pattern: \"a(?=b)\" is not supported as a pattern: invalid or unsupported Perl syntax: `(?=`",
		`{"pattern": "(a)\\1"}`:        "12 s.pattern: \"(a)\\\\1\" is not supported as a pattern: invalid escape sequence: `\\1`",
		`{"pattern": "` + strings.Repeat("a", 1001) + `"}`:             `12 s.pattern: the pattern has 1001 bytes, at most 1000 are supported`,
		`{"pattern": "(abc){500}"}`:                                    `12 s.pattern: the pattern repeats too much`,
		`{"patternProperties": {"a": {}, "(": true}}`:                  "32 s.patternProperties[\"(\"]: \"(\" is not supported as a pattern: missing closing ): `(`",
		`{"patternProperties": {}, "patternProperties": {"(": 1}}`:     "26 patternProperties: is there twice\n53 s.patternProperties[\"(\"]: is a number, must be a schema\n48 s.patternProperties[\"(\"]: \"(\" is not supported as a pattern: missing closing ): `(`",
		`{"dependentRequired": {"a": ["b", 1], "c": 2}}`:               "34 s.dependentRequired.a[1]: is a number, must be a string\n43 s.dependentRequired.c: is a number, must be an array",
		`{"dependencies": {}}`:                                         `1 s.dependencies: is a word of draft-07, and this schema is draft 2020-12`,
		`{` + seven + `"prefixItems": [{}]}`:                           `55 s.prefixItems: is a word of draft 2020-12, and this schema is draft-07`,
		`{` + seven + `"dependencies": {"a": 1}}`:                      `77 s.dependencies.a: is a number, must be a schema`,
		`{` + seven + `"$defs": {}}`:                                   `55 s.$defs: is a word of draft 2020-12, and this schema is draft-07`,
		`{"$defs": {}, "definitions": {}}`:                             `29 s.definitions: is not supported beside $defs`,
		`{"$dynamicRef": "#a"}`:                                        `1 s.$dynamicRef: is not supported: use $ref`,
		`{"nullable": true}`:                                           `1 s.nullable: is not supported: it is OpenAPI's; write "type": [..., "null"]`,
		`{"Type": "string"}`:                                           `1 s.Type: is not known here; did you mean "type"?`,
		`{"propertis": {}}`:                                            `1 s.propertis: is not known here; did you mean "properties"?`,
		`{"items": {"requird": []}}`:                                   `11 s.items.requird: is not known here; did you mean "required"?`,
		`{"$anchor": "a b"}`:                                           `12 s.$anchor: "a b" is no anchor: letters, digits, _ - and . only`,
		`{"$anchor": "a", "not": {"$anchor": "a"}}`:                    `36 s.not.$anchor: "a" is there twice`,
		`{"$ref": 1}`:                                                  `9 s.$ref: is a number, must be a string`,
		`{"$ref": "other.json"}`:                                       `9 s.$ref: "other.json" is not supported: a reference stays inside its schema and begins with #`,
		`{"$ref": "https://example.com/a#/b"}`:                         `9 s.$ref: "https://example.com/a#/b" is not supported: a reference stays inside its schema and begins with #`,
		`{"items": {"$ref": "#/$defs/x"}}`:                             `19 s.items.$ref: "#/$defs/x" is no schema here`,
		`{"items": {"$ref": "#x"}}`:                                    `19 s.items.$ref: "#x" is no schema here`,
		`{"items": {"$ref": "#/items/%zz"}}`:                           `19 s.items.$ref: "#/items/%zz" is no schema here`,
		`{"properties": {"a": {}}, "items": {"$ref": "#/properties"}}`: `44 s.items.$ref: "#/properties" is no schema here`,
		`{"$ref": "#"}`:                                                `0 s: refers to itself without an end`,
		`{"allOf": [{"anyOf": [{"not": {"if": {"$ref": "#"}}}]}]}`:     `0 s: refers to itself without an end`,
		`{"$defs": {"a": {"then": {"$ref": "#/$defs/b"}}, "b": {"dependentSchemas": {"x": {"$ref": "#/$defs/a"}}}}}`: `16 s.$defs.a: refers to itself without an end`,
		`{` + seven + `"dependencies": {"a": {"$ref": "#"}}}`:                                                        `0 s: refers to itself without an end`,
		strings.Repeat(`{"not": `, 33) + `{}` + strings.Repeat(`}`, 33):                                              `8 s.not: is not supported: more than 32 schemas one in the other for the same value`,
		`{"cooldown": 1}`: ``,
		// All at once.
		`{"type": 1, "items": {"minimum": []}, "required": [2]}`: "9 s.type: is a number, must be the name of a type or a list of such names\n33 s.items.minimum: is an array, must be a number\n51 s.required[0]: is a number, must be a string",
	} {
		s, got := compiled(src)
		if got != want || (s == nil) != (want != "") {
			t.Errorf("%.120s:\n got %s\nwant %s", src, got, want)
		}
	}
}

// What is no mistake: words that JSON Schema does not know, what is written beside
// a $ref in draft-07, references of every kind that stay inside, recursion by way
// of a part of the value.
func TestNoMistakes(t *testing.T) {
	for _, src := range []string{
		`true`, `false`, `{}`, `{"x-unit": "m", "unit": 1, "note": "n"}`,
		`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "anything at all"}`,
		`{"$schema": "https://json-schema.org/draft-07/schema", "items": [{}], "additionalItems": false}`,
		`{"$schema": "http://json-schema.org/draft-07/schema#", "items": {"$ref": "#/definitions/a", "type": "string"}, "definitions": {"a": true}}`,
		`{"$defs": {"a~b/c d": {"$anchor": "A.1"}}, "items": {"$ref": "#/$defs/a~0b~1c%20d"}, "contains": {"$ref": "#A.1"}}`,
		`{"properties": {"child": {"$ref": "#"}, "list": {"items": {"allOf": [{"$ref": "#"}]}}}}`,
		`{"type": ["string", "null"], "enum": [null, "a"], "const": null, "default": 7, "examples": [1], "format": "email", "minLength": 2.0}`,
		strings.Repeat(`{"not": `, 31) + `{}` + strings.Repeat(`}`, 31),
	} {
		if s, got := compiled(src); s == nil || got != "" {
			t.Errorf("%s: %s", src, got)
		}
	}
	if s, got := compiled(`{"mine": 1, "type": "object"}`, "mine"); s == nil {
		t.Error(got)
	}
	// A key of the card's is one at the top only, and a misspelled one is told.
	if _, got := compiled(`{"cooldown": 1, "items": {"cooldown": 2}}`, "cool_down"); got != `1 s.cooldown: is not known here; did you mean "cool_down"?` {
		t.Error(got)
	}
}

// Every word is refused when it has the wrong kind of value, unless any will do,
// and no word is taken that the validator takes without knowing it.
func TestEveryWord(t *testing.T) {
	free := map[string]bool{"const": true, "default": true}
	for word, k := range keywords() {
		version := `"https://json-schema.org/draft/2020-12/schema"`
		if k.drafts == draft7 {
			version = `"http://json-schema.org/draft-07/schema#"`
		}
		wrong := 0
		for _, value := range []string{`1`, `null`, `"x"`, `[]`, `{}`, `true`, `-0.5`, `[1]`, `{"a": 1}`} {
			if word == "$schema" {
				version = value
			}
			s, why := compiled(fmt.Sprintf(`{"$schema": %s, %q: %s}`, version, word, value))
			if (s == nil) != (why != "") {
				t.Errorf("%s: %s: %v %s", word, value, s, why)
			}
			if s == nil {
				wrong++
			}
		}
		if (wrong == 0) != free[word] {
			t.Errorf("%s: %d of the values are refused", word, wrong)
		}
	}
	for word := range unsupported {
		if _, known := keywords()[word]; known {
			t.Errorf("%s is supported and is not", word)
		}
		if _, why := compiled(fmt.Sprintf(`{%q: 1}`, word)); !strings.Contains(why, "is not supported") {
			t.Errorf("%s: %s", word, why)
		}
	}
	for _, word := range forSame {
		if _, known := keywords()[word]; !known {
			t.Errorf("%s is no word", word)
		}
	}
}

// What a maker may have written to stop the daemon is refused in no time: twice
// the work at each level of a value, at each step of a chain, in each pattern.
func TestHostileSchemas(t *testing.T) {
	double := `{"$defs": {"n": {"allOf": [{"properties": {"a": {"$ref": "#/$defs/n"}}}, {"properties": {"a": {"$ref": "#/$defs/n"}}}]}}, "$ref": "#/$defs/n"}`
	chain := `{"$defs": {"d0": {"type": "object"}`
	for i := range 14 {
		chain += fmt.Sprintf(`, "d%d": {"allOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}`, i+1, i, i, i)
	}
	chain += `}, "$ref": "#/$defs/d14"}`
	patterns := `{"patternProperties": {`
	for i := range 20 {
		patterns += fmt.Sprintf(`"(x?){200}y%d": {}, `, i)
	}
	patterns += `"z": {}}}`
	keys := `{"a": 1`
	for i := range 5000 {
		keys += fmt.Sprintf(`, "%s%d": 1`, strings.Repeat("x", 5), i)
	}
	for name, c := range map[string][2]string{
		"deep":     {`{"$defs": {"n": {"properties": {"a": ` + strings.Repeat(`{"allOf": [`, 10) + `{"$ref": "#/$defs/n"}` + strings.Repeat(`]}`, 10) + `}}}, "$ref": "#/$defs/n"}`, strings.Repeat(`{"a": `, 60) + `{}` + strings.Repeat(`}`, 60)},
		"long":     {strings.ReplaceAll(strings.ReplaceAll(double, `/n"`, "/"+strings.Repeat("n", 9999)+`"`), `"n"`, `"`+strings.Repeat("n", 9999)+`"`), strings.Repeat(`{"a": `, 12) + `{}` + strings.Repeat(`}`, 12)},
		"double":   {double, strings.Repeat(`{"a": `, 40) + `{}` + strings.Repeat(`}`, 40)},
		"chain":    {chain, `{}`},
		"patterns": {patterns, keys + "}"},
		"pattern":  {`{"properties": {"a": {"pattern": "^(x?){200}y"}}}`, `{"a": "` + strings.Repeat("x", 200_000) + `"}`},
		"items":    {`{"properties": {"a": {"items": {"anyOf": [` + strings.Repeat(`{"type": "string", "enum": ["a"]}, `, 99) + `false]}}}}`, `{"a": [` + strings.Repeat("1, ", 20_000) + `1]}`},
		"contains": {`{"$defs": {"c": {"contains": {"$ref": "#/$defs/c"}, "items": {"$ref": "#/$defs/c"}, "unevaluatedItems": {"$ref": "#/$defs/c"}}}, "$ref": "#/$defs/c"}`, strings.Repeat("[", 60) + strings.Repeat("]", 60)},
		"names":    {`{"propertyNames": {"allOf": [` + strings.Repeat(`{"pattern": "(x?){200}y"}, `, 20) + `true]}}`, keys + "}"},
		"enum":     {`{"additionalProperties": {"enum": [` + strings.Repeat(`"aaaaaaaa", `, 9999) + `1]}}`, keys + "}"},
	} {
		begin := time.Now()
		s, why := compiled(c[0])
		if s == nil {
			t.Errorf("%s: %s", name, why)
			continue
		}
		var none Faults
		n := Read([]byte(c[1]), "v", &none)
		told, code := s.Check(n, "v")
		if code != "too_large" || len(told) != 1 || !strings.Contains(told[0].Text, "too long") {
			t.Errorf("%s: %s %v", name, code, told)
		}
		t.Logf("%s: %v", name, time.Since(begin))
	}
}

// A large value of a usual schema is affordable.
func TestUsualSchemasAreAffordable(t *testing.T) {
	s, why := compiled(`{"type": "object", "properties": {"list": {"items": {"type": "object", "properties":
		{"x": {"type": "number"}, "kind": {"anyOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]}}}}, "text": {"pattern": "^[a-z ]*$"}}, "required": ["list"]}`)
	if s == nil {
		t.Fatal(why)
	}
	var none Faults
	v := `{"text": "` + strings.Repeat("x", 20_000) + `", "list": [` + strings.Repeat(`{"x": 1, "kind": "b"}, `, 1900) + `{}]}`
	if told, code := s.Check(Read([]byte(v), "v", &none), "v"); told != nil {
		t.Errorf("%s %v", code, told)
	}
}

// What fills memory is bounded for all the schemas of a file together.
func TestManySchemas(t *testing.T) {
	for name, c := range map[string]struct {
		part string
		most int // parts that are taken, in schemas of a hundred
		want string
	}{
		"schemas":      {`{}`, maxRules, "is one schema too many: 4000 are supported in a file, those inside others counted"},
		"instructions": {`{"pattern": "^(abc){10}$"}`, maxInstructions / 53, "the patterns of this file are too many, or repeat too much"},
	} {
		src := []byte(`{"allOf": [` + strings.Repeat(c.part+", ", 98) + c.part + `]}`)
		var file Compiler
		var why Faults
		n := Read(src, "", &why)
		taken := 0
		for len(why) == 0 && taken < 100 {
			if s := file.Compile(src, n, "s", &why); (s == nil) != (len(why) > 0) {
				t.Fatalf("%s: %v %v", name, s, why)
			}
			taken++
		}
		if len(why) != 1 || why[0].Text != c.want || (taken-1)*100 > c.most || taken*100 < c.most {
			t.Errorf("%s: after %d schemas: %v", name, taken, why)
		}
		// What comes after is not read, and nothing more is told.
		if s := file.Compile(src, n, "s", &why); s != nil || len(why) != 1 {
			t.Errorf("%s: %v %v", name, s, why)
		}
		if s := new(Compiler).Compile(src, n, "s", &why); s == nil {
			t.Errorf("%s: another file: %v", name, why)
		}
	}
}
