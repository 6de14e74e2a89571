// Package form knows the forms that a text of companiond.toml may have to have, such as
// an address, an origin or a name: it gives the one spelling of each, or says what is
// wrong and what to write instead.
//
// It is pure: it looks no name up and opens no path. It knows no keys, and where
// a text stands.
package form

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/host/spell"
)

// Form gives the one spelling of a text, or why it will not do.
type Form func(s string) (string, *Fault)

// Fault is why a text will not do.
type Fault struct {
	Message string
	Hint    string // what to write instead; may be empty
}

// Show quotes a text for a message and shortens a very long one.
func Show(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Meant hints at the word that was probably meant, "" for none.
func Meant(near string) string {
	if near == "" {
		return ""
	}
	return "did you mean " + Show(near) + "?"
}

// Unknown words a text that is none of those there are.
func Unknown(s string, known []string) *Fault {
	return &Fault{Message: Show(s) + " is unknown, have: " + strings.Join(known, ", "), Hint: Meant(spell.Near(s, known))}
}
