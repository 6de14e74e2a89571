package scrub

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/forget/known"
	"golang.org/x/text/unicode/norm"
)

// This file is where the name stands in a text. A longer name that is somebody else's is not it: taro is not in
// taro2 or taro-b, nor ゆき in ゆきこ where somebody is called so.

// cutOut stands where a name was, between what is before it and what is behind it.
const cutOut = "\x00"

// longNames cuts the names of others out of a plain text, which are nobody's words: of rooms, of companions, and of whoever spoke or was
// here. A short one is no great part of a run of letters, and stays.
func (g *Gatherer) longNames() *strings.Replacer {
	var long []string
	for _, names := range []map[string]bool{g.keep, g.people, g.rooms} {
		for n := range names {
			if utf8.RuneCountInString(n) > runLength/2 {
				long = append(long, n)
			}
		}
	}
	slices.SortFunc(long, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(long))
	for _, n := range long {
		pairs = append(pairs, n, cutOut)
	}
	return strings.NewReplacer(pairs...)
}

// kept gives the words that others are called by, and those that are a part of what companions and agents are called.
func (g *Gatherer) kept() map[string]bool {
	kept := map[string]bool{}
	for w := range g.words {
		kept[w] = g.people[w]
	}
	for n := range g.keep {
		runs(n, func(w string, _ script) { kept[w] = true })
		for w := range g.loose {
			kept[w] = kept[w] || stands(n, w)
		}
	}
	return kept
}

// isName says whether a text may be a name: one that is, is compared whole.
func isName(s string) bool {
	return s != "" && len(s) <= abi.MaxName && !strings.ContainsFunc(s, noName)
}

// called says whether a name is the person's, with what people put before and behind one.
func (w *Words) called(name string) bool {
	if w.longer[plain(name)] {
		return false
	}
	name = strings.TrimPrefix(name, "@")
	if w.is(name) {
		return true
	}
	for h := range known.Honorifics() {
		if bare, ok := strings.CutSuffix(name, h); ok && w.is(bare) {
			return true
		}
	}
	return false
}

// care is how much is left to somebody whose text it is.
type care int

const (
	none    care = iota // it is a companion's, or the house's: what may be the person's goes
	theirs              // of whoever told a fact that goes: the sentences go that say it again
	some                // another person's: what may be any word stays
	sparing             // another person's, and the person alone gave the order: all but the name stays
)

// spots gives where the name stands in a plain text, from the beginning on.
func (w *Words) spots(text string, c care) (all [][2]int) {
	for from := 0; from < len(text); {
		at, end := -1, 0
		for _, n := range w.names { // the longest first
			if i := w.spot(text, n, from, c); i >= 0 && (at < 0 || i < at) {
				at, end = i, i+len(n)
			}
		}
		if at < 0 {
			break
		}
		all = append(all, [2]int{at, end})
		from = end
	}
	return all
}

// spot gives where one of the names stands next, less than 0 where it does not.
func (w *Words) spot(text, name string, from int, c care) int {
	for {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return i
		}
		i += from
		j := i + len(name)
		if alone(text, i, j) && !w.covered(text, i, j) && (c == none || sure(text, i, j)) && (!w.word(name, c) || marked(text, i, j)) {
			return i
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
}

// word says whether a name is a word like any other.
func (w *Words) word(name string, c care) bool {
	return empty[name] || c != none && (everyday[name] || w.doubt[name])
}

// particles may stand behind a name in hiragana, of a run that nothing else is in.
var particles = regexp.MustCompile(`^(?:は|が|を|に|へ|と|も|の|で|ね|よ|って|だ|です|から|まで|より|だけ|なら|とか)(?:は|も|の|ね|よ|か|な|が|だ|です|って|よね|かな|かも)?$`)

// sure says whether what stands at [i, j) of a plain text is a word of its own also where nobody leaves a space between
// words: まい is none in まいにち or うまい, nor 花子 in 花子園.
func sure(text string, i, j int) bool {
	first, _ := firstRune(text[i:])
	before, _ := lastRune(text[:i])
	last, _ := lastRune(text[:j])
	rest := text[j:]
	honored := known.Honorific(rest) != ""
	if of := scriptOf(first); of == scriptOf(before) && !of.bounded() && of != other {
		if !honored || of == hiragana && !strings.ContainsRune("のとはがをにねよもへ", before) {
			return false
		}
	}
	if honored || scriptOf(last).bounded() {
		return true
	}
	run := rest[:len(rest)-len(strings.TrimLeftFunc(rest, func(r rune) bool { return scriptOf(r) == hiragana }))]
	next, _ := firstRune(rest[len(run):])
	if scriptOf(last) == han {
		return run != "" || scriptOf(next) != han
	}
	return run == "" && scriptOf(next) != han || particles.MatchString(run)
}

// marked says whether what stands at [i, j) of a plain text can only be a name: it is called, or honored.
func marked(text string, i, j int) bool {
	before, rest := strings.TrimRight(text[:i], " \u3000"), text[j:]
	if strings.HasSuffix(text[:i], "@") || known.Honorific(rest) != "" {
		return true
	}
	called := before == "" || strings.ContainsAny(before[len(before)-1:], ".!?;:\n") || strings.HasSuffix(before, "。") || strings.HasSuffix(before, "」")
	next, more := firstRune(rest)
	if called && more && strings.ContainsRune(",、:!?…", next) {
		return true
	}
	return (strings.HasSuffix(before, ",") || strings.HasSuffix(before, "、")) && (!more || strings.ContainsRune(".!?。…", next))
}

// covered says whether what stands at [i, j) of a plain text is a part of the name of somebody else.
func (w *Words) covered(text string, i, j int) bool {
	for n := range w.longer {
		for from := max(0, j-len(n)); from <= i; from++ {
			if strings.HasPrefix(text[from:], n) && alone(text, from, from+len(n)) {
				return true
			}
		}
	}
	return false
}

// rename gives a text with another name where the name stood.
func (w *Words) rename(s string, c care) string {
	text, from, to := plainly(s)
	spots := w.spots(text, c)
	if len(spots) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, spot := range spots {
		i, j := from[spot[0]], to[spot[1]-1]
		if i < at { // two that are in one letter
			continue
		}
		b.WriteString(s[at:i])
		b.WriteString(w.as)
		at = j
	}
	b.WriteString(s[at:])
	return b.String()
}

// plainly is plain, with where the letters from which each byte was made begin and end.
func plainly(s string) (text string, from, to []int) {
	var left strings.Builder
	var at []int // where each byte of left was
	for i, r := range s {
		if kept := shown(string(r)); kept != "" {
			left.WriteString(kept)
			for k := range len(kept) {
				at = append(at, i+k)
			}
		}
	}
	rest, done := left.String(), 0
	at = append(at, len(s))
	var b strings.Builder
	for rest != "" {
		n := norm.NFKC.NextBoundaryInString(rest, true)
		piece := strings.ToLower(norm.NFKC.String(rest[:n]))
		b.WriteString(piece)
		for range len(piece) {
			from, to = append(from, at[done]), append(to, at[done+n-1]+1)
		}
		rest, done = rest[n:], done+n
	}
	return b.String(), from, to
}
