package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/memory/wording"
)

// enough is how much of the words of something a draft must share with it where there is no number and no day.
const enough = .3

// check says what became of an item in a draft, where the draft has it, and what is wrong.
func (d *draft) check(k abi.KeepItem) (abi.VerifiedItem, string) {
	text := k.Text
	if quote, ok := wording.Quoted(text, d.text); ok {
		v := abi.VerifiedItem{Status: abi.StatusKept, Quote: alike.Cut(quote, abi.MaxFeedback)}
		if d.takenBack(quote) {
			v.Status = abi.StatusChanged
			return v, "it is denied there as a whole"
		}
		if why := d.allergy(text); why != "" {
			v.Status = abi.StatusChanged
			return v, why
		}
		return v, ""
	}
	all, words := required(text), alike.Units(text)
	f := d.near(words, all)
	v := abi.VerifiedItem{Status: abi.StatusMissing}
	denying := d.denies(text)
	if len(f.pieces) == 0 && denying != nil { // 火: a word of one kanji that every text has
		f.pieces = []*piece{denying}
	}
	if len(f.pieces) == 0 {
		return v, "nothing of it is there"
	}
	v.Quote = alike.Cut(f.pieces[0].text, abi.MaxFeedback)
	if why := d.allergy(text); why != "" {
		v.Status = abi.StatusChanged
		return v, why
	}
	lost, plain := d.lost(all), 0
	for _, m := range all {
		if m.Kind != marks.Name {
			plain++
		}
	}
	switch {
	case len(lost) > 0:
		if len(lost) < len(all) || f.alike {
			v.Status = abi.StatusChanged
		}
		return v, "it does not say " + strings.Join(lost, ", ")
	case plain == 0 && !f.alike && !d.spread(words) && denying == nil:
		return v, "nothing says the same in like words"
	case plain == 0 && denying == nil && !d.speaks(text):
		return v, "it does not say of what"
	}
	v.Status = abi.StatusChanged
	if why := d.swapped(all, words, f); why != "" {
		return v, why
	}
	if why := d.exchanged(text); why != "" {
		return v, why
	}
	if why := d.turned(text, d.people.By[k.Turn]); why != "" {
		return v, why
	}
	signs := marks.Read(text)
	if why := d.throws(text, words, signs); why != "" {
		return v, why
	}
	if why := unlike(signs, f); why != "" {
		return v, why
	}
	if why := d.affirms(text, signs, f); why != "" {
		return v, why
	}
	if why := d.negated(text); why != "" {
		return v, why
	}
	v.Status = abi.StatusKept
	return v, ""
}

// foreign says whether code cannot tell that something is missing for which it finds nothing: it has no number, day or name, and most of the
// draft is in the other of the two languages, which shares no words with it.
func (d *draft) foreign(text string, own abi.VerifiedItem) bool {
	if own.Status != abi.StatusMissing || len(required(text)) > 0 {
		return false
	}
	same, other := 0, 0
	for _, p := range d.pieces {
		switch {
		case !strings.ContainsFunc(p.text, unicode.IsLetter):
		case alike.Japanese(p.text) == alike.Japanese(text):
			same++
		default:
			other++
		}
	}
	return other > same
}

// because is where what comes behind is the point, and what is before it only says why.
var because = regexp.MustCompile(`[るたいだすん](?:から|ので)|, so\b`)

var (
	soThat  = regexp.MustCompile(`(?i)^so\b`)
	reasons = regexp.MustCompile(`(?i)^(?:because|since|as|for)\b`)
)

// required gives the marks of a text that a draft of it must have: hard ones, without those that follow from others, and without counts
// and lengths of time that are only in a reason. A small number that is denied says that there is one less: no bell holds two.
func required(text string) []marks.Mark {
	found := marks.Find(text)
	plain := marks.Plain(text)
	why := 0
	for _, at := range because.FindAllStringIndex(strings.ToLower(plain), -1) {
		why = at[0]
	}
	denied := marks.Read(text).Denies
	all := marks.Hard(slices.Clone(found))
	last := 0
	for _, m := range all {
		last = max(last, m.From)
	}
	return slices.DeleteFunc(all, func(m marks.Mark) bool {
		return m.Follows(found) || m.Kind == marks.Number && !m.Money() && m.From < why && why < last || denied && m.Small()
	})
}

// lost gives the marks that the draft does not have.
func (d *draft) lost(all []marks.Mark) (lost []string) {
	besides := slices.ContainsFunc(d.marks, func(m marks.Mark) bool { return m.Beside })
	for _, m := range all {
		if !d.has(m) && (!m.Beside || besides) {
			text := m.Text
			if m.Kind != marks.Name && slices.ContainsFunc(d.marks, m.Same) {
				text += " with its limit"
			}
			lost = append(lost, text)
		}
	}
	return lost
}

// speaks says whether the draft has the one thing that a short text decides, forbids or leaves open: "agreed on red" shares a word with "agreed on
// blue", and not that one.
func (d *draft) speaks(text string) bool {
	of := alike.Units(marks.Bare(text))
	if len(of) != 1 {
		return true
	}
	for i := range d.pieces {
		if d.pieces[i].shares(of) > 0 {
			return true
		}
	}
	return within(of, d.text) > 0
}

// spread says whether the words of a text are in more than one piece of the draft, most of them.
func (d *draft) spread(words map[string]bool) bool {
	n := 0
	for w := range words {
		for _, p := range d.pieces {
			if p.words[w] {
				n++
				break
			}
		}
	}
	return 2*n > len(words) && n > 2
}

// swapped says which number or day stands with something else: where the draft says the same as a text, there
// is another one like it, and where its own is, the draft speaks of other things.
func (d *draft) swapped(all []marks.Mark, words map[string]bool, _ found) string {
	best, at := 0, []piece(nil)
	for _, p := range d.pieces {
		switch n := alike.Shared(words, p.words); {
		case n > best:
			best, at = n, []piece{p}
		case n == best:
			at = append(at, p)
		}
	}
	if best < 2 {
		return ""
	}
	for _, m := range all {
		if m.Kind == marks.Name || m.Small() {
			continue
		}
		other, own := "", false
		for _, p := range at {
			own = own || p.has(m)
			for _, o := range p.marks {
				if m.Like(o) && !m.Same(o) {
					other = o.Text
				}
			}
		}
		if !own && other != "" && !d.beside(m, words) {
			return fmt.Sprintf("it says %s for %s", other, m.Text)
		}
	}
	return ""
}

// beside says whether a number stands in a piece that shares a word with the text that it is from.
func (d *draft) beside(m marks.Mark, words map[string]bool) bool {
	for _, p := range d.pieces {
		if p.has(m) && alike.Shared(words, p.words) > 0 {
			return true
		}
	}
	return false
}

// doubled is what must be, said by two negations.
var doubled = regexp.MustCompile(`(?:\b(?:no|not|never|nothing|nobody|none|cannot)\b|n't\b).*\b(?:without|unless)\b`)

// needless is what need not be, or is not wrong, which forbids nothing, and what is denied twice.
var needless = regexp.MustCompile(`\bneed(?:s|ed)? ?n[o']t\b|\b(?:do|does|did)(?: not|n't) (?:need|have) to\b|\b(?:not|never|nothing)(?: \w+)? (?:wrong|forbidden|prohibited|banned)\b|(?:な(?:い|く)|ません)(?:という)?(?:わけ|こと|の)(?:では|じゃ|でも|は|も)(?:な(?:い|く)|あり?ません)|なくて(?:も)?(?:よ|い|良|構)|ないとは(?:言え|限ら)(?:な[いく]|ません)`)

// forbids gives the signs of a piece that is to deny what a text does, without what forbids nothing, unless the text says that too.
func (p *piece) forbids(text string) marks.Signs {
	if p.signs.Negates && needless.MatchString(p.plain) && !needless.MatchString(strings.ToLower(text)) {
		return marks.Read(needless.ReplaceAllString(p.plain, " "))
	}
	return p.signs
}

// affirms says whether the draft does not deny what a text does, clause by clause.
func (d *draft) affirms(text string, signs marks.Signs, whole found) string {
	if !signs.Negates || signs.Asks || signs.Unsettled {
		return ""
	}
	clauses := marks.Clauses(text)
	for i, c := range clauses {
		s := marks.Read(c)
		if !s.Negates || s.Mildly || i+1 < len(clauses) && (causes.MatchString(c) || soThat.MatchString(clauses[i+1])) || i > 0 && reasons.MatchString(c) {
			continue // why something is so need not be told
		}
		f := whole
		if len(clauses) > 1 {
			if own := d.near(alike.Units(c), marks.Hard(marks.Find(c))); len(own.pieces) > 0 && len(alike.Units(c)) > 1 {
				f = own
			} else { // what it is of is said before
				f = d.besides(whole)
			}
		}
		if doubled.MatchString(strings.ToLower(c)) {
			if !f.any(func(p piece) bool { return p.signs.Must || doubled.MatchString(p.plain) }) {
				return "it is not needed there: " + c
			}
			continue
		}
		if !f.any(func(p piece) bool {
			told := p.forbids(text)
			return told.Denies || told.Lacks || told.Negates && !(s.Denies && signs.Softly)
		}) {
			return "what it forbids or denies is not forbidden or denied there: " + c
		}
	}
	return ""
}

// denies gives where the draft denies something of a thing of which a text denies it too, in whatever words; nil for nowhere.
func (d *draft) denies(text string) *piece {
	g := alike.Subject.FindStringSubmatch(strings.ToLower(marks.Plain(text)))
	if g == nil || !marks.Read(text).Negates {
		return nil
	}
	single := utf8.RuneCountInString(g[1]) < 2
	for i := range d.pieces {
		p := &d.pieces[i]
		own := alike.Subject.FindStringSubmatch(p.plain)
		if p.signs.Denies && (!single && strings.Contains(p.plain, g[1]) || single && own != nil && own[1] == g[1]) {
			return p
		}
	}
	return nil
}

// exchanged says which two things of a text stand with each other's numbers or days in the draft.
func (d *draft) exchanged(text string) string {
	type pair struct{ name, of marks.Mark }
	var pairs []pair
	for _, c := range marks.Clauses(text) {
		var p pair
		n := 0
		for _, m := range marks.Find(c) {
			switch {
			case m.Kind == marks.Name && m.Sure:
				p.name = m
				n++
			case m.Kind != marks.Name && !m.Small():
				p.of = m
				n += 10
			}
		}
		if n == 11 && len(pairs) < alike.Together {
			pairs = append(pairs, p)
		}
	}
	together := func(a, b marks.Mark) bool {
		for _, c := range d.clauses {
			if c.has(a) && c.has(b) {
				return true
			}
		}
		return false
	}
	for i, a := range pairs {
		for _, b := range pairs[i+1:] {
			if a.of.Same(b.of) || a.name.Key == b.name.Key || together(a.name, a.of) || together(b.name, b.of) {
				continue
			}
			if together(a.name, b.of) && together(b.name, a.of) {
				return fmt.Sprintf("%s and %s are exchanged there", a.name.Text, b.name.Text)
			}
		}
	}
	return ""
}

// thrown is what a text says that it was given up: dropped the X, Xはやめ.
var thrown = regexp.MustCompile(`(?i)\b(?:dropped|dropping|drops|scrapped|rejected|abandoned|discarded|instead of|rather than|no longer|gave up(?: on)?)\s+(?:the |a |an |any |its |their )?([a-z][a-z-]{3,})|([\p{Han}]{2,6}|[\p{Katakana}ー]{3,12})(?:の?案)?(?:は|を|も)?(?:取り?やめ|取り止め|やめ|却下|見送|ボツ|撤回|中止)`)

// was is how what was thought of first is told.
var was = regexp.MustCompile(`(?i)最初|はじめ|当初|思って|つもり|\b(?:first|originally|wanted|used to|had)\b`)

// thrownMost is how often a draft is looked at for what it gives up.
const thrownMost = 40

// throws says what of a text that denies nothing was given up by the draft, which does not speak of it elsewhere.
func (d *draft) throws(text string, words map[string]bool, s marks.Signs) string {
	if s.Negates || s.Corrects || s.Asks || was.MatchString(text) {
		return ""
	}
	for _, at := range thrown.FindAllStringSubmatchIndex(d.plain, thrownMost) {
		from, to := max(at[2], at[4]), max(at[3], at[5])
		w := d.plain[from:to]
		given := piece{words: alike.Units(w)}
		given.parts = alike.Beginnings(given.words)
		if n := len(given.words); n == 0 || given.shares(words) < n || strings.Count(d.plain, w) > 1 {
			continue
		}
		return "it is given up there: " + w
	}
	return ""
}

// unlike says what a text does and the draft, where it says the same, does not.
func unlike(s marks.Signs, f found) string {
	switch {
	case (s.Unsettled || s.Asks) && !f.any(func(p piece) bool { return p.signs.Open || p.signs.Asks || p.signs.Unsettled }):
		return "it is open, and told there as if it were settled"
	case s.Promises && !f.any(func(p piece) bool { return !p.signs.Done }):
		return "it is promised, and told there as if it were done"
	}
	return ""
}

// told is who does what to whom in a draft, and where.
type told struct {
	alike.Pair
	in string
}

// readPairs gives all of them.
func (d *draft) readPairs() (all []told) {
	for _, c := range d.pieces {
		for _, p := range d.people.Pairs(c.text, c.marks, "") {
			all = append(all, told{p, c.text})
		}
	}
	return all
}

// turned says who of a text, which somebody says, does to another in the draft what the other does to them.
func (d *draft) turned(text, from string) string {
	all := d.pairs()
	if len(all) == 0 {
		return ""
	}
	for _, c := range readDraft(text).pieces {
		for _, said := range d.people.Pairs(c.text, c.marks, from) {
			right, wrong := false, ""
			for _, t := range all {
				switch same, turned := said.Same(t.Pair); {
				case same:
					right = true
				case turned:
					wrong = t.in
				}
			}
			if wrong != "" && !right {
				return said.Agent + " and " + said.Other + " are exchanged there: " + wrong
			}
		}
	}
	return ""
}
