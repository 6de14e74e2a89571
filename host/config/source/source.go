// Package source reads the text of a TOML file and knows the line and column of every
// key, value and item in it, which the TOML library keeps to itself.
//
// It is pure: it opens no file, and it judges nothing but whether the text is TOML.
package source

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// File is a text that is TOML. A nil File has no key.
type File struct {
	Root   map[string]any // as the TOML library gives it
	text   string         // without a byte order mark
	places map[string]place
}

// Flaw is why a text is no TOML, and where; both count from 1.
type Flaw struct {
	Line, Col int
	Message   string
}

// maxDepth bounds the parts of a key and the tables within each other on one line. The
// TOML library takes memory by their square.
const maxDepth = 500

// tooDeep gives the first line that has more, 0 for none.
func tooDeep(text string) int {
	for n := 1; text != ""; n++ {
		line, rest, _ := strings.Cut(text, "\n")
		key, _, _ := strings.Cut(line, "=")
		if strings.Count(key, ".") > maxDepth || strings.Count(line, "{") > maxDepth {
			return n
		}
		text = rest
	}
	return 0
}

// Read reads a text. A byte order mark before it is passed over.
func Read(src []byte) (*File, *Flaw) {
	if mark := string(src[:min(len(src), 2)]); mark == "\xff\xfe" || mark == "\xfe\xff" { // the library goes over it
		return nil, &Flaw{1, 1, "the file is UTF-16; TOML files must be UTF-8"}
	}
	f := &File{text: strings.TrimPrefix(string(src), "\ufeff")}
	if line := tooDeep(f.text); line > 0 {
		return nil, &Flaw{line, 1, fmt.Sprintf("more than %d names or tables within each other", maxDepth)}
	}
	md, err := toml.Decode(f.text, &f.Root)
	if err != nil {
		bad := toml.ParseError{Message: err.Error()}
		errors.As(err, &bad)
		rest := f.text[min(max(bad.Position.Start, 0), len(f.text)):]
		line, col := position(f.text, len(f.text)-len(strings.TrimLeft(rest, " \t")))
		return nil, &Flaw{line, col, strings.TrimSuffix(bad.Message, ".")}
	}
	f.places = places(f.text, md.Keys())
	return f, nil
}

// At gives line and column of a key by its full name as TOML writes it: of its [Name], its
// [Value], or of the nth item of the list that is its value with Value+n. A key that is
// not in the file is at 0, 0.
func (f *File) At(key string, which int) (line, col int) {
	if f == nil {
		return 0, 0
	}
	found, written := f.places[key]
	if !written {
		return 0, 0
	}
	return position(f.text, found[which])
}

// place is where a key stands in the text, in bytes: its name, or the last part of
// it; its value, which of a table with a header is the name again; and each item
// of a list.
type place []int

// What of a key a place is asked for.
const (
	Name = iota
	Value
)

// tokens of TOML are strings in four kinds of quotes, comments, what stands between
// names and values, and names and values themselves.
var tokens = regexp.MustCompile(`(?s)"""(?:\\.|[^\\])*?"""+|'''.*?'''+|"(?:\\.|[^"\\])*"|'[^']*'|#[^\n]*|[][{}=,.\n]|[^][{}=,.#"'\s]+`)

// places finds the keys of a text that the TOML library has accepted; they are
// what it found there. It tells their order and keeps their places to itself.
func places(text string, keys []toml.Key) map[string]place {
	s := scanner{text: text, keys: keys, found: make(map[string]place)}
	for _, at := range tokens.FindAllStringIndex(text, -1) {
		if text[at[0]] != '#' {
			s.tokens = append(s.tokens, at)
		}
	}
	for s.gap(); len(s.tokens) > 0; s.gap() {
		s.entry()
	}
	return s.found
}

// scanner goes through the tokens of a text. It judges nothing.
type scanner struct {
	text   string
	tokens [][]int    // from the one that it stands at
	keys   []toml.Key // those that are still to come
	found  map[string]place
}

// token gives what the scanner stands at, "" at the end.
func (s *scanner) token() string {
	if len(s.tokens) == 0 {
		return ""
	}
	return s.text[s.tokens[0][0]:s.tokens[0][1]]
}

// skip goes over the token if it is that one.
func (s *scanner) skip(token string) bool {
	if s.token() != token {
		return false
	}
	s.tokens = s.tokens[1:]
	return true
}

// gap goes over what may stand between two entries or items.
func (s *scanner) gap() {
	for s.skip("\n") || s.skip(",") {
	}
}

// entry reads [name], [[name]] or name = value.
func (s *scanner) entry() {
	for s.skip("[") {
	}
	var parts []int
	for len(parts) == 0 || s.skip(".") {
		parts = append(parts, s.tokens[0][0])
		s.tokens = s.tokens[1:]
	}
	last := len(parts) - 1
	here := place{parts[last], parts[last]}
	key := s.keys[0]
	s.keys = s.keys[1:]
	if s.skip("=") {
		here = append(place{parts[last]}, s.value()...)
	}
	for s.skip("]") {
	}
	s.found[key.String()] = here
	for i := last - 1; i >= 0; i-- { // door too is found in door.listen = ...
		key = key[:len(key)-1]
		if _, known := s.found[key.String()]; !known {
			s.found[key.String()] = place{parts[i], parts[i]}
		}
	}
}

// value goes over a value and gives its place and those of its items.
func (s *scanner) value() (all []int) {
	all = append(all, s.tokens[0][0])
	switch {
	case s.skip("["):
		for s.gap(); !s.skip("]"); s.gap() {
			all = append(all, s.value()[0])
		}
	case s.skip("{"):
		for s.gap(); !s.skip("}"); s.gap() {
			s.entry()
		}
	default:
		for !strings.Contains(",]}\n", s.token()) {
			s.tokens = s.tokens[1:]
		}
	}
	return all
}

// position gives line and column, both from 1, of a byte of src. Columns count
// characters, as an editor does.
func position(src string, offset int) (line, col int) {
	offset = min(max(offset, 0), len(src))
	for offset > 0 && offset < len(src) && !utf8.RuneStart(src[offset]) {
		offset-- // the library may point into the middle of a character
	}
	before := src[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}
