package address

import (
	"slices"
	"unicode"
)

// scan is a text made comparable, and the names found in it.
type scan struct {
	text    []rune // NFKC
	folded  []rune // the same length; lower case, katakana as hiragana
	classes []class
	starts  []bool // a member's name is written from here
	ends    []bool // a member's name is written up to here
	found   []mention
}

// mention is a name that stands alone in a text.
type mention struct {
	at, end   int // where the name is
	stop      int // where its honorific and a drawn-out end (あやー) are over
	who       int
	honorific bool
	vocative  bool
}

// class is the script of a letter, as far as names need it.
type class int

const (
	gap   class = iota // space, punctuation, symbol, and what is outside the text
	alpha              // Latin and other scripts that set words apart
	digit
	hiragana
	katakana
	han
)

// class gives the class of the letter at i, gap outside the text.
func (s *scan) class(i int) class {
	if i < 0 || i >= len(s.classes) {
		return gap
	}
	return s.classes[i]
}

// classOf gives the class of a letter after one of class before: a prolonged
// sound (ー) and a combining mark belong to the letter they follow.
func classOf(r rune, before class) class {
	switch {
	case before != gap && (r == 'ー' || unicode.IsMark(r)):
		return before
	case r == 'ー' || unicode.Is(unicode.Katakana, r):
		return katakana
	case unicode.Is(unicode.Hiragana, r):
		return hiragana
	case unicode.Is(unicode.Han, r):
		return han
	case unicode.IsLetter(r):
		return alpha
	case unicode.IsNumber(r):
		return digit
	}
	return gap
}

func japanese(c class) bool { return c == hiragana || c == katakana || c == han }

// at says whether the folded text has word at i.
func (s *scan) at(i int, word string) bool {
	for _, r := range word {
		if i < 0 || i >= len(s.folded) || s.folded[i] != r {
			return false
		}
		i++
	}
	return true
}

// stands says whether a written name stands alone, and sets the rest of m.
func (s *scan) stands(m *mention) bool {
	first, last := s.class(m.at), s.class(m.end-1)
	switch {
	case first == gap: // a name that begins with a symbol has no left rule
	case !japanese(first) && s.joinedLeft(m.at):
		return false
	case japanese(first) && !s.leftOpen(m.at):
		return false
	}
	if !japanese(last) && s.joinedRight(m.end) {
		return false
	}
	m.stop = s.afterHonorific(m.end)
	m.honorific = m.stop > m.end
	m.stop = s.drawnOut(m.stop)
	if m.honorific || m.who == nobody && japanese(last) {
		return true
	}
	if !japanese(last) {
		return m.end-m.at > 1 || first != alpha || m.at > 0 && s.folded[m.at-1] == '@'
	}
	switch s.class(m.stop) {
	case gap, alpha, digit:
		return true
	}
	return m.stop == m.end && s.particle(m.end)
}

// joinedLeft says whether a Latin name at i is the tail of a longer word.
func (s *scan) joinedLeft(i int) bool {
	switch c := s.class(i - 1); {
	case c == alpha || c == digit:
		return true
	case i >= 2 && (s.folded[i-1] == '_' || s.folded[i-1] == '@' || s.folded[i-1] == '.'):
		before := s.class(i - 2)
		return before == alpha || before == digit
	}
	return false
}

// joinedRight says whether a Latin name that ends before i goes on: "ayaka",
// "aya2", "aya_bot", "aya.wasm", "aya@example.com".
func (s *scan) joinedRight(i int) bool {
	if i >= len(s.folded) {
		return false
	}
	if unicode.IsMark(s.folded[i]) {
		return true
	}
	after := s.class(i + 1)
	switch c := s.class(i); {
	case c == alpha || c == digit:
		return true
	case s.folded[i] == '_' || s.folded[i] == '@':
		return after == alpha || after == digit
	case s.folded[i] == '.':
		return (after == alpha && unicode.IsLower(s.text[i+1])) || after == digit
	}
	return false
}

// afterHonorific gives the end of an honorific that follows a name at i, also
// behind a hyphen or a space ("Aya-san", "あや さん"); i where there is none.
func (s *scan) afterHonorific(i int) int {
	if e := s.honorific(i); e > i {
		return e
	}
	if i < len(s.folded) && (s.folded[i] == '-' || s.folded[i] == ' ') {
		if e := s.honorific(i + 1); e > i+1 {
			return e
		}
	}
	return i
}

// Honorifics, folded, longest first where one begins another. After a loose
// one anything may follow (あやさんきて); after a tight one only what may follow
// a name (あやたん、 but not あやたんぼ). Latin ones are tight by nature.
var (
	looseHonorifics = []string{
		"お姉さん", "お姉ちゃん", "お兄さん", "お兄ちゃん", "おねえさん", "おねえちゃん", "おにいさん", "おにいちゃん",
		"姉さん", "姉ちゃん", "姉様", "兄さん", "兄ちゃん", "兄様", "ねえさん", "ねえちゃん", "にいさん", "にいちゃん",
		"さん", "ちゃん", "くん", "さま", "せんぱい", "せんせい", "せんせ", "きゅん", "先生", "先輩", "師匠",
	}
	tightHonorifics = []string{
		"君", "様", "氏", "殿", "嬢", "姫", "ひめ", "たん", "っち", "ちん", "ちゃま", "はん", "姉", "兄", "ねえ", "にい",
		"sensei", "senpai", "chan", "sama", "dono", "kun", "san",
	}
)

// honorific gives the end of an honorific at i, or i. Drawn-out ones count:
// さーん, ちゃーん, せんせー.
func (s *scan) honorific(i int) int {
	for _, h := range looseHonorifics {
		if e := s.loosely(i, h); e > i && !(h == "さま" && s.at(e, "ざま")) {
			return e
		}
	}
	for _, h := range tightHonorifics {
		e := s.loosely(i, h)
		if e == i {
			continue
		}
		// A kanji after 様 is the next letter of 様子; a kana is not.
		next := s.class(s.drawnOut(e))
		if next != s.class(e-1) || next != alpha && s.particle(e) {
			return e
		}
	}
	return i
}

// loosely gives the end of word at i when prolonged sounds between its letters
// are passed over, or i.
func (s *scan) loosely(i int, word string) int {
	j := i
	for _, r := range word {
		for j > i && j < len(s.folded) && s.folded[j] != r && prolonged(s.folded[j]) {
			j++
		}
		if j >= len(s.folded) || s.folded[j] != r {
			return i
		}
		j++
	}
	return j
}

func prolonged(r rune) bool { return r == 'ー' || r == '~' || r == '〜' || r == '～' }

// drawnOut passes over the way names are drawn out in a call: あやー！, なつみぃ、,
// あやっ！. It stays where a word goes on after it.
func (s *scan) drawnOut(i int) int {
	j := i
	for j < len(s.folded) && (prolonged(s.folded[j]) || slices.Contains([]rune("ぁぃぅぇぉっ"), s.folded[j])) {
		j++
	}
	if j < len(s.folded) && j > i && s.folded[j-1] != '~' && s.folded[j-1] != '〜' && japanese(s.class(j)) {
		return i
	}
	return j
}
