package words

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Distressed says whether whoever wrote a text seems to want to die or to hurt
// themselves, in Japanese or English, however long the text is.
//
// It knows phrases and no meaning. A sentence in the first person that could be
// earnest or not is taken in earnest, also with a laugh behind it: a serious
// answer that was not needed costs little, a quip to somebody in danger costs
// much. Figures of speech that everybody knows as such are left out: 死ぬほど笑った,
// "dying of laughter", "I could kill for a pizza".
func Distressed(s string) bool { return concern(s) == Distress }

// concern gives [Distress], [Grave] or "" for a text.
func concern(s string) (found Intent) {
	for _, t := range []tongue{japanese, english} {
		texts := t.readings(s)
		if len(texts) == 0 {
			continue
		}
		distress, grave := t.signs()
		for _, text := range texts {
			if distress.in(text, t.mine) {
				return Distress
			}
			if grave.in(text, t.mine) {
				found = Grave
			}
		}
	}
	return found
}

// phrase is a row of the tables of what people in distress write. Text in braces
// is one of several: "{die|be dead|}". It stands there as texts are folded, but for
// the spaces behind English words: to fold a thousand phrases takes a second where a
// module is still interpreted, and then its first vote comes too late.
type phrase struct {
	say   string
	after []string // what makes it a figure of speech when it comes next
	prior string   // the same right before it, as "a|b"
	near  string   // the same anywhere in its clause
	mine  whose
}

// whose says how sure it must be that a clause is about its writer.
type whose int

const (
	anyone whose = iota
	maybe        // unless somebody else is its subject
	surely       // the writer is named, or nobody is and the phrase begins it
)

// stop ends a clause in the texts that signs are looked for in.
const stop = "。"

// tongue is how one language is read.
type tongue struct {
	readings func(s string) []string // the ways to fold a text, with a stop around each clause; none of one in another language
	mine     func(w whose, before, clause string) bool
	signs    func() (distress, grave signs)
}

var (
	japanese = tongue{japaneseReadings, japaneseMine, sync.OnceValues(func() (distress, grave signs) {
		return newSigns(japaneseDistress, asItIs), newSigns(japaneseGrave, asItIs)
	})}
	english = tongue{englishReadings, englishMine, sync.OnceValues(func() (distress, grave signs) {
		return newSigns(englishDistress, spaced), newSigns(englishGrave, spaced)
	})}
)

// asItIs and spaced bring text from the tables into the form that texts are folded
// to, in Japanese and in English.
func asItIs(s string) string { return s }

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return s + " "
}

// form is a way to write something: one text of each row, in turn.
type form [][]string

// newForm reads a "{a|b}c", each text of it in the form that fold gives it.
func newForm(s string, fold func(string) string) (f form) {
	for s != "" {
		literal, rest, _ := strings.Cut(s, "{")
		if literal = fold(literal); literal != "" {
			f = append(f, []string{literal})
		}
		if rest == "" {
			break
		}
		choice, tail, _ := strings.Cut(rest, "}")
		f = append(f, listOf(choice, fold))
		s = tail
	}
	return f
}

// match says whether text begins like the form in a way that then agrees with,
// which is given the rest.
func (f form) match(text string, then func(rest string) bool) bool {
	if len(f) == 0 {
		return then(text)
	}
	for _, w := range f[0] {
		if rest, ok := strings.CutPrefix(text, w); ok && f[1:].match(rest, then) {
			return true
		}
	}
	return false
}

// sign is a phrase, ready to be looked for.
type sign struct {
	say         form
	after       []form
	prior, near []string
	mine        whose
}

// signs are found by their first letter.
type signs map[rune][]sign

func newSigns(rows []phrase, fold func(string) string) signs {
	x := signs{}
	for _, row := range rows {
		g := sign{say: newForm(row.say, fold), prior: listOf(row.prior, fold), near: listOf(row.near, fold), mine: row.mine}
		for _, a := range row.after {
			g.after = append(g.after, newForm(a, fold))
		}
		var firsts []rune
		for _, w := range g.say[0] {
			if r, _ := utf8.DecodeRuneInString(w); !slices.Contains(firsts, r) {
				firsts = append(firsts, r)
				x[r] = append(x[r], g)
			}
		}
	}
	return x
}

func listOf(s string, fold func(string) string) (list []string) {
	if s == "" {
		return nil
	}
	for w := range strings.SplitSeq(s, "|") {
		list = append(list, fold(w))
	}
	return list
}

// in says whether one of the signs is in a folded text.
func (x signs) in(text string, mine func(whose, string, string) bool) bool {
	for i, r := range text {
		if i > 0 && isWordByte(text[i]) && isWordByte(text[i-1]) {
			continue // inside a Latin word
		}
		for _, g := range x[r] {
			if g.at(text, i, mine) {
				return true
			}
		}
	}
	return false
}

// at says whether the sign is at text[i] and nothing around it speaks against it.
func (g sign) at(text string, i int, mine func(whose, string, string) bool) bool {
	return g.say.match(text[i:], func(rest string) bool {
		ends := strings.HasSuffix(strings.TrimSuffix(text[:len(text)-len(rest)], " "), stop) // what comes after is another clause
		if !ends && slices.ContainsFunc(g.after, func(f form) bool { return f.match(rest, func(string) bool { return true }) }) {
			return false
		}
		start := strings.LastIndex(text[:i], stop) + 1
		if start > 0 {
			start += len(stop) - 1
		}
		before, tail := text[start:i], rest
		if end := strings.Index(rest, stop); end >= 0 {
			tail = rest[:end]
		}
		clause := text[start : len(text)-len(rest)+len(tail)]
		return !slices.ContainsFunc(g.prior, func(w string) bool { return strings.HasSuffix(before, w) }) &&
			!slices.ContainsFunc(g.near, func(w string) bool { return strings.Contains(clause, w) }) &&
			mine(g.mine, before, clause)
	})
}
