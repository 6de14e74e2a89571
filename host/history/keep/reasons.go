package keep

import (
	"regexp"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
)

// why is how a clause ends, or begins, that says why something is so.
var why = regexp.MustCompile(`(?i)(?:[^てで]から|ので|ため|ためです|せいで|からです|からだ|んです|理由(?:は|で).*)[。、]?$|^(?:because|since|as|due to|owing to|given that|the reason)\b`)

// within is where a reason begins in the middle of a clause.
var within = regexp.MustCompile(`(?i) (?:because|since (?:the|it|we|they|he|she|my|our|nobody|there)|due to|owing to) `)

// reasons has what is decided or forbidden stay with its reason, where the policy names reasons: a clause of the same sentence, or the sentence
// beside it that says why, or what was not to be had.
func (r *reader) reasons() {
	if !r.policy.kinds[reasons] {
		return
	}
	var more []Found
	for i := range r.found {
		f := &r.found[i]
		if !f.Policy || !(f.signs.Settles || f.signs.Forbids || f.signs.Decides) {
			continue
		}
		if c, ok := f.because(); ok {
			more = append(more, c)
			continue
		}
		for _, at := range []int{i - 1, i + 1} {
			if at >= 0 && at < len(r.found) && r.found[at].explains(*f) {
				r.found[at].Policy, r.found[at].Named = true, true
				break
			}
		}
	}
	for _, m := range more {
		if !slices.ContainsFunc(r.found, func(o Found) bool { return o.place == m.place && strings.Contains(o.Text, m.Text) && o.Policy }) {
			r.found = append(r.found, m)
		}
	}
	slices.SortStableFunc(r.found, func(a, b Found) int { return a.place - b.place })
}

// because gives the clause of a sentence that says why what the rest says is so.
func (f Found) because() (Found, bool) {
	clauses := marks.Clauses(f.Sentence)
	for i, c := range clauses {
		if len(clauses) < 2 || !why.MatchString(c) || len(alike.Units(c)) < 2 {
			continue
		}
		if i == len(clauses)-1 && alike.Japanese(c) && !strings.HasSuffix(f.Sentence, c) {
			continue
		}
		return f.part(c), true
	}
	if at := within.FindStringIndex(f.Sentence); at != nil && len(alike.Units(f.Sentence[at[0]:])) > 2 {
		return f.part(strings.TrimSpace(f.Sentence[at[0]:])), true
	}
	return f, false
}

// part is a part of a sentence that has to stay besides another.
func (f Found) part(text string) Found {
	f.Text = alike.Clip(text)
	f.marks, f.signs, f.words = marks.Strong(marks.Find(f.Text)), marks.Read(f.Text), nil
	return f
}

// explains says whether a sentence says why what stands beside it is so.
func (f Found) explains(o Found) bool {
	near := f.Turn == o.Turn || f.Turn+1 == o.Turn
	if !near || f.signs.Asks || f.Policy || len(alike.Units(marks.Bare(f.Text))) < 2 {
		return false
	}
	clauses := marks.Clauses(f.Sentence)
	return why.MatchString(f.Sentence) || why.MatchString(clauses[0]) || f.signs.Negates && f.signs.Done
}
