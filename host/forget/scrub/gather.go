package scrub

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/wording"
)

// A word is left out as too common where so many others used it before the person did, or
// more in rooms in which the person never spoke, or where more than half of what others said has it, and that is much.
const (
	manyBefore = 2
	manyApart  = 3
	muchOf     = 40
	manyLines  = 10 // of people, before a name may be a word because of how many have it
)

// Gatherer learns by what repetitions are told. The zero value is of no use: see [NewGatherer].
type Gatherer struct {
	mine    func(name string) bool
	facts   map[string]bool // ids of the facts that are to go
	known   map[string]bool // what was said of a name, by the name
	keep    map[string]bool // plain names of others, which are no words of the person's
	people  map[string]bool // plain names of those who spoke or were here, the person not among them
	names   map[string]bool // the person's, as they were written
	words   map[string]*weight
	loose   map[string]*weight // of these, those that are no single run of letters
	runs    map[uint64]*weight
	phrases map[string]*weight // quotations and texts of the facts, in letters alone
	written map[string]string  // and as they are written, plain
	numbers map[string]bool    // of nine digits or more
	others  int                // texts of others
	lines   int                // of these, people's
	room    string
	rooms   map[string]bool // plain names of rooms that others opened
	taken   []taken         // texts of the person's; nil when their words are known
	spoke   map[string]bool // rooms in which the person did
	tells   map[string]bool // who said the facts that are to go
	first   int64           // when the person first did anything, in milliseconds; 0: never
	finder  *Words          // of names, while others are weighed
	called  map[string]*use // how others use the names as words

	// Alone says that the person gave the order: of what other people said the name alone goes.
	Alone bool
	// Theirs says that somebody else told the facts, who keeps the words.
	Theirs bool
	// Mine counts the entries that are the person's.
	Mine int
}

// weight is how a word is used.
type weight struct {
	at     int64           // when the person first used it, in milliseconds
	before map[string]bool // who used it earlier; nil: nobody
	apart  map[string]bool // people who used it where the person never spoke
	hits   int             // texts of others that have it
	soft   bool            // it may be any word: what people said themselves does not go because of it
}

// taken is a text of the person's, and when it was first so, in milliseconds.
type taken struct {
	text string
	at   int64
}

// use is how others use a name as a word, where nothing marks it as a name.
type use struct {
	before, all map[string]bool // who did: before the person came, and at any time
	lines       int             // of people
}

// NewGatherer makes one for the person of whom mine says whether a name is theirs, and for
// facts with these ids; either may be none.
func NewGatherer(mine func(name string) bool, facts []string) *Gatherer {
	g := &Gatherer{mine: mine, facts: map[string]bool{}, known: map[string]bool{}, keep: map[string]bool{}, people: map[string]bool{}, tells: map[string]bool{}, numbers: map[string]bool{}, called: map[string]*use{}, names: map[string]bool{}, spoke: map[string]bool{}, rooms: map[string]bool{}, words: map[string]*weight{}, loose: map[string]*weight{}, runs: map[uint64]*weight{}, phrases: map[string]*weight{}, written: map[string]string{}}
	for _, id := range facts {
		g.facts[id] = true
	}
	return g
}

// Is says whether a name is the person's; what was asked once is known.
func (g *Gatherer) Is(name string) bool {
	if !isName(name) {
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

// Enter says in which room the next entries stand, and who opened it.
func (g *Gatherer) Enter(room, by string) {
	if g.room = room; !g.Is(by) {
		g.rooms[plain(room)] = true
	}
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
	g.learnPeople(e.Kind, body)
	if !g.owns(e.Kind, body) {
		g.lookForNames(body)
		return
	}
	g.Mine++
	g.spoke[g.room] = true
	at := e.At.UnixMilli()
	if g.first == 0 || at < g.first {
		g.first = at
	}
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
			g.people[plain(n)] = true
		}
	}
}

// learnPeople takes the names of others of whom there is an entry. Whom somebody speaks to may be anything.
func (g *Gatherer) learnPeople(kind entry.Kind, body map[string]any) {
	for _, field := range authors[kind] {
		g.somebody(body[field])
	}
	if terms, _ := body["terms"].(map[string]any); kind == entry.KindConversation {
		members, _ := terms["members"].([]any)
		for _, m := range members {
			g.somebody(m)
		}
	}
}

func (g *Gatherer) somebody(name any) {
	if who, _ := name.(string); isName(who) && !g.Is(who) {
		g.people[plain(who)] = true
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

// Remembered reads what a companion remembers, and was as whoever edited that found it, and answers whether that is to go because the
// person said or edited it, or it is about the person, or it was named. Words are taken from what the person said
// alone, letter by letter: what the house found it by, or made of it, are the house's words, and an episode has
// the words of all who were there.
func (g *Gatherer) Remembered(m abi.Memory, was string) bool {
	goes := g.facts[m.ID] || g.Is(m.SaidBy) || g.Is(m.EditedBy) || slices.ContainsFunc(m.About, g.Is)
	if !goes {
		return false
	}
	if m.Kind == abi.MemoryEpisode || !g.facts[m.ID] && !g.Is(m.SaidBy) {
		return true
	}
	if g.facts[m.ID] && m.SaidBy != "" && !g.Theirs {
		g.tells[m.SaidBy] = true
	}
	at, said := m.SaidAt.UnixMilli(), cmp.Or(m.Quote, m.Text)
	g.take(said, at)
	if g.facts[m.ID] {
		for _, whole := range []string{m.Quote, m.Text, was} {
			g.phrase(whole, at)
		}
	}
	for _, k := range m.Keys {
		if thing(k) && strings.Contains(plain(said), plain(k)) {
			g.word(k, at, true)
		}
	}
	return true
}

// thing says whether a key may be what something is called in Chinese characters, of which a text alone does not tell.
func thing(key string) bool {
	return utf8.RuneCountInString(key) >= 3 && !strings.ContainsFunc(plain(key), func(r rune) bool { return scriptOf(r) != han })
}

// quoted is what stands in quotation marks, and a name before さん.
var (
	quoted  = regexp.MustCompile(`[「『“"‘]([^「」『』“”"‘’]{2,40})[」』”"’]`)
	honored = regexp.MustCompile(`(\p{Han}{1,4})(?:さん|ちゃん|くん|君|様|先生)`)
)

// take notes a text of the person's, of which words are taken when the names of all others are known.
func (g *Gatherer) take(text string, at int64) { g.taken = append(g.taken, taken{text, at}) }

// learned takes the words out of all that was noted.
func (g *Gatherer) learned() {
	if g.taken == nil {
		return
	}
	long := g.longNames()
	for _, t := range g.taken {
		for _, text := range layers(t.text) {
			g.takeLayer(text, t.at, long)
		}
	}
	g.taken = nil
}

func (g *Gatherer) takeLayer(text string, at int64, long *strings.Replacer) {
	lower := plain(text)
	for _, re := range []*regexp.Regexp{quoted, honored} {
		for _, m := range re.FindAllStringSubmatch(lower, -1) {
			g.word(m[1], at, false)
		}
	}
	g.takeForms(lower, at)
	big := capitals(text)
	runs(lower, func(w string, of script) {
		n := utf8.RuneCountInString(w)
		inside, capital := big[w]
		numbered := strings.ContainsFunc(w, unicode.IsDigit)
		switch {
		case of == katakana && n >= 2:
			g.word(w, at, false)
		case of == digit && n >= 4 && !date.MatchString(w):
			g.word(w, at, n == 4 || strings.HasSuffix(w, "000"))
		case of == latin && n >= 3 && (capital || numbered):
			g.word(w, at, !inside && !numbered)
		case of == han && n >= 4:
			g.word(w, at, true)
		}
	})
	for _, part := range strings.Split(long.Replace(lower), cutOut) {
		windows(part, func(h uint64) bool {
			if !stock[h] {
				earlier(g.runs, h, at)
			}
			return true
		})
	}
}

// date is a year, or a day.
var date = regexp.MustCompile(`^(19|20)\d\d([-.]\d{1,2}){0,2}$`)

// capitals gives the words of a text that begin with a capital letter, in small letters, and of each whether it
// does so inside a sentence, where no other word would.
func capitals(text string) map[string]bool {
	big, at := map[string]bool{}, 0
	text = norm.NFKC.String(shown(text))
	runs(text, func(w string, of script) {
		i := at + strings.Index(text[at:], w)
		at = i + len(w)
		if r, _ := firstRune(w); of == latin && unicode.IsUpper(r) {
			big[plain(w)] = big[plain(w)] || !begins(text[:i])
		}
	})
	return big
}

// begins says whether a sentence begins behind a text.
func begins(before string) bool {
	r, ok := lastRune(strings.TrimRight(before, " \u3000\"'“‘「『("))
	return !ok || strings.ContainsRune(".!?。！？…\n", r)
}

// word takes a word, unless it is a name of somebody else's, or one that says nothing: one of those by which the
// house finds things is nobody's.
func (g *Gatherer) word(w string, at int64, soft bool) {
	if w = strings.TrimSpace(plain(w)); len(wording.Words(w)) > 0 {
		g.add(w, at, soft)
	}
}

// add takes a plain word, also one that may be found nowhere.
func (g *Gatherer) add(w string, at int64, soft bool) {
	if utf8.RuneCountInString(w) < 2 || len(w) > 256 || empty[w] || wording.In(wording.Thing(w), true) != "" {
		return
	}
	_, known := g.words[w]
	x := earlier(g.words, w, at)
	x.soft = soft && (x.soft || !known)
	if !single(w) && !compound(w) {
		g.loose[w] = x
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

// nameTo tells what is looked for as the name, and what not.
func (g *Gatherer) nameTo(w *Words) {
	for n := range g.names {
		w.addName(n)
	}
	for n := range g.people {
		w.addOther(n)
	}
}

// Words gives what is looked for, and how many words are too common for that. order is the
// id that entries are marked with, as stands where the name stood.
func (g *Gatherer) Words(order, as string) (w *Words, common int) {
	g.learned()
	w = &Words{order: order, as: as, is: g.Is, owns: g.owns, longer: map[string]bool{}, doubt: map[string]bool{}, tells: g.tells, numbers: g.numbers, others: some, words: map[string]bool{}, loose: map[string]bool{}, runs: map[uint64]bool{}, phrases: map[string]string{}}
	if g.Alone {
		w.others = sparing
	}
	g.nameTo(w)
	for n, u := range g.called {
		w.doubt[n] = g.isWord(u)
	}
	fits := func(x *weight) bool {
		return len(x.before) < manyBefore && len(x.apart) < manyApart && (x.hits <= muchOf || 2*x.hits <= g.others)
	}
	kept := g.kept()
	for k, x := range g.words {
		switch {
		case kept[k]:
		case !fits(x):
			common++
		case single(k) || compound(k):
			w.words[k] = x.first()
		default:
			w.loose[k] = x.first()
		}
	}
	for k, x := range g.phrases {
		if fits(x) {
			w.phrases[k] = g.written[k]
		} else {
			common++
		}
	}
	for k, x := range g.runs {
		if fits(x) {
			w.runs[k] = x.first()
		}
	}
	return w, common
}

// first says whether a word came from the person, as far as one can know, so that whoever says it has it from there.
func (x *weight) first() bool { return !x.soft && len(x.before) == 0 && len(x.apart) < manyApart-1 }

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
	entry.KindWish: {"who"}, entry.KindSegment: {"who"}, entry.KindRefused: {"who"}, entry.KindStop: {"from"}, entry.KindMuted: {"who", "by"}, entry.KindSpeaking: {"from"},
	entry.KindOpened: {"by"}, entry.KindArchived: {"by"}, entry.KindAction: {"who", "by"}, entry.KindResult: {"who", "by"}, entry.KindUsage: {"who"},
	entry.KindConversation: {"who"}, entry.KindHeard: {"who"}, entry.KindPlayed: {"who"}, entry.KindSound: {"who"},
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
