package memories

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/memories"
)

// again is how often an order that is carried out is looked at.
const again = time.Second

// Forget has the daemon erase what somebody said and what is remembered of it, or one memory.
func (d Desk) Forget(ctx context.Context, fs *flag.FlagSet, args []string) error {
	yes := fs.Bool("yes", false, "ask nothing")
	dry := fs.Bool("dry-run", false, "erase nothing, and show what would go")
	copies := fs.Bool("copies", false, "delete the copies of the journal that lie beside it, too")
	of := fs.String("of", "", "a memory is forgotten, of this `companion`")
	raw := fs.Bool("json", false, "print JSON, as the daemon has it")
	rest, err := d.Parse(fs, args, len(args))
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return d.Usage("forget whom, or what? companiond forget NAME, or FACT, the id of a memory")
	}
	what := order{Confirm: rest[0], Copies: *copies}
	if what.Companion, err = d.keeps(ctx, rest[0], *of); err != nil {
		return d.explain(err)
	}
	if what.Companion != "" {
		what.Fact = rest[0]
	} else {
		what.Who = rest[0]
	}
	would, err := d.would(ctx, what)
	if err != nil {
		return d.explain(err)
	}
	if *dry && *raw {
		return d.printJSON(would)
	}
	if *dry || !*yes && !*raw {
		if err := d.Paint.Order(would); err != nil || *dry {
			return err
		}
	}
	if !*yes {
		if err := d.sure(rest[0]); err != nil {
			return err
		}
	}
	var o memories.Order
	if err := d.Call(ctx, http.MethodPost, "/v1/forget", what, &o); err != nil {
		return d.explain(err)
	}
	return d.explain(d.follow(ctx, o, *raw))
}

// order is the body of a request to forget.
type order struct {
	Who       string `json:"who,omitempty"`
	Fact      string `json:"fact,omitempty"`
	Companion string `json:"companion,omitempty"`
	Copies    bool   `json:"copies,omitempty"`
	DryRun    bool   `json:"dry_run,omitempty"`
	Confirm   string `json:"confirm,omitempty"`
}

func (d Desk) would(ctx context.Context, what order) (would memories.Order, err error) {
	what.DryRun, what.Confirm = true, ""
	err = d.Call(ctx, http.MethodPost, "/v1/forget", what, &would)
	return would, err
}

// leastID is how long an id of a memory is at least: shorter ones are names.
const leastID = 16

// keeps gives the companion whose memory has this id, "" where it is none: then it is the name
// of somebody. of is the companion where one was named.
func (d Desk) keeps(ctx context.Context, id, of string) (string, error) {
	if of != "" || len(id) < leastID || strings.Trim(id, "0123456789abcdef") != "" {
		return of, nil
	}
	all, err := d.companions(ctx)
	if err != nil {
		return "", err
	}
	for _, companion := range all {
		var m abi.Memory
		if d.Call(ctx, http.MethodGet, path(companion, id), nil, &m) == nil {
			return companion, nil
		}
	}
	return "", nil
}

// eraseOne shows one memory, and erases it when somebody is sure.
func (d Desk) eraseOne(ctx context.Context, companion, id string, yes, raw bool) error {
	var m abi.Memory
	if err := d.Call(ctx, http.MethodGet, path(companion, id), nil, &m); err != nil {
		return err
	}
	if !yes {
		if err := d.Paint.Memory(m); err != nil {
			return err
		}
		if err := d.sure("yes"); err != nil {
			return err
		}
	}
	var o memories.Order
	if err := d.Call(ctx, http.MethodDelete, path(companion, id), nil, &o); err != nil {
		return err
	}
	return d.follow(ctx, o, raw)
}

// sure asks for a word, before something is done that cannot be undone.
func (d Desk) sure(word string) error {
	if !d.Asks || d.In == nil {
		return d.Usage("nothing brings back what is erased, and nobody is here to be asked: say -yes, after a look at -dry-run")
	}
	fmt.Fprintf(d.Paint.Out, "Nothing brings it back. Type %s to erase it: ", word)
	line, err := bufio.NewReader(d.In).ReadString('\n')
	if strings.TrimSpace(line) == word {
		return nil
	}
	if err != nil {
		fmt.Fprintln(d.Paint.Out)
	}
	return fmt.Errorf("nothing was erased")
}

// follow waits until an order is carried out, and shows what went.
func (d Desk) follow(ctx context.Context, o memories.Order, raw bool) error {
	for o.State == "running" && o.ID != "" {
		select {
		case <-ctx.Done():
			fmt.Fprintf(d.Paint.Out, "it goes on by itself, as the order %s\n", o.ID)
			return nil
		case <-time.After(again):
		}
		if err := d.Call(ctx, http.MethodGet, "/v1/forget/"+url.PathEscape(o.ID), nil, &o); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%w; the order is %s", err, o.ID)
		}
	}
	if raw {
		return d.printJSON(o)
	}
	return d.Paint.Order(o)
}
