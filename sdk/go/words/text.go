package words

import (
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lang is a language a character can speak.
type Lang string

// The languages this package can tell apart.
const (
	Japanese Lang = "ja"
	English  Lang = "en"
)

// Language guesses the language of a text: Japanese by its scripts, English by
// Latin words. It is empty where there is neither, as in emoji.
func Language(s string) Lang {
	japanese, words, inWord := 0, 0, false
	for _, r := range s {
		latin := r < utf8.RuneSelf && unicode.IsLetter(r) || r >= 'Ａ' && r <= 'ｚ'
		if latin && !inWord {
			words++
		}
		inWord = latin || inWord && (r == '\'' || r == '’')
		if isKana(r) || isHan(r) {
			japanese++
		}
	}
	switch {
	case japanese > 0 && japanese*2 >= words:
		return Japanese
	case words > 0:
		return English
	}
	return ""
}

// Normal folds what does not change a word: case, full and half width,
// katakana and hiragana, runs of spaces.
func Normal(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		r = fold(r)
		if r == ' ' {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fold maps one rune to its normal form.
func fold(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf && r > ' ', r >= 'ぁ' && r <= 'ゟ', r >= '㐀' && r <= '鿿':
		return r
	case unicode.IsSpace(r):
		return ' '
	case r >= '！' && r <= '～': // full-width ASCII
		return unicode.ToLower(r - '！' + '!')
	case r >= 'ァ' && r <= 'ヶ':
		return r - 'ァ' + 'ぁ'
	case r >= 'ｦ' && r <= 'ﾝ':
		return halfKana[r-'ｦ']
	}
	return unicode.ToLower(r)
}

// halfKana gives hiragana for half-width katakana from ｦ to ﾝ.
var halfKana = []rune("をぁぃぅぇぉゃゅょっーあいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわん")

// Has says whether the normal text holds the normal word. A Latin word must
// stand alone (a plural s is allowed), so that "cat" is not in "education".
func Has(text, word string) bool {
	for from := 0; word != ""; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		if standsAlone(text, word, from+i) {
			return true
		}
		from += i + len(word)
	}
	return false
}

// lexicon finds many words in one pass over a text.
type lexicon map[rune][]term

// term is a word and what it stands for.
type term struct {
	word string
	id   int
}

func (x lexicon) add(word string, id int) {
	first, _ := utf8.DecodeRuneInString(word)
	x[first] = append(x[first], term{word, id})
}

// scan calls found for every word in the normal text, as [Has] would find it.
func (x lexicon) scan(text string, found func(place int, t term)) {
	for i, r := range text {
		for _, t := range x[r] {
			if strings.HasPrefix(text[i:], t.word) && standsAlone(text, t.word, i) {
				found(i, t)
			}
		}
	}
}

// standsAlone says whether the word at text[i] is not the middle of a Latin one.
func standsAlone(text, word string, i int) bool {
	first, last := word[0], word[len(word)-1]
	return (!isWordByte(first) || i == 0 || !isWordByte(text[i-1])) && (!isWordByte(last) || ends(text[i+len(word):]))
}

// ends says whether a Latin word may end before rest.
func ends(rest string) bool {
	rest = strings.TrimPrefix(rest, "s")
	return rest == "" || !isWordByte(rest[0])
}

func isWordByte(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' }
func isHan(r rune) bool {
	return r >= '㐀' && r <= '鿿' || r > '鿿' && unicode.Is(unicode.Han, r) || r == '々'
}
func isKatakana(r rune) bool { return r >= 'ァ' && r <= 'ヺ' || r == 'ー' }
func isHiragana(r rune) bool { return r >= 'ぁ' && r <= 'ゖ' }
func isKana(r rune) bool     { return isKatakana(r) || isHiragana(r) || r >= 'ｦ' && r <= 'ﾝ' }

// Similarity is how much two texts share, 0 to 1: the overlap of their pairs
// of neighbouring characters after [Normal].
func Similarity(a, b string) float64 {
	x, y := pairs(a), pairs(b)
	if len(x) == 0 || len(y) == 0 {
		if Normal(a) == Normal(b) {
			return 1
		}
		return 0
	}
	both := 0
	for p := range x {
		if y[p] {
			both++
		}
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

// pairs gives the pairs of neighbouring letters of a text.
func pairs(s string) map[[2]rune]bool {
	set := map[[2]rune]bool{}
	var before rune
	for _, r := range Normal(s) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		if before != 0 {
			set[[2]rune{before, r}] = true
		}
		before = r
	}
	return set
}

// Hash is a small stable name for a text.
func Hash(parts ...string) uint32 {
	h := fnv.New32a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum32()
}
