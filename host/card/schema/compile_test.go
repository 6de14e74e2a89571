package schema

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/card/tree"
)

// compiled compiles a schema and gives what is wrong with it, a line each.
func compiled(src string, extra ...string) (*Schema, string) {
	var why tree.Faults
	n := tree.Read([]byte(src), "", &why)
	if n == nil {
		return nil, "unread: " + told(why)
	}
	read := len(why)
	s := new(Compiler).Compile(n, "s", &why, extra...)
	if read > 0 { // a key is there twice, say: nobody takes it
		s = nil
	}
	return s, told(why)
}

// told gives faults as lines.
func told(why tree.Faults) string {
	var lines []string
	for _, f := range why {
		lines = append(lines, fmt.Sprint(f.At)+" "+f.Path+": "+f.Text)
	}
	return strings.Join(lines, "\n")
}

// Whatever is wrong with a schema is said where it is, and what the validator
// would pass over in silence, too.
func TestMistakes(t *testing.T) {
	const seven = `"$schema": "http://json-schema.org/draft-07/schema#", `
	for src, want := range map[string]string{
		`1`:    `0 s: is a number, must be a schema`,
		`null`: `0 s: is null, must be a schema`,
		`{"$schema": "http://json-schema.org/draft-04/schema#"}`: `12 s.$schema: "http://json-schema.org/draft-04/schema#" is not supported; draft 2020-12 and draft-07 are`,
		`{"$schema": 7}`:                                   `12 s.$schema: is a number, must be a string`,
		`{"items": {"$schema": "x"}}`:                      `22 s.items.$schema: is not supported inside a schema, only at its top`,
		`{"items": {"$id": "x"}}`:                          `18 s.items.$id: is not supported inside a schema, only at its top`,
		`{"type": "nubmer"}`:                               `9 s.type: is "nubmer", must be one of "array", "boolean", "integer", "null", "number", "object", "string"; did you mean "number"?`,
		`{"type": ["string", "text"]}`:                     `20 s.type[1]: is "text", must be one of "array", "boolean", "integer", "null", "number", "object", "string"`,
		`{"type": ["null", "null"]}`:                       `18 s.type[1]: is the same as item 0, and items must differ`,
		`{"type": ["null", 1]}`:                            `18 s.type[1]: is 1, must be one of "array", "boolean", "integer", "null", "number", "object", "string"`,
		`{"type": []}`:                                     `9 s.type: is [], must be one of "array", "boolean", "integer", "null", "number", "object", "string"`,
		`{"type": null}`:                                   `9 s.type: is null, must be one of "array", "boolean", "integer", "null", "number", "object", "string"`,
		`{"enum": "a"}`:                                    `9 s.enum: is a string, must be an array`,
		`{"minimum": "1"}`:                                 `12 s.minimum: is a string, must be a number`,
		`{"minLength": -1}`:                                `14 s.minLength: must be a whole number from 0 to 2147483647`,
		`{"maxItems": 1.5}`:                                `13 s.maxItems: must be a whole number from 0 to 2147483647`,
		`{"maxItems": 1e10}`:                               `13 s.maxItems: must be a whole number from 0 to 2147483647`,
		`{"uniqueItems": 1}`:                               `16 s.uniqueItems: is a number, must be a boolean`,
		`{"multipleOf": 0}`:                                `15 s.multipleOf: is 0, must be more than 0`,
		`{"multipleOf": -0.1}`:                             `15 s.multipleOf: is -0.1, must be more than 0`,
		`{"multipleOf": true}`:                             `15 s.multipleOf: is a boolean, must be a number`,
		`{"required": ["a", 1, "a"]}`:                      "19 s.required[1]: is a number, must be a string\n22 s.required[2]: is the same as item 0, and items must differ",
		`{"required": true}`:                               `13 s.required: is a boolean, must be an array`,
		`{"properties": []}`:                               `15 s.properties: is an array, must be an object`,
		`{"properties": {"a": null}}`:                      `21 s.properties.a: is null, must be a schema`,
		`{"items": null}`:                                  `10 s.items: is null, must be a schema`,
		`{"not": 0}`:                                       `8 s.not: is a number, must be a schema`,
		`{"items": [true]}`:                                `10 s.items: is a list, which draft 2020-12 calls prefixItems`,
		`{"allOf": []}`:                                    `10 s.allOf: has 0 items, must have at least 1`,
		`{"anyOf": {}}`:                                    `10 s.anyOf: is an object, must be an array`,
		`{"oneOf": [{}, 3]}`:                               `15 s.oneOf[1]: is a number, must be a schema`,
		`{"pattern": "a(?=b)"}`:                            "12 s.pattern: \"a(?=b)\" is not supported as a pattern: invalid or unsupported Perl syntax: `(?=`",
		`{"pattern": "(a)\\1"}`:                            "12 s.pattern: \"(a)\\\\1\" is not supported as a pattern: invalid escape sequence: `\\1`",
		`{"pattern": "` + strings.Repeat("a", 1001) + `"}`: `12 s.pattern: the pattern has 1001 bytes, at most 1000 are supported`,
		`{"pattern": "(abc){500}"}`:                        `12 s.pattern: the pattern repeats too much`,
		`{"patternProperties": {"a": {}, "(": true}}`:      "32 s.patternProperties[\"(\"]: \"(\" is not supported as a pattern: missing closing ): `(`",
		`{"patternProperties": {}, "patternProperties": {"(": 1}}`:     "26 patternProperties: is there twice\n53 s.patternProperties[\"(\"]: is a number, must be a schema\n48 s.patternProperties[\"(\"]: \"(\" is not supported as a pattern: missing closing ): `(`",
		`{"dependentRequired": {"a": ["b", 1], "c": 2}}`:               "34 s.dependentRequired.a[1]: is a number, must be a string\n43 s.dependentRequired.c: is a number, must be an array",
		`{"dependencies": {}}`:                                         `1 s.dependencies: is a word of draft-07, and this schema is draft 2020-12`,
		`{` + seven + `"prefixItems": [{}]}`:                           `55 s.prefixItems: is a word of draft 2020-12, and this schema is draft-07`,
		`{` + seven + `"dependencies": {"a": 1}}`:                      `77 s.dependencies.a: is a number, must be a schema`,
		`{` + seven + `"$defs": {}}`:                                   `55 s.$defs: is a word of draft 2020-12, and this schema is draft-07`,
		`{"$dynamicRef": "#a"}`:                                        `1 s.$dynamicRef: is not supported: use $ref`,
		`{"nullable": true}`:                                           `1 s.nullable: is not supported: it is OpenAPI's; write "type": [..., "null"]`,
		`{"Type": "string"}`:                                           `1 s.Type: is not known here; did you mean "type"?`,
		`{"propertis": {}}`:                                            `1 s.propertis: is not known here; did you mean "properties"?`,
		`{"items": {"requird": []}}`:                                   `11 s.items.requird: is not known here; did you mean "required"?`,
		`{"$anchor": "a b"}`:                                           `12 s.$anchor: is "a b", must match the pattern "^[A-Za-z_][-A-Za-z0-9._]*$"`,
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
		`{"type": 1, "items": {"minimum": []}, "required": [2]}`: "9 s.type: is 1, must be one of \"array\", \"boolean\", \"integer\", \"null\", \"number\", \"object\", \"string\"\n33 s.items.minimum: is an array, must be a number\n51 s.required[0]: is a number, must be a string",
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
		`true`, `false`, `{}`, `{"x-unit": "m", "unit": 1, "note": "n"}`, `{"multipleOf": 0.1}`,
		`{"$defs": {"a": {}}, "definitions": {"b": {}}, "items": {"$ref": "#/$defs/a"}, "contains": {"$ref": "#/definitions/b"}}`,
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
	for word, drafts := range words {
		version := `"https://json-schema.org/draft/2020-12/schema"`
		if drafts == draft7 {
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
		if words[word] != 0 {
			t.Errorf("%s is supported and is not", word)
		}
		if _, why := compiled(fmt.Sprintf(`{%q: 1}`, word)); !strings.Contains(why, "is not supported") {
			t.Errorf("%s: %s", word, why)
		}
	}
	for _, word := range slices.Concat(forSame, inWhole, inMembers, compared, counts) {
		if words[word] == 0 {
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
		"double":   {double, strings.Repeat(`{"a": `, 40) + `{}` + strings.Repeat(`}`, 40)},
		"chain":    {chain, `{}`},
		"patterns": {patterns, keys + "}"},
		"pattern":  {`{"properties": {"a": {"pattern": "^(x?){200}y"}}}`, `{"a": "` + strings.Repeat("x", 200_000) + `"}`},
		"items":    {`{"properties": {"a": {"items": {"anyOf": [` + strings.Repeat(`{"type": "string", "enum": ["a"]}, `, 99) + `false]}}}}`, `{"a": [` + strings.Repeat("1, ", 20_000) + `1]}`},
		"contains": {`{"$defs": {"c": {"contains": {"$ref": "#/$defs/c"}, "items": {"$ref": "#/$defs/c"}, "unevaluatedItems": {"$ref": "#/$defs/c"}}}, "$ref": "#/$defs/c"}`, strings.Repeat("[", 60) + strings.Repeat("]", 60)},
		"names":    {`{"propertyNames": {"allOf": [` + strings.Repeat(`{"pattern": "(x?){200}y"}, `, 20) + `true]}}`, keys + "}"},
		"differ":   {`{"properties": {"a": {"uniqueItems": true}}}`, `{"a": [1` + trees(2000) + `]}`},
		"numbers":  {`{"items": {"enum": [` + strings.Repeat(`5e-324, `, 9999) + `1]}}`, `[` + strings.Repeat(`6e-324, `, 2000) + `1]`},
		"enum":     {`{"additionalProperties": {"enum": [` + strings.Repeat(`"aaaaaaaa", `, 9999) + `1]}}`, keys + "}"},
	} {
		begin := time.Now()
		s, why := compiled(c[0])
		if s == nil {
			t.Errorf("%s: %s", name, why)
			continue
		}
		var none tree.Faults
		n := tree.Read([]byte(c[1]), "v", &none)
		told, code := s.Check(n, "v")
		if code != "too_large" || len(told) != 1 || !strings.Contains(told[0].Text, "too long") {
			t.Errorf("%s: %s %v", name, code, told)
		}
		t.Logf("%s: %v", name, time.Since(begin))
	}
}

// trees gives the rest of a list: lists of lists that hold the same and differ, so
// that it takes long to tell that they do.
func trees(count int) string {
	shapes := [][]string{{""}} // by how many lists, those inside a list
	for size := 1; size < 11; size++ {
		var all []string
		for first := range size {
			for _, in := range shapes[first] {
				for _, after := range shapes[size-1-first] {
					all = append(all, strings.TrimSuffix("["+in+"],"+after, ","))
				}
			}
		}
		shapes = append(shapes, all)
	}
	var list strings.Builder
	last := shapes[len(shapes)-1]
	for i := range count {
		fmt.Fprintf(&list, ", [1e308, %s]", last[i%len(last)])
	}
	return list.String()
}

// A large value of a usual schema is affordable, and so is a deep one.
func TestUsualSchemasAreAffordable(t *testing.T) {
	const usual = `{"type": "object", "properties": {"list": {"items": {"type": "object", "properties":
		{"x": {"type": "number", "minimum": 0}, "kind": {"anyOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]}}}}, "text": {"pattern": "^[a-z ]*$"}}, "required": ["list"]}`
	const double = `{"$defs": {"n": {"allOf": [{"properties": {"a": {"$ref": "#/$defs/n"}}}, {"properties": {"a": {"$ref": "#/$defs/n"}}}]}}, "$ref": "#/$defs/n"}`
	for _, c := range []struct{ schema, value string }{
		{strings.ReplaceAll(strings.ReplaceAll(double, `/n"`, "/"+strings.Repeat("n", 9999)+`"`), `"n"`, `"`+strings.Repeat("n", 9999)+`"`), strings.Repeat(`{"a": `, 12) + `{}` + strings.Repeat(`}`, 12)},
		{usual, `{"text": "` + strings.Repeat("x", 20_000) + `", "list": [` + strings.Repeat(`{"x": 1, "kind": "b"}, `, 1900) + `{}]}`},
		{`{"items": {"type": "integer", "minimum": 0}, "uniqueItems": false}`, `[` + strings.Repeat("1, ", 20_000) + `1]`},
		{`{"items": {"required": ["x"]}, "uniqueItems": true}`, `[` + numbered(`{"x": @}`, 700) + `]`},
		{`{"uniqueItems": true}`, `[` + numbered(`@`, 9000) + `]`},
		{`{"$defs": {"n": {"properties": {"a": ` + strings.Repeat(`{"allOf": [`, 10) + `{"$ref": "#/$defs/n"}` + strings.Repeat(`]}`, 10) + `}}}, "$ref": "#/$defs/n"}`,
			strings.Repeat(`{"a": `, 60) + `{}` + strings.Repeat(`}`, 60)},
	} {
		s, why := compiled(c.schema)
		if s == nil {
			t.Fatal(why)
		}
		var none tree.Faults
		if told, code := s.Check(tree.Read([]byte(c.value), "v", &none), "v"); told != nil {
			t.Errorf("%.80s: %s %v", c.schema, code, told)
		}
	}
}

// numbered gives a form many times, with a number in each.
func numbered(form string, count int) string {
	var list []string
	for i := range count {
		list = append(list, strings.ReplaceAll(form, "@", fmt.Sprint(i)))
	}
	return strings.Join(list, ", ")
}

// What a maker may have written to keep the daemon busy with the file itself is told
// in little time.
func TestHostileFiles(t *testing.T) {
	const most, seven = 1 << 18, `{"$schema": "http://json-schema.org/draft-07/schema#", `
	many := func(s string) string { return strings.Repeat(s, most/len(s)-1) }
	for name, src := range map[string]string{
		"alternatives": `{"anyOf": [` + numbered(`{"properties": {"a@": {"type": "number", "minimum": @}}}`, 1900) + `]}`,
		"chain":        strings.Repeat(`{"items": `, 60) + `{}` + strings.Repeat(`}`, 60),
		"branches":     strings.Repeat(`{"items": `, 50) + `{"properties": {` + numbered(`"a@": {"items": {"type": "number"}}`, 1900) + `}}` + strings.Repeat(`}`, 50),
		"names":        `{"required": [` + many(`1,`) + `1]}`,
		"values":       seven + `"enum": [` + many(`1,`) + `1]}`,
		"trees":        seven + `"enum": [1` + trees(8_000) + `]}`,
		"tree names":   `{"required": [1` + trees(8_000) + `]}`,
		"few trees":    seven + `"enum": [1` + trees(90) + `]}`,
		"words":        `{"$vocabulary": {` + numbered(`"a@": 1`, 20_000) + `}}`,
		"unknown":      `{` + numbered(`"typ@": 1`, 5_000) + `}`,
		"wrong":        `{"properties": {` + numbered(`"a@": {"type": "text", "minimum": "0", "maximum": "0"}`, 3900) + `}}`,
		"references":   `{"properties": {` + numbered(`"a@": {"$ref": "#/properties/a0"}`, 3900) + `}}`,
		"no schemas":   `{"properties": {` + numbered(`"a@": {"$ref": "#/properties"}`, 3900) + `}}`,
		"more places":  `{"x": {` + numbered(`"a@": {"type": "number"}`, 3900) + `}, "properties": {` + numbered(`"a@": {"$ref": "#/x/a@"}`, 3900) + `}}`,
		"names inside": `{"properties": {` + numbered(`"a@": {"$id": "a@"}`, 3900) + `}}`,
		"examples":     `{"examples": [` + many(`{},`) + `1]}`,
	} {
		begin := time.Now()
		mib := allocated(func() { compiled(src) })
		took := time.Since(begin)
		t.Logf("%s: %d bytes, %v, %d MiB", name, len(src), took, mib)
		if took > time.Minute || mib > 500 {
			t.Errorf("%s: %d bytes took %v and %d MiB", name, len(src), took, mib)
		}
	}
}

// allocated gives how many MiB f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// A value of 64 KiB in which everything is wrong is refused in little time, with the
// first few reasons.
func TestRefusalsCostLittle(t *testing.T) {
	for name, c := range map[string]struct{ schema, value string }{
		"members":      {`{"additionalProperties": {"type": "string"}}`, `{` + numbered(`"@": 1`, 6000) + `}`},
		"not allowed":  {`{"additionalProperties": false}`, `{` + numbered(`"@": 1`, 6000) + `}`},
		"names":        {`{"propertyNames": {"maxLength": 0}}`, `{` + numbered(`"@": 1`, 6000) + `}`},
		"items":        {`{"items": {"minimum": 10, "exclusiveMinimum": 10, "multipleOf": 1e-300, "type": "number"}}`, `[` + strings.Repeat("5e-324,", 9000) + `1]`},
		"alternatives": {`{"items": {"oneOf": [{"type": "string"}, {"required": ["a"]}, {"enum": ["b", "c"]}]}}`, `[` + strings.Repeat("{},", 20_000) + `1]`},
		"nested":       {`{"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]}`, strings.Repeat("[1,", 60) + strings.Repeat("]", 60)},
		"deep":         {`{"items": {"$ref": "#"}, "maxItems": 0}`, strings.Repeat("[", 60) + strings.Repeat("1,", 20_000) + "1" + strings.Repeat("]", 60)},
	} {
		s, why := compiled(c.schema)
		var none tree.Faults
		n := tree.Read([]byte(strings.ReplaceAll(c.value, ",]", "]")), "v", &none)
		if s == nil || n == nil {
			t.Fatal(why, none)
		}
		begin := time.Now()
		var told tree.Faults
		mib := allocated(func() { told, _ = s.Check(n, "v") })
		took := time.Since(begin)
		t.Logf("%s: %v, %d MiB, %d reasons", name, took, mib, len(told))
		if len(told) == 0 || len(told) > tree.MaxTold || took > time.Minute || mib > 200 {
			t.Errorf("%s: %v, %d MiB, %v", name, took, mib, told)
		}
	}
}

// What fills memory is bounded for all the schemas of a file together.
func TestManySchemas(t *testing.T) {
	for name, c := range map[string]struct {
		part string // # is another number in each
		most int    // parts that are taken, in schemas of a hundred
		want string
	}{
		"schemas":      {`{}`, maxRules, "is one schema too many: 4000 are supported in a file, those inside others counted"},
		"instructions": {`{"pattern": "^(abc){10}#$"}`, maxInstructions / 56, "the patterns of this file are too many, or repeat too much"},
		"values":       {`{"enum": [[], {"a": 1}, "b"], "const": "c"}`, maxValues / 46, "has too much to compare with: 20000 values are supported in a file, and a list or an object in a list is 20 of them"},
	} {
		read := func(round int, why *tree.Faults) *tree.Node {
			var parts []string
			for i := range 99 {
				parts = append(parts, strings.ReplaceAll(c.part, "#", fmt.Sprint(1000+100*round+i)))
			}
			return tree.Read([]byte(`{"allOf": [`+strings.Join(parts, ", ")+`]}`), "", why)
		}
		var file Compiler
		var why tree.Faults
		taken := 0
		for len(why) == 0 && taken < 100 {
			if s := file.Compile(read(taken, &why), "s", &why); (s == nil) != (len(why) > 0) {
				t.Fatalf("%s: %v %v", name, s, why)
			}
			taken++
		}
		if len(why) != 1 || why[0].Text != c.want || (taken-1)*100 > c.most || taken*100 < c.most {
			t.Errorf("%s: after %d schemas: %v", name, taken, why)
		}
		// What comes after is not read, and nothing more is told.
		if s := file.Compile(read(200, &why), "s", &why); s != nil || len(why) != 1 {
			t.Errorf("%s: %v %v", name, s, why)
		}
		if s := new(Compiler).Compile(read(0, &why), "s", &why); s == nil {
			t.Errorf("%s: another file: %v", name, why)
		}
	}
}
