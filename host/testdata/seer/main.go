// Command seer is a character for tests: it has a card, so it perceives and acts,
// and it thinks with the language model of the house.
package main

import (
	"strings"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

const card = `{
  "name": "Seer",
  "actions": [
    {"title": "nod", "properties": {"times": {"type": "integer", "maximum": 3}}, "required": ["times"]},
    {"title": "speak", "properties": {"message": {"type": "string"}, "tone": {"enum": ["glad", "sad"]}}, "required": ["message"]}
  ],
  "perceptions": [{"title": "sound"}],
  "events": [{"perception": "sound", "action": ["nod"], "condition": "Somebody knocks."}]
}`

func init() {
	companion.Register(companion.Character{
		Name: "Seer", Card: card,
		Vote: func(_ *companion.Host, s companion.Scene) companion.Vote {
			if s.Addressed {
				return companion.Want(8, "they mean me")
			}
			return companion.Listen("not mine")
		},
		Speak: speak, Perceive: perceive,
		Result: func(h *companion.Host, r companion.Result) { check(h, h.Set("reason", r.Reason)) },
	})
}

func main() {}

// speak says one piece, thinks, and says the rest; asked for a tone, it takes that.
func speak(h *companion.Host, s companion.Scene) companion.Line {
	if _, tone, ok := strings.Cut(s.Message.Text, "tone: "); ok {
		return companion.Express(map[string]any{"tone": tone}, "So be it.")
	}
	const first = "Let me think. "
	check(h, h.Say(first))
	a, err := h.Generate(abi.ModelAsk{System: "You see.", Messages: []abi.ModelMessage{{Role: "user", Text: s.Message.Text}}})
	check(h, err)
	reason, _, err := h.Get("reason")
	check(h, err)
	return companion.Say(first + a.Text + reason)
}

// perceive nods too often, hears so, and nods as often as it may.
func perceive(h *companion.Host, p companion.Perceiving) companion.Judgement {
	_, err := h.React(p, "nod", map[string]int{"times": 4})
	if abi.CodeOf(err) != abi.CodeInvalid {
		return companion.Judgement{Reason: "four nods were not refused"}
	}
	_, err = h.React(p, "nod", map[string]int{"times": 2})
	check(h, err)
	return companion.Judgement{Reason: "nodded"}
}

func check(h *companion.Host, err error) {
	if err != nil {
		h.Fail(err)
	}
}
