// Package keep finds, without a model, what of some turns has to be in what they are compressed to,
// whether a draft has it, and what left with the original.
//
// It is pure, and never says that a draft is good: only that nothing it knows of is missing. It compares
// letters, numbers, days and names, and knows no meanings: what says the same in words that share
// nothing is missing to it.
package keep

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/memory/doubt"
	"github.com/companiond/companiond/host/memory/wording"
)

// Items gives what has to stay of some turns when they are compressed, M1, M2, ... in their order: the sentences, or
// parts of them, that the policy names by its words or its kinds ("all dates") have Policy; behind them, as far
// as abi.MaxKeep goes, come those that signals say may matter: numbers, days, names, and what forbids, promises, decides or is open.
// Each text stands letter by letter in its turn, and none is there twice.
func Items(turns []abi.PastTurn, policy string) []abi.KeepItem {
	found := Find(turns, policy)
	slices.SortStableFunc(found, func(a, b Found) int {
		return cmp.Or(order(b.Policy)-order(a.Policy), order(b.Named)-order(a.Named), cmp.Compare(b.Weight, a.Weight))
	})
	found = found[:min(len(found), abi.MaxKeep)]
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Compare(a.place, b.place) })
	items := make([]abi.KeepItem, len(found))
	for i, f := range found {
		items[i] = abi.KeepItem{ID: "M" + strconv.Itoa(i+1), Text: f.Text, Turn: f.Turn, Policy: f.Policy}
	}
	return items
}

func order(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Found is something of a turn that may have to stay.
type Found struct {
	Text     string // as it stands in the turn, at most abi.MaxKeepText bytes
	Sentence string // that it is of, or is
	Turn     uint64
	Named    bool    // the policy names it, or seems to
	Policy   bool    // and it can be held to it: it says something that can be compared
	Weight   float64 // of what says that it may matter; 0 for what only the policy names
	place    int     // among all sentences
	marks    []marks.Mark
	signs    marks.Signs
}

// Find gives all that [Items] chooses from, in the order of the turns.
func Find(turns []abi.PastTurn, policy string) []Found {
	p := readPolicy(policy)
	r := reader{policy: p, seen: map[string]int{}, named: map[string]bool{}}
	for _, t := range turns {
		r.turn(t)
	}
	return slices.DeleteFunc(r.found, func(f Found) bool { return !f.Named && f.Weight == 0 })
}

// reader goes through turns.
type reader struct {
	policy policy
	found  []Found
	seen   map[string]int  // by letters, where in found it is
	named  map[string]bool // names that were there before
	asked  asked
	place  int
}

// asked is a question that the sentence before is.
type asked struct {
	letters string
	from    string // who asked it
	topic   bool   // the policy names what it is about
}

func (r *reader) turn(t abi.PastTurn) {
	asks := r.asked
	defer func() {
		if r.asked == asks { // it was for this turn to answer
			r.asked = asked{}
		}
	}()
	carried := asks.topic && asks.from != t.From // what a turn is about, all of it is about
	for i, s := range marks.Sentences(t.Text) {
		signs := marks.Read(s)
		f := Found{Text: s, Sentence: s, Turn: t.N, place: r.place, marks: strong(marks.Find(s)), signs: signs}
		r.place++
		f.Weight = f.weight()
		before, promoted := r.asked, false
		about := r.policy.about(s)
		carried = carried || about.topic || about.kind
		switch {
		case about.noise && !about.topic:
		case signs.Asks:
			r.asked = asked{wording.Letters(s), t.From, about.topic || about.kind}
			f.Policy = r.policy.kinds[questions] && (about.topic || !r.policy.hasTopics()) && signs.Unsettled
			promoted = f.Policy
		case about.topic && (f.Weight > 0 || !chatter.MatchString(strings.ToLower(s))):
			f.Policy, f.Text = true, around(s, r.policy)
		case signs.Unsettled && len(f.marks) == 0 && before.letters != "" && (before.topic || r.policy.kinds[questions]): // the question says what is open
			if at, ok := r.seen[before.letters]; ok {
				r.found[at].Named, r.found[at].Policy = true, true
			}
		case before.topic && i == 0 && t.From != before.from && (len(f.marks) > 0 || signs.Any()):
			f.Policy = true
		case signs.Settles && i > 0 && len(f.marks) == 0 && len(units(s)) < 3 && r.policy.kinds[decisions]: // これで確定
			if o := &r.found[len(r.found)-1]; o.Turn == t.N && len(o.marks) > 0 {
				o.Named, o.Policy = true, true
			}
		case carried && !idle.MatchString(strings.ToLower(s)) && bare(f.marks):
			f.Policy = true
		case !idle.MatchString(strings.ToLower(s)) && r.kind(&f):
			f.Policy = true
		}
		f.Named = f.Policy
		f.Policy = f.Policy && (certain(f) || promoted)
		if f.Text = clip(f.Text); f.Text != s {
			f.marks, f.signs = strong(marks.Find(f.Text)), marks.Read(f.Text)
		}
		r.add(f)
		for _, m := range f.marks {
			if m.Kind == marks.Name {
				r.named[m.Key] = true
			}
		}
	}
}

// certain says whether a sentence can be held to: it is said in earnest, and has something to compare.
func certain(f Found) bool {
	text := marks.Plain(f.Text)
	for _, m := range hard(slices.Clone(f.marks)) {
		text = strings.Replace(text, m.Text, " ", 1)
	}
	words := len(units(text))
	for _, s := range doubt.Sentences(f.Text) {
		switch s.Why {
		case doubt.Asks, doubt.Jokes, doubt.Quotes:
			return false
		case doubt.Supposes, doubt.Hears:
			if !f.signs.Forbids && !f.signs.Settles && !f.signs.Corrects && !(s.Why == doubt.Supposes && bare(f.marks)) {
				return false
			}
		case doubt.Hopes:
			if !f.signs.Vows && !f.signs.Unsettled {
				return false
			}
		}
	}
	s := f.signs
	plain, named := 0, 0
	for _, m := range hard(slices.Clone(f.marks)) {
		if m.Kind != marks.Name && !m.Small() {
			plain++
		}
		if m.Kind == marks.Name {
			named++
		}
		if plain > 1 || named > 1 || m.Unit != "" && !m.Small() {
			return true
		}
		if m.Kind != marks.Name && !m.Small() && words > 0 || m.Kind == marks.Name && words > 1 {
			return true
		}
	}
	return (s.Forbids || s.Vows || s.Settles || s.Unsettled) && words+2*len(f.marks) > 1
}

// bare says whether there is a number that is no small one, or a day.
func bare(all []marks.Mark) bool {
	return slices.ContainsFunc(all, func(m marks.Mark) bool {
		return m.Kind == marks.Number && m.Unit != "" && !m.Small() || m.Kind == marks.Date && !m.Weekday() && !m.Relative()
	})
}

// kind says whether the policy names a sentence by its kind, and makes of its text the clauses that it is for.
func (r *reader) kind(f *Found) bool {
	if !r.policy.byKind(f.marks, f.signs, r.named) {
		return false
	}
	clauses := marks.Clauses(f.Sentence)
	from, to := -1, -1
	for i, c := range clauses {
		if r.policy.byKind(strong(marks.Find(c)), marks.Read(c), r.named) {
			if from < 0 {
				from = i
			}
			to = i
		}
	}
	if from >= 0 {
		f.Text = span(f.Sentence, clauses, from, to)
	}
	return true
}

// add takes what was not there before. What corrects something takes from it that the policy names it.
func (r *reader) add(f Found) {
	key := wording.Letters(f.Text)
	if key == "" {
		return
	}
	if at, ok := r.seen[key]; ok {
		r.found[at].Policy, r.found[at].Named = r.found[at].Policy || f.Policy, r.found[at].Named || f.Named
		return
	}
	if f.signs.Corrects && !f.signs.Asks {
		r.correct(f)
	}
	r.seen[key] = len(r.found)
	r.found = append(r.found, f)
}

// far is how many turns behind something a correction of it can stand that shares no word with it.
const far = 4

// correct takes back what answers the same question as a correction does, and is the last to do so.
func (r *reader) correct(f Found) {
	words := units(f.Text)
	for i := len(r.found) - 1; i >= 0; i-- {
		o := &r.found[i]
		if !o.Policy || o.Turn+far < f.Turn && shared(words, units(o.Text)) == 0 {
			continue
		}
		replaced, left := 0, 0
		for _, m := range o.marks {
			switch {
			case m.Kind == marks.Name:
			case slices.ContainsFunc(f.marks, func(n marks.Mark) bool { return m.Like(n) && !m.Same(n) }):
				replaced++
			case !slices.ContainsFunc(f.marks, m.Same):
				left++
			}
		}
		if replaced > 0 && left == 0 {
			o.Policy, o.Named = false, false
			return
		}
	}
}

// weight says how much signals say that a sentence matters.
func (f Found) weight() (w float64) {
	for _, m := range f.marks {
		switch {
		case m.Kind == marks.Name:
			w += .5
		case m.Small():
			w += .5
		default:
			w++
		}
	}
	w = min(w, 3)
	s := f.signs
	for _, sign := range []bool{s.Negates, s.Must, s.Promises, s.Unsettled, s.Decides, s.Corrects} {
		if sign {
			w += .5
		}
	}
	if s.Asks && !s.Unsettled {
		w /= 2
	}
	return w
}

func strong(all []marks.Mark) []marks.Mark {
	return slices.DeleteFunc(all, func(m marks.Mark) bool { return m.Weak })
}

// long is from how many letters on a part of a sentence stands for it.
const long = 60

// around gives the clauses of a sentence that the policy names, and as much behind them as says something of
// them; all of it where it is short.
func around(sentence string, p policy) string {
	clauses := marks.Clauses(sentence)
	letters := utf8.RuneCountInString(sentence)
	if len(clauses) < 3 || letters < long || letters < 3*long && !japanese(sentence) {
		return sentence
	}
	from, to := -1, -1
	for i, c := range clauses {
		if p.about(c).topic {
			if from < 0 {
				from = i
			}
			to = i
		}
	}
	if from < 0 {
		return sentence
	}
	for to+1 < len(clauses) && len(strong(marks.Find(span(sentence, clauses, from, to)))) == 0 {
		to++
	}
	return span(sentence, clauses, from, to)
}

// span gives what a sentence has from one of its clauses to another.
func span(sentence string, clauses []string, from, to int) string {
	at, start := 0, 0
	for i, c := range clauses {
		n := strings.Index(sentence[at:], c)
		if i == from {
			start = at + n
		}
		at += n + len(c)
		if i == to {
			return sentence[start:at]
		}
	}
	return sentence
}

// clip cuts what is too long for an item.
func clip(text string) string { return cut(text, abi.MaxKeepText) }

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most])
}
