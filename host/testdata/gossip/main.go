// Command gossip is a character for tests: it says again what it was told, piece by piece where there are several, and
// tells what it perceives.
package main

import (
	"encoding/json"
	"strings"

	companion "github.com/companiond/companiond/sdk/go"
)

const card = `{"name": "Gossip", "actions": [{"title": "nod"}], "perceptions": [{"title": "chat"}]}`

func init() {
	companion.Register(companion.Character{
		Name: "Gossip", Card: card,
		Vote: func(_ *companion.Host, s companion.Scene) companion.Vote {
			if s.Addressed {
				return companion.Want(8, "they mean me")
			}
			return companion.Listen("not mine")
		},
		Speak: speak, Perceive: perceive,
	})
}

func main() {}

// speak says what is behind a colon; all but the last of its parts, which "|" ends, are pieces.
func speak(h *companion.Host, s companion.Scene) companion.Line {
	_, text, _ := strings.Cut(s.Message.Text, ": ")
	pieces := strings.SplitAfter(text, "|")
	for _, p := range pieces[:len(pieces)-1] {
		if err := h.Say(p); err != nil {
			h.Fail(err)
		}
	}
	return companion.Say(text)
}

func perceive(h *companion.Host, p companion.Perceiving) companion.Judgement {
	var text string
	if err := json.Unmarshal(p.Perception.Body, &text); err != nil {
		h.Fail(err)
	}
	return companion.Judgement{State: "speak", Importance: 6, Reason: "heard it", Text: "I heard: " + text}
}
