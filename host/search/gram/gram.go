// Package gram folds what is said so that it is found however it is written, and cuts it into the
// grams by which an index finds it: letters, and two letters that follow each other, because
// Japanese puts no spaces between its words and many have two letters.
//
// It knows no dictionary, no grammar and no index. What two texts have in common after Fold is all
// that counts: a word stands in a text when strings.Contains says so of both folded.
package gram

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Marks that are no letters nor digits of ASCII are put at this place of a plane for private use, because
// tokenizers of indexes cut there. Fold leaves no letter of it in a text.
const (
	private = 0xF0000
	beyond  = private + 0x80
)

// Fold gives a text with one form for letters that are written in several: full and half width, case,
// letters composed of others (NFKC). Hiragana and katakana stay apart. All that is space becomes one space, none is at the
// ends, and what nobody sees goes.
func Fold(text string) string {
	for range 3 { // what goes may have stood between letters that are one without it
		folded := fold(text)
		if folded == text {
			break
		}
		text = folded
	}
	return text
}

func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range norm.NFKC.String(text) {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			space = b.Len() > 0
			continue
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
			continue
		case r >= private && r < beyond:
			r = utf8.RuneError
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(lower(r))
	}
	return b.String()
}

// lower gives a letter's one small form: σ for ς, too.
func lower(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// Index gives the grams of a folded text, with spaces between them, for an index whose tokens are letters and
// digits of ASCII and all that is beyond ASCII. A gram is one or two letters long.
func Index(folded string) string {
	var b strings.Builder
	b.Grow(4 * len(folded))
	var last rune
	for _, r := range folded {
		if r == ' ' {
			last = 0
			continue
		}
		r = token(r)
		b.WriteByte(' ')
		b.WriteRune(r)
		if last != 0 {
			b.WriteByte(' ')
			b.WriteRune(last)
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// Of gives the grams that every text has in which a folded phrase stands: its pairs of letters, and
// letters that stand alone. Each is there once.
func Of(folded string) (all []string) {
	for part := range strings.SplitSeq(folded, " ") {
		var last rune
		n := 0
		for _, r := range part {
			r = token(r)
			if n++; n > 1 {
				all = append(all, string([]rune{last, r}))
			}
			last = r
		}
		if n == 1 {
			all = append(all, string(last))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// token gives what stands for a letter in a gram.
func token(r rune) rune {
	if r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') {
		return private + r
	}
	return r
}

// Phrases gives what is looked for, each folded: words with spaces between them, and phrases with
// spaces in them in double quotes. Each is there once.
func Phrases(query string) (all []string) {
	for len(query) > 0 {
		open, size := utf8.DecodeRuneInString(query)
		end := -1
		switch open {
		case '"':
			end = strings.IndexByte(query[size:], '"')
		case '“':
			end = strings.Index(query[size:], "”")
		}
		if end >= 0 {
			all = append(all, Fold(query[size:size+end]))
			_, after := utf8.DecodeRuneInString(query[size+end:])
			query = query[size+end+after:]
			continue
		}
		end = strings.IndexFunc(query, unicode.IsSpace)
		if end < 0 {
			end = len(query)
		}
		all = append(all, Fold(query[:end]))
		query = strings.TrimLeftFunc(query[end:], unicode.IsSpace)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(p string) bool { return p == "" })
}
