package card_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/card"
)

// allocated gives how many MiB f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// An image is not made a text again, 11 MiB for 8, where no schema reads that; where
// one does, the second text is made only when the first is refused.
func TestLargeImagesCost(t *testing.T) {
	large := append(bytes.Clone(png), make([]byte, 8<<20-len(png))...)
	in64 := json.RawMessage(quoted("", large))
	lined := json.RawMessage(strings.Replace(quoted("", large), "A", `A\n`, 1))
	for _, c := range []struct {
		name, body string
		p          card.Percept
		mib        uint64 // at most
		ok         bool
	}{
		{"decoded", `{"type": "string"}`, card.Percept{Image: large}, 0, true},
		{"decoded, any body", `true`, card.Percept{Image: large}, 0, true},
		{"base64", `{"type": "string"}`, card.Percept{Body: in64}, 8, true},
		{"base64 with an escape", `{"type": "string"}`, card.Percept{Body: lined}, 8 + 3*11, true},
		// The validator makes a copy of each text that it judges.
		{"a schema that takes the first form", `{"pattern": "^iVBOR"}`, card.Percept{Image: large}, 2 * 11, true},
		{"a schema that takes the other", `{"pattern": "^data:"}`, card.Percept{Image: large}, 4 * 11, true},
		{"a schema that takes none", `{"type": "object"}`, card.Percept{Image: large}, 0, false},
	} {
		def := parse(t, `{"name": "a", "perceptions": [{"title": "eye", "properties": {"body": `+c.body+`}}]}`)
		c.p.Title, c.p.Format = "eye", "image"
		var err error
		got := allocated(func() { _, err = def.Check(c.p) })
		t.Logf("%s: %d MiB", c.name, got)
		if got > c.mib || (err == nil) != c.ok {
			t.Errorf("%s: %d MiB, at most %d; %v", c.name, got, c.mib, err)
		}
	}
}

// Whether the body's text is made or not, the answer is the same: each schema is
// asked as it is, and with a word beside it that changes nothing but has the text
// made.
func TestImagesWithoutTheirTextAreJudgedTheSame(t *testing.T) {
	for i, rest := range []string{
		``, `"type": "object"`, `"properties": {}`, `"properties": {"body": {}}`, `"properties": {"body": true}`, `"properties": {"body": false}`,
		`"properties": {"body": {"type": "string"}}`, `"properties": {"body": {"type": "object"}}`, `"properties": {"body": {"type": ["null", "string"]}}`,
		`"properties": {"body": {"type": "string", "description": "d", "contentEncoding": "base64", "format": "byte"}}`,
		`"properties": {"body": {"minLength": 5}}`, `"properties": {"body": {"maxLength": 5}}`, `"properties": {"body": {"maxLength": 40}}`,
		`"properties": {"body": {"const": ""}}`, `"properties": {"body": {"enum": ["", "a"]}}`, `"properties": {"body": {"not": {"const": ""}}}`,
		`"properties": {"body": {"pattern": "^data:image/png"}}`, `"properties": {"body": {"pattern": "^$"}}`, `"properties": {"body": {"pattern": "^i"}}`,
		`"properties": {"body": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"minLength": 1}}`, `"properties": {"body": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"maxLength": 1}}`,
		`"properties": {"body": {"type": "string"}}, "$defs": {"x": {"maxLength": 1}}`,
		`"properties": {"body": {"allOf": [{"maxLength": 1}]}}`, `"properties": {"body": {"if": {"maxLength": 1}, "then": false}}`,
		`"properties": {"title": {"type": "string"}}, "additionalProperties": {"maxLength": 1}`, `"additionalProperties": {"minLength": 9}`, `"additionalProperties": false`,
		`"properties": {"title": {}, "format": {}, "body": {"type": "string"}}, "additionalProperties": false`,
		`"properties": {"title": {}, "body": {"type": "string"}}, "additionalProperties": false`,
		`"patternProperties": {"^b": {"maxLength": 1}}`, `"patternProperties": {"^b": {"minLength": 1}}`, `"unevaluatedProperties": {"maxLength": 9}`,
		`"allOf": [{"properties": {"body": {"maxLength": 1}}}]`, `"not": {"properties": {"body": {"const": ""}}}`, `"maxProperties": 2`, `"propertyNames": {"maxLength": 4}`,
		`"dependentSchemas": {"body": {"properties": {"body": {"maxLength": 1}}}}`, `"enum": [1]`, `"const": {}`,
		`"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"body": {"maxLength": 1}}}}`,
		`"properties": {"title": {"const": "other"}, "body": {"type": "string"}}`, `"properties": {"format": {"type": "string", "enum": ["image"]}, "body": {}}, "required": ["title", "format", "body"]`,
	} {
		if rest != "" {
			rest = ", " + rest
		}
		// Another perception stands before it: its schema must not be taken for this.
		const file = `{"name": "a", "perceptions": [{"title": "ear", "properties": {"body": {}}}, {"title": "eye"%s%s}]}`
		as, made := parse(t, fmt.Sprintf(file, rest, "")), parse(t, fmt.Sprintf(file, rest, `, "minProperties": 0`))
		for _, p := range []card.Percept{{Image: png}, {Body: json.RawMessage(quoted("data:image/png;base64,", png))}} {
			p.Title, p.Format = "eye", "image"
			got, err := as.Check(p)
			want, wanted := made.Check(p)
			if said(err) != said(wanted) || !bytes.Equal(got.Image, want.Image) || got.MediaType != want.MediaType {
				t.Errorf("%d: %s:\n got %v\nwant %v", i, rest, err, wanted)
			}
		}
	}
}

// An image is kept in as many bytes as it says.
func TestImagesKeepNothingElse(t *testing.T) {
	c := load(t, nikoniFile)
	in64 := base64.StdEncoding.EncodeToString(png)
	for name, p := range map[string]card.Percept{
		"line ends":   {Body: json.RawMessage(`"` + strings.Repeat(`\n`, 1<<20) + in64 + `"`)},
		"in its room": {Image: append(make([]byte, 0, 1<<20), png...)},
	} {
		p.Title, p.Format = "vision", "image"
		got, err := c.Check(p)
		if err != nil || !bytes.Equal(got.Image, png) || cap(got.Image) > 1024 {
			t.Errorf("%s: %d bytes for %d, %v", name, cap(got.Image), len(got.Image), err)
		}
	}
}
