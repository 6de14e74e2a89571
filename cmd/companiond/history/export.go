package history

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
)

// The formats of an export.
const (
	markdown = "markdown"
	jsonl    = "jsonl"
)

func (d Desk) export(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var a about
	fs.StringVar(&a.room, "room", usual, "`name` of the room")
	original := fs.Bool("original", false, "as they were said, without what lies over them")
	format := fs.String("format", "", "`markdown` or jsonl, one JSON object a line (default as the name of -o ends, or markdown)")
	to := fs.String("o", "-", "the `file` to write, which is replaced once all is there; - is standard output")
	rest, err := d.Parse(fs, args, 2)
	if err != nil {
		return err
	}
	if *format == "" {
		*format = map[string]string{".jsonl": jsonl, ".ndjson": jsonl}[filepath.Ext(*to)]
	}
	var writes func(io.Writer, told) error
	switch *format {
	case "", markdown, "md":
		writes = asMarkdown
	case jsonl:
		writes = asJSON
	default:
		return d.Usage("-format: %q is neither markdown nor jsonl", *format)
	}
	var r asked
	if len(rest) > 0 {
		if r.Range, err = rangeOf(rest); err != nil {
			return d.Usage("%v", err)
		}
	}
	p, err := d.page(ctx, a, history.Range{}, true)
	if err != nil {
		return err
	}
	var wrote count
	err = d.into(*to, func(w io.Writer) error {
		if *format != jsonl {
			if _, err := fmt.Fprintf(w, "# %s\n", visible(a.room)); err != nil {
				return err
			}
		}
		return d.each(ctx, a, r.whole(p.Of), *original, func(t told) error { wrote.add(t); return writes(w, t) })
	})
	if err == nil && *to != "-" {
		fmt.Fprintf(d.Err, "companiond: wrote %s of %s into %s\n", wrote, a.room, *to)
	}
	return err
}

// count is what was written: turns, and texts that stand for others.
type count struct {
	turns, texts int
	stand        uint64 // for so many turns
}

func (c *count) add(t told) {
	if t.Upto == 0 {
		c.turns++
		return
	}
	c.texts++
	c.stand += t.Upto - t.N + 1
}

func (c count) String() string {
	switch {
	case c.texts == 0:
		return plural(c.turns, "turn")
	case c.texts == 1:
		return fmt.Sprintf("%s and 1 text that stands for %d", plural(c.turns, "turn"), c.stand)
	}
	return fmt.Sprintf("%s and %d texts that stand for %d", plural(c.turns, "turn"), c.texts, c.stand)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// into writes a file that is there as a whole or not at all, or standard output.
func (d Desk) into(file string, write func(io.Writer) error) (err error) {
	if file == "-" {
		w := bufio.NewWriter(d.Paint.Out)
		return errors.Join(write(w), w.Flush())
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".history-*")
	if err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	w := bufio.NewWriter(f)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// asMarkdown writes a turn: who, when, and the words as a quotation, so that they are no headings of
// this text.
func asMarkdown(w io.Writer, t told) error {
	what := fmt.Sprintf("**%d. %s**, %s", t.N, visible(t.From), t.At.UTC().Format(time.RFC3339))
	if t.Upto > 0 {
		what = fmt.Sprintf("**%s, compressed**", history.Range{From: t.N, To: t.Upto})
		if o := t.over; o != nil && len(o.Drafts) > 0 {
			d := o.Drafts[len(o.Drafts)-1]
			what += fmt.Sprintf(", %s: drafted by %s, verified by %s, approved by %s", d.Timestamp.UTC().Format(time.RFC3339), visible(d.By), visible(d.VerifiedBy), visible(o.ApprovedBy))
		}
	}
	text := visible(t.Text)
	if t.erased() {
		text = paint.Erased
	}
	_, err := fmt.Fprintf(w, "\n%s\n\n> %s\n", what, strings.ReplaceAll(text, "\n", "\n> "))
	return err
}

// visible writes what a terminal would act on, or what turns a text around, as a number.
func visible(words string) string {
	var b strings.Builder
	for _, r := range words {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// said is a line of an export for a turn, overlay one for what several are told as.
type (
	said struct {
		Turn uint64    `json:"turn"`
		From string    `json:"from"`
		Text string    `json:"text"`
		At   time.Time `json:"at"`
		// Erased says that the words are gone on a person's word.
		Erased bool `json:"erased,omitempty"`
	}
	overlay struct {
		Type       string        `json:"type"`
		Content    string        `json:"content"`
		Turns      history.Range `json:"original_turns_range"`
		Timestamp  time.Time     `json:"timestamp"`
		Policy     string        `json:"policy"`
		By         string        `json:"by"`
		VerifiedBy string        `json:"verified_by"`
		ApprovedBy string        `json:"approved_by"`
		ID         string        `json:"id"`
	}
)

// asJSON writes a turn as one line of JSON.
func asJSON(w io.Writer, t told) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if t.Upto == 0 {
		return enc.Encode(said{t.N, t.From, t.Text, t.At, t.erased()})
	}
	if t.over == nil {
		return enc.Encode(overlay{Type: "compressed_history", Content: t.Text, Turns: history.Range{From: t.N, To: t.Upto}, Timestamp: t.At})
	}
	return enc.Encode(overlayOf(*t.over))
}

func overlayOf(c past.Compression) overlay {
	o := overlay{Turns: c.Turns, Policy: c.Policy, ApprovedBy: c.ApprovedBy, ID: c.ID}
	if n := len(c.Drafts); n > 0 {
		d := c.Drafts[n-1]
		o.Type, o.Content, o.Timestamp, o.By, o.VerifiedBy = d.Type, d.Content, d.Timestamp, d.By, d.VerifiedBy
	}
	return o
}
