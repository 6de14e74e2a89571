package extract

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/wording"
)

const (
	fewest = 4 // turns of people that make a talk worth a line
	topics = 5 // words at most
)

// Episode gives one line for a talk: when it was, with whom, and the most telling words that
// people said more than once. ok is false where nothing would be worth it. names are display names by id.
func Episode(turns []fact.Turn, names map[string]string) (n fact.New, ok bool) {
	var who, people, seqs = []string{}, []string{}, []uint64{}
	var said []fact.Turn
	for _, t := range turns {
		if !slices.Contains(who, t.From) {
			who = append(who, t.From)
		}
		if t.By != abi.KindHuman {
			continue
		}
		said = append(said, t)
		if !slices.Contains(people, t.From) {
			people = append(people, t.From)
		}
	}
	words := telling(said, append(slices.Clone(who), slices.Collect(maps.Values(names))...))
	if len(said) < fewest || len(words) == 0 {
		return n, false
	}
	for _, t := range said {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(wording.Fold(t.Text), w) }) && len(seqs) < 16 {
			seqs = append(seqs, t.Seq)
		}
	}
	slices.Sort(people)
	called, shown := make([]string, len(people)), make([]string, len(words))
	for i, id := range people {
		called[i] = cmp.Or(names[id], id)
	}
	for i, w := range words {
		shown[i] = written(w, said)
	}
	first, last := turns[0], turns[len(turns)-1]
	text := first.At.Format(time.DateOnly) + ": talked with " + strings.Join(called, ", ") + " about " + strings.Join(shown, ", ")
	if hasJapanese.MatchString(strings.Join(shown, "")) {
		text = first.At.Format(time.DateOnly) + ": " + strings.Join(called, "、") + "と、" + strings.Join(shown, "、") + "の話をした"
	}
	if len(text) > abi.MaxMemoryText || len(people) > fact.MaxAbout {
		return n, false
	}
	return fact.New{Memory: abi.Memory{Kind: abi.MemoryEpisode, Text: text, About: people, Keys: append([]string{first.At.Format(time.DateOnly)}, words...),
		Room: first.Room, Turns: seqs, SaidAt: last.At, ValidFrom: first.At, Importance: 2}, How: entry.HowRules}, true
}

// telling gives the words that say the most of what people talked about: those in the most turns, and
// in two at least, first, and the long before the short. What those are called who talked is none.
func telling(said []fact.Turn, called []string) []string {
	type count struct {
		word  string
		turns int
		first int
	}
	var counts []count
	for i, t := range said {
		for _, w := range wording.Topics(t.Text) {
			if utf8.RuneCountInString(w) < 2 || len(w) > abi.MaxName || w[0] >= '0' && w[0] <= '9' || slices.ContainsFunc(called, func(name string) bool { return slices.Contains(wording.Words(name), w) || wording.Fold(name) == w }) {
				continue
			}
			at := slices.IndexFunc(counts, func(c count) bool { return c.word == w })
			if at < 0 {
				counts = append(counts, count{w, 0, i})
				at = len(counts) - 1
			}
			counts[at].turns++
		}
	}
	slices.SortStableFunc(counts, func(a, b count) int {
		return cmp.Or(cmp.Compare(b.turns, a.turns), cmp.Compare(utf8.RuneCountInString(b.word), utf8.RuneCountInString(a.word)), cmp.Compare(a.first, b.first))
	})
	var words []string
	for _, c := range counts[:min(topics, len(counts))] {
		if c.turns > 1 {
			words = append(words, c.word)
		}
	}
	return words
}

// letters are what a word in Latin or katakana is written with; others are folded to what they are.
var letters = regexp.MustCompile(`[\p{Katakana}ー]+|[\p{Latin}\p{M}'’]+`)

// written gives a word as somebody wrote it.
func written(word string, said []fact.Turn) string {
	for _, t := range said {
		for _, run := range letters.FindAllString(t.Text, -1) {
			if wording.Fold(run) == word || slices.Contains(wording.Words(run), word) {
				return run
			}
		}
	}
	return word
}
