package history

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

func (d Desk) fork(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var a about
	a.flags(fs)
	at := fs.Uint64("at", 0, "the newest `turn` that both are to have (default the newest there is)")
	rest, err := d.Parse(fs, args, 1)
	if err != nil {
		return err
	}
	in := struct {
		Turn *uint64 `json:"turn,omitempty"`
		Name string  `json:"name,omitempty"`
	}{}
	fs.Visit(func(f *flag.Flag) {
		if f.Name == "at" { // also as 0, which the daemon refuses
			in.Turn = at
		}
	})
	if len(rest) > 0 {
		in.Name = rest[0]
	}
	var b rooms.Branch
	if err := d.ask(ctx, a, http.MethodPost, a.path("forks"), in, &b); err != nil {
		if left, of := strings.CutPrefix(err.Error(), "TURNS: "); of {
			err = errors.New("-at: " + left)
		}
		return err
	}
	if a.json {
		return d.printJSON(b)
	}
	_, err = fmt.Fprintf(d.Paint.Out, "%s begins with the turns of %s up to %d; talk there: companiond say -f -room %[1]s TEXT\n", b.Name, b.Of, b.Turn)
	return err
}

func (d Desk) branches(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var a about
	a.flags(fs)
	if _, err := d.Parse(fs, args, 0); err != nil {
		return err
	}
	out := struct {
		Branches []rooms.Branch `json:"branches"`
	}{}
	if err := d.ask(ctx, a, http.MethodGet, a.path("branches"), nil, &out); err != nil {
		return err
	}
	if a.json {
		return d.printJSON(out)
	}
	return d.Paint.Branches(out.Branches, a.room)
}

func (d Desk) diff(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var a about
	fs.BoolVar(&a.json, "json", false, "print JSON, as the daemon has it")
	rest, err := d.Parse(fs, args, 2)
	if err != nil {
		return err
	}
	if len(rest) != 2 {
		return d.Usage("compare which rooms? companiond history diff A B, and companiond history branches lists those of a family")
	}
	a.room, a.with = rest[0], rest[1:]
	out := struct {
		Common uint64         `json:"common"`
		Turns  []abi.PastTurn `json:"turns"`
		With   []abi.PastTurn `json:"with"`
	}{}
	if err := d.ask(ctx, a, http.MethodGet, a.path("diff")+"?"+url.Values{"with": {rest[1]}}.Encode(), nil, &out); err != nil {
		return err
	}
	if a.json {
		return d.printJSON(out)
	}
	if err := d.Paint.Diff(rest[0], rest[1], out.Common, out.Turns, out.With); err != nil {
		return err
	}
	for i, all := range [][]abi.PastTurn{out.Turns, out.With} {
		if len(all) == atOnce {
			of := about{room: rest[i]}
			fmt.Fprintf(d.Paint.Out, "there may be more: %s\n", of.typed("show", "-original", fmt.Sprint(all[len(all)-1].N+1, "-")))
		}
	}
	return nil
}
