// Package doctor is the verb that says what is wrong with a daemon's place, and what to type.
//
// It mends nothing.
package doctor

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/doctor"
)

// Desk is what the verb has to do with the outside.
type Desk struct {
	Out        io.Writer
	Load       func(file string) (config.Config, []config.Problem, error)
	Named      func(file string) string
	Control    func(config.Config) string
	SecretFile func(value string) (string, error)
	Starts     func() string                                                              // what to type that starts the daemon
	Parse      func(fs *flag.FlagSet, args []string, most int) (rest []string, err error) // flags wherever they stand
	Failed     error                                                                      // that something failed, which was said
}

// Doctor looks, and prints a row each.
func (d Desk) Doctor(ctx context.Context, fs *flag.FlagSet, args []string) error {
	path := fs.String("config", "", "configuration `file` of the daemon; default companiond.toml where there is one")
	raw := fs.Bool("json", false, "print JSON")
	if _, err := d.Parse(fs, args, 0); err != nil {
		return err
	}
	cfg, problems, err := d.Load(*path)
	if err != nil {
		return err
	}
	items := d.configured(ctx, d.Named(*path), cfg, problems)
	items = append(items, doctor.Look(ctx, doctor.Options{Config: cfg, Control: d.Control(cfg), SecretFile: d.SecretFile, Starts: d.Starts(), Now: time.Now})...)
	if err := d.show(items, *raw); err != nil {
		return err
	}
	if doctor.Failed(items) {
		return d.Failed
	}
	return nil
}

// configured says what is wrong with the configuration and with the files it names.
func (d Desk) configured(ctx context.Context, file string, cfg config.Config, problems []config.Problem) (items []doctor.Item) {
	add := func(s doctor.State, thing, found, do string) {
		items = append(items, doctor.Item{State: s, Thing: thing, Found: found, Type: do})
	}
	for _, p := range problems {
		s := doctor.Warn
		if p.Severity == config.Error {
			s = doctor.Fail
		}
		add(s, "configuration", p.String(), "mend it; companiond check looks again")
	}
	if config.Failed(problems) {
		return items
	}
	if len(items) == 0 {
		add(doctor.OK, "configuration", file+" has no mistake", "")
	}
	for _, p := range host.CheckFolder(cfg) {
		add(doctor.Warn, "configuration", p.String(), "companiond check")
	}
	mistakes, waits := host.CheckCards(ctx, cfg)
	for _, m := range mistakes {
		add(doctor.Fail, "characters", m, "mend it; companiond check looks again")
	}
	for _, w := range waits {
		add(doctor.Warn, "characters", w, "companiond check")
	}
	return items
}

func (d Desk) show(items []doctor.Item, raw bool) error {
	if raw {
		enc := json.NewEncoder(d.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(items)
	}
	w := tabwriter.NewWriter(d.Out, 0, 0, 2, ' ', 0)
	for _, i := range items {
		fmt.Fprintf(w, "%s\t%s\t%s\n", i.State, i.Thing, paint.Plain(i.Found)) // which may be an endpoint's own words
		if i.Type != "" {
			fmt.Fprintf(w, "\t\t→ %s\n", paint.Plain(i.Type))
		}
	}
	return w.Flush()
}
