// Package extract is the compresser without a model: it takes sentences of the turns themselves.
//
// It is pure, and never changes a word of what it takes.
package extract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/keep"
	"github.com/companiond/companiond/host/history/marks"
)

// What a sentence is worth: its signals, and less the more it is like one that was taken.
const (
	signals  = .6
	same     = .9 // how alike what was said already is
	relevant = .7 // of the maximal marginal relevance; the rest is for what is new
)

// Draft takes sentences of the turns, letter by letter, a line for each turn, with its number and who said it, in their order: first those
// of the items that the policy names, then those that signals say may matter, no two alike, as far as the length goes.
// Its text is never longer. Ok is false where what the policy names does not fit; the text is then empty, as it
// is where there is nothing to take.
func Draft(turns []abi.PastTurn, policy string, items []abi.KeepItem, length history.Length) (text string, ok bool) {
	e := extraction{length: length}
	for _, t := range turns {
		for _, s := range marks.Sentences(t.Text) {
			e.all = append(e.all, sentence{turn: t, text: s})
		}
	}
	for e.named(items); e.size() > length.N; e.short++ {
		if e.short == shortest {
			return "", false
		}
	}
	e.fill(keep.Find(turns, policy))
	text = e.text()
	return text, text != ""
}

// extraction is sentences, of which some are taken.
type extraction struct {
	all    []sentence
	length history.Length
	short  int // how much is left out around the sentences, see shortest
}

// shortest is how often the text can be made shorter without another word of what the policy names: without the turns' numbers, and
// without what stands beside an item in its sentence.
const shortest = 2

type sentence struct {
	turn  abi.PastTurn
	text  string
	item  string // the part of it that the policy names; empty: all of it
	taken bool
}

// named takes what the policy names.
func (e *extraction) named(items []abi.KeepItem) {
	for _, k := range items {
		if !k.Policy {
			continue
		}
		for i := range e.all {
			s := &e.all[i]
			if s.turn.N <= k.Turn && k.Turn <= max(s.turn.N, s.turn.Upto) && (strings.Contains(s.text, k.Text) || strings.Contains(k.Text, s.text)) {
				if !s.taken && strings.Contains(s.text, k.Text) {
					s.item = k.Text
				} else {
					s.item = ""
				}
				s.taken = true
			}
		}
	}
}

// fill takes what has the most signals and is new, as long as there is room.
func (e *extraction) fill(found []keep.Found) {
	worth := map[string]float64{}
	most := 0.0
	for _, f := range found {
		worth[f.Sentence] = max(worth[f.Sentence], f.Weight)
		most = max(most, f.Weight)
	}
	type candidate struct {
		at          int
		pairs       map[[2]rune]bool
		worth, like float64
	}
	var left []candidate
	var taken []map[[2]rune]bool
	for i, s := range e.all {
		switch w := worth[s.text]; {
		case s.taken:
			taken = append(taken, pairs(s.text))
		case w > 0:
			left = append(left, candidate{at: i, pairs: pairs(s.text), worth: signals * w / most})
		}
	}
	for i := range left {
		for _, t := range taken {
			left[i].like = max(left[i].like, alike(left[i].pairs, t))
		}
	}
	room := e.length.N - e.size()
	for len(left) > 0 && room > 0 {
		best := slices.MaxFunc(left, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(relevant*a.worth-(1-relevant)*a.like, relevant*b.worth-(1-relevant)*b.like), cmp.Compare(b.at, a.at))
		})
		left = slices.DeleteFunc(left, func(c candidate) bool { return c.at == best.at })
		if best.like > same || keep.Size(e.all[best.at].text, e.length.Unit) > room {
			continue
		}
		e.all[best.at].taken = true
		if n := e.size(); n > e.length.N {
			e.all[best.at].taken = false
			continue
		} else {
			room = e.length.N - n
		}
		for i := range left {
			left[i].like = max(left[i].like, alike(left[i].pairs, best.pairs))
		}
	}
}

func (e *extraction) size() int { return keep.Size(e.text(), e.length.Unit) }

// text writes what is taken.
func (e *extraction) text() string {
	var b strings.Builder
	last, from := uint64(0), ""
	for _, s := range e.all {
		switch {
		case !s.taken:
			continue
		case s.turn.N == last, e.short > 0 && b.Len() > 0 && s.turn.From == from:
			b.WriteByte(' ')
		default:
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			if e.short == 0 {
				fmt.Fprintf(&b, "[%s] ", number(s.turn))
			}
			if s.turn.From != "" {
				b.WriteString(s.turn.From + ": ")
			}
		}
		if e.short > 1 && s.item != "" {
			b.WriteString(s.item)
		} else {
			b.WriteString(s.text)
		}
		last, from = s.turn.N, s.turn.From
	}
	return b.String()
}

func number(t abi.PastTurn) string {
	if t.Upto > t.N {
		return fmt.Sprintf("%d-%d", t.N, t.Upto)
	}
	return fmt.Sprint(t.N)
}

// pairs gives the pairs of letters of a text.
func pairs(text string) map[[2]rune]bool {
	letters := []rune(strings.ToLower(text))
	m := make(map[[2]rune]bool, len(letters))
	for i := range len(letters) - 1 {
		m[[2]rune{letters[i], letters[i+1]}] = true
	}
	return m
}

// alike gives how much of two texts is the same, 0 to 1.
func alike(a, b map[[2]rune]bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := 0
	for p := range a {
		if b[p] {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(n) / float64(len(a)+len(b)-n)
}
