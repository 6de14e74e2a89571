package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/companiond/companiond/abi"
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
	ts := talks{t, r, *raw}
	switch {
	case what == "list" && id == "":
		q.Set("limit", fmt.Sprint(*n))
		return ts.list(ctx, q)
	case what == "show" && id != "":
		return ts.show(ctx, id)
	case what == "end" && id != "":
		return ts.end(ctx, id, *from)
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
	if err == nil || errors.As(err, new(coded)) { // the daemon has said nothing
		return err
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

// talks shows the conversations of a daemon to people, or as JSON, and ends them.
type talks struct {
	t      *term
	daemon *remote
	json   bool
}

func (ts talks) list(ctx context.Context, q url.Values) error {
	var page struct {
		Conversations []conversations.View `json:"conversations"`
		Next          string               `json:"next,omitempty"`
	}
	if err := ts.daemon.do(ctx, http.MethodGet, "/v1/conversations?"+q.Encode(), nil, &page); err != nil {
		return ofConversations(err)
	}
	if ts.json {
		return ts.t.printJSON(page)
	}
	if err := ts.t.painter(false).Conversations(page.Conversations); err != nil {
		return err
	}
	if page.Next != "" {
		q.Del("limit")
		q.Set("before", page.Next)
		fmt.Fprintf(ts.t.out, "there are older ones: companiond conversations%s\n", asFlags(q))
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

func (ts talks) show(ctx context.Context, id string) error {
	path := "/v1/conversations/" + url.PathEscape(id)
	var v conversations.View
	if err := ts.daemon.do(ctx, http.MethodGet, path, nil, &v); err != nil {
		return ofConversations(err)
	}
	said, err := ts.messages(ctx, path)
	if err != nil {
		return ofConversations(err)
	}
	if ts.json {
		return ts.t.printJSON(struct {
			conversations.View
			Messages []abi.Message `json:"messages"`
		}{v, said})
	}
	ts.t.painter(false).Conversation(v, said)
	return nil
}

// perPage is how many messages the daemon gives at once.
const perPage = 100

// messages reads all that was said in a conversation.
func (ts talks) messages(ctx context.Context, path string) (all []abi.Message, err error) {
	all = []abi.Message{}
	for since := uint64(0); ; {
		var page struct{ Messages []abi.Message }
		if err := ts.daemon.do(ctx, http.MethodGet, fmt.Sprintf("%s/messages?since=%d&limit=%d", path, since, perPage), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Messages...)
		if len(page.Messages) < perPage {
			return all, nil
		}
		since = page.Messages[perPage-1].Seq
	}
}

func (ts talks) end(ctx context.Context, id, from string) error {
	body := map[string]any{}
	if from != "" {
		body["from"] = from
	}
	var v conversations.View
	if err := ts.daemon.do(ctx, http.MethodPost, "/v1/conversations/"+url.PathEscape(id)+"/stop", body, &v); err != nil {
		return ofConversations(err)
	}
	if ts.json {
		return ts.t.printJSON(v)
	}
	return ts.t.painter(false).Ended(v)
}
