package schema

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// draft is a version of JSON Schema.
type draft int

const (
	draft2020 draft = 1 << iota // 2020-12, which is meant where there is no $schema
	draft7
	anyDraft = draft2020 | draft7
)

func (d draft) String() string {
	if d == draft7 {
		return "draft-07"
	}
	return "draft 2020-12"
}

// keyword is a word of JSON Schema: in which drafts it is one, and what its value
// is to be.
type keyword struct {
	drafts draft
	value  shape
}

// shape reads the value of a keyword into a schema.
type shape func(c *compiler, s *rule, name string, n *Node)

// keywords gives those that a schema in a card may use, and how.
func keywords() map[string]keyword {
	return map[string]keyword{
		"$schema": {anyDraft, atTop}, "$id": {anyDraft, atTop}, "$ref": {anyDraft, aString},
		"$anchor": {draft2020, anAnchor}, "$comment": {anyDraft, aString},
		"$defs": {draft2020, schemaMap}, "definitions": {anyDraft, schemaMap},

		"title": {anyDraft, aString}, "description": {anyDraft, aString}, "default": {anyDraft, anything},
		"examples": {anyDraft, aList}, "deprecated": {anyDraft, aBool},
		"readOnly": {anyDraft, aBool}, "writeOnly": {anyDraft, aBool}, "format": {anyDraft, aString},
		"contentEncoding": {anyDraft, aString}, "contentMediaType": {anyDraft, aString}, "contentSchema": {draft2020, aSchema},

		"type": {anyDraft, types}, "enum": {anyDraft, aList}, "const": {anyDraft, anything},
		"minimum": {anyDraft, aNumber}, "maximum": {anyDraft, aNumber},
		"exclusiveMinimum": {anyDraft, aNumber}, "exclusiveMaximum": {anyDraft, aNumber}, "multipleOf": {anyDraft, aMultiple},
		"minLength": {anyDraft, aCount}, "maxLength": {anyDraft, aCount}, "pattern": {anyDraft, aPattern},

		"items": {anyDraft, items}, "prefixItems": {draft2020, schemaList}, "additionalItems": {draft7, aSchema},
		"contains": {anyDraft, aSchema}, "minContains": {draft2020, aCount}, "maxContains": {draft2020, aCount},
		"minItems": {anyDraft, aCount}, "maxItems": {anyDraft, aCount}, "uniqueItems": {anyDraft, aBool},
		"unevaluatedItems": {draft2020, aSchema},

		"properties": {anyDraft, schemaMap}, "patternProperties": {anyDraft, patternMap},
		"additionalProperties": {anyDraft, aSchema}, "propertyNames": {anyDraft, aSchema},
		"required": {anyDraft, names}, "minProperties": {anyDraft, aCount}, "maxProperties": {anyDraft, aCount},
		"dependentRequired": {draft2020, nameMap}, "dependentSchemas": {draft2020, schemaMap},
		"dependencies": {draft7, dependencies}, "unevaluatedProperties": {draft2020, aSchema},

		"allOf": {anyDraft, schemaList}, "anyOf": {anyDraft, schemaList}, "oneOf": {anyDraft, schemaList},
		"not": {anyDraft, aSchema}, "if": {anyDraft, aSchema}, "then": {anyDraft, aSchema}, "else": {anyDraft, aSchema},
	}
}

// forSame are the keywords whose schemas judge the same value as the schema they
// are in, as allOf does, and not a part of it, as items does.
var forSame = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// unsupported are words that would change what a schema takes and that are
// refused, each with the reason.
var unsupported = map[string]string{
	"$dynamicRef":      "use $ref",
	"$dynamicAnchor":   "use $anchor",
	"$vocabulary":      "only a meta-schema has it",
	"$recursiveRef":    "it is of draft 2019-09; use $ref",
	"$recursiveAnchor": "it is of draft 2019-09; use $anchor",
	"id":               "it is of draft-04; use $id",
	"divisibleBy":      "it is of draft-03; use multipleOf",
	"disallow":         "it is of draft-03; use not",
	"extends":          "it is of draft-03; use allOf",
	"nullable":         "it is OpenAPI's; write \"type\": [..., \"null\"]",
	"discriminator":    "it is OpenAPI's; use oneOf",
}

// typeNames are the values of type.
var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// want tells that a keyword's value is not what it has to be.
func (c *compiler) want(s *rule, name string, n *Node, what string) {
	c.Add(n.At, Member(s.path, name), "is %s, must be %s", n.Kind.Called(), what)
}

func (c *compiler) is(s *rule, name string, n *Node, k Kind) bool {
	if n.Kind != k {
		c.want(s, name, n, k.Called())
	}
	return n.Kind == k
}

func anything(*compiler, *rule, string, *Node) {}

func aString(c *compiler, s *rule, name string, n *Node) { c.is(s, name, n, Text) }
func aBool(c *compiler, s *rule, name string, n *Node)   { c.is(s, name, n, Boolean) }
func aNumber(c *compiler, s *rule, name string, n *Node) { c.is(s, name, n, Number) }
func aList(c *compiler, s *rule, name string, n *Node)   { c.is(s, name, n, Array) }

// atTop takes a word that stands at the top of a schema only.
func atTop(c *compiler, s *rule, name string, n *Node) {
	if c.is(s, name, n, Text) && s != c.root {
		c.Add(n.At, Member(s.path, name), "is not supported inside a schema, only at its top")
	}
}

func anAnchor(c *compiler, s *rule, name string, n *Node) {
	if !c.is(s, name, n, Text) {
		return
	}
	if !anchorForm.MatchString(n.Text) {
		c.Add(n.At, Member(s.path, name), "%s is no anchor: letters, digits, _ - and . only", Show(n.Text))
	} else if c.anchors[n.Text] != nil {
		c.Add(n.At, Member(s.path, name), "%s is there twice", Show(n.Text))
	}
	c.anchors[n.Text] = s
}

var anchorForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// aMultiple takes whole numbers only: whether 0.3 is a multiple of 0.1 cannot be
// told from the two floats.
func aMultiple(c *compiler, s *rule, name string, n *Node) {
	switch {
	case !c.is(s, name, n, Number):
	case n.Number <= 0:
		c.Add(n.At, Member(s.path, name), "must be more than 0")
	case n.Number != math.Trunc(n.Number):
		c.Add(n.At, Member(s.path, name), "%v is not supported: only multiples of whole numbers can be told without rounding", n.Number)
	}
}

func aCount(c *compiler, s *rule, name string, n *Node) {
	if n.Kind != Number || n.Number < 0 || n.Number > math.MaxInt32 || n.Number != math.Trunc(n.Number) {
		c.Add(n.At, Member(s.path, name), "must be a whole number from 0 to %d", math.MaxInt32)
	}
}

func types(c *compiler, s *rule, name string, n *Node) {
	list := n.Items
	if n.Kind == Text {
		list = []*Node{n}
	} else if n.Kind != Array || len(n.Items) == 0 {
		c.want(s, name, n, "the name of a type or a list of such names")
	}
	for i, t := range list {
		at := Member(s.path, name)
		if n.Kind == Array {
			at = Item(at, i)
		}
		switch {
		case t.Kind != Text:
			c.Add(t.At, at, "is %s, must be the name of a type", t.Kind.Called())
		case !slices.Contains(typeNames, t.Text):
			c.Add(t.At, at, "%s is no type%s; the types are %s", Show(t.Text), Hint(Near(t.Text, typeNames)), Listed(typeNames))
		case slices.Contains(s.types, t.Text):
			c.Add(t.At, at, "%s is there twice", Show(t.Text))
		}
		s.types = append(s.types, t.Text)
	}
}

func names(c *compiler, s *rule, name string, n *Node) {
	if c.is(s, name, n, Array) {
		c.names(n, Member(s.path, name))
	}
}

// names reads a list of names, each once.
func (c *compiler) names(n *Node, path string) (all []string) {
	seen := map[string]bool{}
	for i, x := range n.Items {
		if x.Kind != Text {
			c.Add(x.At, Item(path, i), "is %s, must be a string", x.Kind.Called())
		} else if seen[x.Text] {
			c.Add(x.At, Item(path, i), "%s is there twice", Show(x.Text))
		}
		seen[x.Text] = true
		all = append(all, x.Text)
	}
	return all
}

func nameMap(c *compiler, s *rule, name string, n *Node) {
	if !c.is(s, name, n, Object) {
		return
	}
	for _, f := range n.Fields {
		path := Member(Member(s.path, name), f.Name)
		if f.Value.Kind != Array {
			c.Add(f.Value.At, path, "is %s, must be an array", f.Value.Kind.Called())
			continue
		}
		s.needs = append(s.needs, need{f.Name, c.names(f.Value, path)})
	}
}

func aPattern(c *compiler, s *rule, name string, n *Node) {
	if c.is(s, name, n, Text) {
		s.pattern = c.pattern(n.Text, n.At, Member(s.path, name))
	}
}

// Bounds of a pattern. Its instructions are what it costs to match a letter.
const (
	maxPattern = 1000 // bytes
	maxProgram = 1000 // instructions
)

// pattern compiles a pattern with what the validator compiles it with.
func (c *compiler) pattern(source string, at int, path string) *pattern {
	if c.file.instructions > maxInstructions {
		return nil // that is told
	}
	if len(source) > maxPattern {
		c.Add(at, path, "the pattern has %d bytes, at most %d are supported", len(source), maxPattern)
		return nil
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		c.Add(at, path, "%s is not supported as a pattern: %s", Show(source), strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		c.Add(at, path, "the pattern repeats too much")
		return nil
	}
	if c.file.instructions += len(program.Inst); c.file.instructions > maxInstructions {
		c.Add(at, path, "the patterns of this file are too many, or repeat too much")
		return nil
	}
	re, err := regexp.Compile(source)
	if err != nil {
		c.Add(at, path, "%s is not supported as a pattern: %v", Show(source), err)
		return nil
	}
	return &pattern{re, int64(len(program.Inst))}
}

// pattern is a compiled pattern and how long it is then.
type pattern struct {
	*regexp.Regexp
	instructions int64
}

func aSchema(c *compiler, s *rule, name string, n *Node) {
	c.sub(s, name, "", n, Member(s.path, name), pointer(s.pointer, name))
}

func schemaList(c *compiler, s *rule, name string, n *Node) {
	if !c.is(s, name, n, Array) {
		return
	}
	if len(n.Items) == 0 {
		c.Add(n.At, Member(s.path, name), "must not be empty")
	}
	for i, x := range n.Items {
		c.sub(s, name, "", x, Item(Member(s.path, name), i), pointer(s.pointer, name, fmt.Sprint(i)))
	}
}

func schemaMap(c *compiler, s *rule, name string, n *Node) {
	if !c.is(s, name, n, Object) {
		return
	}
	for _, f := range n.Fields {
		c.sub(s, name, f.Name, f.Value, Member(Member(s.path, name), f.Name), pointer(s.pointer, name, f.Name))
	}
}

func patternMap(c *compiler, s *rule, name string, n *Node) {
	before := len(s.parts[name]) // not 0 where the keyword is there twice
	schemaMap(c, s, name, n)
	for i, f := range n.Fields {
		if n.Kind == Object {
			s.parts[name][before+i].pattern = c.pattern(f.Name, f.At, Member(Member(s.path, name), f.Name))
		}
	}
}

// items is a schema, or in draft-07 also a list of schemas.
func items(c *compiler, s *rule, name string, n *Node) {
	switch {
	case n.Kind != Array:
		aSchema(c, s, name, n)
	case c.draft == draft7:
		if s.tuple = true; len(n.Items) > 0 {
			schemaList(c, s, name, n)
		}
	default:
		c.Add(n.At, Member(s.path, name), "is a list, which %s calls prefixItems", c.draft)
	}
}

// dependencies are schemas or lists of names.
func dependencies(c *compiler, s *rule, name string, n *Node) {
	if !c.is(s, name, n, Object) {
		return
	}
	for _, f := range n.Fields {
		path := Member(Member(s.path, name), f.Name)
		if f.Value.Kind == Array {
			s.needs = append(s.needs, need{f.Name, c.names(f.Value, path)})
		} else {
			c.sub(s, name, f.Name, f.Value, path, pointer(s.pointer, name, f.Name))
		}
	}
}
