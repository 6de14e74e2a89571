package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// action gives a file with one action, from line 2 on.
func action(rest string) string {
	return "{\"name\": \"a\", \"actions\": [\n{" + rest + "}]}"
}

const mustSpeak = `; speak is the action whose message is said aloud: it must take {"message": "..."} and may require nothing else`

// Every line goes to bodies as speak {"message": "..."}, so a card whose speak would
// refuse that is refused itself.
func TestSpeak(t *testing.T) {
	for rest, want := range map[string]string{
		`"title": "speak"`: `f:2: actions[0].properties.message: is missing` + mustSpeak,
		`"title": "speak", "properties": {"text": {"type": "string"}}`:                                                                              `f:2: actions[0].properties.message: is missing` + mustSpeak,
		`"title": "speak", "additionalProperties": true`:                                                                                            `f:2: actions[0].properties.message: is missing` + mustSpeak,
		`"title": "speak", "properties": {"text": {"type": "string"}}, "required": ["text"]`:                                                        `f:2: actions[0].properties.message: is missing` + mustSpeak + "\n" + `f:2: actions[0].required[0]: "text"` + mustSpeak,
		"\"title\": \"speak\",\n\"properties\": {\"message\": {\"type\": \"string\"}, \"emotion\": {}},\n\"required\": [\"message\",\n\"emotion\"]": `f:5: actions[0].required[1]: "emotion"` + mustSpeak,
		"\"title\": \"speak\", \"properties\": {\n\"message\": {\"type\": \"number\"}}":                                                             `f:3: actions[0].properties.message: "OK" is a string, must be a number` + mustSpeak,
		`"title": "speak", "properties": {"message": {"enum": ["hi"]}}`:                                                                             `f:2: actions[0].properties.message: "OK" is "OK", must be one of "hi"` + mustSpeak,
		`"title": "speak", "properties": {"message": {"pattern": "^[A-Z]+$"}}`:                                                                      `f:2: actions[0].properties.message: "はい" is "はい", must match the pattern "^[A-Z]+$"` + mustSpeak,
		`"title": "speak", "properties": {"message": {"minLength": 3}}`:                                                                             `f:2: actions[0].properties.message: "OK" has 2 characters, must have at least 3` + mustSpeak,
		`"title": "speak", "properties": {"message": false}`:                                                                                        `f:2: actions[0].properties.message: "OK" is not allowed` + mustSpeak,
		`"title": "speak", "properties": {"message": {}}, "allOf": [{"properties": {"tone": {}}, "required": ["tone"]}]`:                            `f:2: actions[0]: does not take {"message": "OK"}: tone is missing` + mustSpeak,
		`"title": "speak", "properties": {"message": {}}, "minProperties": 2`:                                                                       `f:2: actions[0]: does not take {"message": "OK"}: it has 1 members, must have at least 2` + mustSpeak,
		`"title": "speak", "properties": {"mesage": {}}, "required": ["message"]`:                                                                   `f:2: actions[0].required[0]: "message" is not among the properties; there are mesage; did you mean "mesage"?`,

		`"title": "speak", "properties": {"message": {"type": "string", "maxLength": 5}, "emotion": {"enum": ["joy", "anger"]}}, "required": ["message"], "additionalProperties": false`: ``,
		`"title": "speak", "properties": {"message": {"type": "string"}}`:                                                               ``,
		`"title": "speak", "properties": {"message": {"type": ["string", "null"], "minLength": 1}}`:                                     ``,
		`"title": "speak", "$ref": "#/$defs/line", "$defs": {"line": {"properties": {"message": {"type": "string"}}}}`:                  ``,
		`"title": "speak", "properties": {"message": {}}, "dependentSchemas": {"tone": {"required": ["message"]}}`:                      ``,
		`"title": "say", "properties": {"text": {"type": "string"}, "volume": {"type": "number"}}, "required": ["text", "volume"]`:      ``,
		`"title": "Speak", "properties": {"text": {"type": "string"}}, "required": ["text"]`:                                            ``,
		`"title": "speak", "$schema": "http://json-schema.org/draft-07/schema#", "properties": {"message": {}}, "dependencies": {}`:     ``,
		`"title": "speak", "properties": {"message": {"type": "string"}, "to": {"type": "array"}}, "allOf": [{"required":["message"]}]`: ``,
	} {
		if got := wrong(t, action(rest)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", rest, got, want)
		}
	}
	// A schema that is taken takes what the daemon sends.
	for _, line := range []string{"OK", "あ", "「…」\n", `"quoted"`} {
		speak, ok := load(t, "testdata/everything.json").Action(card.Speak)
		data, _ := json.Marshal(map[string]string{"message": line})
		if !ok || speak.Check(data) != nil || card.Message(data) != line {
			t.Errorf("%s: %v, and is said as %q", data, speak.Check(data), card.Message(data))
		}
	}
}

func TestMessage(t *testing.T) {
	for parameters, want := range map[string]string{
		`{"message": "やあ"}`: "やあ", `{"emotion": {"message": "no"}, "message": " a\n"}`: " a\n", `{"message": "\u3042"}`: "あ",
		``: "", `null`: "", `{}`: "", `[]`: "", `"message"`: "", `{"message": `: "", `{"message": 1}`: "", `{"message": null}`: "",
		`{"message": ["a"]}`: "", `{"Message": "a"}`: "", `{"message": ""}`: "",
	} {
		if got := card.Message(json.RawMessage(parameters)); got != want {
			t.Errorf("%s: %q, want %q", parameters, got, want)
		}
	}
}

// A word that JSON Schema would ignore and a maker means is refused, with what to write.
func TestMisplaced(t *testing.T) {
	const beside = `: is not read: an action is the schema of its parameters itself; put "properties" and "required" beside "title"`
	for _, key := range []string{"parameters", "input_schema", "inputSchema", "arguments"} {
		for _, title := range []string{"wave", card.Speak} {
			src := action(fmt.Sprintf("\"title\": %q,\n%q: {\"type\": \"object\", \"properties\": {\"message\": {}}}", title, key))
			if got, want := wrong(t, src), `f:3: actions[0].`+key+beside; got != want {
				t.Errorf("%s:\n got %s\nwant %s", key, got, want)
			}
		}
		if got := wrong(t, action(fmt.Sprintf(`"title": "wave", "properties": {%q: {"type": "object"}}`, key))); got != "" {
			t.Errorf("a parameter %s: %s", key, got)
		}
	}
	const write = `: is not read here: write "properties": {`
	for rest, want := range map[string]string{
		`"format": "image"`:                               `format` + write + `"format": {"enum": ["image"]}}`,
		`"format": ["text", "object", "text", "sound"]`:   `format` + write + `"format": {"enum": ["text", "object"]}}`,
		`"format": {"enum": ["text"]}`:                    `format` + write + `"format": {"enum": ["text"]}}`,
		`"format": 7`:                                     `format` + write + `"format": {"enum": ["object", "text", "image"]}}`,
		`"formats": ["image"]`:                            `formats` + write + `"format": {"enum": ["image"]}}`,
		`"formats": {}`:                                   `formats` + write + `"format": {"enum": ["object", "text", "image"]}}`,
		`"body": {"type": "string"}`:                      `body` + write + `"body": {…}}`,
		`"properties": {"format": {"enum": ["text"]}}`:    ``,
		`"properties": {"body": {"format": "date-time"}}`: ``,
		`"required": ["title", "format", "body"]`:         ``,
		`"required": ["Body"]`:                            `required[0]: "Body" is never there: a perception has title, format, body; did you mean "body"?`,
	} {
		if want != "" {
			want = "f:2: perceptions[0]." + want
		}
		if got := wrong(t, "{\"name\": \"a\", \"perceptions\": [{\"title\": \"eye\",\n"+rest+"}]}"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", rest, got, want)
		}
	}
}

// A parameter that has to be there is one that the schema says something of.
func TestRequiredIsDescribed(t *testing.T) {
	for rest, want := range map[string]string{
		`"required": ["x"]`: `f:2: actions[0].required[0]: "x" is not among the properties; there are none`,
		`"properties": {"place": {}, "speed": {}}, "required": ["speed", "plcae"]`:  `f:2: actions[0].required[1]: "plcae" is not among the properties; there are place, speed; did you mean "place"?`,
		`"properties": {"x": {}}, "required": ["y"], "additionalProperties": false`: `f:2: actions[0].required[0]: "y" is not among the properties; there are x`,
		`"patternProperties": {"^x": {}}, "required": ["x1", "y"]`:                  `f:2: actions[0].required[1]: "y" is not among the properties; there are none`,
		`"allOf": [{"properties": {"x": {}}}], "required": ["x", "y"]`:              `f:2: actions[0].required[1]: "y" is not among the properties; there are none`,
		`"properties": {"at": {"properties": {"x": {}}}}, "required": ["x"]`:        `f:2: actions[0].required[0]: "x" is not among the properties; there are at`,

		`"properties": {"x": true}, "required": ["x"]`:                                          ``,
		`"required": ["x"], "additionalProperties": true`:                                       ``,
		`"required": ["x"], "additionalProperties": {"type": "number"}`:                         ``,
		`"required": ["x"], "unevaluatedProperties": {"type": "number"}`:                        ``,
		`"required": ["x"], "propertyNames": {"enum": ["x", "y"]}`:                              ``,
		`"required": ["x"], "patternProperties": {"^[xyz]$": {"type": "number"}}`:               ``,
		`"required": ["x"], "$ref": "#/$defs/p", "$defs": {"p": {"properties": {"x": {}}}}`:     ``,
		`"required": ["x"], "oneOf": [{"properties": {"x": {}}}, {"properties": {"y": {}}}]`:    ``,
		`"properties": {"x": {}, "y": {}}, "anyOf": [{"required": ["x"]}, {"required": ["y"]}]`: ``,
		`"properties": {"o": {"type": "object", "required": ["any"]}}`:                          ``,
	} {
		if got := wrong(t, action(`"title": "move", `+rest)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", rest, got, want)
		}
	}
}

func TestLanguage(t *testing.T) {
	s := published(t)
	for written, meant := range map[string]string{
		"jp": "ja", "JP": "ja", "jp-JP": "ja", "jp_JP": "ja", "Japanese": "ja", "日本語": "ja", " ja": "ja", "ja_JP": "ja-JP",
		"cn": "zh", "zh_TW": "zh-TW", "kr": "ko", "kr-KR": "ko", "gb": "en", "us": "en", "ENGLISH": "en", "한국어": "ko",
		"": "", "j": "", "Klingon": "", "ja-": "", "ja JP": "", "-ja": "", "ja-123456789": "", "jа": "", "ja\n": "ja",
	} {
		src := fmt.Sprintf("{\"name\": \"a\",\n\"language\": %q}", written)
		want := fmt.Sprintf(`f:2: language: is %q, must be the tag of a language such as "ja" or "en-US"`, written)
		if meant != "" {
			want += fmt.Sprintf(`; did you mean %q?`, meant)
			if got := wrong(t, fmt.Sprintf(`{"name": "a", "language": %q}`, meant)); got != "" {
				t.Errorf("%q: is meant, and then %s", meant, got)
			}
		}
		if got := wrong(t, src); got != want {
			t.Errorf("%q:\n got %s\nwant %s", written, got, want)
		}
		if short := len(written) < 2 || len(written) > 5; short && judge(t, s, []byte(src)) == nil {
			t.Errorf("the published schema takes %q", written)
		}
	}
	for _, tag := range []string{"ja", "en", "EN", "en-US", "zh-Hant-TW", "yue", "uk", "kr-NG", "es-419", "de-CH-1996", "sr-Latn"} {
		if c := parse(t, fmt.Sprintf(`{"name": "a", "language": %q}`, tag)); c.Language != tag {
			t.Errorf("%q: %q", tag, c.Language)
		}
	}
	if got, want := wrong(t, `{"name": "a", "language": ["ja"]}`), `f:1: language: is an array, must be a string`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A file that stops being JSON says in which line and column, in characters.
func TestColumn(t *testing.T) {
	for src, want := range map[string]string{
		"{\r\n\t\"名前\": “Aya”}":            `f:2:8: is no JSON: '“' where a value has to begin; write " instead`,
		"{\n\"name\": \"a\"，\n\"x\": 1}":   `f:2:12: is no JSON: '，' where , or } has to follow; write , instead, which is not full-width`,
		"{\n\"name\": \"a\",\n// note\n}":  `f:3:1: is no JSON: there is a comment, and JSON has none; take it out`,
		"{\n\"name\": \"ア\",\n \n}":        `f:2:12: is no JSON: there is a comma before }; take it out`,
		"{\n\"actions\": [\n{\n\"x\": 1\n": `f:5:1: is no JSON: it ends too early: the { in line 3 is not closed, nor are 2 around it`,
		"\ufeff{\"name\": \"a\"}":          `f:1: begins with a byte order mark; save it as UTF-8 without one`,
		"{\n\"name\": \"あ\x83\"}":          `f:2:11: is not UTF-8`,
	} {
		if got := wrong(t, src); got != want {
			t.Errorf("%q:\n got %s\nwant %s", src, got, want)
		}
	}
	p := card.Problem{File: "a.json", Line: 2, Path: "name", Text: "is missing"}
	if got := p.String(); got != "a.json:2: name: is missing" {
		t.Error(got)
	}
	// A client's message is no file: its mistake is told without a place.
	speak, _ := load(t, nikoniFile).Action(card.Speak)
	if err := speak.Check(json.RawMessage(`{"message": “a”}`)); abi.AsError(err).Message != `parameters: is no JSON: '“' where a value has to begin; write " instead` {
		t.Error(err)
	}
}

// The published schema says of talking what the engine does.
func TestPublishedSays(t *testing.T) {
	text := string(card.Schema())
	for _, part := range []string{"0 means that it does not speak unless it is addressed, 1 that it likes to talk", `it must take {\"message\": \"...\"} and may require nothing else`} {
		if !strings.Contains(text, part) {
			t.Errorf("the published schema does not say %s", part)
		}
	}
	// An editor marks what speak may not require.
	for rest, bad := range map[string]bool{`"title": "speak", "required": ["message", "tone"]`: true, `"title": "speak", "required": ["message"]`: false, `"title": "say", "required": ["tone"]`: false} {
		if got := judge(t, published(t), []byte(action(rest))) != nil; got != bad {
			t.Errorf("%s: marked is %v", rest, got)
		}
	}
}
