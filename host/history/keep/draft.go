package keep

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/memory/wording"
)

// draft is a text that things are looked for in.
type draft struct {
	text   string
	plain  string // in [marks.Plain] and small letters
	marks  []marks.Mark
	pieces []piece
}

// piece is a clause of a draft, with the one behind it where it is not whole without: 「エビ、カニは出さない」.
type piece struct {
	text  string // as it is in the draft
	plain string
	words map[string]bool
	marks []marks.Mark
	signs marks.Signs
}

func readDraft(text string) *draft {
	d := &draft{text: text, plain: strings.ToLower(marks.Plain(text)), marks: marks.Find(text)}
	for _, s := range marks.Sentences(text) {
		clauses := marks.Clauses(s)
		for i := range clauses {
			to := i
			for to+1 < len(clauses) && !ends(clauses[to]) {
				to++
			}
			p := piece{text: span(s, clauses, i, to)}
			p.plain, p.words, p.marks, p.signs = strings.ToLower(marks.Plain(p.text)), units(p.text), marks.Find(p.text), marks.Read(p.text)
			d.pieces = append(d.pieces, p)
		}
	}
	return d
}

// ends says whether a clause can stand alone: it does not end with a noun or a particle of one.
func ends(clause string) bool {
	r, size := utf8.DecodeLastRuneInString(strings.TrimRight(clause, `」』）)"' `))
	if !unicode.Is(unicode.Hiragana, r) {
		return !japanese(clause) && len(strings.Fields(clause)) > 2 || predicates.MatchString(clause)
	}
	if causes.MatchString(clause) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(clause[:max(0, len(clause)-size)])
	return !strings.ContainsRune("はがをにとのもや", r) && !(r == 'び' && !unicode.Is(unicode.Han, before))
}

// predicates is a clause that ends with a noun that says something of what is before it: 本番を再起動.
var predicates = regexp.MustCompile(`[をはがも].*[\p{Han}]{2}$`)

// causes is the end of what is said only for what comes behind it.
var causes = regexp.MustCompile(`(?:ため|ので|から)$`)

// everyday are kanji of which a text has so many that they tell nothing.
const everyday = `日月火水木金土年時分秒円人名個本枚回的前後中上下今来行見言思出入大小新一二三四五六七八九十百千万何者事物方私僕俺自決禁止不可無未非必要関係曜`

// units gives what two texts in other words can share: kanji one by one, words in kana and Latin letters, and things.
func units(text string) map[string]bool {
	u := map[string]bool{}
	text = marks.Plain(text)
	for _, w := range words(text) {
		first, _ := utf8.DecodeRuneInString(w)
		switch {
		case unicode.Is(unicode.Han, first):
			for _, r := range w {
				if !strings.ContainsRune(everyday, r) {
					u[string(r)] = true
				}
			}
		default:
			u[w] = true
		}
	}
	for _, th := range wording.Things(text) {
		u["="+th] = true
	}
	return u
}

// words gives the words of a text in [marks.Plain]: those of [wording.Words], and more of the English ones. Numbers are none.
func words(text string) (all []string) {
	for _, w := range wording.Words(text) {
		first, _ := utf8.DecodeRuneInString(w)
		ending := unicode.Is(unicode.Hiragana, first) && utf8.RuneCountInString(w) < 4 && strings.Contains(text, w) && wording.Thing(w) == w
		if first > unicode.MaxLatin1 && !unicode.IsNumber(first) && !ending {
			all = append(all, w)
		}
	}
	for _, w := range latin.FindAllString(strings.ToLower(text), -1) {
		if w = strings.TrimSuffix(w, "'s"); !small[w] && len(w) > 1 {
			all = append(all, stem(w))
		}
	}
	return all
}

var latin = regexp.MustCompile(`[a-z\x{00df}-\x{024f}]+(?:'[a-z]+)?`)

// small are the words of English that are in every text.
var small = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`the a an and or but if of to in on at for with from by as is am are was were be been being do does did done have has had having will would can could should shall may might must
		i i'm i've i'd i'll me my mine you your yours you're you'll he she it it's its they they'll they're them their we we'll we're us our his her him this that that's these those there there's here what what's who who's whom which when where why how
		not no yes yeah ok okay oh ah hey hi hello so very really too also just about again please don't doesn't didn't isn't aren't wasn't can't won't let's up out over then than ever never still well now pm get got go going want like some any all more most much many into onto only both`) {
		m[w] = true
	}
	return m
}()

// stem takes the endings off an English word.
func stem(w string) string {
	switch n := len(w); {
	case n > 4 && (strings.HasSuffix(w, "ies") || strings.HasSuffix(w, "ied")):
		return w[:n-3] + "y"
	case n > 5 && strings.HasSuffix(w, "ing"):
		w = w[:n-3]
	case n > 4 && strings.HasSuffix(w, "ed"), n > 4 && strings.HasSuffix(w, "es"):
		w = w[:n-2]
	case n > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		w = w[:n-1]
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 'l' && w[n-1] != 's' {
		w = w[:n-1]
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

func shared(a, b map[string]bool) (n int) {
	if len(a) > len(b) {
		a, b = b, a
	}
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// has says whether the draft has a mark.
func (d *draft) has(m marks.Mark) bool { return has(d.plain, d.marks, m) }

func (p piece) has(m marks.Mark) bool { return has(p.plain, p.marks, m) }

func has(plain string, all []marks.Mark, m marks.Mark) bool {
	if m.Kind == marks.Name {
		return marks.Says(plain, m.Key)
	}
	for _, o := range all {
		if m.Same(o) && !m.Against(o) {
			return true
		}
	}
	return false
}

// found is what of a draft is nearest to a text.
type found struct {
	pieces []piece // those that share about as much as the best
	alike  bool    // one says the same, as far as words show it
	most   float64 // what the best shares, units and marks
}

// near gives the pieces of a draft that share the most with a text.
func (d *draft) near(words map[string]bool, all []marks.Mark) (f found) {
	scores, plain, best := make([]float64, len(d.pieces)), make([]float64, len(d.pieces)), 0.0
	for i, p := range d.pieces {
		plain[i] = float64(shared(words, p.words))
		scores[i], best = plain[i], max(best, plain[i])
		for _, m := range all {
			if p.has(m) {
				scores[i] += 2
			}
		}
		f.most = max(f.most, scores[i])
	}
	if f.most == 0 {
		return f
	}
	for i, p := range d.pieces {
		if scores[i] < .8*f.most && (plain[i] < .8*best || best == 0) {
			continue
		}
		f.pieces = append(f.pieces, p)
		n := shared(words, p.words)
		f.alike = f.alike || n >= max(2, int(enough*float64(len(words)))) || n > 0 && (2*n >= len(words) || 2*n >= len(p.words))
	}
	return f
}

func (f found) any(is func(piece) bool) bool {
	for _, p := range f.pieces {
		if is(p) {
			return true
		}
	}
	return false
}
