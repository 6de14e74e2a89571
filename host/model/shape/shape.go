// Package shape gives names, arguments and schemas the shape that the APIs of language models take, and finds
// JSON in what models write. It sends nothing and knows no API by name.
package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// maxName is how long a name may be at the APIs.
const maxName = 64

// Name gives the name under which a tool is sent: itself when the APIs take it, else what is
// left of it with a mark that tells it from others. It depends on the name alone, so that old calls
// in the talk are named alike.
func Name(name string) string {
	kept := strings.Map(func(r rune) rune {
		if nameRune(r) {
			return r
		}
		return -1
	}, name)
	if kept == name && name != "" && len(name) <= maxName {
		return name
	}
	h := fnv.New32a()
	h.Write([]byte(name)) // never fails
	kept = kept[:min(len(kept), maxName-len("_00000000"))]
	if kept == "" {
		kept = "tool"
	}
	return fmt.Sprintf("%s_%08x", kept, h.Sum32())
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// Parameters gives the schema of the arguments as APIs take it: an object, with nothing at its root
// that they refuse.
func Parameters(schema json.RawMessage) (json.RawMessage, error) {
	var root map[string]json.RawMessage
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &root); err != nil {
			return nil, fmt.Errorf("is not a JSON object: %w", err)
		}
	}
	if kind := string(root["type"]); kind != `"object"` && kind != "" {
		return nil, fmt.Errorf("its root must be of type object, is %.40s", kind)
	}
	refused := false
	for _, k := range []string{"oneOf", "anyOf", "allOf", "not", "enum"} {
		if _, there := root[k]; there {
			delete(root, k)
			refused = true
		}
	}
	if !refused && root["type"] != nil && root["properties"] != nil {
		return schema, nil // its keys keep the order that their writer gave them
	}
	if root == nil {
		root = map[string]json.RawMessage{}
	}
	root["type"] = json.RawMessage(`"object"`)
	if root["properties"] == nil { // OpenAI refuses an object without
		root["properties"] = json.RawMessage(`{}`)
	}
	return json.Marshal(root)
}

// Arguments gives the arguments of a call as every server takes them back: an object. What the model
// wrote wrong is shown to it as a string.
func Arguments(args json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(args)
	if len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) {
		return trimmed
	}
	if len(trimmed) == 0 {
		return json.RawMessage(`{}`)
	}
	wrong, _ := json.Marshal(map[string]string{"not_an_object": string(trimmed)}) // strings can always be marshalled
	return wrong
}

// Object finds a JSON object in what a model wrote: alone, in a code fence, or with words
// around it. What is within an object that is not whole is not looked at. Where there is none, commas behind the last of
// something are taken for a slip of the pen.
func Object(text string) (json.RawMessage, bool) {
	raw, ok := object(text)
	if !ok {
		raw, ok = object(withoutCommas(text))
	}
	return raw, ok
}

// most is how many objects are looked at.
const most = 16

// Differ says whether what a model wrote has more than one JSON object, wherever they stand, and not all mean the same. What begins
// like one and cannot be read may mean anything: it differs from all. It looks at so many that more of them differ, too.
func Differ(text string) bool {
	var one any
	unread := 0
	for n := 0; n+unread <= most; {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			return false
		}
		text = text[at:]
		v, rest, ok := value(text, unread == 0)
		switch {
		case ok:
			if unread > 0 || one != nil && !reflect.DeepEqual(v, one) {
				return true
			}
			n, one, text = n+1, v, rest
			continue
		case begins(text):
			if unread++; one != nil {
				return true
			}
		}
		text = text[1:]
	}
	return true
}

// begins says whether a text begins like an object: words in braces do not.
func begins(text string) bool {
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	return rest == "" || rest[0] == '"' || rest[0] == '\''
}

// value reads the object that a text begins with, also with a slip of the pen, and gives what stands behind it.
func value(text string, mended bool) (v any, rest string, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	switch {
	case d.Decode(&v) == nil:
		return v, text[d.InputOffset():], true
	case mended && begins(text):
		return value(withoutCommas(text), false)
	}
	return nil, "", false
}

func object(text string) (json.RawMessage, bool) {
	for _, from := range []string{"```json", "```", ""} {
		_, rest, found := strings.Cut(text, from)
		at := strings.IndexByte(rest, '{')
		if !found || at < 0 {
			continue
		}
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(rest[at:])).Decode(&raw) == nil {
			return raw, true
		}
	}
	return nil, false
}

// withoutCommas leaves out commas that stand before the end of an object or a list, but none within a string.
func withoutCommas(text string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			if rest := strings.TrimLeft(text[i+1:], " \t\r\n"); rest != "" && (rest[0] == '}' || rest[0] == ']') {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Strict says whether a schema is one that OpenAI's strict mode takes: every object says that it has
// no other properties, and requires all it has.
func Strict(schema json.RawMessage) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && !loose(v)
}

// loose says whether there is an object in a schema that is not closed.
func loose(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, loose)
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); (ok || v["type"] == "object") && !closed(v, properties) {
			return true
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), loose)
	}
	return false
}

func closed(object, properties map[string]any) bool {
	required, _ := object["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return object["additionalProperties"] == false
}
