package tokens

import "unicode/utf8"

// The weights are between those of today's vocabularies (o200k, cl100k, Llama 3, Qwen 3, Gemma 3, DeepSeek 3,
// Mistral 7B), nearer to those that need more: for a model that nobody knows yet a guess that is too low
// costs the beginning of its prompt, one that is too high only some of the past. Words, digits, signs and
// spaces cost about the same everywhere; letters of other scripts do not, but keep their proportions.
const (
	word      = .98     // of Latin letters, up to the letters that a token has
	wordUnits = 6       // letters of a word that cost no more than one
	letter    = .22     // each above
	accented  = .7      // each letter that ASCII does not have
	digit     = 1.      // the first of a number
	nextDigit = .5      // each after it, between vocabularies of three digits a token and of one
	sign      = .85     // the first of some
	nextSign  = .2      // each after it: "},{" is less than three
	control   = 1.      // bytes that nobody writes
	newline   = .85     // the first of some
	endedLine = .5      // the same, after a sign
	nextLine  = .125    // each after it
	indent    = 1.1     // spaces, from two on
	nextSpace = 1. / 16 // each after them
	apart     = .9      // a space before what it cannot be one token with
)

// script is a range of letters with one weight.
type script struct {
	below  rune
	weight float64
	latin  bool
}

// scripts are in the order of Unicode. Where nothing is known, a letter weighs a third of its bytes.
var scripts = [...]script{
	{0x250, accented, true},
	{0x800, 2. / 3, false}, // Greek, Cyrillic, Hebrew, Arabic
	{0x2000, 1, false},     // Devanagari, Thai and the like
	{0x2070, .8, false},    // … — “ ”
	{0x2600, 1.2, false},   // arrows, boxes
	{0x27c0, 2.6, false},   // emoji of old
	{0x3000, 1.2, false},   // more signs
	{0x3040, 1.4, false},   // 、。「」
	{0x30a0, .86, false},   // Hiragana
	{0x3100, 1, false},     // Katakana
	{0x3400, 1.2, false},   // signs in circles
	{0xa000, 1.2, false},   // kanji
	{0xac00, 1, false},     // Yi and others
	{0xd7b0, 1.15, false},  // Hangul
	{0xfb00, 1.3, false},   // kanji of old
	{0xff00, 1, false},     // presentation forms
	{0xff66, 1.4, false},   // letters and signs as wide as kanji
	{0x10000, 1.8, false},  // Katakana half as wide, and what is no letter
	{0x1f000, 2.5, false},  // scripts of old
	{0x20000, 2.9, false},  // emoji
	{0x110000, 2.5, false}, // rare kanji
}

// What a letter was, for the next one.
type class uint8

const (
	start class = iota
	space
	line
	lower // and letters of other scripts than Latin's that go on with a word
	upper
	figure
	other // signs
	wide  // letters that need no spaces
)

// scan adds up a text.
type scan struct {
	size   Size
	before class
	run    int // of letters of a word, or of signs and spaces of a class
}

// Of guesses the size of a text.
func Of(text string) Size {
	var s scan
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			s.ascii(c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		s.wide(r)
		i += n
	}
	return s.size
}

// ascii takes a letter of ASCII.
func (s *scan) ascii(c byte) {
	switch {
	case c >= 'a' && c <= 'z':
		s.letter(lower, s.before == lower || s.before == upper && s.run == 1)
	case c >= 'A' && c <= 'Z':
		s.letter(upper, s.before == upper)
	case c >= '0' && c <= '9':
		s.apart()
		s.repeat(figure, digit, nextDigit)
	case c == ' ', c == '\t':
		s.space(c)
	case c == '\n', c == '\r':
		first := newline
		if s.before == other {
			first = endedLine
		}
		s.repeat(line, first, nextLine)
	case c < ' ', c == 0x7f:
		s.size.Rest += control
		s.before = start
	default:
		s.repeat(other, sign, nextSign)
	}
}

// letter takes a Latin letter that goes on with a word or begins one. thatIsOne and isTwo are two words, and so
// are HTTPServer.
func (s *scan) letter(c class, goesOn bool) {
	if !goesOn {
		s.run = 0
		s.size.Rest += word
	}
	if s.run++; s.run > wordUnits {
		s.size.Rest += letter
	}
	s.before = c
}

// repeat takes a sign, which costs less after one of its class.
func (s *scan) repeat(c class, first, next float64) {
	if s.before == c {
		s.size.Rest += next
		return
	}
	s.size.Rest += first
	s.before = c
}

// space takes a space. One alone is part of the word after it.
func (s *scan) space(c byte) {
	if s.before != space {
		s.before, s.run = space, 0
	}
	if s.run++; c == '\t' {
		s.run = max(s.run, 2) // alone it is an indent as well
	}
	switch {
	case s.run == 2:
		s.size.Rest += indent
	case s.run > 2:
		s.size.Rest += nextSpace
	}
}

// apart counts the space before a digit, or before a letter that needs none.
func (s *scan) apart() {
	if s.before == space && s.run == 1 {
		s.size.Rest += apart
	}
}

// wide takes a letter that ASCII does not have.
func (s *scan) wide(r rune) {
	for _, in := range scripts {
		if r >= in.below {
			continue
		}
		if in.latin {
			if s.before != lower && s.before != upper {
				s.run = 0
			}
			s.size.Rest += in.weight
			s.before = lower
			return
		}
		if r >= 0x2e80 {
			s.apart()
		}
		s.size.CJK += in.weight
		if s.before = wide; in.below == 0x3040 {
			s.before = other
		}
		return
	}
}
