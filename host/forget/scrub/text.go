package scrub

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plain is a text as it is compared: width, case and the way in which letters are put together make no
// difference. Hiragana and katakana do: たま is part of many words, and タマ is a name.
func plain(s string) string { return strings.ToLower(norm.NFKC.String(shown(s))) }

// shown takes out what nobody sees, with which a word could be hidden.
func shown(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return r
	}, s)
}

// script is what a word is written in, as far as words are told apart by it.
type script int

const (
	other script = iota
	latin        // and every other alphabet
	digit
	katakana
	hiragana
	han
)

func scriptOf(r rune) script {
	switch {
	case r == 'ー' || unicode.Is(unicode.Katakana, r):
		return katakana
	case unicode.Is(unicode.Hiragana, r):
		return hiragana
	case unicode.Is(unicode.Han, r):
		return han
	case unicode.IsDigit(r):
		return digit
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return latin
	}
	return other
}

// bounded says whether a word of this script ends where the script does: タマ is not in タマゴ,
// nor Ken in Kentucky. Of 田中 or はなこ nobody can tell without a dictionary.
func (s script) bounded() bool { return s == latin || s == digit || s == katakana }

// runs calls f with each run of letters of one script in a plain text; a number may have
// - in it, and a word of Latin letters ' and digits.
func runs(text string, f func(word string, of script)) {
	start, of := 0, other
	for i, r := range text {
		now := scriptOf(r)
		if of == digit && now == other && strings.ContainsRune("-.", r) || of == latin && (now == digit || r == '\'') {
			continue
		}
		if now == of {
			continue
		}
		if of != other {
			f(strings.TrimRight(text[start:i], "-.'"), of)
		}
		start, of = i, now
	}
	if of != other {
		f(strings.TrimRight(text[start:], "-.'"), of)
	}
}

// has says whether a word stands in a plain text, whole where its script has bounds.
func has(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		if alone(text, i, i+len(word)) {
			return true
		}
		from = i + len(word)
	}
}

// alone says whether what stands at [i, j) is not a part of a longer word.
func alone(text string, i, j int) bool {
	first, last := []rune(text[i:j]), rune(0)
	last = first[len(first)-1]
	before, _ := lastRune(text[:i])
	after, _ := firstRune(text[j:])
	return !joined(scriptOf(first[0]), scriptOf(before)) && !joined(scriptOf(last), scriptOf(after))
}

// joined says whether letters of two scripts that follow each other are of one word: digits are, with those of an alphabet.
func joined(s, next script) bool {
	return s.bounded() && (s == next || s == latin && next == digit || s == digit && next == latin)
}

func firstRune(s string) (r rune, ok bool) {
	for _, r := range s {
		return r, true
	}
	return 0, false
}

func lastRune(s string) (r rune, ok bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i]&0xc0 != 0x80 {
			return firstRune(s[i:])
		}
	}
	return 0, false
}

// How many letters a run must have, so that nobody says it again by chance: in Japanese, and in an
// alphabet, where a letter says less.
const (
	runLength = 8
	runLatin  = 20
)

// windows calls f with a hash of each run of letters that is long enough; what is no letter, a
// space among it, makes no difference.
func windows(text string, f func(hash uint64) (more bool)) {
	letters := make([]rune, 0, len(text))
	for _, r := range text {
		if scriptOf(r) != other {
			letters = append(letters, r)
		}
	}
	wide := make([]int, len(letters)+1) // so many up to there are of no alphabet
	for i, r := range letters {
		wide[i+1] = wide[i]
		if s := scriptOf(r); s != latin && s != digit {
			wide[i+1]++
		}
	}
	for i := range letters {
		n := runLength
		if i+n <= len(letters) && wide[i+n]-wide[i] < n/2 {
			n = runLatin
		}
		if i+n > len(letters) {
			continue
		}
		if !f(hash(letters[i : i+n])) {
			return
		}
	}
}

// hash is FNV-1a over letters.
func hash(letters []rune) uint64 {
	h := uint64(14695981039346656037)
	for _, r := range letters {
		h = (h ^ uint64(r)) * 1099511628211
	}
	return h
}
