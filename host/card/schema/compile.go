package schema

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/companiond/companiond/host/card/tree"
	"github.com/companiond/companiond/host/spell"
)

// rule is a JSON Schema, or a part of one, as the text has it. The validator judges
// by a schema of its own, made of the same values; this one says where in the text a
// mistake is, and what a judgement costs.
type rule struct {
	node       *tree.Node
	path       string            // in the text: actions[0].properties.x
	pointer    string            // in the schema: /properties/x
	pattern    *pattern          // of a string
	ref        *rule             // what $ref refers to
	parts      map[string][]part // by word, as they stood
	properties map[string]*rule  // by name
	weight     int64             // bytes that a value is compared with
}

// part is a schema in a schema.
type part struct {
	name    string   // of a property, or a pattern
	pattern *pattern // of patternProperties
	*rule
}

// part gives the schema of a word that has one; nil when it is not there.
func (s *rule) part(word string) *rule {
	if ps := s.parts[word]; len(ps) > 0 {
		return ps[0].rule
	}
	return nil
}

// same calls f with the schemas that judge the same value.
func (s *rule) same(d draft, f func(*rule)) {
	if s.ref != nil {
		f(s.ref)
		if d == draft7 { // there a $ref stands alone
			return
		}
	}
	for _, word := range forSame {
		for _, p := range s.parts[word] {
			f(p.rule)
		}
	}
}

// Bounds of all schemas of a file together. A maker must not fill the memory of the
// daemon, nor keep it busy: a schema of three bytes takes four thousand there, a
// pattern of ten bytes a hundred thousand, and lists in a list may all be compared
// with each other.
const (
	maxRules        = 4000
	maxInstructions = 20_000 // of patterns
	maxValues       = 20_000 // that a value is compared with
	valuesInPart    = 20     // that a list or an object in a list counts as, beside what is in it
)

// Compiler makes the schemas of one file, and bounds them together. The zero value
// is for a new file.
type Compiler struct {
	rules        int
	values       int
	instructions int
	patterns     map[string]*pattern
}

// compiler makes a schema of a node.
type compiler struct {
	*tree.Faults
	file    *Compiler
	draft   draft
	words   []string // in order
	extra   []string // keys at the top that are the card's, not JSON Schema's
	all     []*rule
	at      map[string]*rule // by pointer
	anchors map[string]*rule
}

// Compile makes a Schema of a node. path is how the faults call it. It gives nil when
// there is anything wrong with it, which is in the faults then. extra names keys at
// its top that are not JSON Schema's.
func (file *Compiler) Compile(n *tree.Node, path string, f *tree.Faults, extra ...string) *Schema {
	var own tree.Faults
	c := &compiler{Faults: &own, file: file, draft: draft2020, words: slices.Sorted(maps.Keys(words)), extra: extra, at: map[string]*rule{}, anchors: map[string]*rule{}}
	if version := n.Get("$schema"); version != nil && version.Kind == tree.Text {
		if d := drafts[strings.TrimSuffix(version.Text, "#")]; d != 0 {
			c.draft = d
		} else {
			c.Add(version.At, tree.Member(path, "$schema"), "%s is not supported; draft 2020-12 and draft-07 are", tree.Show(version.Text))
		}
	}
	root := c.schema(n, path, "")
	v := &Schema{draft: c.draft}
	if file.rules <= maxRules && file.instructions <= maxInstructions && file.values <= maxValues {
		c.refs()
		c.loops()
		if v.root = root; len(own) < tree.MaxFaults { // there is room for more
			v.theirs = c.validator(root)
		}
	}
	f.Join(own...)
	if len(own) > 0 || v.root == nil {
		return nil
	}
	v.named = namesOf(v.root, v.draft)
	return v
}

// nowhere is where the validator takes a schema to be, which tells nobody anything.
const nowhere = "card:///"

// validator makes a validator, which tells what else is wrong.
func (c *compiler) validator(root *rule) *jsonschema.Schema {
	v := jsonschema.NewCompiler()
	v.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is ever fetched
	v.UseRegexpEngine(func(source string) (jsonschema.Regexp, error) { return c.file.patterns[source], nil })
	if v.DefaultDraft(jsonschema.Draft2020); c.draft == draft7 {
		v.DefaultDraft(jsonschema.Draft7)
	}
	whole := root.node.Value()
	if object, ok := whole.(map[string]any); ok { // it knows the draft, and need not know a name
		delete(object, "$schema")
		delete(object, "$id")
	}
	_ = v.AddResource(nowhere, whole) // nothing else is there
	for _, r := range c.all {
		s, err := v.Compile(nowhere + "#" + url.PathEscape(r.pointer))
		if err != nil {
			c.refused(root, err)
			return nil
		}
		s.Format = nil // which draft-07 would judge
		if s.PropertyNames != nil {
			s.Extensions, s.PropertyNames = append(s.Extensions, names{s.PropertyNames}), nil
		}
	}
	return v.MustCompile(nowhere)
}

// refused says why the validator does not take a schema, less what was told before.
func (c *compiler) refused(root *rule, err error) {
	var invalid *jsonschema.SchemaValidationError
	var why *jsonschema.ValidationError
	told := slices.Clone(*c.Faults)
	if !errors.As(err, &invalid) || !errors.As(invalid.Err, &why) {
		if told == nil {
			c.Add(root.node.At, root.path, "is not supported: %v", err)
		}
		return
	}
	for _, f := range (explainer{root: root.node, path: root.path, most: tree.MaxFaults + 1, nearest: true}).explain(why) {
		if !slices.ContainsFunc(told, func(before tree.Fault) bool { return strings.HasPrefix(f.Path, before.Path) }) {
			c.Join(f)
		}
	}
}

// schema reads a schema, and tells of what the validator would not.
func (c *compiler) schema(n *tree.Node, path, pointer string) *rule {
	if c.file.rules++; c.file.rules == maxRules+1 {
		c.Add(n.At, path, "is one schema too many: %d are supported in a file, those inside others counted", maxRules)
	}
	s := &rule{node: n, path: path, pointer: pointer, parts: map[string][]part{}, properties: map[string]*rule{}}
	if c.file.rules > maxRules {
		return s
	}
	c.all, c.at[pointer] = append(c.all, s), s
	if n.Kind != tree.Object && n.Kind != tree.Boolean {
		c.Add(n.At, path, "is %s, must be a schema", n.Kind.Called())
	}
	for _, f := range n.Fields {
		if c.word(s, f) {
			c.value(s, f.Name, f.Value, tree.Member(path, f.Name))
		}
	}
	return s
}

// word reports whether a key is a word of the draft. It tells of those that are not
// where somebody may rely on them; JSON Schema ignores such words, and so are the
// others.
func (c *compiler) word(s *rule, f tree.Field) bool {
	path, top := tree.Member(s.path, f.Name), s.pointer == ""
	switch drafts, why := words[f.Name], unsupported[f.Name]; {
	case top && slices.Contains(c.extra, f.Name):
	case drafts&c.draft != 0:
		return true
	case drafts != 0:
		c.Add(f.At, path, "is a word of %s, and this schema is %s", drafts, c.draft)
	case why != "":
		c.Add(f.At, path, "is not supported: %s", why)
	default:
		known := c.words
		if top {
			known = append(slices.Clone(c.extra), known...)
		}
		if meant := spell.Slip(f.Name, known); meant != "" {
			c.Add(f.At, path, "is not known here%s", tree.Hint(meant))
		}
	}
	return false
}

// value reads the value of a word.
func (c *compiler) value(s *rule, word string, n *tree.Node, path string) {
	at := pointer(s.pointer, word)
	switch {
	case word == "items" && n.Kind == tree.Array && c.draft == draft2020:
		c.Add(n.At, path, "is a list, which %s calls prefixItems", c.draft)
	case slices.Contains(inWhole, word) && n.Kind == tree.Array:
		for i, x := range n.Items {
			s.parts[word] = append(s.parts[word], part{rule: c.schema(x, tree.Item(path, i), pointer(at, fmt.Sprint(i)))})
		}
	case slices.Contains(inWhole, word):
		s.parts[word] = []part{{rule: c.schema(n, path, at)}}
	case slices.Contains(inMembers, word) && n.Kind == tree.Object:
		c.members(s, word, n, path, at)
	case slices.Contains(counts, word) && (n.Kind != tree.Number || n.Number < 0 || n.Number > math.MaxInt32 || n.Number != math.Trunc(n.Number)):
		c.Add(n.At, path, "must be a whole number from 0 to %d", math.MaxInt32)
	case word == "$schema" || word == "$id":
		if n.Kind != tree.Text {
			c.Add(n.At, path, "is %s, must be a string", n.Kind.Called())
		} else if s.pointer != "" {
			c.Add(n.At, path, "is not supported inside a schema, only at its top")
		}
	case word == "$anchor" && n.Kind == tree.Text:
		if c.anchors[n.Text] != nil {
			c.Add(n.At, path, "%s is there twice", tree.Show(n.Text))
		}
		c.anchors[n.Text] = s
	case word == "pattern" && n.Kind == tree.Text:
		s.pattern = c.file.pattern(c.Faults, n.Text, n.At, path)
	}
	if before := c.file.values; slices.Contains(compared, word) {
		if s.weight += c.weigh(n); before <= maxValues && c.file.values > maxValues {
			c.Add(n.At, path, "has too much to compare with: %d values are supported in a file, and a list or an object in a list is %d of them", maxValues, valuesInPart)
		}
	}
}

// members reads schemas that are the members of an object.
func (c *compiler) members(s *rule, word string, n *tree.Node, path, at string) {
	for _, f := range n.Fields {
		p, path := part{name: f.Name}, tree.Member(path, f.Name)
		if word == "dependencies" && f.Value.Kind == tree.Array { // of names
			continue
		}
		if p.rule = c.schema(f.Value, path, pointer(at, f.Name)); word == "properties" {
			s.properties[f.Name] = p.rule
		}
		if word == "patternProperties" {
			p.pattern = c.file.pattern(c.Faults, f.Name, f.At, path)
		}
		s.parts[word] = append(s.parts[word], p)
	}
}

// weigh counts the values that a value is compared with, and gives what that costs.
func (c *compiler) weigh(n *tree.Node) (weight int64) {
	if c.file.values++; n.Kind == tree.Number {
		return numberCost
	}
	for _, x := range n.Items {
		if weight += c.weigh(x); x.Kind == tree.Array || x.Kind == tree.Object {
			c.file.values += valuesInPart
		}
	}
	for _, f := range n.Fields {
		weight += int64(len(f.Name)) + c.weigh(f.Value)
	}
	return weight + int64(len(n.Text))
}

var inPointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointer adds to a JSON pointer.
func pointer(p, name string) string { return p + "/" + inPointer.Replace(name) }

// refs finds what each $ref refers to, in the same schema only.
func (c *compiler) refs() {
	for _, s := range c.all {
		n := s.node.Get("$ref")
		if n == nil || n.Kind != tree.Text {
			continue
		}
		fragment, here := strings.CutPrefix(n.Text, "#")
		name, err := url.PathUnescape(fragment)
		switch to, anchor := c.at[name], c.anchors[name]; {
		case !here:
			c.Add(n.At, tree.Member(s.path, "$ref"), "%s is not supported: a reference stays inside its schema and begins with #", tree.Show(n.Text))
		case err != nil || to == nil && anchor == nil:
			c.Add(n.At, tree.Member(s.path, "$ref"), "%s is no schema here", tree.Show(n.Text))
		default:
			s.ref = cmp.Or(to, anchor)
		}
	}
}

// maxSame is how many schemas may judge a value one on behalf of the other.
const maxSame = 32

// loops refuses schemas that judge a value by themselves, for ever, or by way of
// too many others.
func (c *compiler) loops() {
	const open = -1
	depth := map[*rule]int{}
	var visit func(s *rule) int
	visit = func(s *rule) int {
		if d := depth[s]; d == open {
			c.Add(s.node.At, s.path, "refers to itself without an end")
			return 0
		} else if d > 0 {
			return d
		}
		depth[s] = open
		deepest := 0
		s.same(c.draft, func(to *rule) { deepest = max(deepest, visit(to)) })
		depth[s] = deepest + 1
		if deepest == maxSame {
			c.Add(s.node.At, s.path, "is not supported: more than %d schemas one in the other for the same value", maxSame)
		}
		return depth[s]
	}
	for _, s := range c.all {
		visit(s)
	}
}
