// Package tokens guesses how many tokens of a language model a text comes to, by the
// classes of its letters, and learns from what the model's endpoint reports.
//
// It has no vocabulary of any model, and never counts exactly: whoever keeps to a budget
// keeps a reserve, see [Meter.Reserve].
package tokens

import (
	"math"
	"sync"
)

// Size is what a text comes to before it is calibrated, in two parts that vendors differ in
// apart: Chinese, Japanese and Korean letters with all others that are not Latin, and the rest.
type Size struct{ CJK, Rest float64 }

// Plus adds.
func (s Size) Plus(o Size) Size { return Size{s.CJK + o.CJK, s.Rest + o.Rest} }

func (s Size) all() float64 { return s.CJK + s.Rest }

// What is learned: two ratios of tokens to size, by the normalised least mean squares.
const (
	step    = .5      // of the way to what was reported
	lowest  = .4      // ratio
	highest = 2.5     // ratio
	eager   = 9       // times as fast the CJK part is learned: vocabularies differ by 2 there, and by .1 elsewhere
	noise   = 48 * 48 // of the marks of a chat template, which a short request is mostly made of
	enough  = 10      // requests, until which the reserve is larger
)

// Meter turns sizes into tokens of one model. It is safe for concurrent use; the zero value
// has seen nothing.
type Meter struct {
	mu        sync.Mutex
	seen      int
	cjk, rest float64 // ratios, less 1
}

// Tokens gives the best guess, rounded up, without a reserve.
func (m *Meter) Tokens(s Size) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int(math.Ceil(m.guess(s)))
}

func (m *Meter) guess(s Size) float64 { return (1+m.cjk)*s.CJK + (1+m.rest)*s.Rest }

// Learn takes what a request of a size was reported to come to. What cannot be is ignored: no size, and
// less than the lowest ratio makes of it, as endpoints report that leave out what they had in their cache, or
// cut the prompt off. What is above the highest ratio counts as that.
func (m *Meter) Learn(s Size, reported int) {
	size, got := s.all(), float64(reported)
	if !(s.CJK >= 0 && s.Rest >= 0 && size > 0 && size <= math.MaxInt32) || got < lowest*size {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen++
	wrong := min(got, highest*size) - m.guess(s)
	move := step * wrong / (eager*s.CJK*s.CJK + s.Rest*s.Rest + noise)
	m.cjk = min(max(m.cjk+move*eager*s.CJK, lowest-1), highest-1)
	m.rest = min(max(m.rest+move*s.Rest, lowest-1), highest-1)
}

// Reserve is the share of a budget that is to be left alone, for the guess may be too low:
// .2 until ten requests were seen, and .15 from then on.
func (m *Meter) Reserve() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen < enough {
		return .2
	}
	return .15
}
