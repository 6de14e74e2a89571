package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

// conversationsVerb lists the conversations of agents, shows one, or ends one.
func conversationsVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("conversations")
	r := t.hostFlags(fs)
	q := url.Values{}
	for name, what := range map[string]string{
		"project": "list those of this `project` only", "agent": "list those that this `agent` is in",
		"state":  "list those that are in this `state`: pending, active, terminating, ended, expired or declined",
		"before": "list older ones than the one with this `id`",
	} {
		fs.Func(name, what, func(s string) error { q.Set(name, s); return nil })
	}
	n := fs.Int("n", 50, "list at most so `many`, 1 to 100")
	from := fs.String("from", t.me(), "end: your `name`; with a token it is the token's")
	raw := fs.Bool("json", false, "print JSON, as the daemon has it")
	rest, err := parse(fs, args, 2)
	if err != nil {
		return err
	}
	what, id := "list", ""
	if len(rest) > 0 {
		what = rest[0]
	}
	if len(rest) > 1 {
		id = rest[1]
	}
	p := talkPainter{painter{t: t}, *raw}
	switch {
	case what == "list" && id == "":
		q.Set("limit", fmt.Sprint(*n))
		return p.list(ctx, r, q)
	case what == "show" && id != "":
		return p.show(ctx, r, id)
	case what == "end" && id != "":
		return p.end(ctx, r, id, *from)
	case what == "list" || what == "show" || what == "end":
		return usage("companiond conversations lists them, show ID and end ID are about one")
	case strings.HasPrefix(what, "conv_"):
		return usage("companiond conversations show %s, or end %[1]s?", what)
	}
	return usage("conversations does not %q: companiond conversations [list | show ID | end ID]", what)
}

// asTyped are places of a request, as somebody types what is there.
var asTyped = strings.NewReplacer("path.id: ", "", "query.limit: ", "-n: ", "query.", "-", "body.from: ", "-from: ")

// ofConversations says what to type where the daemon refuses something about conversations.
func ofConversations(err error) error {
	if err == nil {
		return nil
	}
	switch err = errors.New(asTyped.Replace(err.Error())); {
	case strings.Contains(err.Error(), `there is nothing at "/v1/conversations`):
		return errors.New("the daemon has no projects, and so no conversations; write under [project.NAME] in its configuration: agents = [...]")
	case strings.Contains(err.Error(), "there is no such conversation"):
		return fmt.Errorf("%w; companiond conversations lists those there are", err)
	case strings.Contains(err.Error(), "is no human of"):
		return fmt.Errorf("%w; -from NAME is for the name of one who is", err)
	}
	return err
}

// talkPainter shows conversations to people, or as JSON.
type talkPainter struct {
	painter
	json bool
}

func (p talkPainter) print(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.t.out, string(b))
	return err
}

func (p talkPainter) list(ctx context.Context, r *remote, q url.Values) error {
	var page struct {
		Conversations []conversations.View `json:"conversations"`
		Next          string               `json:"next,omitempty"`
	}
	if err := r.do(ctx, http.MethodGet, "/v1/conversations?"+q.Encode(), nil, &page); err != nil {
		return ofConversations(err)
	}
	if p.json {
		return p.print(page)
	}
	if len(page.Conversations) == 0 {
		_, err := fmt.Fprintln(p.t.out, "no conversations")
		return err
	}
	w := tabwriter.NewWriter(p.t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tOPENED\tTURNS\tMEMBERS\tPURPOSE")
	for _, v := range page.Conversations {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", v.ID, v.State, v.Opened.Local().Format(time.DateTime), turns(v),
			plain(strings.Join(v.Terms.Members, ", "), 0), short(v.Terms.Purpose))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if page.Next != "" {
		q.Del("limit")
		q.Set("before", page.Next)
		fmt.Fprintf(p.t.out, "there are older ones: companiond conversations%s\n", asFlags(q))
	}
	return nil
}

// asFlags writes a query as it is typed.
func asFlags(q url.Values) (flags string) {
	for _, name := range []string{"project", "agent", "state", "before"} {
		if q.Has(name) {
			flags += " -" + name + " " + q.Get(name)
		}
	}
	return flags
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

func (p talkPainter) show(ctx context.Context, r *remote, id string) error {
	path := "/v1/conversations/" + url.PathEscape(id)
	var v conversations.View
	if err := r.do(ctx, http.MethodGet, path, nil, &v); err != nil {
		return ofConversations(err)
	}
	said, err := messages(ctx, r, path)
	if err != nil {
		return ofConversations(err)
	}
	if p.json {
		return p.print(struct {
			conversations.View
			Messages []abi.Message `json:"messages"`
		}{v, said})
	}
	p.life(v)
	for _, m := range said {
		fmt.Fprintf(p.t.out, "\n%s %s: %s", p.dim(fmt.Sprintf("%s #%-4d", m.At.Local().Format("15:04:05"), m.Seq)), p.name(plain(m.From, 0)), plain(m.Text, 15))
	}
	if len(said) > 0 {
		fmt.Fprintln(p.t.out)
	}
	return nil
}

// perPage is how many messages the daemon gives at once.
const perPage = 100

// messages reads all that was said in a conversation.
func messages(ctx context.Context, r *remote, path string) (all []abi.Message, err error) {
	all = []abi.Message{}
	for since := uint64(0); ; {
		var page struct{ Messages []abi.Message }
		if err := r.do(ctx, http.MethodGet, fmt.Sprintf("%s/messages?since=%d&limit=%d", path, since, perPage), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Messages...)
		if len(page.Messages) < perPage {
			return all, nil
		}
		since = page.Messages[perPage-1].Seq
	}
}

// life shows how a conversation stands.
func (p talkPainter) life(v conversations.View) {
	row := func(what, format string, args ...any) {
		fmt.Fprintf(p.t.out, "%-9s%s\n", what, plain(fmt.Sprintf(format, args...), 9))
	}
	at := func(t time.Time) string { return t.Local().Format(time.DateTime) }
	fmt.Fprintf(p.t.out, "%s is %s\n", v.ID, v.State)
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

func (p talkPainter) end(ctx context.Context, r *remote, id, from string) error {
	body := map[string]any{}
	if from != "" {
		body["from"] = from
	}
	var v conversations.View
	if err := r.do(ctx, http.MethodPost, "/v1/conversations/"+url.PathEscape(id)+"/stop", body, &v); err != nil {
		return ofConversations(err)
	}
	if p.json {
		return p.print(v)
	}
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
	_, err := fmt.Fprintf(p.t.out, "%s is over%s\n", v.ID, plain(told, 0))
	return err
}
