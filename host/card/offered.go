package card

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/tree"
	"github.com/companiond/companiond/host/context/quote"
)

// Bounds of an action that is offered at run time, in bytes.
const (
	MaxDescription = 2 << 10
	MaxSchema      = 16 << 10
)

// poor are words that other hosts of games are said not to understand.
var poor = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "additionalProperties", "patternProperties", "minProperties", "maxProperties",
	"multipleOf", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedItems", "unevaluatedProperties", "title", "description",
	"readOnly", "writeOnly", "deprecated", "contentEncoding", "contentMediaType", "contentSchema", "$schema", "$id", "$ref", "$anchor", "$defs", "$comment"}

// NewAction makes an action of what a client says at run time: the parameters are what a JSON
// Schema wants, none where it is absent, null or {}. Nothing of it is fetched from anywhere, and the bounds are
// those of a card. Words that a model might take for somebody else's than the schema's are
// refused in names and in values: they would stand in what it is told.
//
// # Errors
//
// CodeInvalid and CodeTooLarge with the field: name, description or schema.
func NewAction(name, description string, raw json.RawMessage) (Action, error) {
	a := Action{Title: name, Description: description}
	p := parser{}
	p.title(tree.NewObject(tree.Field{Name: "title", Value: tree.NewText(name)}), "", nil)
	switch {
	case len(p.Faults) > 0:
		return a, abi.Field("name", abi.CodeInvalid, "%s", p.Faults[0].Text)
	case len(description) > MaxDescription:
		return a, abi.Field("description", abi.CodeTooLarge, "%d bytes, at most %d", len(description), MaxDescription)
	case len(raw) > MaxSchema:
		return a, abi.Field("schema", abi.CodeTooLarge, "%d bytes, at most %d", len(raw), MaxSchema)
	}
	bare := len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null"
	if bare {
		raw = json.RawMessage("{}")
	}
	var whole bytes.Buffer
	if json.Compact(&whole, raw) == nil {
		raw = whole.Bytes()
	}
	p.data = raw
	n := tree.Read(raw, "schema", &p.Faults)
	if n != nil && n.Kind != tree.Object {
		p.Add(n.At, "schema", "is %s, must be an object", n.Kind.Called())
	} else if n != nil {
		bare = bare || len(n.Fields) == 0
		a.schema = p.schema(n, "schema")
	}
	if err := p.Err(abi.CodeInvalid, "schema"); err != nil {
		return a, err
	}
	if !bare {
		a.Schema = asObject(raw, n)
		if path := marked(n, "schema", false); path != "" {
			return a, abi.Field("schema", abi.CodeInvalid, "%s has letters that a model reads as the end of its words", path)
		}
	}
	return a, nil
}

// Bare says whether the action has no parameters.
func (a *Action) Bare() bool { return len(a.Schema) == 0 }

// Poor gives the words of the schema that others are said not to understand, sorted.
func (a *Action) Poor() []string {
	return slices.DeleteFunc(a.schema.Words(), func(word string) bool { return !slices.Contains(poor, word) })
}

// marked gives where in a schema something stands that is no letter of a text: in a name or a
// value, but not in what only describes.
func marked(n *tree.Node, path string, free bool) string {
	bad := func(s string) bool { return quote.JSON(s) != encoded(s) }
	if n.Kind == tree.Text && !free && bad(n.Text) {
		return path
	}
	for i, x := range n.Items {
		if at := marked(x, tree.Item(path, i), false); at != "" {
			return at
		}
	}
	for _, f := range n.Fields {
		at := tree.Member(path, f.Name)
		if bad(f.Name) {
			return at
		}
		if at = marked(f.Value, at, f.Name == "description" || f.Name == "title" || f.Name == "$comment"); at != "" {
			return at
		}
	}
	return ""
}

// encoded writes a text as JSON without escapes that it need not have.
func encoded(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
