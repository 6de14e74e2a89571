// Command clerk is a character for tests that is built as WebAssembly and as a program, from the same
// source but for main. It counts what it says in its keys, and tells who it is; asked to, it fetches what is at an address.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// card has one action: for the rest it plays what is offered.
const card = `{"name":"Clerk","description":"Plays what handlers offer.","actions":[{"title":"speak","description":"Says something.","type":"object","properties":{"message":{"type":"string"}},"required":["message"]}],"perceptions":[{"title":"beacon","description":"What a handler tells.","type":"object"}]}`

// text is said behind the count.
var text = "first"

func init() {
	companion.Register(companion.Character{Name: "Clerk", Aliases: []string{"書記"}, Vote: vote, Speak: speak, Card: card})
}

func vote(_ *companion.Host, s companion.Scene) companion.Vote {
	if s.Addressed {
		return companion.Want(8, "they mean me")
	}
	return companion.Listen("not mine")
}

func speak(h *companion.Host, s companion.Scene) companion.Line {
	var n int
	if _, err := h.GetJSON("count", &n); err != nil {
		h.Fail(err)
	}
	if err := h.SetJSON("count", n+1); err != nil {
		h.Fail(err)
	}
	family(s)
	if _, url, ok := strings.Cut(s.Message.Text, "fetch:"); ok {
		got, err := h.Fetch(abi.FetchAsk{URL: url})
		if err != nil {
			return companion.Say(err.Error())
		}
		return companion.Say(fmt.Sprintf("%d %s", got.Status, got.Text))
	}
	if _, action, ok := strings.Cut(s.Message.Text, "play:"); ok {
		name, parameters, _ := strings.Cut(action, " ")
		var all any
		if parameters != "" {
			all = json.RawMessage(parameters)
		}
		played, err := h.Act(name, all)
		if err != nil {
			return companion.Say(err.Error())
		}
		return companion.Say(fmt.Sprintf("played %s, %d offers", played.ID, len(s.Offers)))
	}
	info, err := h.Info()
	if err != nil {
		h.Fail(err)
	}
	fmt.Fprintln(os.Stderr, "clerk was asked")
	return companion.Say(fmt.Sprintf("%d %s %s", n+1, info.ID, text))
}
