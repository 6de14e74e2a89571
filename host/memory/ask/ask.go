// Package ask has a language model find what is worth remembering in what people said, and
// believes none of it: a fact whose quotation is not in a turn of a person, or that
// names what nobody said, is dropped.
//
// It makes the prompt and reads the answer; it sends nothing. What others said goes into the
// user's message as one JSON value a line, and never into the system's.
package ask

import (
	"encoding/json"

	"github.com/companiond/companiond/host/memory/fact"
)

// Prompt is what a model is to be asked.
type Prompt struct {
	System string          // the same whatever was said
	User   string          // JSON, one value a line
	Schema json.RawMessage // JSON Schema of the answer
}

// For asks what is worth remembering in these turns, beside what is known already.
func For(known []fact.Fact, turns []fact.Turn) Prompt { panic("later") }

// Read gives what of a model's answer stands up to the turns that it was asked about, and for
// each of the rest why it does not, without its words. A known fact that comes back word for word,
// and was not said again, is none.
func Read(answer string, known []fact.Fact, turns []fact.Turn) (found []fact.New, rejected []string) {
	panic("later")
}
