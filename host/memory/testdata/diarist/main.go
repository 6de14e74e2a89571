// Command diarist is a character for tests: it says what it remembers of what it is asked, and
// keeps what it is told to keep.
package main

import (
	"strings"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

func init() {
	companion.Register(companion.Character{
		Name: "Dia", Aliases: []string{"ディア"},
		Vote: func(_ *companion.Host, s companion.Scene) companion.Vote {
			if s.Addressed {
				return companion.Want(8, "they mean me")
			}
			return companion.Listen("not mine")
		},
		Speak: speak,
	})
}

func main() {}

func speak(h *companion.Host, s companion.Scene) companion.Line {
	if _, words, ok := strings.Cut(s.Message.Text, "keep: "); ok {
		m, err := h.Remember(abi.MemoryAdd{Text: s.Message.From + " said: " + words, Quote: words, Turn: s.Message.Seq, Keys: []string{"secret"}})
		if err != nil {
			h.Fail(err)
		}
		return companion.Say("Kept, as " + m.SaidBy + " said it.")
	}
	found, err := h.Recall(abi.MemoryAsk{Text: s.Message.Text, About: []string{s.Message.From}})
	if err != nil {
		h.Fail(err)
	}
	texts := []string{}
	for _, m := range found {
		if m.Kind == abi.MemoryFact {
			texts = append(texts, m.Text)
		}
	}
	if len(texts) == 0 {
		return companion.Say("I was not told.")
	}
	return companion.Say("I remember: " + strings.Join(texts, "; "))
}
