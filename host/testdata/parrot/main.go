// Command parrot is a character for tests: it wants to speak about everything
// and says its text with the number of the message it answers. Its mistakes go by the
// name of its file, so that all of them are one module, compiled once.
package main

import (
	"fmt"

	companion "github.com/companiond/companiond/sdk/go"
)

// text is set with -ldflags -X.
var text = "one"

func init() {
	companion.Register(companion.Character{
		Name: "Parrot",
		Vote: func(h *companion.Host, s companion.Scene) companion.Vote {
			commit(h.Self(), s.Turns)
			if h.Self() == "bad" {
				return companion.Vote{State: "dance"}
			}
			return companion.Want(5, "a parrot always wants to speak")
		},
		Speak: func(_ *companion.Host, s companion.Scene) companion.Line {
			return companion.Line{Text: fmt.Sprintf("%s %d", text, s.Message.Seq)}
		},
	})
}

func main() {}

var hoard [][]byte

// commit does what no character should.
func commit(sin string, n int) {
	switch sin {
	case "loop":
		for {
		}
	case "recurse":
		fmt.Sprint(deep(n))
	case "grow":
		for {
			hoard = append(hoard, make([]byte, 1<<20))
		}
	}
}

func deep(n int) int { return deep(n+1) + deep(n+2) }
