package tokens

import (
	"sort"
	"unicode"
	"unicode/utf8"
)

// Cut gives the beginning and the end of a text that by the meter's guess come to no more than so many tokens
// together, about half of them each. A text that fits is head alone. Letters stay whole, and so do those
// that are shown as one, such as an emoji of a family.
func Cut(text string, most int, m *Meter) (head, tail string) {
	if fits(text, most, m) {
		return text, ""
	}
	half := most / 2
	end := grown(len(text), func(n int) bool { return fits(text[:wholeBefore(text, n)], half, m) })
	head = text[:wholeBefore(text, end)]
	rest := text[len(head):]
	end = grown(len(rest), func(n int) bool { return fits(rest[wholeAfter(rest, len(rest)-n):], most-half, m) })
	return head, rest[wholeAfter(rest, len(rest)-end):]
}

func fits(text string, most int, m *Meter) bool { return m.Tokens(Of(text)) <= most }

// grown finds the largest n for which ok holds, at most all, and looks no further than twice as far.
func grown(all int, ok func(n int) bool) int {
	far := 64
	for far < all && ok(far) {
		far *= 2
	}
	far = min(far, all)
	return far - sort.Search(far, func(less int) bool { return ok(far - less) })
}

// maxJoined is how far a cut is moved to keep letters together that are shown as one: further is no writing.
const maxJoined = 16

// wholeBefore gives the last place up to n where text may be cut, and wholeAfter the first from n on.
func wholeBefore(text string, n int) int {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	at := n
	for range maxJoined {
		if !inLetter(text, at) {
			return at
		}
		_, width := utf8.DecodeLastRuneInString(text[:at])
		at -= width
	}
	return n
}

func wholeAfter(text string, n int) int {
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	at := n
	for range maxJoined {
		if !inLetter(text, at) {
			return at
		}
		_, width := utf8.DecodeRuneInString(text[at:])
		at += width
	}
	return n
}

const joiner = '\u200d'

// inLetter says whether what is before and after a place is shown as one.
func inLetter(text string, at int) bool {
	if at <= 0 || at >= len(text) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[at:])
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	switch {
	case next == joiner, last == joiner, unicode.Is(unicode.M, next), next >= 0x1f3fb && next <= 0x1f3ff:
		return true
	case flag(next) && flag(last):
		before := 0
		for at > 0 && before <= maxJoined && flag(last) {
			before++
			at -= utf8.RuneLen(last)
			last, _ = utf8.DecodeLastRuneInString(text[:at])
		}
		return before%2 == 1
	}
	return last == '\r' && next == '\n'
}

// flag says whether a letter is half of a flag.
func flag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }
