package scaffold

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// One is a character that is one file, which nothing builds.
type One struct {
	Name string // a companion's id
	Lang Lang   // Card, Talk or TypeScript
	Ja   bool   // what it says is Japanese
}

// The languages of those, besides TypeScript.
const (
	Card Lang = "card" // JSON that a language model lives
	Talk Lang = "talk" // lines to say
)

// Ones are the languages in which a character is one file.
func Ones() []Lang { return []Lang{Talk, Card, TypeScript} }

// File is the name of its file.
func (o One) File() string {
	switch o.Lang {
	case Card:
		return o.Name + ".json"
	case Talk:
		return o.Name + ".talk.txt"
	}
	return o.Name + ".ts"
}

// Text is what stands in its file.
//
// # Errors
//
// An [*abi.Error] where the name or the language is none.
func (o One) Text() (string, error) {
	if err := abi.CheckName("name", o.Name); err != nil {
		return "", err
	}
	from := map[Lang]string{Card: "one/card", Talk: "one/talk", TypeScript: "script/main.ts"}[o.Lang]
	switch {
	case from == "":
		return "", abi.Field("lang", abi.CodeInvalid, "%q is none, have: card, talk, ts", o.Lang)
	case o.Lang == TypeScript:
	case o.Ja:
		from += ".ja"
	default:
		from += ".en"
	}
	of := words{Folder: Folder{Name: o.Name, Kind: Character, Lang: o.Lang}, Title: capital(o.Name)}
	text, err := of.fill(from)
	return strings.TrimRight(string(text), "\n") + "\n", err
}

// capital is a name as people write it, in whatever script.
func capital(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}
