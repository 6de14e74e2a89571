package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
)

// again is how often a compression that is being drafted is looked at.
const again = time.Second

// wants is the body of a request to compress.
type wants struct {
	Turns      string `json:"turns"`
	Policy     string `json:"policy,omitempty"`
	Length     int    `json:"target_length,omitempty"`
	Unit       string `json:"unit,omitempty"`
	Compresser string `json:"compresser,omitempty"`
	Verifier   string `json:"verifier,omitempty"`
	Text       string `json:"text,omitempty"`
}

func (d Desk) compress(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var a about
	var w wants
	a.flags(fs)
	fs.StringVar(&w.Policy, "policy", "", "what must stay and what is noise, in `words`")
	policy := fs.String("policy-file", "", "the same, from a `file`; - is what comes on standard input")
	fs.IntVar(&w.Length, "length", 0, "what the text may come to at most, a `number` (default a tenth of the turns)")
	fs.StringVar(&w.Unit, "unit", "", "of -length: `characters` or tokens")
	fs.StringVar(&w.Compresser, "by", "", "who drafts: the `id` of a companion, model, or extract, which needs no model")
	fs.StringVar(&w.Verifier, "verify", "", "who verifies: the `id` of a companion, model, or extract")
	text := fs.String("text", "", "a draft of your own, from a `file`, which is verified alone; - is what comes on standard input")
	redraft := fs.String("redraft", "", "send -text as the next draft of the compression with this `ID`, after one that was refused; takes no turns")
	rest, err := d.Parse(fs, args, 2)
	if err != nil {
		return err
	}
	if *redraft != "" {
		return d.redraft(ctx, a, *redraft, *text, w, *policy, rest)
	}
	r, err := d.oneRange(rest)
	if err != nil {
		return err
	}
	w.Turns = r.String()
	switch {
	case *policy != "" && w.Policy != "":
		return d.Usage("-policy and -policy-file say the same; one of them is enough")
	case *policy == "-" && *text == "-":
		return d.Usage("one of -policy-file and -text can come on standard input, not both")
	case *text != "" && w.Compresser != "":
		return d.Usage("-text is a draft of your own, and -by says who makes one: leave one out")
	case w.Unit != "" && w.Length == 0:
		return d.Usage("-unit is of -length N, which is not there")
	}
	if err := cmp.Or(d.read(*policy, &w.Policy), d.read(*text, &w.Text)); err != nil {
		return err
	}
	var c past.Compression
	if err := d.ask(ctx, a, http.MethodPost, a.path("compressions"), w, &c); err != nil {
		return err
	}
	return d.follow(ctx, a, c, 0)
}

// redraft sends a further draft of one's own.
func (d Desk) redraft(ctx context.Context, a about, typed, text string, w wants, policy string, rest []string) error {
	switch {
	case text == "":
		return d.Usage("-redraft sends a further draft of your own: say -text FILE")
	case len(rest) > 0 || w != wants{} || policy != "":
		return d.Usage("-redraft goes on with what was asked for: it takes -text FILE, and neither turns nor a policy, a length or who does it")
	}
	if err := d.read(text, &w.Text); err != nil {
		return err
	}
	c, err := d.one(ctx, a, typed)
	if err != nil {
		return err
	}
	in := struct {
		Text string `json:"text"`
	}{w.Text}
	before := len(c.Drafts)
	if err := d.ask(ctx, a, http.MethodPost, a.path("compressions", c.ID, "drafts"), in, &c); err != nil {
		return err
	}
	return d.follow(ctx, a, c, before)
}

// oneRange reads turns that have to be there, with both ends.
func (d Desk) oneRange(args []string) (r history.Range, err error) {
	if len(args) == 0 {
		return r, d.Usage("compress which turns? companiond history compress 1-50")
	}
	if r, err = rangeOf(args); err == nil && r.To == 0 {
		err = fmt.Errorf("TURNS: %s has no end: write the last one, too", args[0])
	}
	if err != nil {
		return r, d.Usage("%v", err)
	}
	return r, nil
}

// mostRead is more than any text may have.
const mostRead = 1 << 20

// read reads a text from a file that somebody names, nothing where nobody does.
func (d Desk) read(file string, into *string) error {
	var raw []byte
	var err error
	switch {
	case file == "":
		return nil
	case file == "-" && d.In == nil:
		return d.Usage("nothing comes on standard input")
	case file == "-":
		raw, err = io.ReadAll(io.LimitReader(d.In, mostRead+1))
	default:
		var f *os.File
		if f, err = os.Open(file); err == nil {
			raw, err = io.ReadAll(io.LimitReader(f, mostRead+1))
			err = errors.Join(err, f.Close())
		}
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff")) // as some editors begin a file
	switch {
	case err != nil:
		return err
	case len(raw) > mostRead:
		return fmt.Errorf("%s is longer than any text may be", file)
	case !utf8.Valid(raw):
		return fmt.Errorf("%s is not UTF-8", file)
	}
	if *into = strings.TrimSpace(string(raw)); *into == "" {
		return d.Usage("%s is empty", file)
	}
	return nil
}

// follow says how a compression goes on until it is drafted, beginning behind some drafts, and then shows it.
func (d Desk) follow(ctx context.Context, a about, c past.Compression, told int) error {
	switch {
	case c.State != string(history.BeingDrafted):
	case c.Verifying != nil:
		fmt.Fprintf(d.Err, "companiond: %s: your draft of turns %s is being verified by %s\n", c.ID, c.Turns, c.Verifier)
	case c.Compresser != "":
		fmt.Fprintf(d.Err, "companiond: %s: a draft of turns %s is being made by %s, and then verified by %s\n", c.ID, c.Turns, c.Compresser, c.Verifier)
	}
	for state := c; ; {
		for ; told < len(state.Drafts); told++ {
			d.drafted(state, told)
		}
		if state.State != string(history.BeingDrafted) || state.Awaits() {
			break
		}
		select {
		case <-ctx.Done():
			return d.left(a, c)
		case <-time.After(again):
		}
		all, err := d.compressions(ctx, a)
		if ctx.Err() != nil {
			return d.left(a, c)
		}
		if err != nil {
			return fmt.Errorf("%w; it goes on by itself: %s", err, a.typed("show", c.ID))
		}
		if state, err = named(all, c.ID); err != nil {
			return err
		}
	}
	var now past.Compression
	if err := d.ask(ctx, a, http.MethodGet, a.path("compressions", c.ID), nil, &now); err != nil {
		return err
	}
	return d.ends(a, now)
}

func named(all []past.Compression, id string) (past.Compression, error) {
	for _, c := range all {
		if c.ID == id {
			return c, nil
		}
	}
	return past.Compression{}, fmt.Errorf("%s is not there any more", id)
}

// drafted says what became of a draft.
func (d Desk) drafted(c past.Compression, i int) {
	was := c.Drafts[i]
	what := "refused by " + was.VerifiedBy
	if was.Verdict == string(history.Yes) {
		what = "verified by " + was.VerifiedBy
	} else if why := strings.Join(strings.Fields(c.Why), " "); why != "" && i == len(c.Drafts)-1 {
		what += ": " + why
	}
	fmt.Fprintf(d.Err, "companiond: draft %d made by %s, %s\n", was.N, was.By, clean(what))
}

// clean takes what a terminal would act on out of somebody's words.
func clean(words string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '?'
		}
		return r
	}, words)
}

// left says that a draft is made though nobody waits for it.
func (d Desk) left(a about, c past.Compression) error {
	to := d.Paint.Out
	if a.json { // which a program reads
		to = d.Err
	}
	fmt.Fprintf(to, "it goes on by itself: %s\n", a.typed("show", c.ID))
	return d.coded(ExitLeft, nil)
}

// ends shows what came of it.
func (d Desk) ends(a about, c past.Compression) error {
	if a.json {
		if err := d.printJSON(c); err != nil {
			return err
		}
	} else {
		if err := d.Paint.Proposal(c); err != nil {
			return err
		}
		d.next(a, c)
	}
	switch state := history.State(c.State); {
	case state == history.Offered, state == history.Approved:
		return nil
	case state == history.Refused, c.Awaits():
		return d.coded(ExitRefused, errors.New("no draft was verified"))
	}
	return fmt.Errorf("%s is %s", c.ID, c.State)
}

func (d Desk) extract(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var a about
	a.flags(fs)
	c, err := d.chosen(ctx, fs, &a, "extract", args)
	if err != nil {
		return err
	}
	if c.Awaits() {
		return d.awaits(a, c)
	}
	var now past.Compression
	if err := d.ask(ctx, a, http.MethodPost, a.path("compressions", c.ID, "extract"), nil, &now); err != nil {
		return err
	}
	return d.ends(a, now)
}
