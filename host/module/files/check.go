package files

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/module"
)

// patience is how long a text may take to be judged. Code in it is run, under the bounds of its engine.
const patience = 20 * time.Second

// Problem is one thing wrong with a text.
type Problem struct {
	Line   int    // from 1; 0: the file as a whole
	Column int    // from 1, in characters; 0 where it is not known
	Path   string // of a card, where in it: "actions[1].title"
	Text   string // what is wrong
}

// Refused says what is wrong with a text, as whoever loads it would.
type Refused struct {
	File     string
	Problems []Problem // in order of lines
	cause    *abi.Error
}

// Error gives what is wrong, a line each.
func (r *Refused) Error() string { return r.cause.Message }

// Unwrap gives it as the error that crosses borders.
func (r *Refused) Unwrap() error { return r.cause }

// Check says what is wrong with a text, as whoever loads it would; nil: nothing.
//
// # Errors
//
// [Refused]; CodeInvalid: there is no such file; CodeTooLarge; CodeTimeout.
func (s *Store) Check(ctx context.Context, name, text string) error {
	id, _, err := checkName(name)
	if err != nil {
		return err
	}
	if len(text) > Max {
		return abi.Field("text", abi.CodeTooLarge, "%d bytes, at most %d", len(text), Max)
	}
	if strings.TrimSpace(text) == "" {
		return refused(name, abi.Errorf(abi.CodeInvalid, "is empty"))
	}
	engine := s.engineOf(name)
	if engine == nil {
		return abi.Field("file", abi.CodeInvalid, "%s: no engine of this daemon takes such a file", name)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select { // one at a time: code is compiled and run
	case s.trying <- struct{}{}:
		defer func() { <-s.trying }()
	case <-ctx.Done():
		return abi.Errorf(abi.CodeTimeout, "others are having texts checked; try again")
	}
	err = s.try(ctx, engine, module.Source{ID: id, Name: name, Path: filepath.Join(s.cfg.Dir, name), Hash: hashOf([]byte(text)), Data: []byte(text)})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return abi.Errorf(abi.CodeTimeout, "was not checked within %v: %s", patience, module.Reason(err))
	}
	return refused(name, err)
}

// engineOf gives the engine that would load a file: the one that leaves the shortest name of it.
func (s *Store) engineOf(name string) (e module.Engine) {
	shortest := name
	for _, one := range s.cfg.Engines {
		if stem, ok := one.Match(name); ok && stem != "" && len(stem) < len(shortest) {
			e, shortest = one, stem
		}
	}
	return e
}

// try loads a text and closes it again. An engine that panics over it refuses it.
func (s *Store) try(ctx context.Context, e module.Engine, src module.Source) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = abi.Errorf(abi.CodeInternal, "the engine %s panicked: %v", e.Name(), p)
		}
	}()
	m, err := e.Load(ctx, src)
	if err != nil {
		return err
	}
	return errors.Join(s.admit(src.ID, m), m.Close(context.WithoutCancel(ctx)))
}

// refused finds the places in what an engine says.
func refused(name string, err error) *Refused {
	r := &Refused{File: name, cause: abi.Errorf(abi.CodeInvalid, "%s", module.Reason(err))}
	var known card.Problems
	if errors.As(err, &known) {
		for _, p := range known {
			r.Problems = append(r.Problems, Problem{p.Line, p.Column, p.Path, p.Text})
		}
		return r
	}
	for row := range strings.Lines(r.cause.Message) {
		r.add(strings.TrimRight(row, "\n"))
	}
	return r
}

// place is how engines begin a line that is about one of a file, behind the file's name, and thrown how that of JavaScript says
// where: "... (mio.ts:2:13)".
var (
	place  = regexp.MustCompile(`^:(\d+)(?::(\d+))?:? (.*)$`)
	thrown = regexp.MustCompile(`\(([^()]+):(\d+):(\d+)\)`)
)

// add adds a row of what an engine says. One that begins with no place is of the one before, or about the file as a whole.
func (r *Refused) add(row string) {
	at, found := strings.CutPrefix(row, r.File)
	m := place.FindStringSubmatch(at)
	if m == nil {
		if js := thrown.FindStringSubmatch(row); js != nil && js[1] == r.File {
			found, m = true, []string{row, js[2], js[3], row}
		}
	}
	switch {
	case found && m != nil:
		line, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		r.Problems = append(r.Problems, Problem{Line: line, Column: column, Text: m[3]})
	case len(r.Problems) > 0:
		last := &r.Problems[len(r.Problems)-1]
		last.Text = fmt.Sprintf("%s\n%s", last.Text, row)
	default:
		r.Problems = append(r.Problems, Problem{Text: strings.TrimLeft(strings.TrimPrefix(at, ":"), " ")})
	}
}
