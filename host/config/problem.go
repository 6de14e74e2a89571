package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/config/form"
)

// Severity says whether a problem keeps the daemon from starting.
type Severity string

// An error refuses the configuration; a warning is for the log.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Environment is the File of a problem with a variable.
const Environment = "environment"

// Problem is one thing wrong with the configuration.
type Problem struct {
	File     string // empty where nobody wrote anything
	Line     int    // from 1; 0 when there is no line
	Col      int    // from 1, in characters; 0 when there is no line
	Key      string // full name, or the variable's; "" for bad TOML
	Message  string
	Hint     string // what to write instead; may be empty
	Severity Severity
}

// String gives the problem on one line, e.g.
//
//	companiond.toml:14:12: room.main.patience: "5 parsecs" is not a duration (try "5s")
func (p Problem) String() string {
	s := p.Message
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	if p.Key != "" {
		s = p.Key + ": " + s
	}
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, s)
	case p.File != "":
		return p.File + ": " + s
	}
	return s
}

// Failed reports whether one of the problems is an error.
func Failed(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error })
}

// origin is where a value came from.
type origin struct {
	file      string
	line, col int
	env       string // the variable's name; then the rest is zero
}

// fault is a problem that does not know yet where it is.
type fault struct {
	message, hint string
	item          int // which item of a list, from 1; 0 for the value as a whole
	severity      Severity
}

// faultOf takes over what a form says.
func faultOf(f *form.Fault) *fault { return &fault{message: f.Message, hint: f.Hint} }

// report puts a fault where it belongs.
func (p *parse) report(at origin, key string, f *fault) {
	problem := Problem{File: at.file, Line: at.line, Col: at.col, Key: key,
		Message: f.message, Hint: f.hint, Severity: cmp.Or(f.severity, Error)}
	if at.env != "" {
		problem.File, problem.Key = Environment, at.env
	}
	p.problems = append(p.problems, problem)
}

// place gives a place of a key, see [source.File.At]; it has no line where the key is not in the file.
func (p *parse) place(key dotted, which int) origin {
	at := origin{file: p.file}
	at.line, at.col = p.source.At(key.String(), which)
	return at
}

func sortProblems(list []Problem) {
	slices.SortFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			strings.Compare(a.Key, b.Key), strings.Compare(a.Message, b.Message))
	})
}
