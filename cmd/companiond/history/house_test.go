package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/rooms"
)

const id = "0a9c"

// house answers the verbs as a daemon does that has a room with so many turns, and writes down what it is
// asked.
type house struct {
	turns   uint64
	all     []past.Compression // newest first
	asked   []string
	becomes []past.Compression // what the newest is at each look at the list, one after the other
	drafts  past.Compression   // what sending a further draft answers
	refuses map[string]string
	erased  bool // the words of every turn
	width   int
}

// compression is one with a draft that was refused and one that was verified.
func compression(id string, from, to uint64, s history.State) past.Compression {
	c := past.Compression{
		ID: id, Room: "main", State: string(s), Turns: history.Range{From: from, To: to}, Policy: "Keep the budget.", Length: 600, Unit: "characters",
		Compresser: "model", Verifier: "model", By: "taro", At: noon, Original: []abi.PastTurn{{N: from, From: "taro", Text: "The budget\nis 4,800 yen.", At: noon}, {N: to, From: "aya", Text: "予算は了解です"}},
		Drafts: []past.Draft{
			{Type: "compressed_history", N: 1, Content: "Nothing much.", Timestamp: noon, By: "model", VerifiedBy: "model", Verdict: "NO", Feedback: "M1 is missing"},
			{Type: "compressed_history", N: 2, Content: "The budget is 4,800 yen.", Timestamp: noon, By: "model", VerifiedBy: "model", Verdict: "YES",
				Findings: []history.Finding{{ID: "M1", Item: "4,800 yen", Turn: 1, Status: history.Kept, Quote: "4,800 yen", Policy: true}, {ID: "M2", Item: "tea?", Status: history.NotNeeded}},
				Lost:     []history.Loss{{Kind: "question", Item: "tea?", Turn: 3}, {Kind: "added", Item: "Aya"}}},
		},
	}
	switch s {
	case history.BeingDrafted:
		c.Drafts = nil
	case history.Refused:
		c.Drafts, c.Why = c.Drafts[:1], "M1 is missing"
	case history.Approved, history.Reverted:
		c.ApprovedBy = "hana"
	}
	return c
}

// bare is one as lists have it, without texts.
func bare(c past.Compression) past.Compression {
	c.Original = nil
	drafts := make([]past.Draft, len(c.Drafts))
	for i, d := range c.Drafts {
		d.Content, d.Feedback, d.Findings, d.Lost = "", "", nil, nil
		drafts[i] = d
	}
	c.Drafts = drafts
	return c
}

func (h *house) call(_ context.Context, method, path string, in, out any) error {
	body := ""
	if in != nil {
		b, _ := json.Marshal(in)
		body = " " + string(b)
	}
	h.asked = append(h.asked, method+" "+path+body)
	for what, why := range h.refuses {
		if strings.HasPrefix(method+" "+path, what) {
			return errors.New(why)
		}
	}
	answer, err := h.answer(method, path)
	if err != nil {
		return err
	}
	b, _ := json.Marshal(answer)
	return json.Unmarshal(b, out)
}

func (h *house) answer(method, path string) (any, error) {
	u, _ := url.Parse(path)
	parts := strings.Split(strings.TrimPrefix(u.Path, "/v1/rooms/"), "/")
	switch what := strings.Join(parts[1:], "/"); {
	case what == "turns":
		return h.page(u.Query())
	case what == "compressions" && method == "GET":
		if len(h.becomes) > 0 {
			h.all[0], h.becomes = h.becomes[0], h.becomes[1:]
		}
		list := []past.Compression{}
		for _, c := range h.all {
			list = append(list, bare(c))
		}
		return map[string]any{"compressions": list}, nil
	case what == "compressions":
		return h.all[0], nil
	case strings.HasPrefix(what, "compressions/"):
		for i := range h.all {
			c := &h.all[i]
			if c.ID != parts[2] {
				continue
			}
			if len(parts) > 3 && parts[3] == "drafts" {
				return h.drafts, nil
			}
			if len(parts) > 3 {
				state := map[string]history.State{"approve": history.Approved, "deny": history.Denied, "revert": history.Reverted, "extract": history.Offered}[parts[3]]
				*c = compression(c.ID, c.Turns.From, c.Turns.To, state)
			}
			return *c, nil
		}
	case what == "forks":
		return rooms.Branch{Name: "main-2", Of: parts[0], At: 40, Turn: 20, Turns: 20, By: "taro"}, nil
	case what == "branches":
		return map[string]any{"branches": []rooms.Branch{{Name: "main", Turns: 30}, {Name: "main-2", Of: "main", Turn: 20, Turns: 25, By: "taro"}, {Name: "deep", Of: "main-2", Turn: 5, Turns: 5, Closed: true}}}, nil
	case what == "diff":
		return map[string]any{"common": 20, "turns": h.original(21, 22), "with": h.original(21, 21)}, nil
	}
	return nil, fmt.Errorf("nothing is at %s", path)
}

func (h *house) original(from, to uint64) (turns []abi.PastTurn) {
	for n := from; n <= to; n++ {
		turns = append(turns, abi.PastTurn{N: n, From: "taro", Text: fmt.Sprint("turn ", n), At: noon})
		if h.erased {
			turns[len(turns)-1].Text = ""
		}
	}
	return turns
}

// page answers with turns under what lies over them, by the rules of the door: not more than 1,000, and no part
// of what is told as one text.
func (h *house) page(q url.Values) (page, error) {
	p := page{Turns: []abi.PastTurn{}, Of: h.turns}
	r := history.Range{From: max(1, h.turns-min(h.turns, 50)+1), To: h.turns}
	if text := q.Get("turns"); text != "" {
		var err error
		if r, err = history.ParseRange(text); err != nil {
			return p, err
		}
	} else if h.turns == 0 {
		return p, nil
	}
	switch {
	case r.To > h.turns:
		return p, fmt.Errorf("turns: %s: there are %d so far", r, h.turns)
	case r.To-r.From >= atOnce:
		return p, fmt.Errorf("turns: %s: at most %d at once", r, atOnce)
	}
	for n := r.From; n <= r.To; n++ {
		over := history.Range{}
		for _, c := range laid(h.all) {
			if c.Turns.From <= n && n <= c.Turns.To && c.Drafts[len(c.Drafts)-1].Content != "" {
				over = c.Turns
			}
		}
		switch {
		case q.Get("original") == "true" || over.From == 0:
			p.Turns = append(p.Turns, h.original(n, n)...)
		case !r.Has(over):
			return p, fmt.Errorf("turns: turns %s are told as one text: take all of them, or revert that first", over)
		default:
			p.Turns = append(p.Turns, abi.PastTurn{N: n, Upto: over.To, Text: "The budget is 4,800 yen.", At: noon})
			n = over.To
		}
	}
	return p, nil
}

// do runs a verb as somebody types it, "-" for nobody who could, and gives what it prints on its two ways out.
func (h *house) do(ctx context.Context, typed string, args ...string) (out, told string, err error) {
	var printed, said bytes.Buffer
	d := Desk{
		In: strings.NewReader(typed), Asks: typed != "-", Paint: paint.Painter{Out: &printed, Width: h.width}, Err: &said, Call: h.call,
		Usage: func(format string, args ...any) error { return fmt.Errorf("usage: "+format, args...) },
		Coded: func(code int, err error) error { return fmt.Errorf("code %d: %w", code, errors.Join(err)) },
		Parse: func(fs *flag.FlagSet, args []string, most int) (rest []string, err error) {
			for len(args) > 0 {
				if err := fs.Parse(args); err != nil {
					return nil, err
				}
				if args = fs.Args(); len(args) > 0 {
					rest, args = append(rest, args[0]), args[1:]
				}
			}
			if len(rest) > most {
				return nil, fmt.Errorf("usage: unexpected argument %q", rest[most])
			}
			return rest, nil
		},
	}
	fs := flag.NewFlagSet("history", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	err = d.History(ctx, fs, args)
	return printed.String(), said.String(), err
}

// types runs a verb that has to do what it is told.
func (h *house) types(t *testing.T, typed, args string) string {
	t.Helper()
	out, _, err := h.do(t.Context(), typed, strings.Fields(args)...)
	if err != nil {
		t.Errorf("%s: %v", args, err)
	}
	return out
}

// inOrder says what of all does not stand in a text, or not behind the one before.
func inOrder(t *testing.T, text string, all ...string) {
	t.Helper()
	from := 0
	for _, want := range all {
		i := strings.Index(text[from:], want)
		if i < 0 {
			t.Errorf("there is no %q behind %d in\n%s", want, from, text)
			return
		}
		from += i + len(want)
	}
}
