package keep

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/memory/wording"
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
// and what numbers and names only the draft has. Its verdict is YES where all that the policy names is kept,
// and nothing was added.
func Verify(turns []abi.PastTurn, items []abi.KeepItem, text string) abi.Verified {
	d := readDraft(text)
	v := abi.Verified{Items: make([]abi.VerifiedItem, 0, len(items)), Verdict: abi.VerdictYes}
	for _, k := range items {
		said, _ := d.check(k.Text)
		said.ID = k.ID
		if v.Items = append(v.Items, said); k.Policy && said.Status != abi.StatusKept {
			v.Verdict = abi.VerdictNo
		}
	}
	for _, a := range added(turns, d) {
		if len(v.Added) < abi.MaxAdded {
			v.Added = append(v.Added, clip(a.Text))
		}
	}
	if len(v.Added) > 0 || text == "" {
		v.Verdict = abi.VerdictNo
	}
	return v
}

// Judge makes a verdict of a verifier's answer, strictly. It is NO where
//
//   - the answer's own is not YES, or it says that something was added;
//   - something has no answer, or two, or was not asked about;
//   - a status is unknown, or what is said to be kept is quoted otherwise than the draft has it;
//   - something that the policy names is not kept, by the answer or by what code finds in the draft;
//   - the draft is empty, or more than a tenth longer than was asked for.
//
// The findings are one for each item, in their order. The feedback says what to mend, for whoever makes the next
// draft; it is empty only for a YES.
func Judge(items []abi.KeepItem, text string, length history.Length, v abi.Verified) (history.Verdict, []history.Finding, string) {
	j := judging{draft: readDraft(text), said: map[string]abi.VerifiedItem{}}
	j.answer(items, v)
	findings := make([]history.Finding, 0, len(items))
	for _, k := range items {
		findings = append(findings, j.item(k))
	}
	for _, a := range v.Added {
		j.no("- %q is not in the original: leave it out", cut(a, 200))
	}
	if n := Size(text, length.Unit); n > length.N+length.N*over/100 {
		j.no("- the text has %d %s, and may have %d: say less of what the policy does not name", n, length.Unit, length.N)
	}
	if strings.TrimSpace(text) == "" {
		j.no("- the text is empty")
	}
	if v.Verdict != abi.VerdictYes {
		j.no("- the verifier says %.20q: %s", v.Verdict, cut(v.Feedback, 2<<10))
	}
	if len(j.wrong) == 0 {
		return history.Yes, findings, ""
	}
	return history.No, findings, cut(strings.Join(j.wrong, "\n"), abi.MaxFeedback)
}

// judging is what is found while an answer is judged.
type judging struct {
	draft *draft
	said  map[string]abi.VerifiedItem
	wrong []string
}

func (j *judging) no(format string, args ...any) {
	j.wrong = append(j.wrong, strings.ToValidUTF8(fmt.Sprintf(format, args...), "�"))
}

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

// item judges what was said of one item. Of what the policy names the code has the last word.
func (j *judging) item(k abi.KeepItem) history.Finding {
	said, ok := j.said[k.ID]
	f := history.Finding{ID: k.ID, Item: k.Text, Turn: k.Turn, Status: history.Status(said.Status), Quote: cut(said.Quote, abi.MaxFeedback), Policy: k.Policy}
	switch f.Status {
	case history.Kept, history.Changed, history.Missing, history.NotNeeded:
	default:
		if f.Status = history.Missing; ok {
			j.no("- the verifier's status of %s is none: %.40q", k.ID, said.Status)
		} else {
			j.no("- the verifier did not answer about %s: %s", k.ID, cut(k.Text, 200))
		}
		return f
	}
	if f.Status == history.Kept {
		if _, ok := wording.Quoted(said.Quote, j.draft.text); !ok {
			f.Status = history.Missing
			j.no("- %s is said to be kept, but the text does not have %.100q: %s", k.ID, said.Quote, cut(k.Text, 200))
			return f
		}
	}
	if !k.Policy {
		return f
	}
	own, why := j.draft.check(k.Text)
	if own.Status != abi.StatusKept && f.Status == history.Kept {
		f.Status, f.Quote = history.Status(own.Status), own.Quote
	}
	if f.Status != history.Kept {
		if why == "" {
			why = "the verifier does not find it"
		}
		j.no("- %s is %s (turn %d; %s): %s", k.ID, f.Status, k.Turn, why, k.Text)
	}
	return f
}

// added gives the numbers, days and names that a draft has and the turns do not.
func added(turns []abi.PastTurn, d *draft) (only []marks.Mark) {
	var plain strings.Builder
	var has []marks.Mark
	for _, t := range turns {
		text := fmt.Sprintf("[%d] [%d] %s: %s\n", t.N, t.Upto, t.From, t.Text)
		plain.WriteString(strings.ToLower(marks.Plain(text)))
		has = append(has, marks.Find(text)...)
	}
	for _, m := range d.marks {
		if m.Weak || m.Small() || m.Relative() || m.Kind == marks.Name && (len(m.Key) < 4 || !m.Sure && !katakana(m.Key)) || m.Kind == marks.Name && marks.Says(plain.String(), m.Key) {
			continue
		}
		if m.Kind == marks.Name || !in(has, m) {
			only = append(only, m)
		}
	}
	return only
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
