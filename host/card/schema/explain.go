package schema

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxTold is how many reasons are found for one refusal.
const maxTold = 5

// explainer finds out why the validator refused a value, and says it of the value
// where the validator speaks of the schema. It is asked only after a refusal: it
// has no say in what is refused. What it cannot explain it leaves out.
type explainer struct {
	Faults
	draft draft
	most  int
}

func (e *explainer) say(n *Node, path, format string, args ...any) {
	if len(e.Faults) < e.most {
		e.Add(n.At, path, format, args...)
	}
}

// fits reports whether there is nothing to say about a value.
func (e *explainer) fits(s *rule, n *Node) bool {
	quiet := explainer{draft: e.draft, most: 1}
	quiet.explain(s, n, "")
	return len(quiet.Faults) == 0
}

func (e *explainer) explain(s *rule, n *Node, path string) {
	if len(e.Faults) >= e.most {
		return
	}
	if s.takesNothing() {
		e.say(n, path, "is not allowed")
		return
	}
	if s.ref != nil {
		e.explain(s.ref, n, path)
		if e.draft == draft7 {
			return
		}
	}
	if !e.typed(s, n, path) {
		return // what else is wrong follows from that
	}
	e.compared(s, n, path)
	switch n.Kind {
	case Number:
		e.ofNumber(s, n, path)
	case Text:
		e.ofText(s, n, path)
	case Array:
		e.ofArray(s, n, path)
	case Object:
		e.ofObject(s, n, path)
	}
	e.logic(s, n, path)
}

func (e *explainer) typed(s *rule, n *Node, path string) bool {
	is := string(n.Kind)
	whole := n.Kind == Number && n.Number == math.Trunc(n.Number)
	if len(s.types) == 0 || slices.Contains(s.types, is) || whole && slices.Contains(s.types, "integer") {
		return true
	}
	called := n.Kind.Called()
	if n.Kind == Number && slices.Contains(s.types, "integer") {
		called = n.Written()
	}
	var wanted []string
	for _, t := range s.types {
		if t == "integer" {
			wanted = append(wanted, "a whole number")
		} else {
			wanted = append(wanted, Kind(t).Called())
		}
	}
	e.say(n, path, "is %s, must be %s", called, strings.Join(wanted, " or "))
	e.Faults[len(e.Faults)-1].Kind = true
	return false
}

func (e *explainer) compared(s *rule, n *Node, path string) {
	equal := func(m *Node) bool { return jsonschema.Equal(m.Value(), n.Value()) }
	if enum := s.node.Get("enum"); enum != nil && !slices.ContainsFunc(enum.Items, equal) {
		var of []string
		for _, m := range enum.Items {
			of = append(of, m.Written())
		}
		e.say(n, path, "is %s, must be one of %s", n.Written(), Listed(of))
	}
	if m := s.node.Get("const"); m != nil && !equal(m) {
		e.say(n, path, "is %s, must be %s", n.Written(), m.Written())
	}
}

// bound gives the number of a keyword.
func (s *rule) bound(keyword string) (float64, bool) {
	if n := s.node.Get(keyword); n != nil && n.Kind == Number {
		return n.Number, true
	}
	return 0, false
}

func (e *explainer) ofNumber(s *rule, n *Node, path string) {
	for _, b := range []struct {
		keyword string
		holds   func(a, b float64) bool
		words   string
	}{
		{"minimum", func(a, b float64) bool { return a >= b }, "at least"},
		{"maximum", func(a, b float64) bool { return a <= b }, "at most"},
		{"exclusiveMinimum", func(a, b float64) bool { return a > b }, "more than"},
		{"exclusiveMaximum", func(a, b float64) bool { return a < b }, "less than"},
		{"multipleOf", func(a, b float64) bool { return a/b == math.Trunc(a/b) }, "a multiple of"},
	} {
		if x, ok := s.bound(b.keyword); ok && !b.holds(n.Number, x) {
			e.say(n, path, "is %s, must be %s %s", n.Written(), b.words, strconv.FormatFloat(x, 'g', -1, 64))
		}
	}
}

// counted tells of too few or too many of something.
func (e *explainer) counted(s *rule, n *Node, path, least, most string, count int, of string) {
	if x, ok := s.bound(least); ok && float64(count) < x {
		e.say(n, path, "has %d %s, must have at least %v", count, of, x)
	}
	if x, ok := s.bound(most); ok && float64(count) > x {
		e.say(n, path, "has %d %s, must have at most %v", count, of, x)
	}
}

func (e *explainer) ofText(s *rule, n *Node, path string) {
	e.counted(s, n, path, "minLength", "maxLength", utf8.RuneCountInString(n.Text), "characters")
	if s.pattern != nil && !s.pattern.MatchString(n.Text) {
		e.say(n, path, "is %s, must match the pattern %s", Show(n.Text), Show(s.pattern.String()))
	}
}

func (e *explainer) ofArray(s *rule, n *Node, path string) {
	tuple := s.inOrder()
	rest := s.part("items")
	if s.tuple {
		rest = s.part("additionalItems")
	}
	for i, x := range n.Items {
		if i < len(tuple) {
			e.explain(tuple[i].rule, x, Item(path, i))
		} else if rest != nil {
			e.explain(rest, x, Item(path, i))
		}
	}
	e.counted(s, n, path, "minItems", "maxItems", len(n.Items), "items")
	if unique := s.node.Get("uniqueItems"); unique != nil && unique.Truth {
		if i, j, twice := twins(n.Items); twice {
			e.say(n, Item(path, j), "is the same as item %d, and items must differ", i)
		}
	}
	if sought := s.part("contains"); sought != nil {
		count := 0
		for _, x := range n.Items {
			if e.fits(sought, x) {
				count++
			}
		}
		if _, given := s.bound("minContains"); !given && count == 0 {
			e.say(n, path, "has none of the items that it must contain")
		}
		e.counted(s, n, path, "minContains", "maxContains", count, "of the items that it must contain")
	}
}

// twins finds two items that are equal, among the first thousand.
func twins(items []*Node) (i, j int, found bool) {
	items = items[:min(len(items), 1000)]
	for j := range items {
		for i := range j {
			if items[i].Kind == items[j].Kind && jsonschema.Equal(items[i].Value(), items[j].Value()) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

func (e *explainer) ofObject(s *rule, n *Node, path string) {
	has := map[string]bool{}
	for _, f := range n.Fields {
		has[f.Name] = true
		e.ofMember(s, f, path)
	}
	if required := s.node.Get("required"); required != nil {
		for _, r := range required.Items {
			if !has[r.Text] {
				e.say(n, Member(path, r.Text), "is missing")
			}
		}
	}
	for _, d := range s.needs {
		for _, name := range d.names {
			if has[d.of] && !has[name] {
				e.say(n, Member(path, name), "is missing, where there is %s", d.of)
			}
		}
	}
	for _, keyword := range []string{"dependentSchemas", "dependencies"} {
		for _, p := range s.parts[keyword] {
			if has[p.name] {
				e.explain(p.rule, n, path)
			}
		}
	}
	e.counted(s, n, path, "minProperties", "maxProperties", len(n.Fields), "members")
}

func (e *explainer) ofMember(s *rule, f Field, path string) {
	at := Member(path, f.Name)
	to := s.properties[f.Name]
	matched := to != nil
	if matched {
		e.explain(to, f.Value, at)
	}
	for _, p := range s.parts["patternProperties"] {
		if p.pattern.MatchString(f.Name) {
			matched = true
			e.explain(p.rule, f.Value, at)
		}
	}
	if rest := s.part("additionalProperties"); rest != nil && !matched {
		e.explain(rest, f.Value, at)
	}
	if rule := s.part("propertyNames"); rule != nil && !e.fits(rule, f.key()) {
		e.say(f.Value, at, "is not allowed by this name")
	}
}

// logic explains the schemas for the same value.
func (e *explainer) logic(s *rule, n *Node, path string) {
	for _, p := range s.parts["allOf"] {
		e.explain(p.rule, n, path)
	}
	if any := s.parts["anyOf"]; len(any) > 0 && e.fitting(any, n) == 0 {
		e.nearest(any, n, path)
	}
	if one := s.parts["oneOf"]; len(one) > 0 {
		switch count := e.fitting(one, n); {
		case count == 0:
			e.nearest(one, n, path)
		case count > 1:
			e.say(n, path, "fits %d of the alternatives, must fit exactly one", count)
		}
	}
	if not := s.part("not"); not != nil && e.fits(not, n) {
		e.say(n, path, "is what the schema excludes")
	}
	if cond := s.part("if"); cond != nil {
		next := s.part("else")
		if e.fits(cond, n) {
			next = s.part("then")
		}
		if next != nil {
			e.explain(next, n, path)
		}
	}
}

func (e *explainer) fitting(list []part, n *Node) (count int) {
	for _, p := range list {
		if e.fits(p.rule, n) {
			count++
		}
	}
	return count
}

// nearest explains what keeps a value from the alternative that it is nearest to:
// the one that objects to something deepest inside it.
func (e *explainer) nearest(list []part, n *Node, path string) {
	if e.most == 1 { // nobody asks why
		e.say(n, path, "fits none of %d alternatives", len(list))
		return
	}
	var best Faults
	for _, p := range list {
		one := explainer{draft: e.draft, most: e.most}
		one.explain(p.rule, n, path)
		if best == nil || len(one.Faults) > 0 && deeper(one.Faults[0].Path, best[0].Path) {
			best = one.Faults
		}
	}
	if best == nil {
		return
	}
	e.say(n, path, "fits none of %d alternatives; the nearest fails because %s %s", len(list), best[0].Path, best[0].Text)
}

// deeper reports whether a path leads further into a value.
func deeper(a, b string) bool {
	depth := func(s string) int { return strings.Count(s, ".") + strings.Count(s, "[") }
	return depth(a) > depth(b)
}
