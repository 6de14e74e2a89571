// Command star is a character for tests of a whole stage: as aya it tells what a viewer wrote in the chat, as kyoko it says
// something about that, both piece by piece.
package main

import (
	"encoding/json"
	"strings"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

const card = `{"name":"Star","description":"Tells what viewers write.","actions":[],
"perceptions":[{"title":"chat","description":"What a viewer wrote.","type":"object","properties":{"format":{"enum":["object"]},"body":{"type":"object"}}}]}`

func init() {
	companion.Register(companion.Character{Name: "Star", Needs: []string{abi.HostSay}, Card: card, Vote: vote, Speak: speak, Perceive: perceive})
}

func perceive(h *companion.Host, p companion.Perceiving) companion.Judgement {
	var chat struct{ Name, Text string }
	if err := json.Unmarshal(p.Perception.Body, &chat); err != nil {
		h.Fail(err)
	}
	if err := h.SetJSON("chat", chat); err != nil {
		h.Fail(err)
	}
	return companion.Judgement{State: abi.Speak, Importance: 8, Reason: "a viewer wrote"}
}

func vote(h *companion.Host, s companion.Scene) companion.Vote {
	if h.Self() == "kyoko" && s.Message.From == "aya" {
		return companion.Want(8, "aya told something")
	}
	return companion.Listen("nothing to say")
}

func speak(h *companion.Host, s companion.Scene) companion.Line {
	pieces := []string{"そうですね。", "わたしも、そうおもいます。"}
	if h.Self() == "aya" {
		var chat struct{ Name, Text string }
		if _, err := h.GetJSON("chat", &chat); err != nil {
			h.Fail(err)
		}
		pieces = []string{"コメントがきました。", chat.Text + "、だそうです。"}
	}
	for _, text := range pieces {
		if err := h.Say(text); err != nil {
			h.Fail(err)
		}
	}
	return companion.Say(strings.Join(pieces, ""))
}

func main() {}
