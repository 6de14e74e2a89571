package config

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// node is one key of the file, with its place in the text as byte offsets.
type node struct {
	path  []string
	value any              // string, int64, float64, bool, time.Time, []any, []map[string]any or map[string]any
	table map[string]*node // not nil for a table
	name  int              // where the last part of the key's name stands
	at    int              // where the value stands; for a [table] the same as name
	parts []int            // where the parts of the name on this line stand, name being the last
}

// key gives the node's full name as TOML would write it.
func (n *node) key() string { return toml.Key(n.path).String() }

// isTable reports whether n was written as a table or an array of tables.
func (n *node) isTable() bool {
	_, array := n.value.([]map[string]any)
	return array || n.table != nil
}

// item gives the place of a list's i-th item, from 1; 0 is the list itself.
func (n *node) item(src string, i int) int {
	if i == 0 {
		return n.at
	}
	items := scanItems(src, n.at)
	if i > len(items) {
		return n.at
	}
	return items[i-1]
}

// syntaxError is the first place that is not TOML.
type syntaxError struct {
	at      int
	message string
}

// readTree decodes src and finds the place of every key.
//
// The TOML library keeps the place of each value to itself and shows it only
// in the error of a value that refused to be decoded. So every key is held
// back as a Primitive and then decoded into a type that takes a copy and
// refuses: one parse of the text gives all values and all places.
func readTree(src string) (*node, *syntaxError) {
	var top map[string]toml.Primitive
	md, err := toml.Decode(src, &top)
	var bad toml.ParseError
	switch {
	case errors.As(err, &bad):
		return nil, &syntaxError{at: bad.Position.Start, message: strings.TrimSuffix(bad.Message, ".")}
	case err != nil:
		return nil, &syntaxError{message: err.Error()}
	}
	t := tree{src: src, md: md}
	return &node{table: t.children(nil, top, false)}, nil
}

type tree struct {
	src string
	md  toml.MetaData
}

// refuser copies the value it is given and refuses it.
type refuser struct{ value any }

func (r *refuser) UnmarshalTOML(v any) error {
	r.value = v
	return errors.New("refused to learn the place")
}

func (t *tree) children(path []string, keys map[string]toml.Primitive, inline bool) map[string]*node {
	table := make(map[string]*node, len(keys))
	for name, held := range keys {
		table[name] = t.node(append(slices.Clip(path), name), held, inline)
	}
	return table
}

// node reads one key; inline says that it stands between the braces of an
// inline table, where the library gives the place of the name, not the value.
func (t *tree) node(path []string, held toml.Primitive, inline bool) *node {
	var r refuser
	var refused toml.ParseError
	errors.As(t.md.PrimitiveDecode(held, &r), &refused)
	pos, known := refused.Position.Start, refused.Position.Line > 0
	n := &node{path: path, value: r.value}

	_, isTable := r.value.(map[string]any)
	_, isArray := r.value.([]map[string]any)
	braces := inline || known && pos > 0 && t.src[pos-1] == '{'
	switch {
	case !known: // implied by a longer name: told by its first child below
		n.parts = []int{0}
	case inline:
		n.place(t.src, pos)
	case (isTable || isArray) && !braces:
		n.parts, _ = scanName(t.src, pos+len(t.src[pos:])-len(strings.TrimLeft(t.src[pos:], "[")))
		n.name = n.parts[len(n.parts)-1]
		n.at = n.name
	default:
		n.place(t.src, strings.LastIndexByte(t.src[:pos], '\n')+1)
	}
	if !isTable {
		return n
	}
	var keys map[string]toml.Primitive
	if t.md.PrimitiveDecode(held, &keys) != nil || keys == nil {
		keys = map[string]toml.Primitive{}
	}
	n.table = t.children(path, keys, braces)
	if !known && len(n.table) > 0 {
		n.imply()
	}
	return n
}

// place finds name and value of the "name = value" that starts at or after
// start on the same line.
func (n *node) place(src string, start int) {
	var end int
	n.parts, end = scanName(src, start)
	n.name = n.parts[len(n.parts)-1]
	n.at = skipBlank(src, end)
	if n.at < len(src) && src[n.at] == '=' {
		n.at = skipBlank(src, n.at+1)
	}
}

// imply takes the place of a table that no line names by itself (door in
// "door.listen = ...") from its first child.
func (n *node) imply() {
	first := slices.MinFunc(slices.Collect(maps.Values(n.table)), func(a, b *node) int { return a.name - b.name })
	n.parts = first.parts[:max(1, len(first.parts)-1)]
	n.name = n.parts[len(n.parts)-1]
	n.at = n.name
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

// The rest reads text that the TOML library has accepted, to find where things
// stand in it. It judges nothing and stops at the end of the text.

// scanName gives the places of the dotted parts of the name at i, and its end.
func scanName(src string, i int) (parts []int, end int) {
	for {
		i = skipBlank(src, i)
		parts = append(parts, i)
		if i < len(src) && (src[i] == '"' || src[i] == '\'') {
			i = skipString(src, i)
		} else {
			i = skipUntil(src, i, " \t.=]\r\n")
		}
		end = i
		i = skipBlank(src, i)
		if i >= len(src) || src[i] != '.' {
			return parts, end
		}
		i++
	}
}

// scanItems gives the places of the items of the list that opens at i.
func scanItems(src string, i int) (items []int) {
	for i = skipSpace(src, i+1); i < len(src) && src[i] != ']'; i = skipSpace(src, i) {
		items = append(items, i)
		i = skipValue(src, i)
	}
	return items
}

// skipValue gives the end of the value at i, which is at least i+1.
func skipValue(src string, i int) int {
	switch src[i] {
	case '"', '\'':
		return skipString(src, i)
	case '[', '{':
		for i = skipSpace(src, i+1); i < len(src) && src[i] != ']' && src[i] != '}'; i = skipSpace(src, i) {
			i = skipValue(src, i)
		}
		return min(i+1, len(src))
	}
	return skipUntil(src, i+1, " \t\r\n,#]}=\"'[{")
}

// skipString gives the end of the string that opens at i, in any of the four
// kinds of quotes.
func skipString(src string, i int) int {
	quote := src[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(src[i:], triple) {
		quote = triple
	}
	for j := i + len(quote); j < len(src); j++ {
		switch {
		case src[j] == '\\' && quote[0] == '"':
			j++
		case strings.HasPrefix(src[j:], quote):
			for j += len(quote); len(quote) == 3 && j < len(src) && src[j] == quote[0]; j++ {
			}
			return j
		}
	}
	return len(src)
}

func skipUntil(src string, i int, stop string) int {
	if n := strings.IndexAny(src[min(i, len(src)):], stop); n >= 0 {
		return i + n
	}
	return len(src)
}

func skipBlank(src string, i int) int {
	for i < len(src) && (src[i] == ' ' || src[i] == '\t') {
		i++
	}
	return i
}

// skipSpace skips what may stand between two items of a list.
func skipSpace(src string, i int) int {
	for i < len(src) {
		switch src[i] {
		case ' ', '\t', '\r', '\n', ',', '=':
			i++
		case '#':
			i = skipUntil(src, i, "\n")
		default:
			return i
		}
	}
	return i
}
