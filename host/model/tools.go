package model

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/model/shape"
	"github.com/companiond/companiond/host/model/stream"
)

// toolName translates a wire name back.
func toolName(wire string, tools []Tool) string {
	for _, t := range tools {
		if shape.Name(t.Name) == wire {
			return t.Name
		}
	}
	return wire
}

// described tells the model a tool's own name where it is sent under another.
func (t Tool) described() string {
	if shape.Name(t.Name) == t.Name {
		return t.Description
	}
	return strings.TrimSuffix(t.Name+": "+t.Description, ": ")
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
			m = Message{Role: RoleUser, Text: "(" + text + ")", Mark: m.Mark}
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
