package judge

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
)

// draft is a text that things are looked for in.
type draft struct {
	text    string
	plain   string // without what an extract puts before a line, in [marks.Plain] and small letters
	marks   []marks.Mark
	pieces  []piece
	sounds  alike.Sounds
	clauses []piece          // one by one, with nothing but marks
	having  map[string][]int // the pieces that have a word
	cut     map[string][]int // the pieces that have one that begins so
	known   map[string]bool  // of marks, whether it has them
	denials func() []denial  // of its clauses, read once
	people  alike.People     // of the turns that it is of, as far as it was told them
	pairs   func() []told    // who does what to whom, read once

	// What [draft.sharing] counts: of each piece how many words, and the last word that was one.
	shared, last []int
	word         int
}

// piece is a clause of a draft, with the one behind it where it is not whole without: 「エビ、カニは出さない」.
type piece struct {
	at     int    // among all pieces
	text   string // as it is in the draft
	plain  string
	words  map[string]bool
	parts  map[string]bool // what its words begin with, see beginnings
	marks  []marks.Mark
	signs  marks.Signs
	sounds alike.Sounds
}

// prefixed is what an extract has before the words of a turn: its number, and who speaks. That says nothing of the talk.
var prefixed = regexp.MustCompile(`(?m)^\[[0-9]+(?:-[0-9]+)?\] (?:[^\s:]{1,64}: )?`)

func readDraft(text string) *draft {
	d := &draft{text: text, having: map[string][]int{}, cut: map[string][]int{}, known: map[string]bool{}}
	text = prefixed.ReplaceAllString(text, "")
	d.plain, d.marks = strings.ToLower(marks.Plain(text)), marks.Find(text)
	d.sounds = alike.SoundsOf(d.plain)
	for _, s := range marks.Sentences(text) {
		d.sentence(s)
	}
	d.denials = sync.OnceValue(func() []denial { return denials(d.clauses) })
	d.pairs = sync.OnceValue(d.readPairs)
	d.shared, d.last = make([]int, len(d.pieces)), make([]int, len(d.pieces))
	return d
}

// readPiece reads a clause, but for its signs.
func readPiece(text string) piece {
	p := piece{text: text, plain: strings.ToLower(marks.Plain(text)), words: alike.Units(text), marks: marks.Find(text)}
	p.sounds = alike.SoundsOf(p.plain)
	return p
}

// knows tells a draft of whom the talk is.
func (d *draft) knows(turns []abi.PastTurn, items []abi.KeepItem) *draft {
	all := [][]marks.Mark{d.marks}
	for _, k := range items {
		all = append(all, marks.Find(k.Text))
	}
	d.people = alike.Heard(turns, all...)
	return d
}

// sentence reads one of a draft.
func (d *draft) sentence(s string) {
	clauses := marks.Clauses(s)
	starts, own := marks.Starts(s, clauses), make([]piece, len(clauses))
	for i, c := range clauses {
		own[i] = readPiece(c)
	}
	d.clauses = append(d.clauses, own...)
	for i := range clauses {
		to := i
		for to+1 < min(len(clauses), i+alike.Together) && !ends(clauses[to]) {
			to++
		}
		p := own[i]
		if p.at = len(d.pieces); to > i {
			p.text = s[starts[i] : starts[to]+len(clauses[to])]
			p.plain, p.words, p.marks = strings.ToLower(marks.Plain(p.text)), alike.Units(p.text), nil
			for _, c := range own[i : to+1] {
				p.marks = append(p.marks, c.marks...)
			}
			p.sounds = alike.SoundsOf(p.plain)
		}
		p.signs, p.parts = marks.Read(p.text), alike.Beginnings(p.words)
		if listed(clauses, i) {
			p.signs.Negates, p.signs.Denies = true, true
		}
		for w := range p.words {
			d.having[w] = append(d.having[w], p.at)
		}
		for w := range p.parts {
			d.cut[w] = append(d.cut[w], p.at)
		}
		d.pieces = append(d.pieces, p)
	}
}

// listed says whether a clause is one of those that a negation before them is for: no tape, candles or glass.
func listed(clauses []string, i int) bool {
	short := func(c string) bool { return len(strings.Fields(c)) < 4 }
	last := i
	for last < min(len(clauses), i+alike.Together) && short(clauses[last]) && !strings.Contains(clauses[last], " or ") {
		last++
	}
	if last == min(len(clauses), i+alike.Together) || !strings.Contains(clauses[last], " or ") || alike.Japanese(clauses[last]) {
		return false
	}
	for j := i - 1; j >= max(0, i-alike.Together); j-- {
		if denying.MatchString(clauses[j]) {
			return true
		}
		if !short(clauses[j]) {
			return false
		}
	}
	return false
}

var denying = regexp.MustCompile(`(?i)\b(?:no|without|not|never|neither) \S+(?: \S+)?$`)

// ends says whether a clause can stand alone: it does not end with a noun or a particle of one. What says why is no part of what it is said for, for
// that may be denied and this not.
func ends(clause string) bool {
	r, size := utf8.DecodeLastRuneInString(strings.TrimRight(clause, `」』）)"' `))
	if !unicode.Is(unicode.Hiragana, r) {
		return !alike.Japanese(clause) && len(strings.Fields(clause)) > 2 || predicates.MatchString(clause)
	}
	if causes.MatchString(clause) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(clause[:max(0, len(clause)-size)])
	return !strings.ContainsRune("はがをにとのもや", r) && !(r == 'び' && !unicode.Is(unicode.Han, before))
}

// predicates is a clause that ends with a noun that says something of what is before it: 本番を再起動.
var predicates = regexp.MustCompile(`[をはがも].*[\p{Han}]{2}$`)

// causes is the end of what says why what comes behind it is so.
var causes = regexp.MustCompile(`(?:ため|ので|から)$`)

// shares gives how many words a piece shares with others, also where one of the two is cut short.
func (p piece) shares(words map[string]bool) (n int) {
	for w := range words {
		if p.words[w] || p.parts[w] {
			n++
			continue
		}
		for b := range alike.Beginnings(map[string]bool{w: true}) {
			if p.words[b] {
				n++
				break
			}
		}
	}
	return n
}

// has says whether the draft has a mark.
func (d *draft) has(m marks.Mark) bool {
	key := string(m.Kind) + m.Text + " " + m.Key
	known, ok := d.known[key]
	if !ok || m.Kind != marks.Name { // the same number may be a bound, or none
		known = has(d.plain, d.marks, m) || m.Kind == marks.Name && d.sounds.Have(m.Key)
		d.known[key] = known
	}
	return known
}

func (p *piece) has(m marks.Mark) bool {
	return has(p.plain, p.marks, m) || m.Kind == marks.Name && p.sounds.Have(m.Key)
}

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

// most is how many pieces are looked at that are near a text.
const most = 200

// found is what of a draft is nearest to a text.
type found struct {
	pieces []*piece // those that share about as much as the best, [most] at the most
	alike  bool     // one says the same, as far as words show it
	most   float64  // what the best shares, units and marks
}

// sharing gives the pieces that share words with others, and leaves in shared how many, as [piece.shares] counts.
func (d *draft) sharing(words map[string]bool) (touched []int) {
	count := func(at []int) {
		for _, i := range at {
			if d.last[i] != d.word {
				if d.shared[i] == 0 {
					touched = append(touched, i)
				}
				d.last[i], d.shared[i] = d.word, d.shared[i]+1
			}
		}
	}
	for w := range words {
		d.word++
		count(d.having[w])
		count(d.cut[w])
		for b := range alike.Beginnings(map[string]bool{w: true}) {
			count(d.having[b])
		}
	}
	return touched
}

// near gives the pieces of a draft that share the most with a text.
func (d *draft) near(words map[string]bool, all []marks.Mark) (f found) {
	at := d.sharing(words)
	defer func() {
		for _, i := range at {
			d.shared[i] = 0
		}
	}()
	best := 0
	for _, i := range at {
		best = max(best, d.shared[i])
	}
	all = slices.DeleteFunc(slices.Clone(all), func(m marks.Mark) bool { return !d.has(m) })
	if len(all) > 0 { // they may stand where no word does
		at = at[:0]
		for i := range d.pieces {
			at = append(at, i)
		}
	} else {
		slices.Sort(at)
	}
	scores := make([]float64, len(at))
	for n, i := range at {
		scores[n] = float64(d.shared[i])
		for _, m := range all {
			if d.pieces[i].has(m) {
				scores[n] += 2
			}
		}
		f.most = max(f.most, scores[n])
	}
	if f.most == 0 {
		return f
	}
	for n, i := range at {
		p, plain := &d.pieces[i], d.shared[i]
		if len(f.pieces) == most || scores[n] < .8*f.most && (float64(plain) < .8*float64(best) || best == 0) {
			continue
		}
		f.pieces = append(f.pieces, p)
		f.alike = f.alike || plain >= max(2, int(enough*float64(len(words)))) || plain > 0 && (2*plain >= len(words) || 2*plain >= len(p.words))
	}
	return f
}

// nearby is how many bytes from a number others stand that it can follow from.
const nearby = 120

// around gives the marks of a draft beside one of them.
func (d *draft) around(m marks.Mark) (all []marks.Mark) {
	for _, o := range d.marks {
		if o.From > m.From-nearby && o.From < m.From+nearby {
			all = append(all, o)
		}
	}
	return all
}

// besides gives found pieces, and two behind each.
func (d *draft) besides(f found) found {
	all := found{alike: f.alike, most: f.most}
	for _, p := range f.pieces {
		for i := p.at; i < min(p.at+3, len(d.pieces)); i++ {
			all.pieces = append(all.pieces, &d.pieces[i])
		}
	}
	return all
}

func (f found) any(is func(piece) bool) bool {
	for _, p := range f.pieces {
		if is(*p) {
			return true
		}
	}
	return false
}
