// Package wording knows when two texts have the same letters, which of a text are words
// that something can be found by, and where one text stands in another. It looks
// at letters alone, in Japanese and English.
//
// It never changes what is shown or stored, asks no model and has no dictionary: a word in
// Japanese is a run of kanji or katakana.
package wording

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Quoted says whether a quotation stands in a source, letter by letter, where width
// (NFKC) and how much space there is make no difference, and gives the part of the source
// that it is, as it is written there. A blank quotation stands nowhere.
func Quoted(quote, source string) (span string, ok bool) {
	want := strings.Join(strings.Fields(norm.NFKC.String(quote)), " ")
	if want == "" {
		return "", false
	}
	text, from := plain(source)
	at := strings.Index(text, want)
	if at < 0 {
		return "", false
	}
	return source[from[at].from:from[at+len(want)-1].to], true
}

// part is the bytes of a source that a byte of its plain text comes from.
type part struct{ from, to int }

// plain gives a text in NFKC with one space for each run of them, and for each of its bytes
// where it comes from.
func plain(source string) (string, []part) {
	var b strings.Builder
	var parts []part
	for at := 0; at < len(source); {
		n := max(1, norm.NFKC.NextBoundaryInString(source[at:], true))
		p := part{at, at + n}
		letters := norm.NFKC.String(source[at:p.to])
		at = p.to
		for _, r := range letters {
			if unicode.IsSpace(r) {
				if n := b.Len(); n > 0 && b.String()[n-1] == ' ' {
					parts[n-1].to = p.to
					continue
				}
				r = ' '
			}
			b.WriteRune(r)
			for range utf8.RuneLen(r) {
				parts = append(parts, p)
			}
		}
	}
	return b.String(), parts
}

// Fold makes texts comparable: NFKC, small letters, katakana as hiragana, one space for
// each run of it.
func Fold(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r >= 'ァ' && r <= 'ヶ' {
			return r - ('ァ' - 'ぁ')
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(text))), " ")
}

// Letters is Fold with letters and digits alone: two texts with the same say the same.
func Letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, Fold(text))
}
