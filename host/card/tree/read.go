package tree

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxDepth is how deep lists and objects may lie in each other.
const maxDepth = 64

// Kind is what a JSON value is.
type Kind string

// The kinds.
const (
	Object  Kind = "object"
	Array   Kind = "array"
	Text    Kind = "string"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Null    Kind = "null"
)

// Called names a kind in a sentence, "an object".
func (k Kind) Called() string {
	switch k {
	case Object, Array:
		return "an " + string(k)
	case Null:
		return "null"
	}
	return "a " + string(k)
}

// Node is a JSON value that knows where it stood.
type Node struct {
	Kind   Kind
	At     int // its first byte
	Size   int // bytes, those of its parts included
	Text   string
	Number float64
	Truth  bool
	Fields []Field // of an object, as they stood
	Items  []*Node // of an array
}

// Field is a member of an object.
type Field struct {
	Name  string
	At    int
	Value *Node
}

// NewText makes a string that stood nowhere.
func NewText(s string) *Node { return &Node{Kind: Text, Text: s, Size: len(s) + 2} }

// NewObject makes an object that stood nowhere.
func NewObject(fields ...Field) *Node {
	n := &Node{Kind: Object, Fields: fields, Size: 2}
	for _, f := range fields {
		n.Size += f.Value.Size + len(f.Name) + 4
	}
	return n
}

// Get finds a member of an object; nil when there is none, or no object.
func (n *Node) Get(name string) *Node {
	if n != nil {
		for _, f := range n.Fields {
			if f.Name == name {
				return f.Value
			}
		}
	}
	return nil
}

// List gives the items of an array; none of what is no array, or not there.
func (n *Node) List() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Value gives what encoding/json would have made of it, but that of keys that are
// there twice the first counts, as with Get.
func (n *Node) Value() any {
	switch n.Kind {
	case Object:
		m := make(map[string]any, len(n.Fields))
		for _, f := range slices.Backward(n.Fields) {
			m[f.Name] = f.Value.Value()
		}
		return m
	case Array:
		list := make([]any, len(n.Items))
		for i, x := range n.Items {
			list[i] = x.Value()
		}
		return list
	case Text:
		return n.Text
	case Number:
		return n.Number
	case Boolean:
		return n.Truth
	}
	return nil
}

// Written gives a value for a message, shortened.
func (n *Node) Written() string {
	if n.Size > 60 && (n.Kind == Object || n.Kind == Array) {
		return n.Kind.Called()
	}
	return Written(n.Value())
}

// Written gives what encoding/json made of a value for a message, shortened.
func Written(v any) string {
	switch v := v.(type) {
	case string:
		return Show(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	if b, err := json.Marshal(v); err == nil && len(b) <= 60 {
		return string(b)
	}
	if _, list := v.([]any); list {
		return Array.Called()
	}
	return Object.Called()
}

// Read gives the value that data holds, nil when it is no JSON. path is how the
// faults call it. A key that is there twice, a number that no float64 holds and what
// lies more than 64 levels deep, which is not read, are faults as well.
func Read(data []byte, path string, f *Faults) *Node {
	if i := invalidUTF8(data); i >= 0 {
		f.Join(Fault{At: i, Path: path, Text: "is not UTF-8", Syntax: true})
		return nil
	}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		f.Add(0, path, "begins with a byte order mark; save it as UTF-8 without one")
		return nil
	}
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		at, why := broken(data, err)
		f.Join(Fault{At: at, Path: path, Text: "is no JSON: " + why, Syntax: true})
		return nil
	}
	r := reader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), Faults: f}
	r.dec.UseNumber()
	return r.next(path, 1)
}

func invalidUTF8(data []byte) int {
	for i, r := range string(data) {
		if r == utf8.RuneError && !bytes.HasPrefix(data[i:], []byte("\ufffd")) {
			return i
		}
	}
	return -1
}

// reader makes nodes of a text that is JSON, so that no token of it can be wrong.
type reader struct {
	data []byte
	dec  *json.Decoder
	*Faults
}

// at gives the first byte of the next token that is not between others.
func (r *reader) at() int {
	at := int(r.dec.InputOffset())
	for bytes.IndexByte([]byte(" \t\r\n,:"), r.data[at]) >= 0 {
		at++
	}
	return at
}

// next reads a value.
func (r *reader) next(path string, depth int) *Node {
	n := &Node{At: r.at(), Kind: Null}
	if c := r.data[n.At]; depth > maxDepth && (c == '[' || c == '{') {
		r.Add(n.At, path, "lies more than %d levels deep", maxDepth)
		_ = r.dec.Decode(new(json.RawMessage))
		return n
	}
	token, _ := r.dec.Token()
	switch t := token.(type) {
	case json.Delim:
		if n.Kind = Array; t == '{' {
			n.Kind = Object
			r.members(n, path, depth)
		}
		for r.dec.More() {
			n.Items = append(n.Items, r.next(Item(path, len(n.Items)), depth+1))
		}
		_, _ = r.dec.Token()
	case string:
		n.Kind, n.Text = Text, t
	case json.Number:
		n.Kind = Number
		var err error
		if n.Number, err = t.Float64(); err != nil {
			n.Number = 0
			r.Add(n.At, path, "%s is out of the range of numbers", Show(string(t)))
		}
	case bool:
		n.Kind, n.Truth = Boolean, t
	}
	n.Size = int(r.dec.InputOffset()) - n.At
	return n
}

// members reads what is in an object.
func (r *reader) members(n *Node, path string, depth int) {
	first := map[string]int{}
	for r.dec.More() {
		at := r.at()
		token, _ := r.dec.Token()
		name := token.(string)
		path := Member(path, name)
		if before, twice := first[name]; !twice {
			first[name] = at
		} else if lines := bytes.Count(r.data[before:at], []byte("\n")); lines == 0 {
			r.Add(at, path, "is there twice")
		} else {
			r.Add(at, path, "is there twice, first in line %d", 1+bytes.Count(r.data[:before], []byte("\n")))
		}
		n.Fields = append(n.Fields, Field{name, at, r.next(path, depth+1)})
	}
}
