// Package memories has the verbs about what companions remember: they list it, correct it,
// add to it and erase it, have somebody forgotten, and show what a model was told.
//
// It asks the daemon, which says who may, and never touches a journal; and it erases nothing
// before somebody at the terminal, or -yes, has said so.
package memories

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/host/context/told"
)

// Desk is what the verbs have to do with the outside.
type Desk struct {
	In    io.Reader // where an answer is typed; nil: nothing comes
	Asks  bool      // somebody is there who can be asked
	Paint paint.Painter
	// Call asks the daemon for JSON.
	Call func(ctx context.Context, method, path string, in, out any) error
	// Parse reads flags, and leaves up to most arguments.
	Parse func(fs *flag.FlagSet, args []string, most int) (rest []string, err error)
	// Usage makes the error of whoever typed something that the verb does not take.
	Usage func(format string, args ...any) error
}

// page is a list of memories as the daemon answers with it.
type page struct {
	Memories []abi.Memory `json:"memories"`
	Next     string       `json:"next,omitempty"`
	Total    int          `json:"total,omitempty"`
}

// how is what the flags of the verb memory say.
type how struct {
	who, text, after, keys, about, visibility, until string
	n, importance                                    int
	past, still, json, yes                           bool
	given                                            map[string]bool
}

func (h *how) flags(fs *flag.FlagSet) {
	fs.StringVar(&h.who, "who", "", "list what this `name` said, or what is about it")
	fs.StringVar(&h.text, "text", "", "list what has to do with these `words`; edit: what is remembered instead")
	fs.BoolVar(&h.past, "past", false, "list also what is no longer so")
	fs.IntVar(&h.n, "n", 50, "list at most so `many`, 1 to 200")
	fs.StringVar(&h.after, "after", "", "list what comes behind the one with this `id`")
	fs.BoolVar(&h.json, "json", false, "print JSON, as the daemon has it")
	fs.StringVar(&h.about, "about", "", "add: `names` of those whom it is about, with commas")
	fs.StringVar(&h.keys, "keys", "", "add, edit: `words` that it is found by, with commas")
	fs.IntVar(&h.importance, "importance", 3, "add, edit: how much it matters, 1 to 5")
	fs.StringVar(&h.visibility, "visibility", "", "add, edit: where it may be used: `room`, person or all; what is added is for person, where one of -about is, or without -about who adds it, unless this says all")
	fs.StringVar(&h.until, "until", "", "edit: it was so until then, a `time` like 2026-01-02, 2026-01-02T03:04:05Z or now")
	fs.BoolVar(&h.still, "still", false, "edit: it is still so")
	fs.BoolVar(&h.yes, "yes", false, "erase: ask nothing")
}

// Memory lists what companions remember, adds to it, corrects it and erases it.
func (d Desk) Memory(ctx context.Context, fs *flag.FlagSet, args []string) error {
	h := &how{given: map[string]bool{}}
	h.flags(fs)
	rest, err := d.Parse(fs, args, len(args))
	if err != nil {
		return err
	}
	fs.Visit(func(f *flag.Flag) { h.given[f.Name] = true })
	what := "list"
	if len(rest) > 0 && strings.Contains(" list add edit erase ", " "+rest[0]+" ") {
		what, rest = rest[0], rest[1:]
	}
	switch {
	case what == "list" && len(rest) == 0:
		return d.explain(d.listAll(ctx, h))
	case what == "list" && len(rest) == 1:
		return d.explain(d.whoElse(ctx, d.list(ctx, rest[0], h)))
	case what == "add" && len(rest) > 1:
		return d.explain(d.add(ctx, rest[0], strings.Join(rest[1:], " "), h))
	case what == "edit" && len(rest) == 2:
		return d.explain(d.edit(ctx, rest[0], rest[1], h))
	case what == "erase" && len(rest) == 2:
		return d.explain(d.eraseOne(ctx, rest[0], rest[1], h.yes, h.json))
	}
	return d.Usage("companiond memory [COMPANION], memory add COMPANION TEXT, memory edit COMPANION ID -text TEXT, memory erase COMPANION ID")
}

func path(companion string, id ...string) string {
	p := "/v1/companions/" + url.PathEscape(companion) + "/memories"
	for _, part := range id {
		p += "/" + url.PathEscape(part)
	}
	return p
}

func (d Desk) page(ctx context.Context, companion string, h *how) (p page, err error) {
	q := url.Values{"limit": {fmt.Sprint(h.n)}}
	for name, value := range map[string]string{"who": h.who, "text": h.text, "after": h.after} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if h.past {
		q.Set("past", "true")
	}
	err = d.Call(ctx, http.MethodGet, path(companion)+"?"+q.Encode(), nil, &p)
	return p, err
}

func (d Desk) list(ctx context.Context, companion string, h *how) error {
	p, err := d.page(ctx, companion, h)
	if err != nil {
		return err
	}
	if h.json {
		return d.printJSON(p)
	}
	if len(p.Memories) == 0 {
		_, err := fmt.Fprintln(d.Paint.Out, h.nothing(p.Total))
		return err
	}
	return d.show(companion, p)
}

// nothing says that nothing was found, of so many in all.
func (h *how) nothing(total int) string {
	if total == 0 && h.who+h.text+h.after == "" {
		return "nothing is remembered yet"
	}
	return "nothing of that is remembered"
}

func (d Desk) show(companion string, p page) error {
	for _, m := range p.Memories {
		if err := d.Paint.Memory(m); err != nil {
			return err
		}
	}
	if p.Next != "" {
		fmt.Fprintf(d.Paint.Out, "there are more: companiond memory %s -after %s\n", companion, p.Next)
	}
	return nil
}

func (d Desk) companions(ctx context.Context) (ids []string, err error) {
	var all []struct{ ID string }
	err = d.Call(ctx, http.MethodGet, "/v1/companions", nil, &all)
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids, err
}

// whoElse says who there is, where a companion is not.
func (d Desk) whoElse(ctx context.Context, err error) error {
	if err == nil || !strings.Contains(err.Error(), "there is no companion ") {
		return err
	}
	ids, wrong := d.companions(ctx)
	if wrong != nil || len(ids) == 0 {
		return err
	}
	return fmt.Errorf("%w; there are: %s", err, strings.Join(ids, ", "))
}

func (d Desk) listAll(ctx context.Context, h *how) error {
	if h.after != "" {
		return d.Usage("-after is for one companion's: companiond memory COMPANION -after %s", h.after)
	}
	ids, err := d.companions(ctx)
	if err != nil {
		return err
	}
	pages, none, total := map[string]page{}, true, 0
	for _, id := range ids {
		p, err := d.page(ctx, id, h)
		if err != nil {
			return err
		}
		pages[id], total = p, total+p.Total
		if len(p.Memories) > 0 && !h.json {
			none = false
			fmt.Fprintf(d.Paint.Out, "%s remembers\n", id)
			if err := d.show(id, p); err != nil {
				return err
			}
		}
	}
	if h.json {
		return d.printJSON(pages)
	}
	if none {
		fmt.Fprintln(d.Paint.Out, h.nothing(total))
	}
	return nil
}

func (d Desk) add(ctx context.Context, companion, text string, h *how) error {
	body := map[string]any{"text": text}
	h.fill(body)
	if h.given["about"] {
		body["about"] = list(h.about)
	}
	return d.changed(ctx, http.MethodPost, path(companion), body, h)
}

// fill puts what may be said with add and edit into a body.
func (h *how) fill(body map[string]any) {
	if h.given["keys"] {
		body["keys"] = list(h.keys)
	}
	if h.given["importance"] {
		body["importance"] = h.importance
	}
	if h.given["visibility"] {
		body["visibility"] = h.visibility
	}
}

func list(words string) []string {
	all := []string{}
	for word := range strings.SplitSeq(words, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

func (d Desk) edit(ctx context.Context, companion, id string, h *how) error {
	body := map[string]any{}
	h.fill(body)
	if h.given["text"] {
		body["text"] = h.text
	}
	switch {
	case h.still && h.given["until"]:
		return d.Usage("-still and -until say the opposite")
	case h.still:
		body["valid_to"] = ""
	case h.given["until"]:
		until, err := timeOf(h.until)
		if err != nil {
			return d.Usage("-until: %v", err)
		}
		body["valid_to"] = until.UTC().Format(time.RFC3339)
	}
	if len(body) == 0 {
		return d.Usage("edit what? -text, -keys, -importance, -visibility, -until or -still says it")
	}
	return d.changed(ctx, http.MethodPatch, path(companion, id), body, h)
}

// timeOf reads a time as people type it.
func timeOf(s string) (time.Time, error) {
	if s == "now" {
		return time.Now(), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateTime, s, time.Local); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is no time like 2026-01-02, 2026-01-02T03:04:05Z or now", s)
}

func (d Desk) changed(ctx context.Context, method, path string, body any, h *how) error {
	var m abi.Memory
	if err := d.Call(ctx, method, path, body, &m); err != nil {
		return err
	}
	if h.json {
		return d.printJSON(m)
	}
	return d.Paint.Memory(m)
}

func (d Desk) printJSON(v any) error {
	enc := json.NewEncoder(d.Paint.Out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Prompts shows what models were told about an entry of a room.
func (d Desk) Prompts(ctx context.Context, room string, seq uint64) error {
	var out struct{ Prompts []told.Prompt }
	if err := d.Call(ctx, http.MethodGet, fmt.Sprintf("/v1/rooms/%s/entries/%d/prompts", url.PathEscape(room), seq), nil, &out); err != nil {
		return d.explain(err)
	}
	if len(out.Prompts) == 0 {
		_, err := fmt.Fprintf(d.Paint.Out, "no model was asked about #%d\n", seq)
		return err
	}
	return d.Paint.Prompts(out.Prompts)
}

// explain says what to type where the daemon refuses something about memories.
func (d Desk) explain(err error) error {
	if err == nil {
		return nil
	}
	words := err.Error()
	if strings.Contains(words, `there is nothing at "/v1/`) {
		return errors.New("the daemon has no memories; is it an older one?")
	}
	for _, place := range []struct{ at, typed string }{
		{"path.id: ", ""}, {"path.memory: ", ""}, {"path.room: ", ""}, {"path.seq: ", ""}, {"path.order: ", ""}, {"query.limit: ", "-n: "}, {"query.", "-"}, {"valid_to: ", "-until: "},
	} {
		words = strings.ReplaceAll(words, place.at, place.typed)
	}
	if words == err.Error() {
		return err // which may be worth another exit code
	}
	return errors.New(words)
}
