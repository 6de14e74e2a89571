// Command player is a character for tests: it plays whatever games offer it, by the schema of
// each action and by nothing else, and says what they tell.
package main

import (
	"encoding/json"
	"fmt"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

func init() {
	companion.Register(companion.Character{
		Name:     "Player",
		Vote:     func(*companion.Host, companion.Scene) companion.Vote { return companion.Listen("plays") },
		Speak:    func(*companion.Host, companion.Scene) companion.Line { return companion.Line{Pass: "plays"} },
		Perceive: perceive,
		Result: func(h *companion.Host, r companion.Result) {
			h.Log(abi.LevelInfo, fmt.Sprintf("%s: %v", r.Action, r.OK))
		},
	})
}

func main() {}

// perceive plays the action that a game waits for: the first of those that it names, or the next
// one for each time that it failed. What a game tells otherwise is said.
func perceive(h *companion.Host, p companion.Perceiving) companion.Judgement {
	f := p.Perception.Force
	if f == nil {
		var text string
		if json.Unmarshal(p.Perception.Body, &text) != nil || p.Perception.Game == "" {
			return companion.Judgement{State: abi.Listen, Reason: "no game tells that"}
		}
		return companion.Judgement{State: abi.Speak, Importance: 5, Reason: "a game told it", Text: fmt.Sprintf("%s. I know %d more.", text, len(p.Told))}
	}
	name := f.Actions[(f.Try-1)%len(f.Actions)]
	for _, o := range p.Offers {
		if o.Name == name {
			if _, err := h.Act(name, parameters(o.Schema, f.Try)); err != nil {
				return companion.Judgement{State: abi.Listen, Reason: err.Error()}
			}
			return companion.Judgement{State: abi.Listen, Reason: "played " + name}
		}
	}
	return companion.Judgement{State: abi.Listen, Reason: "nobody offers " + name}
}

// parameters gives what a schema takes, another value each time where there are several.
func parameters(schema json.RawMessage, try int) map[string]any {
	var s struct {
		Properties map[string]struct {
			Type    string   `json:"type"`
			Enum    []any    `json:"enum"`
			Minimum *float64 `json:"minimum"`
		} `json:"properties"`
	}
	all := map[string]any{}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return all
	}
	for name, p := range s.Properties {
		switch {
		case len(p.Enum) > 0:
			all[name] = p.Enum[(try-1)%len(p.Enum)]
		case p.Minimum != nil:
			all[name] = *p.Minimum
		case p.Type == "integer" || p.Type == "number":
			all[name] = try
		case p.Type == "boolean":
			all[name] = true
		default:
			all[name] = fmt.Sprintf("try %d", try)
		}
	}
	return all
}
