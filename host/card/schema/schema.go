package schema

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// rule is a JSON Schema, or a part of one, as the text has it. The validator judges
// by a schema of its own, made of the same bytes; this one says where in the text a
// mistake is, what a judgement costs, and why a value was refused.
type rule struct {
	node       *Node
	path       string // in the text: actions[0].properties.x
	pointer    string // in the schema: /properties/x
	types      []string
	pattern    *pattern
	needs      []need // names that are required beside another
	tuple      bool   // items is a list
	ref        *rule
	parts      map[string][]part // by keyword, as they stood
	properties map[string]*rule
	weight     int64 // bytes that a value is compared with, and of how the validator calls it
}

// part is a schema in a schema.
type part struct {
	name    string   // of a property, or a pattern
	pattern *pattern // of patternProperties
	*rule
}

type need struct {
	of    string
	names []string
}

// takesNothing reports whether this is the schema false.
func (s *rule) takesNothing() bool { return s.node.Kind == Boolean && !s.node.Truth }

// part gives the schema of a keyword that has one; nil when it is not there.
func (s *rule) part(keyword string) *rule {
	if ps := s.parts[keyword]; len(ps) > 0 {
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
	for _, word := range s.node.Fields { // as they stood: what is told has one order
		if slices.Contains(forSame, word.Name) {
			for _, p := range s.parts[word.Name] {
				f(p.rule)
			}
		}
	}
}

// Bounds of all schemas of a file together. A maker must not fill the memory of the
// daemon: a schema of three bytes takes four thousand there, a pattern of ten bytes
// a hundred thousand.
const (
	maxRules        = 4000
	maxInstructions = 20_000 // of patterns
)

// Compiler makes the schemas of one file, and bounds them together. The zero value
// is for a new file.
type Compiler struct {
	rules        int
	instructions int
}

// compiler makes a schema of a node.
type compiler struct {
	*Faults
	file     *Compiler
	keywords map[string]keyword
	words    []string // the keywords, sorted
	draft    draft
	root     *rule
	all      []*rule
	at       map[string]*rule // by pointer
	anchors  map[string]*rule
	extra    []string // keys at the top that are the card's, not JSON Schema's
}

// Compile makes a Schema of a node of data. path is how the faults call it. It gives
// nil when there is anything wrong with it, which is in the faults then. extra names
// keys at its top that are not JSON Schema's.
func (file *Compiler) Compile(data []byte, n *Node, path string, f *Faults, extra ...string) *Schema {
	var own Faults
	c := &compiler{Faults: &own, file: file, keywords: keywords(), draft: draft2020, at: map[string]*rule{}, anchors: map[string]*rule{}, extra: extra}
	c.words = slices.Sorted(maps.Keys(c.keywords))
	if version := n.Get("$schema"); version != nil && version.Kind == Text {
		switch strings.TrimSuffix(version.Text, "#") {
		case "https://json-schema.org/draft/2020-12/schema":
		case "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema":
			c.draft = draft7
		default:
			c.Add(version.At, Member(path, "$schema"), "%s is not supported; draft 2020-12 and draft-07 are", Show(version.Text))
		}
	}
	if c.schema(n, path, ""); file.rules > maxRules || file.instructions > maxInstructions {
		f.join(own...)
		return nil
	}
	c.refs()
	c.loops()
	v := &Schema{root: c.root, draft: c.draft}
	if len(own) == 0 {
		v.named, v.takes = naming(c.root, c.draft), c.validate(data)
	}
	f.join(own...)
	if len(own) > 0 {
		return nil
	}
	return v
}

// validate hands the schema to the validator.
func (c *compiler) validate(data []byte) func(any) error {
	var theirs jsonschema.Schema
	raw := data[c.root.node.At : c.root.node.At+c.root.node.Size]
	if err := json.Unmarshal(raw, &theirs); err != nil {
		c.Add(c.root.node.At, c.root.path, "is not supported: %v", err)
		return nil
	}
	// References stay inside the schema, so it needs no name. The version, when
	// there is none, and its spelling are told to the validator as it knows them.
	theirs.ID, theirs.Schema = "", "https://json-schema.org/draft/2020-12/schema"
	if c.draft == draft7 {
		theirs.Schema = "http://json-schema.org/draft-07/schema#"
	}
	resolved, err := theirs.Resolve(nil)
	if err != nil {
		c.Add(c.root.node.At, c.root.path, "is not supported: %v", err)
		return nil
	}
	return resolved.Validate
}

// sub makes a schema that is part of another.
func (c *compiler) sub(s *rule, keyword, name string, n *Node, path, pointer string) {
	to := c.schema(n, path, pointer)
	s.parts[keyword] = append(s.parts[keyword], part{name: name, rule: to})
	if keyword == "properties" {
		s.properties[name] = to
	}
}

func (c *compiler) schema(n *Node, path, pointer string) *rule {
	if c.file.rules++; c.file.rules > maxRules {
		if c.file.rules == maxRules+1 {
			c.Add(n.At, path, "is one schema too many: %d are supported in a file, those inside others counted", maxRules)
		}
		return &rule{node: &Node{Kind: Boolean, At: n.At}, path: path}
	}
	s := &rule{node: n, path: path, pointer: pointer, weight: int64(len(pointer)), parts: map[string][]part{}, properties: map[string]*rule{}}
	if c.root == nil {
		c.root = s
	}
	c.all, c.at[pointer] = append(c.all, s), s
	if n.Kind != Object && n.Kind != Boolean {
		c.Add(n.At, path, "is %s, must be a schema", n.Kind.Called())
	}
	for _, f := range n.Fields {
		if s == c.root && slices.Contains(c.extra, f.Name) {
			continue
		}
		k, known := c.keywords[f.Name]
		switch {
		case !known && s == c.root:
			c.unknown(f, Member(path, f.Name), append(slices.Clone(c.extra), c.words...))
		case !known:
			c.unknown(f, Member(path, f.Name), c.words)
		case k.drafts&c.draft == 0:
			c.Add(f.At, Member(path, f.Name), "is a word of %s, and this schema is %s", k.drafts, c.draft)
		default:
			k.value(c, s, f.Name, f.Value)
			if slices.Contains(compared, f.Name) {
				s.weight += int64(f.Value.Size)
			}
		}
	}
	if n.Get("$defs") != nil && n.Get("definitions") != nil {
		c.Add(n.Get("definitions").At, Member(path, "definitions"), "is not supported beside $defs")
	}
	return s
}

// unknown tells of a word that is not of JSON Schema, where somebody may rely on
// it. JSON Schema ignores such words, and so are the others.
func (c *compiler) unknown(f Field, path string, known []string) {
	if why := unsupported[f.Name]; why != "" {
		c.Add(f.At, path, "is not supported: %s", why)
		return
	}
	if meant := Near(f.Name, known); meant != "" {
		c.Add(f.At, path, "is not known here%s", Hint(meant))
	}
}

var inPointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointer adds to a JSON pointer.
func pointer(p string, names ...string) string {
	for _, name := range names {
		p += "/" + inPointer.Replace(name)
	}
	return p
}

// refs finds what each $ref refers to, in the same schema only.
func (c *compiler) refs() {
	for _, s := range c.all {
		n := s.node.Get("$ref")
		if n == nil || n.Kind != Text {
			continue
		}
		fragment, here := strings.CutPrefix(n.Text, "#")
		if !here {
			c.Add(n.At, Member(s.path, "$ref"), "%s is not supported: a reference stays inside its schema and begins with #", Show(n.Text))
			continue
		}
		name, err := url.PathUnescape(fragment)
		if s.ref = c.at[name]; s.ref == nil && name != "" {
			s.ref = c.anchors[name]
		}
		if err != nil || s.ref == nil {
			s.ref = nil
			c.Add(n.At, Member(s.path, "$ref"), "%s is no schema here", Show(n.Text))
		}
	}
}

// compared are the keywords whose value a value is compared with.
var compared = []string{"enum", "const", "required", "dependentRequired", "dependencies"}

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
