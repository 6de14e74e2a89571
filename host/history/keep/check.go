package keep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/memory/wording"
)

// enough is how much of the words of something a draft must share with it where there is no number and no day.
const enough = .3

// check says what became of a text in a draft, where the draft has it, and what is wrong.
func (d *draft) check(text string) (abi.VerifiedItem, string) {
	if quote, ok := wording.Quoted(text, d.text); ok {
		return abi.VerifiedItem{Status: abi.StatusKept, Quote: cut(quote, abi.MaxFeedback)}, ""
	}
	all, words := hard(marks.Find(text)), units(text)
	f := d.near(words, all)
	v := abi.VerifiedItem{Status: abi.StatusMissing}
	if len(f.pieces) == 0 {
		return v, "nothing of it is there"
	}
	v.Quote = cut(f.pieces[0].text, abi.MaxFeedback)
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
	case plain == 0 && !f.alike && !d.spread(words):
		return v, "nothing says the same in like words"
	}
	v.Status = abi.StatusChanged
	if why := d.swapped(all, words, f); why != "" {
		return v, why
	}
	signs := marks.Read(text)
	if why := unlike(signs, f); why != "" {
		return v, why
	}
	if why := d.affirms(text, signs, f); why != "" {
		return v, why
	}
	v.Status = abi.StatusKept
	return v, ""
}

// hard gives the marks that a draft must have: no days that are counted from another, and of names only the sure ones.
func hard(all []marks.Mark) []marks.Mark {
	return slices.DeleteFunc(all, func(m marks.Mark) bool { return m.Weak || m.Relative() || m.Kind == marks.Name && !m.Sure })
}

// lost gives the marks that the draft does not have.
func (d *draft) lost(all []marks.Mark) (lost []string) {
	besides := slices.ContainsFunc(d.marks, func(m marks.Mark) bool { return m.Beside })
	for _, m := range all {
		if !d.has(m) && (!m.Beside || besides) {
			lost = append(lost, m.Text)
		}
	}
	return lost
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
		switch n := shared(words, p.words); {
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
		if p.has(m) && shared(words, p.words) > 0 {
			return true
		}
	}
	return false
}

// affirms says whether the draft does not deny what a text does, clause by clause.
func (d *draft) affirms(text string, signs marks.Signs, whole found) string {
	if !signs.Negates || signs.Asks || signs.Unsettled {
		return ""
	}
	clauses := marks.Clauses(text)
	for _, c := range clauses {
		s := marks.Read(c)
		if !s.Negates {
			continue
		}
		f := whole
		if len(clauses) > 1 {
			if own := d.near(units(c), hard(marks.Find(c))); len(own.pieces) > 0 {
				f = own
			}
		}
		if !f.any(func(p piece) bool { return p.signs.Denies || p.signs.Negates && !(s.Denies && signs.Softly) }) {
			return "what it forbids or denies is not forbidden or denied there: " + c
		}
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
