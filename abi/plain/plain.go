// Package plain is of words that people decide by, and models are told as such: what is in them can be seen.
//
// It never says whether such words are true, or how many there may be of them but as it is told.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// Check reports why s cannot be words that people decide by, and models are told as such: what [abi.CheckText] says, with a
// bound of its own in bytes, and nothing that is shown as nothing. What a reader does not see, a model reads. A joiner may be where a script or an
// emoji needs it, and a variation selector behind an emoji, a kanji or a letter of Mongolian.
func Check(field, s string, most int) error {
	if err := abi.CheckTextWithin(field, s, most); err != nil {
		return err
	}
	place, here := 0, beginning
	for i, r := range s {
		switch place++; here.sees(r, s[i:]) {
		case noText:
			return abi.Field(field, abi.CodeInvalid, "character %d is U+%04X, which stands where something was no text; write what it was, or leave it out", place, r)
		case around:
			return abi.Field(field, abi.CodeInvalid, "character %d is U+%04X, which turns text around; leave it out", place, r)
		case feed:
			return abi.Field(field, abi.CodeInvalid, "character %d is U+%04X, a line feed of another kind; write a line feed", place, r)
		case unseen, control: // of these that has refused all that are there
			return abi.Field(field, abi.CodeInvalid, "character %d is U+%04X, which shows as nothing; leave it out", place, r)
		}
		here = here.behind(r)
	}
	return nil
}

// Text gives words that were made here as [Check] takes them: without what it refuses, and with a line feed for each of another
// kind. What it takes is given as it is. A text in which nothing is seen becomes "" or space; how long it is, is not looked at.
func Text(s string) string {
	var b strings.Builder
	here, last := beginning, 0 // up to where it is written
	for i, r := range s {
		is := here.sees(r, s[i:])
		if is == seen {
			here = here.behind(r)
			continue
		}
		b.WriteString(s[last:i])
		_, n := utf8.DecodeRuneInString(s[i:])
		if last = i + n; is == feed {
			b.WriteByte('\n')
			here = here.behind('\n')
		}
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// sight is what a reader has of a code point.
type sight int

const (
	seen sight = iota
	unseen
	around  // it turns text around
	feed    // a line feed of another kind
	control // another control character
	noText  // it stands where something was no text
)

// place is what stands before a code point: the last one, and the last that is no mark.
type place struct{ before, base rune }

var beginning = place{' ', ' '}

func (p place) behind(r rune) place {
	p.before = r
	if !unicode.IsMark(r) {
		p.base = r
	}
	return p
}

// sees says what a reader has of r at this place; rest begins with it.
func (p place) sees(r rune, rest string) sight {
	next, _ := utf8.DecodeRuneInString(rest[min(max(1, utf8.RuneLen(r)), len(rest)):])
	switch {
	case r == utf8.RuneError, r == '\ufffc': // where an object was
		return noText
	case r == '\n', r == '\t', r == '\r' && next == '\n':
		return seen
	case '\v' <= r && r <= '\r', r == '\u0085', unicode.In(r, unicode.Zl, unicode.Zp):
		return feed
	case unicode.Is(unicode.Cc, r):
		return control
	case unicode.Is(unicode.Bidi_Control, r):
		return around
	case hidden(r) && !p.needs(r, next):
		return unseen
	}
	return seen
}

// hidden says whether nothing is seen of a code point by itself. Some are not among those of [abi.Ignorable]: annotations
// between lines, what arranges hieroglyphs, a cell of Braille and a head of a note that are empty.
func hidden(r rune) bool {
	return abi.Ignorable(r) || 0xFFF9 <= r && r <= 0xFFFB || 0x13430 <= r && r <= 0x13440 || r == emptyCell || r == 0x1D159
}

// emptyCell is a pattern of Braille without dots.
const emptyCell = '\u2800'

// needs says whether what shows as nothing changes how others are shown at this place.
func (p place) needs(r, next rune) bool {
	switch {
	case r == '\ufe0f' && next == '\u20e3': // a keycap
		return strings.ContainsRune("0123456789#*", p.before)
	case r == '\ufe0e', r == '\ufe0f':
		return emoji(p.before)
	case 0xFE00 <= r && r <= 0xFE02, 0xE0100 <= r && r <= 0xE011F: // the first of those for kanji, which names need
		return unicode.Is(unicode.Ideographic, p.before)
	case 0x180B <= r && r <= 0x180F && r != 0x180E:
		return unicode.Is(unicode.Mongolian, p.before) && unicode.IsLetter(p.before)
	case r == '\u200d' && (emoji(p.before) || p.before == '\ufe0f' || 0x1F3FB <= p.before && p.before <= 0x1F3FF): // a colour of skin
		return emoji(next)
	case r == '\u200c' || r == '\u200d': // not in these scripts, which join nothing
		return unicode.In(p.before, unicode.L, unicode.M) && unicode.IsLetter(p.base) && !hidden(p.before) &&
			!unicode.In(p.base, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Common)
	case r == emptyCell:
		return braille(p.before) && braille(next)
	case 0x13430 <= r && r <= 0x13440:
		return unicode.Is(unicode.Egyptian_Hieroglyphs, p.before) && unicode.IsLetter(p.before)
	}
	return false
}

func braille(r rune) bool { return unicode.Is(unicode.Braille, r) && r != emptyCell }

// emoji says whether a code point may be an emoji, alone or with a selector: it is in a block that has some, and no colour of skin.
func emoji(r rune) bool {
	switch {
	case 0x2190 <= r && r <= 0x21FF, 0x2300 <= r && r <= 0x23FF, 0x25A0 <= r && r <= 0x27BF, 0x2B00 <= r && r <= 0x2BFF, 0x1F000 <= r && r <= 0x1FBFF:
		return unicode.In(r, unicode.So, unicode.Sm) || !unicode.In(r, unicode.C, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z) // newer than these tables
	}
	return strings.ContainsRune("©®‼⁉™ℹⓂ⤴⤵〰〽㊗㊙", r)
}
