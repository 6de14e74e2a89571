package history

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"

	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
)

// chosen gives the compression that the arguments name.
func (d Desk) chosen(ctx context.Context, fs *flag.FlagSet, a *about, sub string, args []string) (c past.Compression, err error) {
	rest, err := d.Parse(fs, args, len(args))
	if err != nil {
		return c, err
	}
	if len(rest) != 1 {
		return c, d.Usage("%s what? %s, and %s lists those there are", sub, a.typed(sub, "ID"), a.typed("show"))
	}
	return d.one(ctx, *a, rest[0])
}

func (d Desk) approve(ctx context.Context, fs *flag.FlagSet, args []string) error {
	return d.decide(ctx, fs, history.Approve, args)
}

func (d Desk) deny(ctx context.Context, fs *flag.FlagSet, args []string) error {
	return d.decide(ctx, fs, history.Deny, args)
}

func (d Desk) revert(ctx context.Context, fs *flag.FlagSet, args []string) error {
	return d.decide(ctx, fs, history.Revert, args)
}

// decide shows a compression, asks, and has the daemon do it.
func (d Desk) decide(ctx context.Context, fs *flag.FlagSet, kind history.Kind, args []string) error {
	var a about
	a.flags(fs)
	yes := fs.Bool("yes", false, "ask nothing")
	why := fs.String("why", "", "the `reason`, for whoever looks later")
	c, err := d.chosen(ctx, fs, &a, string(kind), args)
	if err != nil {
		return err
	}
	if err := d.may(a, kind, c); err != nil {
		return err
	}
	if !*yes {
		if !a.json {
			if err := d.Paint.Draft(c); err != nil {
				return err
			}
		}
		if err := d.sure(a, kind, c); err != nil {
			return err
		}
	}
	in := struct {
		Why string `json:"why,omitempty"`
	}{*why}
	var now past.Compression
	if err := d.ask(ctx, a, http.MethodPost, a.path("compressions", c.ID, string(kind)), in, &now); err != nil {
		return err
	}
	if a.json {
		return d.printJSON(now)
	}
	if err := d.Paint.Compression(now); err != nil {
		return err
	}
	d.next(a, now)
	return nil
}

// may says why something cannot be done, before anybody is asked whether to do it. The daemon looks again.
func (d Desk) may(a about, kind history.Kind, c past.Compression) error {
	state := history.State(c.State)
	switch {
	case kind == history.Approve && state == history.Refused:
		return fmt.Errorf("%s is refused: what no verifier has said YES to cannot be approved; type %s, or ask anew with another policy", c.ID, a.typed("extract", c.ID))
	case kind == history.Approve && c.Awaits():
		return d.awaits(a, c)
	case kind == history.Approve && state == history.BeingDrafted:
		return fmt.Errorf("%s is being drafted; look again later: %s", c.ID, a.typed("show", c.ID))
	case kind == history.Approve && state == history.Approved:
		return fmt.Errorf("%s is approved already", c.ID)
	case kind == history.Approve && state != history.Offered:
		return fmt.Errorf("%s is %s; ask anew: %s", c.ID, c.State, a.anew(c))
	case kind == history.Deny && state == history.Approved:
		return fmt.Errorf("%s is approved; take it back: %s", c.ID, a.typed("revert", c.ID))
	case kind == history.Deny && !state.Open():
		return fmt.Errorf("%s is %s, and the turns are told as they were", c.ID, c.State)
	case kind == history.Revert && state.Open():
		return fmt.Errorf("%s is %s, and lies over nothing: %s", c.ID, c.State, a.typed("deny", c.ID))
	case kind == history.Revert && state != history.Approved:
		return fmt.Errorf("%s is %s, and lies over nothing", c.ID, c.State)
	}
	return nil
}

// awaits says that the next draft is to come from outside.
func (d Desk) awaits(a about, c past.Compression) error {
	sends, denies := a.typed("compress", "-redraft", c.ID, "-text", "FILE"), a.typed("deny", c.ID)
	if n := len(c.Drafts); n > 0 {
		return fmt.Errorf("a verifier refused draft %d of %s: send the next, %s, or deny it, %s", n, c.ID, sends, denies)
	}
	return fmt.Errorf("%s waits for a draft of yours: %s, or deny it, %s", c.ID, sends, denies)
}

// sure asks whether to do it.
func (d Desk) sure(a about, kind history.Kind, c past.Compression) error {
	if !d.Asks || d.In == nil {
		return d.Usage("nobody is here to be asked: say -yes, after a look at %s", a.typed("show", c.ID))
	}
	fmt.Fprintf(d.Paint.Out, "%s? y/N ", kind)
	line, err := bufio.NewReader(d.In).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	if err != nil && line == "" { // as of /dev/null
		fmt.Fprintln(d.Paint.Out)
		return d.Usage("nothing was changed, for nobody answered: say -yes, after a look at %s", a.typed("show", c.ID))
	}
	return errors.New("nothing was changed")
}
