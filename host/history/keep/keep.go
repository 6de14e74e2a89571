// Package keep finds, without a model, what of some turns has to be in what they are compressed to.
//
// It is pure: whatever it names stands letter by letter in a turn. It never looks at a draft, and knows no meanings.
package keep

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/memory/doubt"
	"github.com/companiond/companiond/host/memory/wording"
)

// Items gives what has to stay of some turns when they are compressed, M1, M2, ... in their order: the sentences, or
// parts of them, that the policy names by its words or its kinds ("all dates") have Policy; behind them, as far
// as abi.MaxKeep goes, come those that signals say may matter: numbers, days, names, and what forbids, promises, decides or is open.
// Each text stands letter by letter in its turn, and none is there twice.
func Items(turns []abi.PastTurn, policy string) []abi.KeepItem {
	items, _ := ItemsWithin(context.Background(), turns, policy)
	return items
}

// ItemsWithin is [Items] for as long as ctx does not end; then it answers its error.
func ItemsWithin(ctx context.Context, turns []abi.PastTurn, policy string) ([]abi.KeepItem, error) {
	found, err := FindWithin(ctx, turns, policy)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b Found) int {
		return cmp.Or(order(b.Policy)-order(a.Policy), order(b.Named)-order(a.Named), cmp.Compare(b.Weight, a.Weight))
	})
	found = found[:min(len(found), abi.MaxKeep)]
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Compare(a.place, b.place) })
	items := make([]abi.KeepItem, len(found))
	for i, f := range found {
		items[i] = abi.KeepItem{ID: "M" + strconv.Itoa(i+1), Text: f.Text, Turn: f.Turn, Policy: f.Policy}
	}
	return items, nil
}

// Named gives all that a policy names of some turns, however much, in their order and without ids; a draft can be held to the first
// abi.MaxKeep. Once ctx has ended it answers its error.
func Named(ctx context.Context, turns []abi.PastTurn, policy string) (all []abi.KeepItem, err error) {
	found, err := FindWithin(ctx, turns, policy)
	for _, f := range found {
		if f.Policy {
			all = append(all, abi.KeepItem{Text: f.Text, Turn: f.Turn, Policy: true})
		}
	}
	return all, err
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
	from     string  // who says it
	marks    []marks.Mark
	signs    marks.Signs
	words    map[string]bool // of Text, once they were asked for
}

// FindWithin gives all that [Items] chooses from, in the order of the turns. Once ctx has ended it answers its error.
func FindWithin(ctx context.Context, turns []abi.PastTurn, policy string) ([]Found, error) {
	p := readPolicy(policy)
	r := reader{policy: p, seen: map[string]int{}, named: map[string]bool{}, people: map[string]bool{}}
	for _, t := range turns {
		r.people[strings.ToLower(t.From)] = true
	}
	for _, t := range turns {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r.turn(t)
	}
	r.reasons()
	return slices.DeleteFunc(r.found, func(f Found) bool { return !f.Named && f.Weight == 0 }), nil
}

// reader goes through turns.
type reader struct {
	policy policy
	found  []Found
	seen   map[string]int  // by letters, where in found it is
	named  map[string]bool // names that were there before
	asked  asked
	place  int
	people map[string]bool // names of those that speak
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
	turned := false                              // what comes now was decided otherwise before
	carried := asks.topic && asks.from != t.From // what a turn is about, all of it is about
	for i, s := range marks.Sentences(t.Text) {
		signs := marks.Read(s)
		signs.Settles = signs.Settles || turned && !signs.Asks
		turned = turning.MatchString(s)
		f := Found{Text: s, Sentence: s, Turn: t.N, place: r.place, from: t.From, marks: marks.Strong(marks.Find(s)), signs: signs}
		r.place++
		f.Weight = f.weight()
		before, promoted, loosely := r.asked, false, false
		about := r.policy.about(s)
		carried = carried || about.topic || about.kind
		switch {
		case about.noise && !about.topic:
		case signs.Asks:
			r.asked = asked{wording.Letters(s), t.From, about.topic || about.kind}
			f.Policy = r.policy.kinds[questions] && (about.topic || !r.policy.hasTopics()) && signs.Unsettled
			promoted = f.Policy
		case about.topic && (f.tale() || states.MatchString(s) && !slices.ContainsFunc(f.marks, marks.Mark.Money) && !signs.Any()):
		case about.topic && (f.Weight > 0 || !chatter.MatchString(strings.ToLower(s))):
			f.Policy, f.Text = true, around(s, r.policy)
		case signs.Unsettled && (len(f.marks) == 0 || hollow(marks.Clauses(s)[0])) && before.letters != "" && (before.topic || r.policy.kinds[questions]): // the question says what is open
			if at, ok := r.seen[before.letters]; ok && !(says(s) && !before.topic) {
				r.found[at].Named, r.found[at].Policy = true, true
			}
			f.Policy = says(s) && r.policy.kinds[questions]
		case before.topic && i == 0 && t.From != before.from && (len(f.marks) > 0 || signs.Any()):
			f.Policy = true
		case signs.Settles && i > 0 && len(f.marks) == 0 && len(alike.Units(s)) < 3 && !says(s) && r.policy.kinds[decisions]: // これで確定
			if o := &r.found[len(r.found)-1]; o.Turn == t.N && len(o.marks) > 0 {
				o.Named, o.Policy = true, true
			}
		case carried && !idle.MatchString(strings.ToLower(s)) && bare(f.marks):
			f.Policy, loosely = true, true
		case !idle.MatchString(strings.ToLower(s)) && r.kind(&f):
			f.Policy, loosely = true, true
		}
		f.Named = f.Policy && !ignorant(s)
		f.Policy = f.Named && !r.echoes(f, t.From)
		f.Policy = f.Policy && (certain(f) || promoted) && !(loosely && f.passing())
		if f.Text = alike.Clip(f.Text); f.Text != s {
			f.marks, f.signs = marks.Strong(marks.Find(f.Text)), marks.Read(f.Text)
		}
		if signs.Settles || signs.Decides || picked.MatchString(s) {
			r.pick(s, t.N)
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
	if wishes.MatchString(text) {
		return false
	}
	for _, m := range marks.Hard(slices.Clone(f.marks)) {
		text = strings.Replace(text, m.Text, " ", 1)
	}
	words := len(alike.Units(marks.Bare(text)))
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
	for _, m := range marks.Hard(slices.Clone(f.marks)) {
		if m.Kind != marks.Name && (!m.Small() || m.Bounds()) {
			plain++
		}
		if m.Kind == marks.Name {
			named++
		}
		if plain > 1 || named > 1 || plain > 0 && named > 0 || m.Unit != "" && !m.Small() {
			return true
		}
		if m.Kind != marks.Name && (!m.Small() || m.Bounds()) && words > 0 || m.Kind == marks.Name && words > 1 {
			return true
		}
	}
	if s.Forbids && words > 0 && (alike.Subject.MatchString(text) || alike.InKana.MatchString(text) || plainly.MatchString(text)) {
		return true
	}
	if (s.Settles || s.Unsettled) && words > 0 && chosen.MatchString(text) {
		return true
	}
	return (s.Forbids || s.Vows || s.Settles || s.Unsettled) && words+2*len(f.marks) > 1
}

var (
	// plainly is how little is forbidden in so many words, and chosen how it is decided, or left open.
	plainly = regexp.MustCompile(`(?i)^(?:please )?(?:do not|don't|no [a-z]+ing\b)|\b(?:may|must|should) not\b|禁止|厳禁|[うくぐすつぬぶむる]な(?:よ)?[。!]?$`)
	chosen  = regexp.MustCompile(`(?i)[はを](?:不?採用|却下)|(?:に|で)(?:決|確定|する|します|しました|した)|\b(?:agreed on|decided on|settled on|going with|go with)\b|\b(?:is|are|remains?) (?:still )?(?:open|undecided|unsettled|unresolved|tbd)\b|[^でに]は(?:まだ)?(?:未定|未決|未確定|保留)`)
	// asides begin what is no part of what the talk is about.
	asides = regexp.MustCompile(`(?i)^(?:そういえば|ちなみに|ところで|余談|by the way\b|btw\b|speaking of\b|incidentally\b)`)
	// hanging is how a clause ends that is there for another: a cause, or what something else stands against.
	hanging = regexp.MustCompile(`(?:ので|から|くて|って|のに|けど|けれど|が|し|[\p{Han}]で)[、,]?$`)
	// states are those that pass by themselves.
	states = regexp.MustCompile(`(?i)残り|残って(?:い)?[るた]|在庫|今のところ|現在|今日は|今週は|\bdown to\b|\b(?:is|are|have|has) left\b|\bso far\b|\bat the moment\b|\bright now\b`)
	// leaning is how a sentence begins that tells more of the one before.
	leaning = regexp.MustCompile(`(?i)^(?:(?:it|that|this|they|those|these|he|she|(?:bigger|smaller|larger|older|faster|slower) ones)\b|(?:それ|これ|あれ|そこ)(?:は|が|だ|で))`)
	// guesses are numbers that nobody is held to.
	guesses = regexp.MustCompile(`(?i)(?:\babout|\baround|\broughly|\bmaybe|\bsomething like|約|およそ|だいたい|たぶん) ?[$£€¥]?[0-9]|[0-9](?:円|人|個|分|時間|万円|千円)?(?:くらい|ぐらい|ほど|前後)`)
)

// passing says whether a sentence that the policy names by its kind alone tells how things are or were, or why, and
// settles nothing: a summary may leave it out.
func (f Found) passing() bool {
	s := f.signs
	if asides.MatchString(f.Text) {
		return true
	}
	if s.Forbids || s.Vows || s.Settles || s.Unsettled {
		return false
	}
	cut := f.Text != f.Sentence && !strings.HasSuffix(f.Sentence, f.Text)
	return cut && hanging.MatchString(f.Text) || leaning.MatchString(f.Text) && !s.Must && !s.Decides || s.Done && !s.Must && !s.Decides || states.MatchString(f.Text) || guesses.MatchString(marks.Plain(f.Text))
}

// turning is that somebody thinks otherwise now; what is behind it is what they think.
var turning = regexp.MustCompile(`(?i)\bchanged (?:my|our) minds?\b|\bon second thoughts?\b|考え(?:が|を)(?:変|改|直)|考え直し|方針(?:が|を)変`)

// wishes are what nobody is held to.
var wishes = regexp.MustCompile(`(?i)ますように|(?:と|たら)いい(?:な|ね|よね|です)|\b(?:hopefully|i wish|i hope|fingers crossed)\b`)

// tale says whether a sentence tells of before, and settles nothing.
func (f Found) tale() bool {
	s := f.signs
	return tales.MatchString(f.Sentence) && !s.Forbids && !s.Vows && !s.Settles && !s.Unsettled && !s.Decides
}

var tales = regexp.MustCompile(`(?i)(?:前に|以前は?|昔は?|この前|こないだ)[^、。]{1,10}(?:た|だ)|\b(?:last time|used to|years ago|back then)\b`)

// bare says whether there is a number that is no small one, or a day.
func bare(all []marks.Mark) bool {
	return slices.ContainsFunc(all, func(m marks.Mark) bool {
		return m.Kind == marks.Number && m.Unit != "" && !m.Small() || m.Kind == marks.Date && !m.Weekday() && !m.Relative()
	})
}

// kind says whether the policy names a sentence by its kind, and makes of its text the clauses that it is for.
func (r *reader) kind(f *Found) bool {
	if !r.byKind(f.marks, f.signs) {
		return false
	}
	clauses := marks.Clauses(f.Sentence)
	from, to := -1, -1
	for i, c := range clauses {
		if r.byKind(marks.Strong(marks.Find(c)), marks.Read(c)) {
			if from < 0 {
				from = i
			}
			to = i
		}
	}
	for n := 0; n < alike.Together && from >= 0 && (from > 0 || to+1 < len(clauses)) && hollow(span(f.Sentence, clauses, from, to)); n++ { // 私たちは触らない: of what is said beside it
		if from > 0 {
			from--
		} else {
			to++
		}
	}
	if from >= 0 {
		f.Text = span(f.Sentence, clauses, from, to)
	}
	return true
}

// says says whether a text decides something, or leaves it open, and says of what.
func says(text string) bool {
	return chosen.MatchString(text) && len(alike.Units(marks.Bare(text))) > 0
}

// hollow says whether a text says what is done, and not of what.
func hollow(text string) bool {
	return len(alike.Units(marks.Bare(text))) < 2 && len(marks.Hard(marks.Find(text))) == 0
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
	words := alike.Units(f.Text)
	for i := len(r.found) - 1; i >= 0; i-- {
		o := &r.found[i]
		if !o.Policy {
			continue
		}
		if o.words == nil {
			o.words = alike.Units(o.Text)
		}
		if o.Turn+far < f.Turn && alike.Shared(words, o.words) == 0 {
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

// recent is how many sentences are looked back at for what one is about.
const recent = 40

// echoes says whether a sentence only says the numbers, days and names of what somebody else said just before, and the policy names.
func (r *reader) echoes(f Found, from string) bool {
	all := marks.Hard(slices.Clone(f.marks))
	if len(all) == 0 || f.signs.Forbids || f.signs.Vows || f.signs.Corrects {
		return false
	}
	for i := len(r.found) - 1; i >= max(0, len(r.found)-recent) && r.found[i].Turn+1 >= f.Turn; i-- {
		if o := r.found[i]; o.Policy && o.from != from && !slices.ContainsFunc(all, func(m marks.Mark) bool { return !slices.ContainsFunc(o.marks, m.Same) }) {
			return true
		}
	}
	return false
}

// picked is that one of several is taken.
var picked = regexp.MustCompile(`(?i)に(?:頼|お願い|依頼|申し込|予約)|で(?:いい|お願い)|\b(?:so|then|take|took|choose|chose|book(?:ed)?|hired?)\b`)

// pick takes of several prices that the policy names the one of what is taken: the others need not stay.
func (r *reader) pick(s string, turn uint64) {
	for i := len(r.found) - 1; i >= max(0, len(r.found)-recent) && r.found[i].Turn+far >= turn; i-- {
		o := &r.found[i]
		if !o.Policy || o.Text == s {
			continue
		}
		prices, taken := 0, ""
		for _, c := range marks.Clauses(o.Text) {
			if !slices.ContainsFunc(marks.Find(c), marks.Mark.Money) {
				continue
			}
			if prices++; strings.Contains(s, called(c)) {
				if taken != "" {
					return
				}
				taken = c
			}
		}
		if prices > 1 && taken != "" {
			o.Text = taken
			o.marks, o.signs = marks.Strong(marks.Find(taken)), marks.Read(taken)
			return
		}
	}
}

// called is how what a clause begins with is called again: its first word, three letters of a Japanese one.
func called(clause string) string {
	letters := []rune(clause)
	if n := min(3, len(letters)); alike.Japanese(string(letters[:n])) {
		return string(letters[:n])
	}
	word, _, _ := strings.Cut(clause, " ")
	return word
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

// long is from how many letters on a part of a sentence stands for it.
const long = 60

// around gives the clauses of a sentence that the policy names, and as much behind them as says something of
// them; all of it where it is short.
func around(sentence string, p policy) string {
	clauses := marks.Clauses(sentence)
	letters := utf8.RuneCountInString(sentence)
	if len(clauses) < 3 || letters < long || letters < 3*long && !alike.Japanese(sentence) {
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
	for n := 0; n < alike.Together && to+1 < len(clauses) && len(marks.Strong(marks.Find(span(sentence, clauses, from, to)))) == 0; n++ {
		to++
	}
	return span(sentence, clauses, from, to)
}

// span gives what a sentence has from one of its clauses to another.
func span(sentence string, clauses []string, from, to int) string {
	all := marks.Starts(sentence, clauses)
	return sentence[all[from] : all[to]+len(clauses[to])]
}
