package speech

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Enders end a sentence, '.' not everywhere; Closers may stand behind one and belong
// to it.
const (
	Enders  = "。！？!?…．｡"
	Closers = "」』）)]】〉》”’\"'♪☆★〜~"

	// brackets that hold more than one sentence together, and what closes them
	openers = "「『（"
	closers = "」』）"
)

// Sentences gives where the sentences of a text end, in bytes, rising; the last is
// len(text), and an empty text has none. A sentence ends behind one or more of [Enders]
// with the [Closers] that follow, behind a line break, and behind a '.' that a space
// follows unless it is part of an abbreviation or of the number of a list. Space
// between two sentences belongs to the second; no sentence is blank but a blank text.
//
// What stands in brackets within a sentence belongs to it. A bracket that a whole
// line is in, as in novels, does not count, nor does one that is never closed.
func Sentences(text string) []int {
	var ends []int
	closed := strings.LastIndexAny(text, closers)
	for at := 0; at < len(text); {
		n := sentence(text[at:], at == 0, closed-at)
		if at += n; n == 0 || strings.TrimLeftFunc(text[at:], unicode.IsSpace) == "" {
			at = len(text)
		}
		ends = append(ends, at)
	}
	return ends
}

// Sentence gives where the first sentence of a text ends that is still being written,
// by the rule of [Sentences], and 0 while that is not sure. begins says that a line
// begins here.
func Sentence(text string, begins bool) int { return sentence(text, begins, len(text)) }

// sentence finds the end of the first sentence, 0 for none that is sure. Brackets that
// open behind closed are never closed.
func sentence(s string, begins bool, closed int) int {
	depth, before, blank := 0, rune(0), true
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		next := i + size
		switch {
		case strings.ContainsRune(openers, r) && (i > 0 || !begins) && i < closed:
			depth++
		case strings.ContainsRune(closers, r):
			depth = max(0, depth-1)
		}
		blank = blank && unicode.IsSpace(r)
		switch {
		case blank:
		case r == '\n':
			return next
		case depth == 0 && stops(before, r, s, i, next):
			rest := strings.TrimLeft(s[next:], Enders+Closers+".")
			if rest == "" {
				return 0 // more may come that belongs to it
			}
			return len(s) - len(rest)
		}
		before = r
	}
	return 0
}

// stops says whether the character at s[i:next] ends a sentence: not the dot in 3.14,
// nor the mark in Yahoo!ニュース.
func stops(before, r rune, s string, i, next int) bool {
	switch r {
	case '.':
		after, _ := utf8.DecodeRuneInString(strings.TrimLeft(s[next:], Closers))
		return unicode.IsSpace(after) && !abbreviated(s[:i])
	case '!', '?':
		after, _ := utf8.DecodeRuneInString(s[next:])
		return !(before <= unicode.MaxASCII && unicode.IsLetter(before) && unicode.IsLetter(after))
	}
	return strings.ContainsRune(Enders, r)
}

// abbreviations that more of the sentence follows.
var abbreviations = []string{"mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "vs", "approx"}

// abbreviated says whether the dot behind s does not end a sentence: "Mr.", "J. Doe",
// "e.g.", and "1." where a sentence begins.
func abbreviated(s string) bool {
	before := strings.TrimRight(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.")
	switch w := s[len(before):]; {
	case w == "":
		return false
	case strings.Trim(w, "0123456789") == "":
		return strings.TrimSpace(before) == ""
	case len(w) == 1:
		return w >= "A" && w <= "Z" && w != "I"
	case len(w) < 8 && strings.Contains(w, "."):
		return !slices.ContainsFunc(strings.Split(w, "."), func(part string) bool { return len(part) != 1 })
	default:
		return slices.Contains(abbreviations, strings.ToLower(w))
	}
}
