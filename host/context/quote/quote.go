// Package quote writes the words of others for a language model, so that they end where they
// end, whatever stands in them: as JSON in one line, or plain, without the marks of chat templates.
//
// It never changes what JSON says: whoever decodes it has the words back, letter by letter.
package quote

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// JSON writes a value as JSON in one line. What a model or a reader might take for something
// else than a letter of a text is written as an escape: line ends of other scripts, marks that
// turn the direction of writing or have no width, and what chat templates use to say that
// another speaks. A value that cannot be encoded is null.
func JSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "null"
	}
	text := strings.TrimSuffix(b.String(), "\n")
	text = escaped.Replace(text)
	return markers.ReplaceAllStringFunc(text, func(m string) string {
		return `\u00` + map[byte]string{'<': "3c", '[': "5b"}[m[0]] + m[1:]
	})
}

// escaped are letters that JSON lets stand and that are no letters to whoever reads.
var escaped = func() *strings.Replacer {
	const hex = "0123456789abcdef"
	var pairs []string
	for _, span := range [][2]rune{{0x7f, 0x9f}, {0x200b, 0x200c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}} {
		for r := span[0]; r <= span[1]; r++ {
			pairs = append(pairs, string(r), `\u`+string([]byte{hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15]}))
		}
	}
	return strings.NewReplacer(pairs...)
}()

// markers begin like the tokens of chat templates: <|im_start|>, <start_of_turn>, </s>, [INST].
var markers = regexp.MustCompile(`<[|/_a-zA-Z]|\[/?[A-Z_]{3,}\]`)

// Plain gives words that a model is told as its own, or as the house's, so that a chat template takes nothing in them
// for the end of a message: the first letter of its marks is a wide one. All else stays, which models imitate.
func Plain(text string) string {
	return templates.ReplaceAllStringFunc(text, func(m string) string {
		return map[byte]string{'<': "＜", '[': "［"}[m[0]] + m[1:]
	})
}

// templates are marks of chat templates that are known. What only looks like one may be a word in angle brackets.
var templates = regexp.MustCompile(`<\||</?s>|<</?SYS>>|<(?:start|end)_of_turn>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]`)
