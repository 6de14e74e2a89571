package scrub

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// A word is left out as too common where so many others used it before the person did, or
// where more than half of what others said has it, and that is much.
const (
	manyBefore = 2
	muchOf     = 40
)

// Gatherer learns by what repetitions are told. The zero value is of no use: see [NewGatherer].
type Gatherer struct {
	mine   func(name string) bool
	facts  map[string]bool // ids of the facts that are to go
	known  map[string]bool // what was said of a name, by the name
	keep   map[string]bool // plain names of others, which are no words of the person's
	names  map[string]bool // the person's, as they were written
	words  map[string]*weight
	loose  map[string]*weight // of these, those that are no single run of letters
	runs   map[uint64]*weight
	others int // texts of others

	// Mine counts the entries that are the person's.
	Mine int
}

// weight is how a word is used.
type weight struct {
	at     int64           // when the person first used it, in milliseconds
	before map[string]bool // who used it earlier; nil: nobody
	hits   int             // texts of others that have it
}

// NewGatherer makes one for the person of whom mine says whether a name is theirs, and for
// facts with these ids; either may be none.
func NewGatherer(mine func(name string) bool, facts []string) *Gatherer {
	g := &Gatherer{mine: mine, facts: map[string]bool{}, known: map[string]bool{}, keep: map[string]bool{}, names: map[string]bool{}, words: map[string]*weight{}, loose: map[string]*weight{}, runs: map[uint64]*weight{}}
	for _, id := range facts {
		g.facts[id] = true
	}
	return g
}

// Is says whether a name is the person's; what was asked once is known.
func (g *Gatherer) Is(name string) bool {
	if name == "" || len(name) > abi.MaxName || strings.ContainsFunc(name, noName) {
		return false
	}
	is, ok := g.known[name]
	if !ok {
		if len(g.known) > 1<<16 {
			clear(g.known)
		}
		is = g.mine(name)
		g.known[name] = is
	}
	if is {
		g.names[name] = true
	}
	return is
}

// noName says whether a letter stands in no name, so that most texts need not be looked at closer.
func noName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' && r != '-' && r != '.' && !unicode.Is(unicode.Cf, r)
}

// Learn reads an entry of any room for what the person said there. All entries are to be learned
// before the first is weighed.
func (g *Gatherer) Learn(e entry.Entry) {
	body := object(e.Body)
	if body == nil {
		return
	}
	if e.Kind == entry.KindCast {
		g.learnCast(e)
	}
	if !g.owns(e.Kind, body) {
		g.lookForNames(body)
		return
	}
	g.Mine++
	at := e.At.UnixMilli()
	texts(e.Kind, "", body, func(s string) { g.take(s, at) })
}

// learnCast takes the names of those who are here: others' are no words of the person's,
// and the person may have more than one.
func (g *Gatherer) learnCast(e entry.Entry) {
	c, _ := entry.Decode[entry.Cast](e)
	for _, j := range c.Joined {
		all := append([]string{j.ID, j.Name}, j.Aliases...)
		if slices.ContainsFunc(all[:1], g.Is) {
			for _, n := range all {
				if n != "" {
					g.names[n] = true
				}
			}
			continue
		}
		for _, n := range all {
			g.keep[plain(n)] = true
		}
	}
}

// lookForNames finds the ways in which the person's name is written in others' entries.
func (g *Gatherer) lookForNames(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, v := range v {
			g.Is(k)
			g.lookForNames(v)
		}
	case []any:
		for _, v := range v {
			g.lookForNames(v)
		}
	case string:
		g.Is(v)
	}
}

// Name adds a way in which the person is called.
func (g *Gatherer) Name(name string) { g.names[name] = true }

// Remembered reads what a companion remembers, and answers whether that is to go because the
// person said or edited it, or it is about the person, or it was named.
func (g *Gatherer) Remembered(m abi.Memory) bool {
	goes := g.facts[m.ID] || g.Is(m.SaidBy) || g.Is(m.EditedBy) || slices.ContainsFunc(m.About, g.Is)
	if !goes {
		return false
	}
	at := m.SaidAt.UnixMilli()
	for _, k := range m.Keys {
		g.key(k, at)
	}
	g.take(m.Quote, at)
	g.take(m.Text, at)
	return true
}

// quoted is what stands in quotation marks, and a name before さん.
var (
	quoted  = regexp.MustCompile(`[「『“"‘]([^「」『』“”"‘’]{2,40})[」』”"’]`)
	honored = regexp.MustCompile(`(\p{Han}{1,4})(?:さん|ちゃん|くん|君|様|先生)`)
)

// take takes words out of a text of the person's.
func (g *Gatherer) take(text string, at int64) {
	for _, text := range layers(text) {
		g.takeLayer(text, at)
	}
}

func (g *Gatherer) takeLayer(text string, at int64) {
	lower := plain(text)
	for _, re := range []*regexp.Regexp{quoted, honored} {
		for _, m := range re.FindAllStringSubmatch(lower, -1) {
			g.word(m[1], at)
		}
	}
	big := capitals(text)
	runs(lower, func(w string, of script) {
		n := utf8.RuneCountInString(w)
		switch {
		case of == katakana && n >= 2, of == digit && n >= 4,
			of == latin && n >= 3 && (big[w] || strings.ContainsFunc(w, unicode.IsDigit)):
			g.word(w, at)
		}
	})
	windows(lower, func(h uint64) bool {
		if !stock[h] {
			earlier(g.runs, h, at)
		}
		return true
	})
}

// capitals gives the words of a text that begin with a capital letter, in small letters.
func capitals(text string) map[string]bool {
	big := map[string]bool{}
	runs(norm.NFKC.String(shown(text)), func(w string, of script) {
		if r, _ := firstRune(w); of == latin && unicode.IsUpper(r) {
			big[plain(w)] = true
		}
	})
	return big
}

// word takes a word, unless it is a name of somebody else's, or one that says nothing.
func (g *Gatherer) word(w string, at int64) {
	w = strings.TrimSpace(plain(w))
	if utf8.RuneCountInString(w) < 2 || len(w) > 256 || g.keep[w] || empty[w] {
		return
	}
	x := earlier(g.words, w, at)
	if !single(w) {
		g.loose[w] = x
	}
}

// key takes a word by which something is remembered, unless it is one that could be about anything.
func (g *Gatherer) key(k string, at int64) {
	p := plain(k)
	named := len(capitals(k)) > 0
	for _, r := range p {
		named = named || scriptOf(r) == katakana || scriptOf(r) == han || unicode.IsDigit(r)
	}
	if named {
		g.word(k, at)
	}
}

func earlier[K comparable](m map[K]*weight, k K, at int64) *weight {
	w := m[k]
	if w == nil {
		w = &weight{at: at}
		m[k] = w
	}
	w.at = min(w.at, at)
	return w
}

// Weigh reads an entry for what others said.
func (g *Gatherer) Weigh(e entry.Entry) {
	if e.Kind != entry.KindSaid && e.Kind != entry.KindSegment {
		return
	}
	body := object(e.Body)
	text, _ := body["text"].(string)
	if text == "" || g.owns(e.Kind, body) {
		return
	}
	who, _ := body["from"].(string)
	g.others++
	at, lower := e.At.UnixMilli(), plain(text)
	seen := map[*weight]bool{}
	use := func(w *weight) {
		if w == nil || seen[w] {
			return
		}
		seen[w] = true
		if w.hits++; at < w.at && e.Kind == entry.KindSaid {
			if w.before == nil {
				w.before = map[string]bool{}
			}
			w.before[who] = true
		}
	}
	runs(lower, func(w string, _ script) { use(g.words[w]) })
	for w, x := range g.loose {
		if x.hits < muchOf && has(lower, w) {
			use(x)
		}
	}
	windows(lower, func(h uint64) bool { use(g.runs[h]); return true })
}

// single says whether a word is one run that ends where its script does, so that it is found by
// looking it up.
func single(w string) bool {
	n, bounded := 0, true
	runs(w, func(_ string, of script) { n++; bounded = bounded && of.bounded() })
	return n == 1 && bounded && !strings.ContainsFunc(w, unicode.IsSpace)
}

// Words gives what is looked for, and how many words are too common for that. order is the
// id that entries are marked with, as stands where the name stood.
func (g *Gatherer) Words(order, as string) (w *Words, common int) {
	w = &Words{order: order, as: as, is: g.Is, owns: g.owns, words: map[string]bool{}, runs: map[uint64]bool{}}
	for n := range g.names {
		w.addName(n)
	}
	fits := func(x *weight) bool {
		return len(x.before) < manyBefore && (x.hits <= muchOf || 2*x.hits <= g.others)
	}
	for k, x := range g.words {
		switch {
		case g.keep[k]: // it was learned later
		case !fits(x):
			common++
		case single(k):
			w.words[k] = true
		default:
			w.loose = append(w.loose, k)
		}
	}
	for k, x := range g.runs {
		if fits(x) {
			w.runs[k] = true
		}
	}
	slices.Sort(w.loose)
	return w, common
}

// Names gives the ways in which the person is called, sorted.
func (g *Gatherer) Names() []string {
	var names []string
	for n := range g.names {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// authors are the fields that say whose an entry is, by kind. One without is nobody's: the house made it.
var authors = map[entry.Kind][]string{
	entry.KindSaid: {"from"}, entry.KindVote: {"voter"}, entry.KindFailed: {"who"}, entry.KindPerceived: {"from"}, entry.KindJudged: {"who"},
	entry.KindWish: {"who"}, entry.KindSegment: {"who"}, entry.KindRefused: {"who"}, entry.KindStop: {"from"}, entry.KindSpeaking: {"from"},
	entry.KindOpened: {"by"}, entry.KindArchived: {"by"}, entry.KindAction: {"who", "by"}, entry.KindResult: {"who", "by"}, entry.KindUsage: {"who"},
	entry.KindConversation: {"who"}, entry.KindHeard: {"who"}, entry.KindPlayed: {"who"},
}

// owns says whether an entry is the person's.
func (g *Gatherer) owns(kind entry.Kind, body map[string]any) bool {
	return slices.ContainsFunc(authors[kind], func(field string) bool {
		who, _ := body[field].(string)
		return g.Is(who)
	})
}

// object decodes a body, nil where it is no object.
func object(raw json.RawMessage) map[string]any {
	v, _ := decode(raw).(map[string]any)
	return v
}
