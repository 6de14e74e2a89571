// Package extract is the compresser without a model: it takes sentences of the turns themselves.
//
// It is pure, and never changes a word of what it takes.
package extract

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"
	"github.com/companiond/companiond/host/history/marks"
)

// What a sentence is worth: its signals, and less the more it is like one that was taken.
const (
	signals  = .6
	same     = .9  // how alike what was said already is
	least    = 20. // letters or tokens from which on a sentence is dear
	relevant = .7  // of the maximal marginal relevance; the rest is for what is new
)

// Draft takes sentences of the turns, letter by letter, a line for each turn, with its number and who said it, in their order: first those
// of the items that the policy names, then those that signals say may matter, no two alike, as far as the length goes. Where there is
// neither, as in greetings, it takes sentences from all over the turns, and is shorter than they are.
//
// Its text is never longer, and shorter than the turns. Where it is empty there is no draft.
//
// # Errors
//
// CodeTooLarge names "target_length" where what the policy names does not fit, or no sentence does. CodeInvalid names "turns" where there is
// nothing to shorten. That of ctx, soon after it ended.
func Draft(ctx context.Context, turns []abi.PastTurn, policy string, items []abi.KeepItem, length history.Length) (string, error) {
	long := said(turns, length.Unit)
	e := extraction{length: length, most: max(0, min(length.N, long-1))} // with who said it and where it may be no shorter than the turns
	for _, t := range turns {
		for _, s := range marks.Sentences(t.Text) {
			e.all = append(e.all, sentence{turn: t, text: s})
		}
	}
	if err := e.named(ctx, items); err != nil {
		return "", err
	}
	for ; e.size() > e.most; e.short++ {
		switch {
		case e.short < shortest:
		case e.size() <= length.N:
			return "", e.nothing(long)
		default:
			return "", abi.Field("target_length", abi.CodeTooLarge, "what the policy names does not fit into %d %s", length.N, length.Unit)
		}
	}
	found, err := keep.FindWithin(ctx, turns, policy)
	if err == nil {
		err = e.fill(ctx, found)
	}
	if err != nil {
		return "", err
	}
	if text := e.text(); text != "" {
		return text, nil
	}
	return e.evenly(ctx, turns)
}

// said is how long turns are.
func said(turns []abi.PastTurn, unit history.Unit) (n int) {
	for _, t := range turns {
		n += judge.Size(t.Text, unit)
	}
	return n
}

// nothing says that there is no draft that is shorter than the turns.
func (e *extraction) nothing(long int) error {
	return abi.Field("turns", abi.CodeInvalid, "there is nothing to shorten: they say %d %s, and may come to %d", long, e.length.Unit, e.length.N)
}

// evenly takes sentences from all over the turns where none says more than another: as many as fit, none twice.
func (e *extraction) evenly(ctx context.Context, turns []abi.PastTurn) (string, error) {
	long := said(turns, e.length.Unit)
	var once []int
	seen := map[string]bool{}
	for i, s := range e.all {
		if key := strings.ToLower(s.text); !seen[key] && strings.ContainsFunc(s.text, shows) {
			seen[key] = true
			once = append(once, i)
		}
	}
	if len(once) == 0 || long <= e.length.N {
		return "", e.nothing(long)
	}
	room := min(e.length.N, long-1)
	for e.short = 0; e.short < shortest; e.short++ {
		for n := len(once); n > 0; n = min(n-1, n*9/10) {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			for i := range n { // the middle one of each of n parts
				e.all[once[(2*i+1)*len(once)/(2*n)]].taken = true
			}
			if text := e.text(); judge.Size(text, e.length.Unit) <= room {
				return text, nil
			}
			for _, i := range once {
				e.all[i].taken = false
			}
		}
	}
	return "", abi.Field("target_length", abi.CodeTooLarge, "no sentence of the turns fits into %d %s with who said it", room, e.length.Unit)
}

// shows says whether anything is seen of a letter.
func shows(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !abi.Ignorable(r) }

// extraction is sentences, of which some are taken.
type extraction struct {
	all    []sentence
	length history.Length
	most   int // what the text may come to: the length, and less than the turns
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
func (e *extraction) named(ctx context.Context, items []abi.KeepItem) error {
	for _, k := range items {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !k.Policy {
			continue
		}
		for i := range e.all {
			s := &e.all[i]
			if s.turn.N <= k.Turn && k.Turn <= max(s.turn.N, s.turn.Upto) && (strings.Contains(s.text, k.Text) || 2*len(s.text) > len(k.Text) && strings.Contains(k.Text, s.text)) {
				if !s.taken && strings.Contains(s.text, k.Text) {
					s.item = k.Text
				} else {
					s.item = ""
				}
				s.taken = true
			}
		}
	}
	return nil
}

// fill takes what has the most signals and is new, as long as there is room.
func (e *extraction) fill(ctx context.Context, found []keep.Found) error {
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
			dear := math.Sqrt(max(float64(judge.Size(s.text, e.length.Unit)), least) / least) // the room it takes, others do not have
			left = append(left, candidate{at: i, pairs: pairs(s.text), worth: signals * w / most / dear})
		}
	}
	for i := range left {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, t := range taken {
			left[i].like = max(left[i].like, alike(left[i].pairs, t))
		}
	}
	room := e.most - e.size()
	for len(left) > 0 && room > 0 && ctx.Err() == nil {
		best := slices.MaxFunc(left, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(relevant*a.worth-(1-relevant)*a.like, relevant*b.worth-(1-relevant)*b.like), cmp.Compare(b.at, a.at))
		})
		left = slices.DeleteFunc(left, func(c candidate) bool { return c.at == best.at })
		if best.like > same || judge.Size(e.all[best.at].text, e.length.Unit) > room {
			continue
		}
		e.all[best.at].taken = true
		if n := e.size(); n > e.most {
			e.all[best.at].taken = false
			continue
		} else {
			room = e.most - n
		}
		for i := range left {
			left[i].like = max(left[i].like, alike(left[i].pairs, best.pairs))
		}
	}
	return ctx.Err()
}

func (e *extraction) size() int { return judge.Size(e.text(), e.length.Unit) }

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
