// Package judge says of a draft, without a model, whether what had to stay is in it, and what left with the original; and it
// holds a verifier that is a model to what can be seen.
//
// It is pure, and never says that a draft is good: only that nothing it knows of is missing. It compares
// letters, numbers, days and names, and knows no meanings: what says the same in words that share
// nothing is missing to it.
package judge

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/model/tokens"
)

// over is by how many percent a draft may be longer than was asked for.
const over = 10

// Size is how long a text is in a unit. Tokens are guessed.
func Size(text string, u history.Unit) int {
	if u == history.Tokens {
		return new(tokens.Meter).Tokens(tokens.Of(text))
	}
	return utf8.RuneCountInString(text)
}

// Verify is the verifier without a model: it says for each item whether the draft has it, with the quotation,
// and what numbers and names only the draft has. Its verdict is YES where all that the policy names is kept, or cannot be
// compared, and nothing was added.
func Verify(turns []abi.PastTurn, items []abi.KeepItem, text string) abi.Verified {
	v, _ := VerifyWithin(context.Background(), turns, items, text)
	return v
}

// VerifyWithin is [Verify] for as long as ctx does not end; then it answers its error.
func VerifyWithin(ctx context.Context, turns []abi.PastTurn, items []abi.KeepItem, text string) (abi.Verified, error) {
	d := readDraft(text).knows(turns, items)
	v := abi.Verified{Items: make([]abi.VerifiedItem, 0, len(items)), Verdict: abi.VerdictYes}
	for _, k := range items {
		if ctx.Err() != nil {
			return abi.Verified{}, ctx.Err()
		}
		said, _ := d.check(k)
		if said.ID = k.ID; d.foreign(k.Text, said) {
			said.Status, said.Quote = abi.StatusUnclear, ""
		}
		if v.Items = append(v.Items, said); k.Policy && said.Status != abi.StatusKept && said.Status != abi.StatusUnclear {
			v.Verdict = abi.VerdictNo
		}
	}
	if v.Added = inventions(ctx, turns, d); len(v.Added) > 0 || text == "" {
		v.Verdict = abi.VerdictNo
	}
	return v, ctx.Err()
}

// inventions gives the numbers, days and sure names that a draft has and the turns do not, each once. A name that is none for sure may as well
// be a word like any other.
func inventions(ctx context.Context, turns []abi.PastTurn, d *draft) (all []string) {
	for _, a := range added(ctx, turns, d) {
		if text := alike.Clip(a.Text); (a.Kind != marks.Name || a.Sure) && len(all) < abi.MaxAdded && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// Judge makes a verdict of a verifier's answer, strictly. It is NO where
//
//   - the answer's own is not YES, or it says that something was added;
//   - the draft has a number, a day or a sure name that the turns do not have and that does not follow from others beside it, whatever
//     the answer says;
//   - something has no answer, or two, or was not asked about;
//   - a status is unknown;
//   - something that the policy names is not kept, by the answer, by the feedback of a YES, which names it by its id and does not say that it is
//     kept, or by what code sees: what is quoted for it does not stand in the draft,
//     code sees that it is told otherwise, or it finds nothing of it and sees, where it is quoted, that a number, a day, a name or what
//     is denied is not there;
//   - more than half of what the policy names cannot be compared, and no quotation speaks for it;
//   - two answers or more, and more than half of them, quote what stands neither in the draft nor in the original;
//   - the draft is empty, or more than a tenth longer than was asked for.
//
// What the policy does not name makes no NO by what code finds: it is in the findings. They are one for each item, in their order, and say what
// code sees where the answer says nothing. The feedback says what to mend, for whoever makes the next draft; it is empty only for a YES. Once ctx has ended Judge answers its error.
func Judge(ctx context.Context, turns []abi.PastTurn, items []abi.KeepItem, text string, length history.Length, v abi.Verified) (history.Verdict, []history.Finding, string, error) {
	j := judging{draft: readDraft(text).knows(turns, items), said: map[string]abi.VerifiedItem{}}
	j.answer(items, v)
	j.blamed = blamed(items, v)
	findings := make([]history.Finding, 0, len(items))
	for _, k := range items {
		if ctx.Err() != nil {
			return history.No, nil, "", ctx.Err()
		}
		findings = append(findings, j.item(k))
	}
	if j.invented > 1 && 2*j.invented > len(items) {
		j.no("- of %d things the verifier quotes for %d what the text does not have: its answer says nothing of it", len(items), j.invented)
	}
	if 2*j.unheard > j.named {
		j.no("- the text is in another language than %d of the %d things that the policy names, and these cannot be compared: write it in the language of the talk", j.unheard, j.named)
	}
	only := inventions(ctx, turns, j.draft)
	if ctx.Err() != nil {
		return history.No, nil, "", ctx.Err()
	}
	for _, a := range v.Added {
		if !slices.Contains(only, a) {
			only = append(only, a)
		}
	}
	for _, a := range only {
		j.no("- %q is not in the original: leave it out", alike.Cut(a, 200))
	}
	if n := Size(text, length.Unit); n > length.N+length.N*over/100 {
		j.no("- the text has %d %s, and may have %d: say less of what the policy does not name", n, length.Unit, length.N)
	}
	if strings.TrimSpace(text) == "" {
		j.no("- the text is empty")
	}
	if v.Verdict != abi.VerdictYes {
		j.verdict(v, findings)
	}
	if len(j.wrong) == 0 {
		return history.Yes, findings, "", nil
	}
	return history.No, findings, alike.Cut(strings.Join(j.wrong, "\n"), abi.MaxFeedback), nil
}

// judging is what is found while an answer is judged.
type judging struct {
	draft  *draft
	said   map[string]abi.VerifiedItem
	wrong  []string
	blamed map[string]string // what the feedback of a YES says of an item
	// invented counts quotations that stand neither in the draft nor in the original.
	invented int
	// named counts what the policy names, unheard what of that cannot be compared and has no quotation to speak for it.
	named, unheard int
}

func (j *judging) no(format string, args ...any) {
	j.wrong = append(j.wrong, strings.ToValidUTF8(fmt.Sprintf(format, args...), "�"))
}

// verdict notes that an answer's own verdict is none of YES, and why. Where it gives no reason, what it found not to be kept is one.
func (j *judging) verdict(v abi.Verified, findings []history.Finding) {
	why := strings.TrimSpace(alike.Cut(v.Feedback, 2<<10))
	if why == "" && len(j.wrong) > 0 {
		return // that says it
	}
	var lost []string
	for _, f := range findings {
		if why == "" && f.Status != history.Kept && f.Status != history.NotNeeded && len(lost) < someLost {
			lost = append(lost, fmt.Sprintf("%s is %s (turn %d): %s", f.ID, f.Status, f.Turn, alike.Cut(f.Item, 200)))
		}
	}
	if len(lost) > 0 {
		why = strings.Join(lost, "; ")
	} else if why == "" {
		why = "it gives no reason"
	}
	j.no("- the verifier says %.20q: %s", v.Verdict, why)
}

// someLost is how many things stand for the reason of a verdict without one.
const someLost = 10

// answer notes what is wrong with an answer as such.
func (j *judging) answer(items []abi.KeepItem, v abi.Verified) {
	for _, said := range v.Items {
		if _, ok := j.said[said.ID]; ok {
			j.no("- the verifier answered twice about %.40q", said.ID)
		}
		j.said[said.ID] = said
	}
	asked := map[string]bool{}
	for _, k := range items {
		if asked[k.ID] {
			j.no("- two things to be kept are called %.40q", k.ID)
		}
		asked[k.ID] = true
	}
	for _, said := range v.Items {
		if !asked[said.ID] {
			j.no("- the verifier answered about %.40q, which it was not asked about", said.ID)
		}
	}
}

var (
	// praise is how feedback says of something that nothing is wrong with it, and but how it takes that back.
	praise = regexp.MustCompile(`(?i)\b(?:kept|preserved|present|intact|covered|included|retained|fine|okay|ok|correct|complete|good)\b|保た|保持|残って|残され|含まれ|正し|問題(?:は)?な`)
	but    = regexp.MustCompile(`(?i)\b(?:but|wrong|incorrect|missing|however|should|could|must|except|than|change[ds]?|different)\b|ただ|が、|違|異な|誤|間違|べき`)
)

// blamed gives what the feedback of a YES says of items that it names by their ids, but for those of which it says that they are kept: feedback
// is for what has to be put right.
func blamed(items []abi.KeepItem, v abi.Verified) map[string]string {
	all := map[string]string{}
	if v.Verdict != abi.VerdictYes || v.Feedback == "" {
		return all
	}
	sentences := marks.Sentences(alike.Cut(v.Feedback, abi.MaxFeedback))
	ids := make([]map[string]bool, len(sentences))
	for i, s := range sentences {
		ids[i] = map[string]bool{}
		if praise.MatchString(s) && !but.MatchString(s) && !marks.Read(s).Negates {
			continue
		}
		for _, id := range identifier.FindAllString(s, -1) {
			ids[i][strings.ToLower(id)] = true
		}
	}
	for _, k := range items {
		for i, s := range sentences {
			if ids[i][strings.ToLower(k.ID)] {
				all[k.ID] = alike.Cut(s, 200)
			}
		}
	}
	return all
}

// identifier is what can be the id of an item.
var identifier = regexp.MustCompile(`[A-Za-z]+[0-9]+`)

// item judges what was said of one item. Of what the policy names the code has the last word.
func (j *judging) item(k abi.KeepItem) history.Finding {
	said, ok := j.said[k.ID]
	f := history.Finding{ID: k.ID, Item: k.Text, Turn: k.Turn, Status: history.Status(said.Status), Quote: alike.Cut(said.Quote, abi.MaxFeedback), Policy: k.Policy}
	own, why := j.draft.check(k)
	switch f.Status {
	case history.Kept, history.Changed, history.Missing, history.NotNeeded, history.Unclear:
	default:
		if f.Status, f.Quote = history.Status(own.Status), own.Quote; ok { // what code sees is all that is known
			j.no("- the verifier's status of %s is none: %.40q", k.ID, said.Status)
		} else {
			j.no("- the verifier did not answer about %s: %s", k.ID, alike.Cut(k.Text, 200))
		}
		return f
	}
	blame := j.blamed[k.ID]
	switch {
	case f.Status == history.Kept && blame != "":
		f.Status, why = history.Changed, "said to be kept, but the verifier's feedback says of it: "+blame
	case f.Status == history.Kept:
		f.Status, f.Quote, why = j.kept(k, said, own, why)
	case f.Status == history.Unclear && j.draft.foreign(k.Text, own):
		f.Quote = ""
		if from, to, stands := quoted(said.Quote, j.draft.text); stands {
			f.Status, f.Quote, why = j.abroad(k.Text, alike.Cut(j.draft.text[from:to], abi.MaxFeedback), from, to)
		}
	case f.Status == history.Unclear: // code can tell
		f.Status, f.Quote = history.Status(own.Status), own.Quote
	}
	if k.Policy {
		j.named++
		if f.Status == history.Unclear && f.Quote == "" {
			j.unheard++
		}
	}
	if k.Policy && f.Status != history.Kept && f.Status != history.Unclear {
		if why == "" {
			why = "the verifier does not find it"
		}
		j.no("- %s is %s (turn %d; %s): %s", k.ID, f.Status, k.Turn, why, k.Text)
	}
	return f
}

// kept says what became of an item that a verifier calls kept. Code takes its word where the draft has what it quotes, and nothing can
// be seen that speaks against it, there or elsewhere; where it quotes the original, code judges alone.
func (j *judging) kept(k abi.KeepItem, said, own abi.VerifiedItem, why string) (history.Status, string, string) {
	from, to, stands := quoted(said.Quote, j.draft.text)
	if !stands {
		if _, _, original := quoted(said.Quote, k.Text); original {
			return history.Status(own.Status), own.Quote, why
		}
		j.invented++
		return history.Missing, "", fmt.Sprintf("said to be kept, but the text does not have %.100q", said.Quote)
	}
	quote := alike.Cut(j.draft.text[from:to], abi.MaxFeedback)
	if own.Status == abi.StatusKept {
		return history.Kept, quote, ""
	}
	if own.Status == abi.StatusChanged { // code sees what is wrong with it
		return history.Changed, own.Quote, why
	}
	if j.draft.foreign(k.Text, own) {
		return j.abroad(k.Text, quote, from, to)
	}
	if seen := j.draft.bears(k.Text, from, to); seen != "" {
		if !k.Policy {
			return history.Missing, "", seen
		}
		return history.Changed, quote, seen
	}
	return history.Kept, quote, ""
}

// abroad says what a quotation shows of something that is told in another language, if it is: it may tell it otherwise, and never that it is kept.
func (j *judging) abroad(text, quote string, from, to int) (history.Status, string, string) {
	if said, _ := letters(quote); utf8.RuneCountInString(said) < shortestQuote {
		return history.Unclear, "", ""
	}
	_, clauses := j.draft.touched(from, to)
	if why := clauses.contrary(text, nil); why != "" {
		return history.Changed, quote, why
	}
	return history.Unclear, quote, ""
}

// Look says whether a person has to look at a draft with these findings: something that the policy names is not known to be kept.
func Look(findings []history.Finding) bool {
	return slices.ContainsFunc(findings, func(f history.Finding) bool { return f.Policy && f.Status == history.Unclear })
}

// Held says whether a draft with these findings was held to anything: the policy names something that code finds. A word that was given in advance
// for a policy has no meaning without.
func Held(findings []history.Finding) bool {
	return slices.ContainsFunc(findings, func(f history.Finding) bool { return f.Policy })
}

// added gives the numbers, days and names that a draft has and the turns do not; whatever, once ctx has ended.
func added(ctx context.Context, turns []abi.PastTurn, d *draft) (only []marks.Mark) {
	plain := sync.OnceValue(func() string { // of all turns, which only names are looked for in
		var b strings.Builder
		for i := 0; i < len(turns) && ctx.Err() == nil; i++ {
			b.WriteString(strings.ToLower(marks.Plain(turns[i].From + ": " + turns[i].Text + "\n")))
		}
		return b.String()
	})
	heard := sync.OnceValue(func() alike.Sounds { return alike.SoundsOf(plain()) })
	told := func(key string) bool {
		return marks.Says(plain(), key) || katakana(key) && strings.Contains(plain(), key) || heard().Have(key)
	}
	for _, m := range d.marks {
		if m.Weak || m.Small() || strings.HasPrefix(d.plain[min(m.To, len(d.plain)):], "目") || m.Relative() || m.Kind == marks.Name && (len(m.Key) < 4 || !m.Sure && !katakana(m.Key) || told(m.Key)) {
			continue
		}
		only = append(only, m)
	}
	for i := 0; i < len(turns) && len(only) > 0 && ctx.Err() == nil; i++ { // no turn is read for what others have
		has := marks.Find(turns[i].Text)
		only = slices.DeleteFunc(only, func(m marks.Mark) bool { return m.Kind != marks.Name && in(has, m) })
	}
	return slices.DeleteFunc(only, func(m marks.Mark) bool { return m.Follows(d.around(m)) })
}

// katakana says whether a name is of such letters, and long enough to be one.
func katakana(key string) bool {
	return utf8.RuneCountInString(key) > 3 && !strings.ContainsFunc(key, func(r rune) bool { return !unicode.Is(unicode.Katakana, r) && r != 'ー' && r != '・' })
}

func in(all []marks.Mark, m marks.Mark) bool {
	for _, o := range all {
		if m.Same(o) {
			return true
		}
	}
	return false
}
