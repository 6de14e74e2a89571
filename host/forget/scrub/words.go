package scrub

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget/origin"
)

// Words is what is looked for. It may be used from several goroutines at once as long as
// nothing is gathered any more, but for the memory of names that were asked for.
type Words struct {
	order, as string
	is        func(name string) bool
	owns      func(kind entry.Kind, body map[string]any) bool
	names     []string        // plain, looked for in texts, the longest first
	longer    map[string]bool // plain names of others in which one of the names is
	doubt     map[string]bool // of the names: others use them as words
	tells     map[string]bool // who said the facts that go: what they said is not other people's
	others    care            // for what other people said
	// Of each word: whether it came from the person first, so that it is looked for in what people said
	// themselves, too.
	words   map[string]bool // each one run of letters
	loose   map[string]bool // all others
	runs    map[uint64]bool
	numbers map[string]bool   // of nine digits or more, as digits
	phrases map[string]string // of facts that go, in letters alone, and as they are written
	rests   Rests             // nil: no facts go
}

// inRow is how many runs have to follow each other in what a person said: 12 letters of Japanese and 24 of an
// alphabet, for whoever talks about the same uses the same phrases.
const inRow = 5

// Rests are the messages that facts rest on which go. *origin.Book implements it.
type Rests interface {
	// Left gives what is left of the text of an entry, ok where that is less than it was.
	Left(e entry.Entry) (left string, ok bool)
}

// Rests has the sentences of messages go that facts rest on. It is to be said before anything is asked.
func (w *Words) Rests(on Rests) { w.rests = on }

// left gives what is left of a message that a fact rests on.
func (w *Words) left(e entry.Entry) (left string, less bool) {
	if w.rests == nil {
		return "", false
	}
	return w.rests.Left(e)
}

// Told says whether somebody told a fact that goes.
func (w *Words) Told(who string) bool { return w.tells[who] }

// As is what stands where the name stood.
func (w *Words) As() string { return w.as }

// List gives the names and words that are looked for, for those who have to look themselves.
func (w *Words) List() []string {
	rest := slices.AppendSeq(slices.Collect(maps.Keys(w.loose)), maps.Keys(w.words))
	rest = slices.AppendSeq(rest, maps.Values(w.phrases))
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
func (w *Words) Hits(text string) bool { return w.hits(text, none) }

// HitsOf is Hits for what somebody else said, or is remembered of somebody else, that is who: it has to have the name as a name,
// and unless the person alone gave the order a word that came from the person first, or a longer run of letters.
func (w *Words) HitsOf(who, text string) bool { return w.hits(text, w.careFor(who)) }

// careFor is for what a person said, who is another one.
func (w *Words) careFor(who string) care {
	if w.tells[who] {
		return theirs
	}
	return w.others
}

func (w *Words) hits(text string, c care) bool {
	return slices.ContainsFunc(layers(text), func(text string) bool {
		text = plain(text)
		return w.named(text, c) || w.repeats(text, c)
	})
}

// repeats says whether a plain text has a word in it, or a run of letters.
func (w *Words) repeats(text string, c care) bool {
	if c == sparing {
		return false
	}
	if len(w.phrases) > 0 && c <= theirs {
		letters := lettersOf(text)
		for p := range w.phrases {
			if strings.Contains(letters, p) {
				return true
			}
		}
	}
	for l, first := range w.loose {
		if (first || c == none) && stands(text, l) {
			return true
		}
	}
	if len(w.numbers) > 0 && slices.ContainsFunc(numbers(text), func(n string) bool { return w.numbers[n] }) {
		return true
	}
	found := false
	if len(w.words) > 0 {
		runs(text, func(word string, _ script) {
			first, ok := w.words[word]
			found = found || ok && (first || c == none)
		})
	}
	if !found && len(w.runs) > 0 {
		row := 0
		windows(text, func(h uint64) bool {
			if first, ok := w.runs[h]; ok && (first || c == none) {
				row++
			} else {
				row = 0
			}
			found = row >= inRow || row > 0 && c == none
			return !found
		})
	}
	return found
}

// named says whether the name stands in a plain text.
func (w *Words) named(text string, c care) bool {
	return slices.ContainsFunc(w.names, func(n string) bool { return w.spot(text, n, 0, c) >= 0 })
}

// text gives what may stay of a text: all of it, or nothing. Of another person's the name alone goes, where nothing else is in it.
func (w *Words) text(s string, c care) string {
	switch {
	case s == "" || c == none && !w.hits(s, c):
		return s
	case c == theirs:
		return w.sentences(s)
	case c == none || w.silences(s, c):
		return ""
	}
	if s = w.rename(s, c); w.hits(s, c) { // the name is encoded
		return ""
	}
	return s
}

// sentences gives what may stay of a text of whoever told a fact that goes: what says nothing of it.
func (w *Words) sentences(s string) string {
	if !w.hits(s, theirs) {
		return s
	}
	s = origin.Without(s, func(at [2]int) bool { return w.hits(s[at[0]:at[1]], theirs) })
	if w.hits(s, theirs) { // it stands across two of them
		return ""
	}
	return s
}

// silences says whether another person's text goes for more than the name.
func (w *Words) silences(s string, c care) bool {
	return slices.ContainsFunc(layers(s), func(text string) bool { return w.repeats(plain(text), c) })
}

// Stays says whether an entry is what another person said, and has letters of the name, or a word of the person's, and is left
// to whoever said it.
func (w *Words) Stays(e entry.Entry) bool {
	if e.Kind != entry.KindSaid {
		return false
	}
	body := object(e.Body)
	text, _ := body["text"].(string)
	return text != "" && w.careOf(e.Kind, body) > theirs && (w.named(plain(text), none) || w.silences(text, some))
}

// house gives what may stay of a sentence that the house made: the name is another, and where
// there is more than the name in it, nothing.
func (w *Words) house(s string) string { return w.text(w.rename(s, none), none) }

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
