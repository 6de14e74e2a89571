package reading

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Dictionary says how words sound. Its zero value has none.
type Dictionary struct {
	words []word // the longest first
	first map[rune]bool
}

type word struct{ written, spoken string }

// NewDictionary makes a dictionary of words and how they sound, such as "AI" and "エーアイ".
func NewDictionary(words map[string]string) Dictionary {
	d := Dictionary{first: map[rune]bool{}}
	for written, spoken := range words {
		if written == "" {
			continue
		}
		r, _ := utf8.DecodeRuneInString(written)
		d.first[r] = true
		d.words = append(d.words, word{written, spoken})
	}
	slices.SortFunc(d.words, func(a, b word) int {
		return cmp.Or(cmp.Compare(utf8.RuneCountInString(b.written), utf8.RuneCountInString(a.written)), strings.Compare(a.written, b.written))
	})
	return d
}

// apply writes the words of a text as they sound: at each place the longest that stands there. One that begins or ends
// with a Latin letter or a digit is no part of a longer word of these. Nothing that was written so is looked at again.
func (d Dictionary) apply(text string) string {
	if len(d.words) == 0 {
		return text
	}
	var b strings.Builder
	last := rune(0) // the letter before
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if d.first[r] {
			if w, ok := d.at(last, rest); ok {
				b.WriteString(w.spoken)
				last, _ = utf8.DecodeLastRuneInString(w.written)
				rest = rest[len(w.written):]
				continue
			}
		}
		b.WriteString(rest[:size])
		last, rest = r, rest[size:]
	}
	return b.String()
}

// at gives the longest word at the beginning of a text, behind a letter.
func (d Dictionary) at(last rune, text string) (word, bool) {
	for _, w := range d.words {
		if !strings.HasPrefix(text, w.written) {
			continue
		}
		first, _ := utf8.DecodeRuneInString(w.written)
		end, _ := utf8.DecodeLastRuneInString(w.written)
		next, _ := utf8.DecodeRuneInString(text[len(w.written):])
		if latin(first) && latin(last) || latin(end) && latin(next) {
			continue
		}
		return w, true
	}
	return word{}, false
}

// latin says whether a letter is one of words that stand between spaces.
func latin(r rune) bool { return unicode.Is(unicode.Latin, r) || unicode.Is(unicode.Nd, r) }
