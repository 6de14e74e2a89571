// Package check is the verb that looks a configuration through, with all that it names: the folders, the cards, the scripts, what handlers are told.
//
// It starts nothing and asks nobody: host says what is wrong, and the verb prints it.
package check

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"

	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
)

// Desk is what the verb has to do with the outside.
type Desk struct {
	Out io.Writer
	// Load reads the configuration of a file, and Tokens the file of tokens that it names.
	Load    func(file string) (config.Config, []config.Problem, error)
	Tokens  func(config.Config) (warning string, err error)
	Options func(config.Config) host.Options
	Parse   func(fs *flag.FlagSet, args []string, most int) (rest []string, err error) // flags wherever they stand
	// Wrong and Failed are the errors of a configuration with mistakes, and of mistakes elsewhere; all that is wrong was printed.
	Wrong, Failed error
}

// note is the severity of what waits for something, such as a language model, and is no mistake.
const note config.Severity = "note"

// Finding is one thing that is wrong.
type Finding struct {
	Severity config.Severity `json:"severity"`       // error, warning or note
	Text     string          `json:"text"`           // for people, with the place
	File     string          `json:"file,omitempty"` // of a mistake in the configuration
	Line     int             `json:"line,omitempty"`
	Col      int             `json:"col,omitempty"`
	Key      string          `json:"key,omitempty"`
	Hint     string          `json:"hint,omitempty"`
}

// Report is all of it.
type Report struct {
	OK       bool      `json:"ok"` // nothing keeps the daemon from starting as it is meant
	Findings []Finding `json:"findings"`
}

func (r *Report) problems(all []config.Problem) {
	for _, p := range all {
		r.Findings = append(r.Findings, Finding{p.Severity, p.String(), p.File, p.Line, p.Col, p.Key, p.Hint})
	}
}

func (r *Report) lines(s config.Severity, all []string) {
	for _, line := range all {
		r.Findings = append(r.Findings, Finding{Severity: s, Text: line})
	}
}

func (r *Report) has(s config.Severity) bool {
	for _, f := range r.Findings {
		if f.Severity == s {
			return true
		}
	}
	return false
}

// Check looks a configuration through.
func (d Desk) Check(ctx context.Context, fs *flag.FlagSet, args []string) error {
	path := fs.String("config", "", "configuration `file`; default companiond.toml")
	print := fs.Bool("print", false, "print every value and where it comes from")
	strict := fs.Bool("strict", false, "warnings are failures")
	raw := fs.Bool("json", false, "print JSON")
	if _, err := d.Parse(fs, args, 0); err != nil {
		return err
	}
	cfg, problems, err := d.Load(*path)
	if err != nil {
		return err
	}
	r := Report{Findings: []Finding{}}
	r.problems(problems)
	wrong := config.Failed(problems)
	if !wrong {
		if err := d.behind(ctx, cfg, &r); err != nil {
			return err
		}
	}
	r.OK = !r.has(config.Error) && !(*strict && r.has(config.Warning))
	if err := d.show(r, *raw, r.OK && !*print); err != nil {
		return err
	}
	switch {
	case wrong:
		return d.Wrong
	case !r.OK:
		return d.Failed
	case *print && !*raw:
		return cfg.Print(d.Out)
	}
	return nil
}

// behind looks at what a configuration names.
func (d Desk) behind(ctx context.Context, cfg config.Config, r *Report) error {
	warning, err := d.Tokens(cfg)
	if err != nil {
		return err
	}
	if warning != "" {
		r.lines(config.Warning, []string{"warning: identity.tokens: " + warning})
	}
	r.problems(as(config.Warning, host.CheckFolder(cfg)))
	mistakes, waits := host.CheckCards(ctx, cfg)
	r.problems(as(config.Error, host.CheckFiles(cfg)))
	code, settings, err := host.CheckModules(ctx, d.Options(cfg))
	if err != nil {
		return err
	}
	r.problems(settings)
	r.lines(config.Error, append(mistakes, code...))
	r.lines(note, waits)
	return nil
}

// as gives problems a severity.
func as(s config.Severity, all []config.Problem) []config.Problem {
	for i := range all {
		all[i].Severity = s
	}
	return all
}

// show prints a report, with ok where all is and somebody wants to read it.
func (d Desk) show(r Report, raw, ok bool) error {
	if raw {
		enc := json.NewEncoder(d.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	for _, f := range r.Findings {
		fmt.Fprintln(d.Out, f.Text)
	}
	if ok {
		fmt.Fprintln(d.Out, "ok")
	}
	return nil
}
