package judge

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
)

// denial is something that a clause of a draft denies.
type denial struct {
	marks.Denial
	in    *piece       // the clause
	words []string     // what it may be of, by stem or letter; the first that a text has
	marks []marks.Mark // or the number or day
	scope piece
}

// limits is what makes a negation one of more, of else or of later, and no one of the thing.
var limits = regexp.MustCompile(`\b(?:(?:more|less|fewer|later|earlier|longer|higher|lower|other|sooner) than|over|above|below|under|beyond|exceed\w*|unless|without|except|until|before|after|only|else|any(?:thing|one|where|body)?)\b|しか|以外|以上|より|超え|以降|前[にはま]|だけ|のみ|なら|場合`)

// denials gives what clauses deny.
func denials(clauses []piece) (all []denial) {
	for i := range clauses {
		c := &clauses[i]
		found := marks.Denials(c.text)
		if len(found) == 0 || marks.Read(c.text).Asks {
			continue
		}
		for _, n := range found {
			x := denial{Denial: n, in: c, scope: readPiece(n.Scope)}
			if x.of(); len(x.words)+len(x.marks) > 0 {
				all = append(all, x)
			}
		}
	}
	return all
}

// idleAdverbs stand between a negation and what it is of.
var idleAdverbs = alike.Set(`yet actually really always necessarily even able allowed supposed true case correct to be being been ever again`)

// reach is how many words behind a negation may be what it is of.
const reach = 5

// of reads what a negation is of.
func (n *denial) of() {
	if alike.Japanese(n.Of) {
		if n.marks = numbers(marks.Find(n.Of)); len(n.marks) > 0 {
			return
		}
		n.words = []string{n.Of}
		if r := []rune(n.Of); len(r) > 2 { // 今日予約しない
			n.words = append(n.words, string(r[len(r)-2:]))
		}
		if last, size := utf8.DecodeLastRuneInString(n.Of); n.Verb && size < len(n.Of) {
			n.words = append(n.words, string(last))
		}
		return
	}
	at := 0
	for i, w := range strings.Fields(n.Of) {
		at += strings.Index(n.Of[at:], w)
		switch {
		case i == reach || limits.MatchString(strings.ToLower(w)):
			return
		case strings.ContainsAny(w, "0123456789"):
			n.marks = numbers(marks.Find(n.Of[at:]))[:min(1, len(numbers(marks.Find(n.Of[at:]))))]
			return
		}
		if all := alike.Words(w); len(all) > 0 && !idleAdverbs[all[0]] {
			n.words = all[:1]
			return
		}
		at += len(w)
	}
}

func numbers(all []marks.Mark) []marks.Mark {
	return slices.DeleteFunc(all, func(m marks.Mark) bool { return m.Kind == marks.Name })
}

// count says how often a word that a negation may be of is in a text, in [marks.Plain] and small letters.
func count(word, plain string) (n int) {
	if alike.Japanese(word) {
		return strings.Count(plain, word)
	}
	for _, w := range alike.Words(plain) {
		if w == word {
			n++
		}
	}
	return n
}

// carries says whether a clause says something of what another one does: it has its numbers, days and names, and most of its words.
func (p *piece) carries(words map[string]bool, hard []marks.Mark) bool {
	for _, m := range hard {
		if !p.has(m) {
			return false
		}
	}
	n := p.shares(words)
	if len(hard) > 0 {
		return 2*n >= len(words)
	}
	return n > 1 && 4*n >= 3*len(words)
}

// contrast is what is denied of something else than what a clause says.
var contrast = regexp.MustCompile(`(?i)\b(?:rather than|instead of)\b`)

// negated says what of a text that is not denied there is denied in the draft, which does not say it anywhere else.
func (d *draft) negated(text string) string {
	all := d.denials()
	if len(all) == 0 {
		return ""
	}
	if s := marks.Read(text); s.Asks || s.Unsettled {
		return ""
	}
	var clauses []piece
	for _, c := range marks.Clauses(text) {
		clauses = append(clauses, readPiece(c))
	}
	own := denials(clauses)
	for _, p := range clauses {
		if marks.Read(contrast.ReplaceAllString(p.text, " ")).Negates {
			continue
		}
		p.marks = marks.Hard(slices.Clone(p.marks))
		for _, n := range all {
			why := ""
			if len(n.marks) > 0 {
				why = d.uncounted(p, n.marks[0], own)
			} else {
				why = d.undone(p, n, own)
			}
			if why != "" {
				return why
			}
		}
	}
	return ""
}

// uncounted says whether a number of a text stands in the draft only to be denied.
func (d *draft) uncounted(p piece, denied marks.Mark, own []denial) string {
	if !slices.ContainsFunc(p.marks, denied.Same) || slices.ContainsFunc(own, func(n denial) bool { return slices.ContainsFunc(n.marks, denied.Same) }) {
		return ""
	}
	n := 0
	for _, o := range d.marks {
		if o.Kind == denied.Kind && o.Same(denied) {
			n++
		}
	}
	for _, o := range d.denials() {
		if slices.ContainsFunc(o.marks, denied.Same) {
			n--
		}
	}
	if n > 0 {
		return ""
	}
	return "it is denied there: " + denied.Text
}

// undone says whether a clause of the draft denies what one of a text does, in its words, and no other one does it.
func (d *draft) undone(p piece, n denial, own []denial) string {
	word := ""
	for _, w := range n.words {
		if count(w, p.plain) > 0 {
			word = w
			break
		}
	}
	denies := func(o denial) bool { return slices.Contains(o.words, word) }
	if word == "" || slices.ContainsFunc(own, func(o denial) bool { return denies(o) || count(word, strings.ToLower(o.Of)) > 0 }) {
		return ""
	}
	if !n.scope.carries(p.words, p.marks) {
		return ""
	}
	for _, l := range limits.FindAllString(strings.ToLower(n.Scope), -1) {
		if !strings.Contains(p.plain, l) {
			return ""
		}
	}
	for i := range d.clauses {
		c := &d.clauses[i]
		if !c.carries(p.words, p.marks) {
			continue
		}
		denied, others := 0, 0
		for _, o := range d.denials() {
			if o.in == c {
				others++
				if denies(o) {
					denied++
				}
			}
		}
		if s := marks.Read(c.text); count(word, c.plain) > denied && !s.Asks || others == 0 && !s.Denies && !s.Asks {
			return ""
		}
	}
	return "it is denied there: " + n.in.text
}

// continued is what takes back what stands before it; mistaken, what does so behind.
var (
	continued = regexp.MustCompile(`^(?:です)?(?:では|じゃ)(?:な(?:い|く|かっ)|あり?ません)|^(?:という|との|って)?(?:の|話|こと)?(?:は|が)?(?:嘘|うそ|誤り|間違い)`)
	mistaken  = regexp.MustCompile(`(?i)\b(?:not (?:true|so|the case|right|correct)|untrue|false|wrong|a lie|no longer (?:true|so)) that (?:the )?$`)
)

// takenBack says whether all places of a draft that have a text letter by letter deny it as a whole.
func (d *draft) takenBack(quote string) bool {
	found := false
	for at := 0; quote != ""; {
		i := strings.Index(d.text[at:], quote)
		if i < 0 {
			break
		}
		from, to := at+i, at+i+len(quote)
		if !continued.MatchString(d.text[to:]) && !mistaken.MatchString(d.text[:from]) {
			return false
		}
		found, at = true, to
	}
	return found
}
