package config

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// place is where a key stands in the text, in bytes.
type place struct {
	name  int   // the last part of its name
	value int   // of a table with a header the name again
	items []int // of a list
}

// places finds the keys of a text that the TOML library has accepted; they are
// what it found there. It tells their order and keeps their places to itself.
func places(text string, keys []toml.Key) map[string]place {
	s := scanner{text: text, keys: keys, found: make(map[string]place)}
	for s.space(); s.at < len(text); s.space() {
		s.entry()
	}
	return s.found
}

// scanner goes through a text. It judges nothing.
type scanner struct {
	text  string
	at    int
	keys  []toml.Key // those that are still to come
	found map[string]place
}

// entry reads [name], [[name]] or name = value.
func (s *scanner) entry() {
	s.skip("[")
	parts := s.name()
	last := parts[len(parts)-1]
	here := place{name: last, value: last}
	key := s.keys[0]
	s.keys = s.keys[1:]
	if s.sees("=") {
		s.skip("= \t")
		here.value = s.at
		here.items = s.value()
	} else {
		s.skip("] \t")
	}
	s.found[key.String()] = here
	for i := len(parts) - 2; i >= 0; i-- { // door too is found in door.listen = ...
		key = key[:len(key)-1]
		if _, known := s.found[key.String()]; !known {
			s.found[key.String()] = place{name: parts[i], value: parts[i]}
		}
	}
}

// name goes over a name and gives the places of its dotted parts.
func (s *scanner) name() (parts []int) {
	for {
		s.skip(" \t")
		parts = append(parts, s.at)
		if !s.quoted() {
			s.until(" \t.=]")
		}
		s.skip(" \t")
		if !s.sees(".") {
			return parts
		}
		s.skip(".")
	}
}

// value goes over a value and gives the places of its items if it is a list.
func (s *scanner) value() (items []int) {
	switch {
	case s.quoted():
	case s.sees("["):
		s.at++
		for s.space(); !s.sees("]"); s.space() {
			items = append(items, s.at)
			s.value()
		}
		s.at++
	case s.sees("{"):
		s.at++
		for s.space(); !s.sees("}"); s.space() {
			s.entry()
		}
		s.at++
	default:
		s.until(",]}#\r\n")
	}
	return items
}

var aString = regexp.MustCompile(`^(?s:"""(?:\\.|[^\\])*?"""+|'''.*?'''+|"(?:\\.|[^"\\])*"|'[^']*')`)

// quoted goes over a string in any of the four kinds of quotes, if there is one.
func (s *scanner) quoted() bool {
	n := len(aString.FindString(s.text[s.at:]))
	s.at += n
	return n > 0
}

// space goes over what may stand between two entries or items.
func (s *scanner) space() {
	for s.skip(" \t\r\n,"); s.sees("#"); s.skip(" \t\r\n,") {
		s.until("\n")
	}
}

func (s *scanner) sees(c string) bool { return strings.HasPrefix(s.text[s.at:], c) }

func (s *scanner) skip(chars string) {
	s.at = len(s.text) - len(strings.TrimLeft(s.text[s.at:], chars))
}

func (s *scanner) until(stop string) {
	if n := strings.IndexAny(s.text[s.at:], stop); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.text)
	}
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
