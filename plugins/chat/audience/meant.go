package audience

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// named gives the companion whose name stands first in a text, "" where none does. A name of letters that words are made of with
// spaces in between has to stand alone: Al is not in always.
func named(text string, companions []string, names map[string][]string) (companion string) {
	text = strings.ToLower(text)
	first := len(text)
	for _, c := range companions {
		for _, name := range append([]string{c}, names[c]...) {
			if at := find(text, strings.ToLower(strings.TrimSpace(name))); at >= 0 && at < first {
				first, companion = at, c
			}
		}
	}
	return companion
}

// find gives the place of a name in a text, -1 where it is not.
func find(text, name string) int {
	if name == "" {
		return -1
	}
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return -1
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		behind, _ := utf8.DecodeRuneInString(text[at+len(name):])
		head, size := utf8.DecodeRuneInString(name)
		tail, _ := utf8.DecodeLastRuneInString(name)
		if !(spaced(before) && spaced(head)) && !(spaced(tail) && spaced(behind)) {
			return at
		}
		from = at + size
	}
}

// spaced says whether a letter is one of a script that has spaces between its words.
func spaced(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && r != utf8.RuneError &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && r != 'ー'
}
