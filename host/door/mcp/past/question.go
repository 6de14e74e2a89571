package past

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
)

// Question is what a person is asked, in a form.
type Question struct {
	Message string
	Form    string   // its JSON Schema
	may     []string // what its decision may be
	State   string   // what it is about, which takes no further draft: an answer to another question is none to this
}

// Answer is what a person answers.
type Answer struct {
	Accepted bool // the form was sent, and not declined or closed
	Decision string
	Why      string
}

// The fields of the form, and what it may say.
const (
	fieldDecision = "decision"
	fieldWhy      = "why"

	approve = "approve"
	deny    = "deny"
	revert  = "revert"
	later   = "later"
)

// The forms: what they say of a decision, and of which decision the reason is.
const (
	form = formBegins + `approve: the turns are told so from now on. deny: they stay as they are. later: nothing is decided.","enum":["` +
		approve + `","` + deny + `","` + later + `"]},` + formEnds + `Of deny` + formWhy
	formOfRevert = formBegins + `revert: the turns are told as they were again. later: nothing is decided.","enum":["` +
		revert + `","` + later + `"]},` + formEnds + `Of revert` + formWhy

	formBegins = `{"type":"object","required":["` + fieldDecision + `"],"properties":{"` + fieldDecision + `":{"type":"string","title":"Decision","description":"`
	formEnds   = `"` + fieldWhy + `":{"type":"string","title":"Why","description":"`
	formWhy    = `: the reason, for whoever looks later.","maxLength":500}}}`
)

// AnswerOf reads a form.
func AnswerOf(accepted bool, of map[string]any) Answer {
	a := Answer{Accepted: accepted}
	a.Decision, _ = of[fieldDecision].(string)
	a.Why, _ = of[fieldWhy].(string)
	return a
}

// Bounds of what a form shows.
const (
	shownTurns = 30  // as many from the beginning, and from the end
	shownText  = 160 // characters of each
	shownLost  = 20
)

// question asks a person about a proposal. All of the draft is shown, for that is what is approved; of the turns the
// beginning of each. Others' words are in lines that begin with a mark.
func (d *Desk) question(ctx context.Context, f found) (q Question, err error) {
	s, err := d.stands(ctx, f)
	if err != nil {
		return q, err
	}
	past, err := f.talk.Past(ctx, s.Turns, false)
	if err != nil {
		return q, err
	}
	characters := 0
	for _, t := range past.Turns {
		characters += utf8.RuneCountInString(t.Text)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Shall turns %s of %s be told as this text from now on? What was said stays, and it can be reverted.\n\n", s.Turns, s.Room)
	fmt.Fprintf(&b, "The text, %d characters instead of %d, verified by %s:\n", utf8.RuneCountInString(s.Summary), characters, plain(s.Verification.By))
	for line := range strings.Lines(s.Summary) {
		fmt.Fprintf(&b, "> %s\n", plain(line))
	}
	if s.Policy != "" {
		fmt.Fprintf(&b, "\nThe policy it was drafted by:\n")
		for line := range strings.Lines(s.Policy) {
			fmt.Fprintf(&b, "> %s\n", plain(line))
		}
	}
	named(&b, s)
	lost(&b, s.Lost)
	turns(&b, past.Turns)
	return Question{Message: b.String(), Form: form, may: []string{approve, deny, later}, State: s.Room + " " + s.Proposal}, nil
}

// back asks a person whether turns are to be told as they were again: the text that goes, and what was said.
func (d *Desk) back(ctx context.Context, f found) (q Question, err error) {
	s, err := d.stands(ctx, f)
	if err != nil {
		return q, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Shall turns %s of %s be told as they were again? The text is not told any more then; it stays in the room's journal.\n\nThe text, which %s approved:\n", s.Turns, s.Room, plain(s.ApprovedBy))
	for line := range strings.Lines(s.Summary) {
		fmt.Fprintf(&b, "> %s\n", plain(line))
	}
	past, err := f.talk.Past(ctx, s.Turns, true)
	switch {
	case err == nil:
		turns(&b, past.Turns)
	case abi.CodeOf(err) != abi.CodeNotFound: // else they were trimmed since
		return q, err
	}
	return Question{Message: b.String(), Form: formOfRevert, may: []string{revert, later}, State: revert + " " + s.Room + " " + s.Proposal}, nil
}

// named says what became of what the policy names, and how much there is of what may matter besides.
func named(b *strings.Builder, s Standing) {
	v := s.Verification
	if v == nil {
		return
	}
	switch {
	case v.Named.Of > 0:
		fmt.Fprintf(b, "\nOf what the policy names %d of %d are there.\n", v.Named.Kept, v.Named.Of)
	case s.Policy != "":
		fmt.Fprintf(b, "\nThe policy names nothing that code finds in these turns: no draft is held to it.\n")
	default:
		fmt.Fprintf(b, "\nThere is no policy: nothing has to stay.\n")
	}
	for _, n := range v.Named.Not[:min(len(v.Named.Not), shownLost)] {
		fmt.Fprintf(b, "> %s of turn %d: %s\n", plain(strings.ReplaceAll(string(n.Status), "_", " ")), n.Turn, short(n.Item))
	}
	if n := len(v.Named.Not) - shownLost; n > 0 {
		fmt.Fprintf(b, "and %d more\n", n)
	}
	kept := -v.Named.Kept
	for _, f := range v.Findings {
		if f.Status == history.Kept {
			kept++
		}
	}
	if of := len(v.Findings) - v.Named.Of; of > 0 {
		fmt.Fprintf(b, "Of what may matter besides, and may be left out, %d of %d are there.\n", kept, of)
	}
}

func lost(b *strings.Builder, all []history.Loss) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\nWhat the text does not have, or has otherwise, as far as can be found without a model:\n")
	for _, l := range all[:min(len(all), shownLost)] {
		fmt.Fprintf(b, "> %s of turn %d: %s\n", plain(l.Kind), l.Turn, short(l.Item))
	}
	if n := len(all) - shownLost; n > 0 {
		fmt.Fprintf(b, "and %d more\n", n)
	}
}

func turns(b *strings.Builder, all []abi.PastTurn) {
	fmt.Fprintf(b, "\nThe turns:\n")
	for i, t := range all {
		left := len(all) - 2*shownTurns
		if left > 0 && i >= shownTurns && i < len(all)-shownTurns {
			if i == shownTurns {
				fmt.Fprintf(b, "... %d more, which the page and read_session_turns have ...\n", left)
			}
			continue
		}
		n, from := fmt.Sprint(t.N), plain(t.From)
		if t.Upto > 0 {
			n, from = history.Range{From: t.N, To: t.Upto}.String(), "(told as one text)"
		}
		text := short(t.Text)
		if t.Text == "" { // nobody says nothing
			text = "(erased)"
		}
		fmt.Fprintf(b, "> %s %s: %s\n", n, from, text)
	}
}

// plain makes words into what stays in its line, and moves no cursor.
func plain(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == utf8.RuneError:
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, s))
}

// short is plain of the beginning.
func short(s string) string {
	rs := []rune(plain(s))
	if len(rs) > shownText {
		return string(rs[:shownText]) + "…"
	}
	return string(rs)
}
