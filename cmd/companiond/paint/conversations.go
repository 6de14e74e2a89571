package paint

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

// Conversations writes a table of conversations, or that there are none. An error
// is Out's.
func (p Painter) Conversations(all []conversations.View) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(p.Out, "no conversations")
		return err
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tOPENED\tTURNS\tMEMBERS\tPURPOSE")
	for _, v := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", v.ID, v.State, v.Opened.Local().Format(time.DateTime), turns(v),
			plain(strings.Join(v.Terms.Members, ", "), 0), short(v.Terms.Purpose))
	}
	return w.Flush()
}

func turns(v conversations.View) string {
	if v.Terms.MaxTurns == 0 {
		return fmt.Sprint(v.Turns)
	}
	return fmt.Sprintf("%d/%d", v.Turns, v.Terms.MaxTurns)
}

// maxShort is how many characters of a purpose a list shows.
const maxShort = 40

// short gives the beginning of somebody's words in one line.
func short(text string) string {
	text = plain(strings.Join(strings.Fields(text), " "), 0)
	if runes := []rune(text); len(runes) > maxShort {
		return string(runes[:maxShort-1]) + "…"
	}
	return text
}

// Conversation writes how a conversation stands, and below it all that was said
// there, oldest first.
func (p Painter) Conversation(v conversations.View, said []abi.Message) {
	p.life(v)
	for _, m := range said {
		fmt.Fprintf(p.Out, "\n%s", p.said(m))
	}
	if len(said) > 0 {
		fmt.Fprintln(p.Out)
	}
}

// life shows how a conversation stands.
func (p Painter) life(v conversations.View) {
	row := func(what, format string, args ...any) {
		fmt.Fprintf(p.Out, "%-9s%s\n", what, plain(fmt.Sprintf(format, args...), 9))
	}
	at := func(t time.Time) string { return t.Local().Format(time.DateTime) }
	fmt.Fprintf(p.Out, "%s is %s\n", v.ID, v.State)
	row("project", "%s", v.Terms.Project)
	if v.Terms.Purpose != "" {
		row("purpose", "%s", v.Terms.Purpose)
	}
	row("opened", "%s by %s", at(v.Opened), v.Initiator())
	turns := fmt.Sprint(v.Turns)
	if v.Terms.MaxTurns > 0 {
		turns += fmt.Sprintf(" of %d", v.Terms.MaxTurns)
	}
	if next := v.Next(); next != "" {
		turns += ", the next is " + next + "'s"
	}
	row("turns", "%s", turns)
	if due, ok := v.Due(); ok {
		until := "somebody answers"
		if v.State == conversation.Active {
			until = "something is said"
		}
		row("until", "%s, unless %s", at(due), until)
	}
	if v.Ending != nil {
		row("over", "%s, %s", at(v.Over), ending(v.Ending))
	}
	for i, m := range v.Members {
		row([]string{"members", ""}[min(i, 1)], "%s: %s", m.ID, standing(i, m))
	}
}

// standing says how a conversation stands for one of its members.
func standing(i int, m conversation.Member) string {
	what := "has not answered"
	switch {
	case i == 0:
		what = "opened it"
	case m.Joined:
		what = "joined"
	}
	switch {
	case m.Ending != nil && m.Told:
		what += "; over (" + ending(m.Ending) + "), and was told"
	case m.Ending != nil:
		what += "; over (" + ending(m.Ending) + "), and is not told yet"
	}
	return what
}

func ending(e *conversation.Ending) string {
	if e.By == "" {
		return string(e.Reason)
	}
	return fmt.Sprintf("%s by %s", e.Reason, e.By)
}

// Ended writes that a conversation is over, and who of its members is to be told
// yet. An error is Out's.
func (p Painter) Ended(v conversations.View) error {
	var untold []string
	for _, m := range v.Members {
		if m.Ending != nil && !m.Told {
			untold = append(untold, m.ID)
		}
	}
	told := ""
	if len(untold) > 0 {
		told = ", which " + strings.Join(untold, ", ") + " will be told"
	}
	_, err := fmt.Fprintf(p.Out, "%s is over%s\n", v.ID, plain(told, 0))
	return err
}
