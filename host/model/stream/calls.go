package stream

import (
	"cmp"
	"encoding/json"
	"strings"
)

// Part is what one event says about a tool call.
type Part struct {
	Index    *int     `json:"index"`
	ID       Phrase   `json:"id"`
	Function Function `json:"function"`
}

// Function is the tool of a Part.
type Function struct {
	Name      Phrase    `json:"name"`
	Arguments Arguments `json:"arguments"`
}

// MaxCalls bounds the tool calls of one answer.
const MaxCalls = 64

// Call is a tool call as an endpoint gave it.
type Call struct{ ID, Name, Arguments string }

type call struct {
	id, name string
	args     strings.Builder
}

// Calls puts tool calls together from their parts. By the protocol a call's first part has its id
// and name and the others its index alone. Servers that are taken as they are: all parts at index 0
// or without one, calls whole in one part, id and name repeated in each part, empty ids, one id for
// several calls.
type Calls struct {
	list    []*call
	byIndex map[int]*call
}

// Add takes a part; false when there are too many calls.
func (c *Calls) Add(p Part) bool {
	at := c.open(p)
	if at == nil {
		if len(c.list) == MaxCalls {
			return false
		}
		at = new(call)
		c.list = append(c.list, at)
		if p.Index != nil {
			if c.byIndex == nil {
				c.byIndex = map[int]*call{}
			}
			c.byIndex[*p.Index] = at
		}
	}
	at.id, at.name = cmp.Or(at.id, string(p.ID)), cmp.Or(at.name, string(p.Function.Name))
	at.args.WriteString(string(p.Function.Arguments))
	return true
}

// open gives the call that a part goes on with, nil when it begins another.
func (c *Calls) open(p Part) *call {
	if len(c.list) == 0 {
		return nil
	}
	at := c.list[len(c.list)-1]
	if p.Index != nil {
		at = c.byIndex[*p.Index]
	}
	id, name := string(p.ID), string(p.Function.Name)
	switch {
	case at == nil:
		return nil
	case id != "" && at.id != "" && id != at.id:
		return nil
	case name != "" && at.name != "" && name != at.name:
		return nil
	case name != "" && id == "" && at.name != "" && json.Valid([]byte(at.args.String())):
		return nil // the same tool again, without an id to tell
	}
	return at
}

// List gives the calls in the order in which they began.
func (c *Calls) List() []Call {
	var all []Call
	for _, from := range c.list {
		all = append(all, Call{ID: from.id, Name: from.name, Arguments: from.args.String()})
	}
	return all
}

// Phrase is a text that some servers send as null, as a number or in parts.
type Phrase string

// UnmarshalJSON takes any kind of value.
func (p *Phrase) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*p = Phrase(s)
		return nil
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(data, &parts) != nil {
		return nil // of another kind: nothing to read
	}
	for _, part := range parts {
		if part.Type == "text" {
			*p += Phrase(part.Text)
		}
	}
	return nil
}

// Arguments are JSON in a string, or, from some servers, as they are.
type Arguments string

// UnmarshalJSON takes any kind of value.
func (a *Arguments) UnmarshalJSON(data []byte) error {
	var s string
	switch {
	case string(data) == "null":
	case json.Unmarshal(data, &s) == nil:
		*a = Arguments(s)
	default:
		*a = Arguments(data)
	}
	return nil
}
