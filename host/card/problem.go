package card

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/tree"
)

// Problem is one thing wrong with a definition file.
type Problem struct {
	File   string
	Line   int    // from 1
	Column int    // from 1, in characters, where the file stops being JSON; 0 where Path says more
	Path   string // e.g. "actions[1].properties.x.type"; empty for the file as a whole
	Text   string
}

// String gives the problem on one line, e.g.
//
//	nikoni.json:21: actions[0].properties.message.minLength: is a string, must be a number
//
// or, where the file stops being JSON,
//
//	nikoni.json:21:9: is no JSON: '“' where a value has to begin; write " instead
func (p Problem) String() string {
	where := fmt.Sprintf("%s:%d: ", p.File, p.Line)
	if p.Column > 0 {
		where = fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
	}
	if p.Path != "" {
		where += p.Path + ": "
	}
	return where + p.Text
}

// Problems is everything wrong with a definition file, sorted by line. At a
// border it is an [abi.Error] with CodeInvalid.
type Problems []Problem

// Error gives the problems, a line each.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the problems as the one error that crosses borders.
func (p Problems) Unwrap() error { return abi.Errorf(abi.CodeInvalid, "%s", p.Error()) }

// problems says in which lines of a file the faults are.
func problems(file string, data []byte, found tree.Faults) Problems {
	told := found[:min(len(found), tree.MaxFaults)] // the one after these says that there is more
	slices.SortStableFunc(told, func(a, b tree.Fault) int { return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Path, b.Path)) })
	if len(found) > len(told) {
		found[len(told)].At = told[len(told)-1].At
	}
	var all Problems
	for _, f := range found {
		p := Problem{File: file, Line: 1 + bytes.Count(data[:f.At], []byte("\n")), Path: f.Path, Text: f.Text}
		if f.Syntax {
			p.Column = 1 + utf8.RuneCount(data[1+bytes.LastIndexByte(data[:f.At], '\n'):f.At])
		}
		all = append(all, p)
	}
	return slices.Compact(all) // two readers may have told the same
}
