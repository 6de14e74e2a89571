package known

import (
	"iter"
	"slices"
	"strings"
)

// honorifics are what is put behind a name, and makes no other of it.
var honorifics = []string{"さん", "ちゃん", "くん", "君", "さま", "様", "先生", "先輩", "殿", "氏", "たん", "っち", "-san", "-chan", "-kun", "-sama", "-senpai", "-sensei"}

// Honorific gives the honorific that a plain text begins with.
func Honorific(text string) string {
	for _, h := range honorifics {
		if strings.HasPrefix(text, h) {
			return h
		}
	}
	return ""
}

// Honorifics gives all of them.
func Honorifics() iter.Seq[string] { return slices.Values(honorifics) }

// Bare gives a name without what people put before and behind one: @mika and mikaさん are mika.
func Bare(name string) string {
	name = strings.TrimPrefix(name, "@")
	for _, h := range honorifics {
		if bare, ok := strings.CutSuffix(name, h); ok && bare != "" {
			return bare
		}
	}
	return name
}
