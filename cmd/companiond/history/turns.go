package history

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
)

// atOnce is how many turns are asked for at once.
const atOnce = 1000

// told is a turn, or what several are told as, and what that is.
type told struct {
	abi.PastTurn
	over *past.Compression
}

// erased says that a turn's words are gone: nobody says nothing.
func (t told) erased() bool { return t.Upto == 0 && t.Text == "" }

// page is what the daemon answers with turns.
type page struct {
	Turns []abi.PastTurn `json:"turns"`
	Of    uint64         `json:"of"`
}

// page asks for turns; for the newest where r is zero.
func (d Desk) page(ctx context.Context, a about, r history.Range, original bool) (p page, err error) {
	q := url.Values{}
	if r.From > 0 {
		q.Set("turns", r.String())
	}
	if original {
		q.Set("original", "true")
	}
	path := a.path("turns")
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	err = d.ask(ctx, a, http.MethodGet, path, nil, &p)
	return p, err
}

// each gives turns in order, as many as there are, as they were said or as they are told: then no request is for a
// part of what is told as one text.
func (d Desk) each(ctx context.Context, a about, r history.Range, original bool, give func(told) error) error {
	var over []past.Compression
	if !original {
		all, err := d.compressions(ctx, a)
		if err != nil {
			return err
		}
		over = laid(all)
	}
	for n := r.From; n <= r.To; {
		end := min(r.To, n+atOnce-1)
		for len(over) > 0 && over[0].Turns.To < n {
			over = over[1:]
		}
		if len(over) > 0 && over[0].Turns.From == n && over[0].Turns.To <= r.To {
			t, err := d.overlay(ctx, a, over[0])
			if err != nil {
				return err
			}
			if over = over[1:]; t.Text != "" {
				if err := give(t); err != nil {
					return err
				}
				n = t.Upto + 1
				continue
			}
		}
		if len(over) > 0 && over[0].Turns.From > n {
			end = min(end, over[0].Turns.From-1)
		}
		p, err := d.page(ctx, a, history.Range{From: n, To: end}, original)
		if err != nil {
			return err
		}
		for _, t := range p.Turns {
			if err := give(told{PastTurn: t}); err != nil {
				return err
			}
		}
		n = end + 1
	}
	return nil
}

// overlay gives what turns are told as, without a text where that was erased: then what is left of the turns is told.
func (d Desk) overlay(ctx context.Context, a about, is past.Compression) (t told, err error) {
	var c past.Compression
	if err := d.ask(ctx, a, http.MethodGet, a.path("compressions", is.ID), nil, &c); err != nil {
		return t, err
	}
	t = told{PastTurn: abi.PastTurn{N: c.Turns.From, Upto: c.Turns.To}, over: &c}
	if n := len(c.Drafts); n > 0 {
		t.Text, t.At = c.Drafts[n-1].Content, c.Drafts[n-1].Timestamp
	}
	return t, nil
}

// whole gives the range that somebody asks for, of a room with so many turns: all of it where r is zero, and all
// from its first on where it has no end.
func (r asked) whole(of uint64) history.Range {
	switch {
	case r.From == 0:
		return history.Range{From: 1, To: of}
	case r.To == 0:
		return history.Range{From: r.From, To: of}
	}
	return r.Range
}

// asked is a range that may have no end, or no beginning either.
type asked struct{ history.Range }

func (d Desk) showVerb(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var a about
	a.flags(fs)
	original := fs.Bool("original", false, "as they were said, without what lies over them")
	rest, err := d.Parse(fs, args, 2)
	if err != nil {
		return err
	}
	if len(rest) == 1 && isID(rest[0]) {
		return d.showOne(ctx, a, rest[0])
	}
	if len(rest) == 0 {
		return d.showNewest(ctx, a, *original)
	}
	r, err := rangeOf(rest)
	if err != nil {
		return d.Usage("%v", err)
	}
	if r.To == 0 {
		p, err := d.page(ctx, a, history.Range{}, true)
		if err != nil {
			return err
		}
		if r = (asked{r}).whole(p.Of); r.To < r.From {
			return fmt.Errorf("TURNS: there are %d turns in %s", p.Of, a.room)
		}
	}
	if a.json {
		out := page{Turns: []abi.PastTurn{}}
		if err := d.each(ctx, a, r, *original, func(t told) error { out.Turns = append(out.Turns, t.PastTurn); return nil }); err != nil {
			return err
		}
		return d.printJSON(map[string]any{"turns": out.Turns})
	}
	return d.each(ctx, a, r, *original, func(t told) error { return d.Paint.Turn(t.PastTurn, t.over) })
}

// showNewest shows the newest turns, and what waits for a person.
func (d Desk) showNewest(ctx context.Context, a about, original bool) error {
	p, err := d.page(ctx, a, history.Range{}, original)
	if err != nil {
		return err
	}
	if a.json {
		return d.printJSON(p)
	}
	all, err := d.compressions(ctx, a)
	if err != nil {
		return err
	}
	over := laid(all)
	for _, t := range p.Turns {
		var is *past.Compression
		for i := range over {
			if t.Upto > 0 && over[i].Turns == (history.Range{From: t.N, To: t.Upto}) {
				is = &over[i]
			}
		}
		if err := d.Paint.Turn(t, is); err != nil {
			return err
		}
	}
	switch {
	case p.Of == 0:
		fmt.Fprintf(d.Paint.Out, "nothing was said in %s so far\n", a.room)
	case len(p.Turns) > 0 && p.Turns[0].N > 1:
		from := max(1, p.Turns[0].N-min(p.Turns[0].N-1, uint64(len(p.Turns))))
		fmt.Fprintf(d.Paint.Out, "of %d turns; those before: %s\n", p.Of, a.typed("show", history.Range{From: from, To: p.Turns[0].N - 1}.String()))
	}
	return d.waiting(a, all)
}

// waiting lists the compressions of which something is still to come.
func (d Desk) waiting(a about, all []past.Compression) error {
	for _, c := range all {
		if !history.State(c.State).Open() {
			continue
		}
		if err := d.Paint.Compression(c); err != nil {
			return err
		}
		fmt.Fprintf(d.Paint.Out, "  %s  %s\n", a.typed("show", c.ID), "how it stands, with both texts")
		d.next(a, c)
	}
	return nil
}

// showOne shows a compression with both texts.
func (d Desk) showOne(ctx context.Context, a about, typed string) error {
	c, err := d.one(ctx, a, typed)
	if err != nil {
		return err
	}
	if a.json {
		return d.printJSON(c)
	}
	if err := d.Paint.Proposal(c); err != nil {
		return err
	}
	d.next(a, c)
	return nil
}

// next says what to type next.
func (d Desk) next(a about, c past.Compression) {
	say := func(sub, does string) { fmt.Fprintf(d.Paint.Out, "  %s  %s\n", a.typed(sub, c.ID), does) }
	switch state := history.State(c.State); {
	case c.Awaits():
		fmt.Fprintf(d.Paint.Out, "  %s  sends the next draft, %d of %d\n", a.typed("compress", "-redraft", c.ID, "-text", "FILE"), len(c.Drafts)+1, history.Drafts)
		say("deny", "nothing comes of it")
	case state == history.BeingDrafted:
		say("deny", "nothing comes of it")
	case c.Erased:
		fmt.Fprintf(d.Paint.Out, "  %s  asks anew\n", a.anew(c))
		if state == history.Offered {
			say("deny", "nothing comes of it")
		}
	case state == history.Offered:
		say("approve", "the turns are told so from then on")
		say("deny", "they stay as they are")
	case state == history.Refused:
		say("extract", "a draft of the turns' own sentences")
		fmt.Fprintf(d.Paint.Out, "  %s  asks anew: with another policy, or more room for it\n", a.anew(c))
		say("deny", "nothing comes of it")
	case state == history.Approved:
		say("revert", "the turns are told as they were")
	case state == history.Failed:
		fmt.Fprintf(d.Paint.Out, "  %s  asks anew\n", a.anew(c))
	}
}
