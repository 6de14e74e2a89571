package address

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/companiond/companiond/abi"
)

// CheckName reports why a new name must not be given to anybody: it breaks a rule
// of [abi.CheckName], or mixes scripts within a word, as "mіka" does, whose і is
// Cyrillic. A word is what stands between '-', '_', '.' and digits.
//
// The scripts that may be mixed are those of the profile Highly Restrictive of
// UTS #39 (Unicode Security Mechanisms), section 5.2: a word is of one script, or
// of those that Japanese, Chinese or Korean is written with, and Latin.
//
// It is for the doors, where names are made. Names in journals and folders may be
// older than this rule.
func CheckName(field, name string) error {
	if err := abi.CheckName(field, name); err != nil {
		return err
	}
	// 𝗆 and ｍ are Latin letters only when they are m.
	a, b, mixed := mixture(norm.NFKC.String(name))
	if !mixed {
		return nil
	}
	return abi.Field(field, abi.CodeInvalid, "%q mixes scripts in a word: %s, %s; type the whole word in letters of one of them",
		name, describe(a), describe(b))
}

// describe names a letter by what tells it from those that look like it.
func describe(r rune) string {
	return fmt.Sprintf("%c (U+%04X) is %s", r, r, strings.ReplaceAll(script(r), "_", " "))
}

// mixable are the sets of scripts that a word may be written in. The scripts they
// share, Latin and Han, go with every one of them, so that to look at two
// scripts at a time is enough.
var mixable = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"},
}

// mixture gives the first two letters of a word that may not stand in it together.
func mixture(name string) (a, b rune, mixed bool) {
	var word []rune // the first letter of each script
	for _, r := range name {
		s := script(r)
		if s == "" {
			if !unicode.IsLetter(r) && !unicode.IsMark(r) {
				word = nil
			}
			continue
		}
		known := false
		for _, first := range word {
			switch other := script(first); {
			case other == s:
				known = true
			case !mayMix(s, other):
				return first, r, true
			}
		}
		if !known {
			word = append(word, r)
		}
	}
	return 0, 0, false
}

func mayMix(a, b string) bool {
	return slices.ContainsFunc(mixable, func(set []string) bool { return slices.Contains(set, a) && slices.Contains(set, b) })
}

// script gives the script of a letter, mark or digit, and "" for what goes with
// any: what Unicode calls Common (ー, 1) and Inherited (U+3099).
func script(r rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			if name == "Common" || name == "Inherited" {
				return ""
			}
			return name
		}
	}
	return ""
}
