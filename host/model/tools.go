package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/model/stream"
)

// maxName is how long a name may be at the APIs.
const maxName = 64

// wireName gives the name under which a tool is sent: itself when the APIs take it, else what is
// left of it with a mark that tells it from others. It depends on the name alone, so that old calls
// in the talk are named alike.
func wireName(name string) string {
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

// toolName translates a wire name back.
func toolName(wire string, tools []Tool) string {
	for _, t := range tools {
		if wireName(t.Name) == wire {
			return t.Name
		}
	}
	return wire
}

// described tells the model a tool's own name where it is sent under another.
func (t Tool) described() string {
	if wireName(t.Name) == t.Name {
		return t.Description
	}
	return strings.TrimSuffix(t.Name+": "+t.Description, ": ")
}

// parameters gives the schema of the arguments as APIs take it: an object, with nothing at its root
// that they refuse.
func (t Tool) parameters() (json.RawMessage, error) {
	var root map[string]json.RawMessage
	if len(t.Schema) > 0 {
		if err := json.Unmarshal(t.Schema, &root); err != nil {
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
		return t.Schema, nil // its keys keep the order that their writer gave them
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

// played gives calls with names translated back, ids that tell them apart (fresh makes those that are
// missing) and the key taken out. A call without a name is nobody's and left out.
func played(from []stream.Call, tools []Tool, fresh func() string, clean func(string) string) []ToolCall {
	var all []ToolCall
	taken := map[string]bool{}
	for _, c := range from {
		if c.Name == "" {
			continue
		}
		id := clean(c.ID)
		for id == "" || taken[id] {
			id = fresh()
		}
		taken[id] = true
		args := strings.TrimSpace(clean(c.Arguments))
		if args == "" || args == "null" {
			args = "{}"
		}
		all = append(all, ToolCall{ID: id, Name: clean(toolName(c.Name, tools)), Arguments: json.RawMessage(args)})
	}
	return all
}

// withoutTools gives the request for a model that cannot call any. What was called and what came of it
// is told in the user's words: in its own, the model would learn to write calls into its text.
func (r Request) withoutTools() Request {
	r.Tools = nil
	calls := map[string]ToolCall{}
	var talk []Message
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			calls[c.ID] = c
		}
		m.Calls = nil
		if m.Role == RoleTool {
			text := m.outcome()
			if c, known := calls[m.CallID]; known {
				text = c.Name + " " + string(c.Arguments) + ": " + text
			}
			m = Message{Role: RoleUser, Text: "(" + text + ")"}
		}
		talk = append(talk, m)
	}
	r.Messages = joined(talk)
	return r
}

// usesTools says whether there is anything of tools in a request.
func (r Request) usesTools() bool {
	return len(r.Tools) > 0 || slices.ContainsFunc(r.Messages, func(m Message) bool { return m.Role == RoleTool || len(m.Calls) > 0 })
}

// sendable gives the arguments of a call as every server takes them back: an object. What the model
// wrote wrong is shown to it as a string.
func sendable(args json.RawMessage) json.RawMessage {
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
