package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Value gives what encoding/json would have made of it.
func (n *Node) Value() any {
	switch n.Kind {
	case Object:
		m := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
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
	switch n.Kind {
	case Text:
		return Show(n.Text)
	case Number:
		return strconv.FormatFloat(n.Number, 'g', -1, 64)
	case Boolean:
		return strconv.FormatBool(n.Truth)
	}
	if n.Size <= 60 {
		if b, err := json.Marshal(n.Value()); err == nil {
			return string(b)
		}
	}
	return n.Kind.Called()
}

// reader makes nodes of a text that is JSON.
type reader struct {
	data []byte
	dec  *json.Decoder
	*Faults
}

// Read gives the value that data holds, nil when it is no JSON or lies more than 64
// levels deep. path is how the faults call it. A key that is there twice and a
// number that no float64 holds are faults as well.
func Read(data []byte, path string, f *Faults) *Node {
	if i := invalidUTF8(data); i >= 0 {
		f.join(Fault{At: i, Path: path, Text: "is not UTF-8", Syntax: true})
		return nil
	}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		f.Add(0, path, "begins with a byte order mark; save it as UTF-8 without one")
		return nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		at, why := broken(data, err)
		f.join(Fault{At: at, Path: path, Text: "is no JSON: " + why, Syntax: true})
		return nil
	}
	r := reader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), Faults: f}
	r.dec.UseNumber()
	return r.next(path, 1)
}

// ended reports whether JSON broke off.
func ended(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || err.Error() == "unexpected end of JSON input"
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

// next reads a value; nil when it lies too deep, which ends the reading.
func (r *reader) next(path string, depth int) *Node {
	n, token := r.token()
	if n == nil {
		return nil
	}
	switch t := token.(type) {
	case json.Delim:
		if depth > maxDepth {
			r.Add(n.At, path, "lies more than %d levels deep", maxDepth)
			return nil
		}
		if t == '{' {
			return r.object(n, path, depth)
		}
		return r.array(n, path, depth)
	case string:
		n.Kind, n.Text = Text, t
	case json.Number:
		n.Kind = Number
		var err error
		if n.Number, err = strconv.ParseFloat(string(t), 64); err != nil {
			n.Number = 0
			r.Add(n.At, path, "%s is out of the range of numbers", Show(string(t)))
		}
	case bool:
		n.Kind, n.Truth = Boolean, t
	default:
		n.Kind = Null
	}
	return n
}

// token reads on and gives an empty node that stands where the token does.
func (r *reader) token() (*Node, json.Token) {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[at]) >= 0 {
		at++
	}
	token, err := r.dec.Token()
	if err != nil { // the text is JSON, so this cannot be
		r.Add(min(at, len(r.data)), "", "is no JSON: %v", err)
		return nil, nil
	}
	return &Node{At: at, Size: int(r.dec.InputOffset()) - at}, token
}

func (r *reader) object(n *Node, path string, depth int) *Node {
	n.Kind = Object
	first := map[string]int{}
	for r.dec.More() {
		key, token := r.token()
		name, ok := token.(string)
		if !ok {
			return nil
		}
		at := Member(path, name)
		if line, twice := first[name]; twice {
			r.Add(key.At, at, "is there twice%s", line1(r.data, line, key.At))
		} else {
			first[name] = key.At
		}
		v := r.next(at, depth+1)
		if v == nil {
			return nil
		}
		n.Fields = append(n.Fields, Field{name, key.At, v})
	}
	return r.close(n)
}

// line1 names the line in which something stood before, in a text of many lines.
func line1(data []byte, before, now int) string {
	if !bytes.Contains(data[before:now], []byte("\n")) {
		return ""
	}
	return fmt.Sprintf(", first in line %d", 1+bytes.Count(data[:before], []byte("\n")))
}

func (r *reader) array(n *Node, path string, depth int) *Node {
	n.Kind = Array
	for r.dec.More() {
		v := r.next(Item(path, len(n.Items)), depth+1)
		if v == nil {
			return nil
		}
		n.Items = append(n.Items, v)
	}
	return r.close(n)
}

// close reads the bracket that ends a list or an object.
func (r *reader) close(n *Node) *Node {
	if _, token := r.token(); token == nil {
		return nil
	}
	n.Size = int(r.dec.InputOffset()) - n.At
	return n
}
