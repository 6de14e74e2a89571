package paint

import (
	"fmt"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/door/web/memories"
)

// Memory writes one thing that a companion remembers: its id and what it is, and below that
// who said it, where and when, and what it is found by. An error is Out's.
func (p Painter) Memory(m abi.Memory) error {
	indent := len([]rune(m.ID)) + 2
	margin := strings.Repeat(" ", indent)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", oneLine(m.ID), plain(m.Text, indent))
	row := func(text string) {
		if text != "" {
			b.WriteString(margin + p.dim(plain(text, indent)) + "\n")
		}
	}
	row(source(m))
	what := []string{string(m.Kind), fmt.Sprintf("importance %d", m.Importance)}
	if m.Visibility != "" {
		what = append(what, map[abi.Visibility]string{abi.VisibleRoom: "told in that room alone", abi.VisiblePerson: "told where that person is", abi.VisibleAll: "told everywhere"}[m.Visibility])
	}
	for _, list := range []struct {
		name string
		all  []string
	}{{"about", m.About}, {"keys", m.Keys}} {
		if len(list.all) > 0 {
			what = append(what, list.name+" "+strings.Join(list.all, ", "))
		}
	}
	row(strings.Join(what, "; "))
	if !m.ValidTo.IsZero() {
		row("no longer so since " + m.ValidTo.Local().Format(time.DateTime))
	}
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

// oneLine shows somebody's words in one line.
func oneLine(words string) string { return plain(strings.Join(strings.Fields(words), " "), 0) }

// source says in words who said what a memory rests on, where and when.
func source(m abi.Memory) (words string) {
	switch {
	case m.EditedBy != "" && m.SaidBy != "":
		words = m.EditedBy + " wrote this over what " + m.SaidBy + " said"
	case m.EditedBy != "":
		words = m.EditedBy + " wrote this over what was there"
	case m.SaidBy != "":
		words = m.SaidBy + " said so"
	}
	if m.Room != "" {
		words += " in " + m.Room
	}
	for i, turn := range m.Turns {
		words += map[bool]string{true: " ", false: ", "}[i == 0] + fmt.Sprintf("#%d", turn)
	}
	if !m.SaidAt.IsZero() {
		words += m.SaidAt.Local().Format(" on " + time.DateTime)
	}
	if m.Quote != "" {
		words += ": “" + m.Quote + "”"
	}
	return strings.TrimSpace(words)
}

// Order writes what an erasure takes away, took or would take, and what it does not reach.
// An error is Out's.
func (p Painter) Order(o memories.Order) error {
	var b strings.Builder
	verb := map[string]string{"would": "would go", "done": "gone", "running": "going"}[o.State]
	if verb == "" {
		verb = "not all gone yet"
	}
	var parts []string
	for _, s := range o.Stores {
		part := fmt.Sprintf("%d %s", s.Count, oneLine(s.Store))
		if s.Others > 0 {
			part += fmt.Sprintf(" (%d of other people)", s.Others)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	fmt.Fprintf(&b, "%s: %s\n", verb, strings.Join(parts, ", "))
	if len(o.Called) > 0 {
		fmt.Fprintf(&b, "as it is written: %s\n", oneLine(strings.Join(o.Called, ", ")))
	}
	if o.Nobody {
		b.WriteString("nobody who spoke here, or of whom something is remembered, is called so; look at how the name is written\n")
	}
	if o.Talks > 0 {
		fmt.Fprintf(&b, "of talks with others, not made anew: %d memories\n", o.Talks)
	}
	if o.As != "" {
		fmt.Fprintf(&b, "where the name stood: %s\n", oneLine(o.As))
	}
	if o.Why != "" {
		fmt.Fprintf(&b, "it is tried again: %s\n", oneLine(o.Why))
	}
	for _, left := range o.Left {
		fmt.Fprintf(&b, "not reached: %s\n", plain(left, 13))
	}
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

// Prompts writes what models were told, a call behind the other: each part of it, what was
// left out, and what it cost. An error is Out's.
func (p Painter) Prompts(all []told.Prompt) error {
	var b strings.Builder
	for i, q := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		u := q.Usage
		fmt.Fprintf(&b, "%s %s\n", p.name(oneLine(u.Who)), p.dim(oneLine(fmt.Sprintf("%s, by the model %s, written down as #%d at %s", u.Op, u.Model, q.Seq, q.At.Local().Format(time.DateTime)))))
		if len(u.With) > 0 {
			fmt.Fprintf(&b, "  one call for the votes of %s\n", oneLine(strings.Join(append([]string{u.Who}, u.With...), ", ")))
		}
		switch {
		case q.Exact:
			b.WriteString("  the words that were sent, letter by letter\n")
		case len(q.Parts) > 0:
			fmt.Fprintf(&b, "  not letter by letter what was sent: %s\n", plain(q.Why, 2))
		default:
			fmt.Fprintf(&b, "  what was sent is not there: %s\n", plain(q.Why, 2))
		}
		for _, part := range q.Parts {
			fmt.Fprintf(&b, "  %s\n    %s\n", p.dim(fmt.Sprintf("%s, about %d tokens", oneLine(part.Name), part.Tokens)), plain(part.Text, 4))
		}
		for _, left := range q.Left {
			fmt.Fprintf(&b, "  left out: %s\n", plain(left, 4))
		}
		if len(q.Memories) > 0 {
			fmt.Fprintf(&b, "  remembered: %s\n", oneLine(strings.Join(q.Memories, ", ")))
		}
		if q.Budget > 0 {
			fmt.Fprintf(&b, "  guessed at %d tokens, of %d that it may come to\n", q.Guess, q.Budget)
		}
		fmt.Fprintf(&b, "  %s\n", plain(cost(q), 2))
	}
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

// cost says in words what a call used.
func cost(q told.Prompt) string {
	u := q.Usage
	words := fmt.Sprintf("cost: %d tokens in", u.In)
	if u.Cached > 0 {
		words += fmt.Sprintf(" (%d of them cached)", u.Cached)
	}
	words += fmt.Sprintf(", %d out", u.Out)
	if u.Estimated {
		words += ", as guessed"
	}
	if u.Cost > 0 {
		words += fmt.Sprintf("; %.6g by the prices of its settings", u.Cost)
	}
	if u.Calls != 1 {
		words += fmt.Sprintf("; %d requests", u.Calls)
	}
	if u.Error != "" {
		words += "; failed: " + u.Error
	}
	return words
}
