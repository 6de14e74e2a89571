package model

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/shape"
)

// check says what cannot be asked.
func (r Request) check() error {
	invalid := func(format string, args ...any) error { return abi.Errorf(abi.CodeInvalid, format, args...) }
	if r.MaxTokens < 0 {
		return invalid("max_tokens: must not be negative, is %d", r.MaxTokens)
	}
	names := map[string]bool{}
	for i, t := range r.Tools {
		if t.Name == "" || names[shape.Name(t.Name)] {
			return invalid("tools[%d].name: is missing or there twice: %.80q", i, t.Name)
		}
		names[shape.Name(t.Name)] = true
		if _, err := shape.Parameters(t.Schema); err != nil {
			return invalid("tools[%d].schema: %s", i, err)
		}
	}
	if r.Schema != nil {
		var root struct{ Type any }
		if json.Unmarshal(r.Schema, &root) != nil || root.Type != "object" {
			return invalid("schema: must be a JSON Schema whose root is of type object")
		}
	}
	return r.checkMessages()
}

func (r Request) checkMessages() error {
	says := false
	for i, m := range r.Messages {
		if m.Role != RoleUser && m.Role != RoleAssistant && m.Role != RoleTool {
			return abi.Errorf(abi.CodeInvalid, "messages[%d]: the role must be user, assistant or tool, is %.40q", i, m.Role)
		}
		says = says || !m.silent()
	}
	if !says {
		return abi.Errorf(abi.CodeInvalid, "messages: none says anything")
	}
	return nil
}

// silent says that there is nothing in a message. What came of a tool always says something.
func (m Message) silent() bool {
	return strings.TrimSpace(m.Text) == "" && len(m.Images) == 0 && len(m.Calls) == 0 && m.Role != RoleTool
}

// pausing stands where an API demands a user's message and there is none.
const pausing = "…"

// filled gives a request with what is configured, and a talk as every chat template takes it.
func (r Request) filled(c Config) Request {
	if r.MaxTokens == 0 {
		r.MaxTokens = c.MaxTokens
	}
	r.temperature = c.Temperature
	if r.SchemaName == "" {
		r.SchemaName = "answer"
	}
	if c.API == OpenAI {
		r.effort = c.Effort
	}
	if !c.keeps() {
		r.CacheKey = ""
	}
	r.Messages = joined(r.Messages)
	return r
}

// Joined gives messages as they are sent, see [Message]; none where none says anything.
func Joined(all []Message) []Message {
	if !slices.ContainsFunc(all, func(m Message) bool { return !m.silent() }) {
		return nil
	}
	return joined(all)
}

// joined makes a talk in which user and assistant take turns, from user to user.
func joined(all []Message) []Message {
	var out []Message
	for _, m := range all {
		if m.silent() {
			continue
		}
		if len(out) == 0 && m.Role == RoleAssistant {
			out = append(out, Message{Role: RoleUser, Text: pausing})
		}
		if len(out) > 0 && m.joins(out[len(out)-1]) {
			last := &out[len(out)-1]
			last.parts = append(last.split(), m.split()...)
			last.Mark = m.Mark
			last.Text = strings.TrimPrefix(last.Text+"\n"+m.Text, "\n")
			last.Images = append(slices.Clip(last.Images), m.Images...)
			continue
		}
		m.parts = slices.Clip(m.parts) // the caller's
		out = append(out, m)
	}
	if last := out[len(out)-1]; last.Role == RoleAssistant && len(last.Calls) == 0 {
		out = append(out, Message{Role: RoleUser, Text: pausing})
	}
	return out
}

// split gives the messages that one was joined from.
func (m Message) split() []Message {
	if m.parts == nil {
		return []Message{m}
	}
	return m.parts
}

// joins says whether a message can be one with the one before it.
func (m Message) joins(last Message) bool {
	return m.Role == last.Role && m.Role != RoleTool && len(m.Calls) == 0 && len(last.Calls) == 0
}
