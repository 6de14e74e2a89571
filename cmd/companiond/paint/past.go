package paint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/rooms"
)

// day is how a time is shown that may be long ago.
const day = "2006-01-02 15:04"

// Erased is what is shown in the place of words that were erased.
const Erased = "(erased)"

// words are those of a turn, or that they were erased: nobody says nothing.
func (p Painter) words(t abi.PastTurn) string {
	if t.Text == "" {
		return p.dim(Erased)
	}
	return plain(t.Text, 4)
}

// Turn writes a turn behind its number, or what several turns are told as, with who drafted, verified and
// approved that; over is nil where nobody knows. An error is Out's.
func (p Painter) Turn(t abi.PastTurn, over *past.Compression) error {
	at := "                "
	if !t.At.IsZero() {
		at = t.At.Local().Format(day)
	}
	if t.Upto == 0 {
		_, err := fmt.Fprintf(p.Out, "%s %s: %s\n", p.dim(fmt.Sprintf("%9d  %s", t.N, at)), p.name(plain(t.From, 0)), p.words(t))
		return err
	}
	_, err := fmt.Fprintf(p.Out, "%s %s %s\n", p.dim(fmt.Sprintf("%9s  %s", history.Range{From: t.N, To: t.Upto}, at)), p.in("1", "(compressed)"), plain(t.Text, 4))
	if err != nil || over == nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "    %s\n", p.dim(plain(fmt.Sprintf("%s: %s, approved by %s", over.ID, makers(*over), over.ApprovedBy), 4)))
	return err
}

// makers says who drafted and verified what is the newest draft of a compression.
func makers(c past.Compression) string {
	d := newest(c)
	return fmt.Sprintf("drafted by %s, verified by %s", cmp.Or(d.By, c.Compresser, c.By), cmp.Or(d.VerifiedBy, c.Verifier))
}

func newest(c past.Compression) (d past.Draft) {
	if n := len(c.Drafts); n > 0 {
		d = c.Drafts[n-1]
	}
	return d
}

// stands says in words how a compression stands.
func stands(c past.Compression) string {
	switch history.State(c.State) {
	case history.BeingDrafted:
		switch {
		case c.Verifying != nil:
			return "a draft from outside is being verified"
		case c.Awaits() && len(c.Drafts) > 0:
			return fmt.Sprintf("a verifier refused draft %d; send the next with -redraft, or deny it", len(c.Drafts))
		case c.Awaits():
			return "it waits for a draft from outside"
		}
		return "a draft is being made and verified"
	case history.Offered:
		if c.Erased {
			return "its words were erased; nobody can approve it"
		}
		return "verified; it waits for a person"
	case history.Refused:
		return "no draft was verified"
	case history.Approved:
		if c.Erased {
			return "its words were erased; what is left of the turns is told as it was said"
		}
		return "the turns are told so"
	case history.Denied:
		return "denied; the turns stay as they are"
	case history.Failed:
		return "failed; the turns stay as they are"
	case history.Reverted:
		return "reverted; the turns are told as they were"
	}
	return oneLine(c.State)
}

// Compression writes how a compression stands, in a line or two.
func (p Painter) Compression(c past.Compression) error {
	_, err := fmt.Fprintf(p.Out, "%s  turns %s of %s: %s%s\n", p.in("1", oneLine(c.ID)), c.Turns, oneLine(c.Room), stands(c), because(c))
	return err
}

func because(c past.Compression) string {
	switch why := strings.TrimPrefix(oneLine(c.Why), "target_length: "); {
	case c.State == string(history.Approved):
		return ", approved by " + oneLine(c.ApprovedBy)
	case why != "" && c.State != string(history.Offered) && c.State != string(history.BeingDrafted):
		return ": " + why
	}
	return ""
}

// Proposal writes all that there is about a compression: who asked for what, the drafts that were refused, the
// turns and the newest draft beside each other, what had to stay, and what left.
func (p Painter) Proposal(c past.Compression) error {
	if err := p.Compression(c); err != nil {
		return err
	}
	var b strings.Builder
	row := func(format string, args ...any) {
		b.WriteString("  " + p.dim(plain(fmt.Sprintf(format, args...), 4)) + "\n")
	}
	row("%s asked for it on %s, in at most %d %s", c.By, c.At.Local().Format(day), c.Length, c.Unit)
	if c.Policy != "" {
		row("policy: %s", c.Policy)
	}
	if c.Auto {
		row("the configuration approves what is verified")
	}
	if c.Look {
		row("the configuration approves what is verified, and not this: a person took off before what lay over some of these turns, something that the policy names cannot be compared, or it names nothing of them that code finds")
	}
	for i, d := range c.Drafts {
		row("draft %d by %s: %s, says %s", d.N, d.By, d.Verdict, d.VerifiedBy)
		if d.Feedback != "" {
			row("  %s", d.Feedback)
		}
		if d.Verdict != string(history.Yes) && i < len(c.Drafts)-1 && d.Content != "" {
			row("  it was: %s", oneLine(d.Content))
		}
	}
	if _, err := fmt.Fprint(p.Out, b.String()); err != nil {
		return err
	}
	return p.texts(c, true)
}

// Draft writes what a person decides about: the turns and the newest draft beside each other, what of what had
// to stay is not there as it was, and what left.
func (p Painter) Draft(c past.Compression) error {
	if err := p.Compression(c); err != nil {
		return err
	}
	return p.texts(c, false)
}

func (p Painter) texts(c past.Compression, all bool) error {
	var b strings.Builder
	n := 0
	for _, t := range c.Original {
		n += utf8.RuneCountInString(t.Text)
		b.WriteString(turnLine(t) + "\n")
	}
	left := Column{Title: fmt.Sprintf("turns %s, %d characters", c.Turns, n), Text: b.String()}
	if c.More > 0 {
		left.Title = fmt.Sprintf("turns %s, of which the last %d are left out here", c.Turns, c.More)
		left.Text += fmt.Sprintf("the next are: companiond history show -original %d-\n", c.Turns.To-c.More+1)
	}
	if len(c.Original) == 0 {
		left.Text = "the turns are not there any more"
	}
	d := newest(c)
	right := Column{Title: fmt.Sprintf("draft %d, %d characters", d.N, utf8.RuneCountInString(d.Content)), Text: d.Content}
	switch {
	case c.Verifying != nil:
		v := c.Verifying
		right = Column{Title: fmt.Sprintf("draft %d, %d characters, is being verified", v.N, utf8.RuneCountInString(v.Content)), Text: v.Content}
		if v.Content == "" {
			right.Text = "its words were erased"
		}
		return p.Beside(left, right)
	case d.N == 0:
		right = Column{Title: "no draft so far"}
		if history.State(c.State) != history.BeingDrafted { // one that no verifier looked at is not kept
			right.Title = "there is no draft that a verifier has looked at"
		}
	case d.Content == "":
		right.Text = "its words were erased"
	}
	if err := p.Beside(left, right); err != nil || d.N == 0 || d.Content == "" { // what was found of it went, too
		return err
	}
	if err := p.findings(d.Findings, all); err != nil {
		return err
	}
	return p.losses(d.Lost)
}

// turnLine is a turn in words.
func turnLine(t abi.PastTurn) string {
	if t.Upto > 0 {
		return fmt.Sprintf("%s (compressed) %s", history.Range{From: t.N, To: t.Upto}, t.Text)
	}
	return fmt.Sprintf("%d %s: %s", t.N, t.From, cmp.Or(t.Text, Erased))
}

// findings writes what became of what had to stay; of what is there as it was only how much, unless all is to be said.
func (p Painter) findings(found []history.Finding, all bool) error {
	if len(found) == 0 {
		return nil
	}
	var kept, named, keptNamed int
	var b strings.Builder
	for _, f := range found {
		if f.Policy {
			named++
		}
		if f.Status == history.Kept {
			if f.Policy {
				keptNamed++
			}
			if kept++; !all {
				continue
			}
		}
		line := fmt.Sprintf("%-4s %-10s %s", f.ID, strings.ReplaceAll(string(f.Status), "_", " "), f.Item)
		if f.Turn > 0 {
			line += fmt.Sprintf(" (turn %d)", f.Turn)
		}
		if f.Policy {
			line += ", which the policy names"
		}
		if f.Quote != "" {
			line += ": “" + oneLine(f.Quote) + "”"
		}
		line = plain(line, 20)
		switch { // a draft is held to what the policy names, and may leave out the rest
		case !f.Policy:
			line = p.dim(line)
		case f.Status != history.Kept:
			line = p.in("31", line)
		}
		b.WriteString("  " + line + "\n")
	}
	title := fmt.Sprintf("of what the policy names %d of %d are there; of what may matter besides %d of %d", keptNamed, named, kept-keptNamed, len(found)-named)
	if named == 0 {
		title = fmt.Sprintf("the policy names nothing that code finds in these turns; of what may matter %d of %d are there", kept, len(found))
	}
	_, err := fmt.Fprintf(p.Out, "%s\n%s", p.in("1", title), b.String())
	return err
}

func (p Painter) losses(lost []history.Loss) error {
	title := "what left and may matter, found without a model"
	if len(lost) == 0 {
		title = "nothing left that a look without a model misses"
	}
	if _, err := fmt.Fprintln(p.Out, p.in("1", title)); err != nil {
		return err
	}
	for _, l := range lost {
		where := ""
		if l.Turn > 0 {
			where = fmt.Sprintf(" (turn %d)", l.Turn)
		}
		kind := l.Kind
		if kind == "added" {
			kind = "only in the draft"
		}
		if _, err := fmt.Fprintf(p.Out, "  %s\n", plain(fmt.Sprintf("%-10s %s%s", kind, l.Item, where), 13)); err != nil {
			return err
		}
	}
	return nil
}

// Branches writes a family of rooms, each fork below the room that it was forked of; here is marked.
func (p Painter) Branches(all []rooms.Branch, here string) error {
	for _, b := range all {
		depth := 0
		for of := b.Of; of != "" && depth < len(all); depth++ {
			i := slices.IndexFunc(all, func(o rooms.Branch) bool { return o.Name == of })
			if of = ""; i >= 0 {
				of = all[i].Of
			}
		}
		mark := "  "
		if b.Name == here {
			mark = "* "
		}
		line := fmt.Sprintf("%d turns", b.Turns)
		if b.Of != "" {
			line += fmt.Sprintf(", of %s up to turn %d", b.Of, b.Turn)
		}
		if b.By != "" {
			line += ", by " + rooms.Called(b.By)
		}
		if b.Closed {
			line += ", closed"
		}
		if _, err := fmt.Fprintf(p.Out, "%s%s%s  %s\n", mark, strings.Repeat("  ", depth), p.in("1", oneLine(b.Name)), p.dim(oneLine(line))); err != nil {
			return err
		}
	}
	return nil
}

// Diff writes the turns of two rooms behind the newest that both have.
func (p Painter) Diff(one, other string, common uint64, turns, with []abi.PastTurn) error {
	column := func(name string, all []abi.PastTurn) Column {
		c := Column{Title: fmt.Sprintf("%s, %d turns behind %d", name, len(all), common)}
		for _, t := range all {
			c.Text += turnLine(t) + "\n"
		}
		return c
	}
	if _, err := fmt.Fprintf(p.Out, "%s and %s have %d turns in common\n", oneLine(one), oneLine(other), common); err != nil {
		return err
	}
	return p.Beside(column(one, turns), column(other, with))
}
