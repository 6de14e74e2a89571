package config

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// place is where a key stands in the text, in bytes: its name, or the last part of
// it; its value, which of a table with a header is the name again; and each item
// of a list.
type place []int

const (
	atName = iota
	atValue
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
