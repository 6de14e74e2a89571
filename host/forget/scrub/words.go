package scrub

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/host/entry"
)

// Words is what is looked for. It may be used from several goroutines at once as long as
// nothing is gathered any more, but for the memory of names that were asked for.
type Words struct {
	order, as string
	is        func(name string) bool
	owns      func(kind entry.Kind, body map[string]any) bool
	names     []string        // plain, looked for in texts, the longest first
	longer    map[string]bool // plain names of others in which one of the names is
	// Of each word: whether it came from the person first, so that it is looked for in what people said
	// themselves, too.
	words map[string]bool // each one run of letters
	loose map[string]bool // all others
	runs  map[uint64]bool
}

// inRow is how many runs have to follow each other in what a person said: 12 letters of Japanese and 24 of an
// alphabet, for whoever talks about the same uses the same phrases.
const inRow = 5

// As is what stands where the name stood.
func (w *Words) As() string { return w.as }

// List gives the names and words that are looked for, for those who have to look themselves.
func (w *Words) List() []string {
	rest := slices.AppendSeq(slices.Collect(maps.Keys(w.loose)), maps.Keys(w.words))
	slices.Sort(rest)
	return append(slices.Clone(w.names), rest...)
}

// addName adds a form of the name. A single letter, or two of an alphabet, are looked for
// where a name stands and in no text: they are in all of them.
func (w *Words) addName(name string) {
	p := plain(name)
	r, _ := firstRune(p)
	if n := utf8.RuneCountInString(p); n < 2 || n < 3 && (scriptOf(r) == latin || scriptOf(r) == digit) || slices.Contains(w.names, p) {
		return
	}
	w.names = append(w.names, p)
	slices.SortFunc(w.names, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
}

// addOther takes the name of somebody else, in case it is a longer one.
func (w *Words) addOther(name string) {
	if slices.ContainsFunc(w.names, func(n string) bool { return strings.Contains(name, n) && name != n }) {
		w.longer[name] = true
	}
}

// Hits says whether a text has the name or a word in it, as it is or encoded: as JSON, with
// escapes, or in base64.
func (w *Words) Hits(text string) bool { return w.hits(text, false) }

// HitsOther is Hits for what another person said, or is remembered of another one: that has to have the name, a word that
// came from the person first, or a longer run of letters.
func (w *Words) HitsOther(text string) bool { return w.hits(text, true) }

func (w *Words) hits(text string, others bool) bool {
	for _, text := range layers(text) {
		if w.hitsLayer(plain(text), others) {
			return true
		}
	}
	return false
}

func (w *Words) hitsLayer(text string, others bool) bool {
	if w.named(text) {
		return true
	}
	for l, first := range w.loose {
		if (first || !others) && has(text, l) {
			return true
		}
	}
	found := false
	if len(w.words) > 0 {
		runs(text, func(word string, _ script) {
			first, ok := w.words[word]
			found = found || ok && (first || !others)
		})
	}
	if !found && len(w.runs) > 0 {
		row := 0
		windows(text, func(h uint64) bool {
			if first, ok := w.runs[h]; ok && (first || !others) {
				row++
			} else {
				row = 0
			}
			found = row >= inRow || row > 0 && !others
			return !found
		})
	}
	return found
}

// named says whether the name stands in a plain text.
func (w *Words) named(text string) bool {
	return slices.ContainsFunc(w.names, func(n string) bool { return w.spot(text, n, 0) >= 0 })
}

// Text gives what may stay of a text, of another person's where others is true: all of it, or nothing.
func (w *Words) Text(s string, others bool) string {
	if s == "" || w.hits(s, others) {
		return ""
	}
	return s
}

// house gives what may stay of a sentence that the house made: the name is another, and where
// there is more than the name in it, nothing.
func (w *Words) house(s string) string { return w.Text(w.rename(s), false) }

// Has says whether a text has one of some words in it, as [Words.List] gives them.
func Has(text string, words []string) bool {
	for _, text := range layers(text) {
		text = plain(text)
		for _, w := range words {
			if has(text, w) {
				return true
			}
		}
	}
	return false
}
