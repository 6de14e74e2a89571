package cards

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// What action-play takes is bounded, for models read all of it: beyond this the
// names or the parameters are not spelled out.
const (
	maxNames  = 256
	maxSchema = 64 << 10
	maxOwners = 16
)

// schema is a JSON Schema as far as it is put together here.
type schema struct {
	Type        string            `json:"type,omitempty"`
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	Enum        []string          `json:"enum,omitempty"`
	Properties  *arguments        `json:"properties,omitempty"`
	Required    []string          `json:"required,omitempty"`
	AnyOf       []json.RawMessage `json:"anyOf,omitempty"`
	Additional  *bool             `json:"additionalProperties,omitempty"`
}

type arguments struct {
	Action     schema          `json:"actionName"`
	Parameters json.RawMessage `json:"parameters"`
	Companion  schema          `json:"companion"`
	Perception schema          `json:"perception"`
}

// Play gives the JSON Schema of action-play's arguments, nil where no card has an
// action. The choice between the actions' parameters is inside the property
// parameters: at the root of a tool's schema, model providers refuse it together
// with all the rest of the request.
func (s Set) Play() json.RawMessage {
	names := s.actions()
	if len(names) == 0 {
		return nil
	}
	whose := "Whose action; when absent, of the one whom the URL names behind /mcp/"
	if usual, ok := s.Find(""); ok {
		whose += ", or else of " + usual.ID
	}
	return encode(schema{
		Type: "object",
		Properties: &arguments{
			Action:     schema{Type: "string", Description: "Which action of the card.", Enum: few(names)},
			Parameters: s.parameters(),
			Companion:  schema{Type: "string", Description: whose + ".", Enum: few(s.IDs())},
			Perception: schema{Type: "string", Description: "The title of the perception that led to it, if one did: the card's events must then allow the action for it."},
		},
		Required:   []string{"actionName", "parameters"},
		Additional: new(false),
	})
}

func few(names []string) []string {
	if len(names) > maxNames {
		return nil
	}
	return names
}

// actions lists the names of all actions, each once.
func (s Set) actions() []string {
	var names []string
	seen := map[string]bool{}
	for _, c := range s.cards {
		for _, a := range c.Actions {
			if !seen[a.Name] {
				seen[a.Name] = true
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// way is one kind of parameters: those of an action, for the companions that have
// it just so.
type way struct {
	action Action
	of     []string
}

// parameters is the choice between the parameters of all actions, or any object
// where it would be too long.
func (s Set) parameters() json.RawMessage {
	var ways []way
	known, size := map[string]int{}, 0 // index of a way
	for _, c := range s.cards {
		for _, a := range c.Actions {
			key := a.Name + "\x00" + a.Description + "\x00" + string(a.Schema)
			i, ok := known[key]
			if !ok {
				i, known[key] = len(ways), len(ways)
				ways = append(ways, way{action: a})
				size += len(key)
			}
			ways[i].of = append(ways[i].of, c.ID)
		}
	}
	if size > maxSchema {
		return encode(schema{Type: "object", Description: "The action's parameters, as the card has them."})
	}
	var choice []json.RawMessage
	for _, w := range ways {
		choice = append(choice, w.schema(len(w.of) < len(s.cards) && len(w.of) <= maxOwners))
	}
	if len(choice) == 1 {
		return choice[0]
	}
	return encode(schema{AnyOf: choice})
}

// schema gives the action's schema with its name and description, to be put
// inside another; owned says to tell who has it.
func (w way) schema(owned bool) json.RawMessage {
	about := w.action.Description
	if owned {
		about = strings.TrimSpace(about + " (" + strings.Join(w.of, ", ") + ")")
	}
	var own map[string]any
	dec := json.NewDecoder(bytes.NewReader(w.action.Schema))
	dec.UseNumber() // numbers go out as they came, but only those that others can read
	if json.Unmarshal(w.action.Schema, new(any)) != nil || dec.Decode(&own) != nil || own["type"] != "object" || !movable(own) {
		return encode(schema{Type: "object", Title: w.action.Name, Description: about})
	}
	own["title"] = w.action.Name
	if about != "" {
		own["description"] = about
	}
	delete(own, "$schema")
	return encode(own)
}

// movable says whether a schema means the same inside another: it refers to no
// place, and has no annotation that MCP takes for a header of the request.
func movable(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, of := range v {
			if slices.Contains([]string{"$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor", "x-mcp-header"}, name) || !movable(of) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(v, func(of any) bool { return !movable(of) })
	}
	return true
}

// encode writes JSON without escapes of <, > and &: models read it. What it is
// given can always be written.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
