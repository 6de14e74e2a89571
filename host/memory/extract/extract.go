// Package extract finds by rules, without a model, what people said that is worth
// remembering: facts about themselves in Japanese and English, and what a talk was about.
//
// It reads only what people said and never what companions or agents did, quoted words, questions,
// what is supposed, denied, hoped or joked. A fact too few is better than one that is
// not true: each has the exact words that it rests on.
package extract

import (
	"github.com/companiond/companiond/host/memory/fact"
)

// Facts gives what people said of themselves in these turns, in their order. known are
// facts of theirs that are so, which a correction may close.
func Facts(turns []fact.Turn, known []fact.Fact) []fact.New { panic("later") }

// Episode gives one line for a talk: when it was, who was there, and the most telling words
// that people said. ok is false where nothing would be worth it. names are display names by id.
func Episode(turns []fact.Turn, names map[string]string) (n fact.New, ok bool) { panic("later") }
