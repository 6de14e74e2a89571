package schema

import (
	"slices"

	"github.com/companiond/companiond/abi"
)

// Schema judges values. It does not change, so that many may use it at once.
type Schema struct {
	root  *rule
	draft draft
	named *named
	takes func(value any) error // the validator's own judgement
}

// Check says why a value is not what the schema asks for, nothing when it is. path
// is how the value is called. The code is abi.CodeInvalid, or abi.CodeTooLarge for
// what would take too long to judge.
func (v *Schema) Check(n *Node, path string) (why Faults, code abi.Code) {
	if !v.affordable(n) {
		why.Add(n.At, path, "would take too long to check: make it shorter, or its schema simpler")
		return why, abi.CodeTooLarge
	}
	if v.takes(n.Value()) == nil {
		return nil, ""
	}
	e := explainer{draft: v.draft, most: maxTold}
	e.explain(v.root, n, path)
	if len(e.Faults) == 0 { // unevaluatedProperties, mostly
		e.Faults = v.named.strangers(n, path)
	}
	if len(e.Faults) == 0 {
		e.Add(n.At, path, "is not what the schema asks for as a whole")
	}
	return e.Faults, abi.CodeInvalid
}

// OnlyRef reports whether at the top there is a $ref that hides all that stands
// beside it, as in draft-07.
func (v *Schema) OnlyRef() bool { return v.draft == draft7 && v.root.ref != nil }

// What may be spent on judging a value: a visit of a schema to a value costs
// visitCost and the value's bytes. A schema whose parts refer to each other can
// double the visits at every level of a value, and whoever made it must not stop
// the daemon with that.
const (
	visitCost  = 32
	spendFixed = 4 << 20
	spendByte  = 8
	// maxVisits is how many visits may lead one to the next: what the validator says
	// of a refusal grows with each.
	maxVisits = 500
)

// affordable reports whether a value can be judged in a time that is in
// proportion to its size. It counts every schema that might see a part of the
// value, as if each did.
func (v *Schema) affordable(n *Node) bool {
	m := meter{draft: v.draft, limit: spendFixed + spendByte*int64(n.Size), known: map[visit]toll{}}
	whole := m.toll(v.root, n)
	return whole.cost <= m.limit && whole.visits <= maxVisits
}

type visit struct {
	s *rule
	n *Node
}

// toll is what a visit leads to: what that costs, and how many visits one after the
// other.
type toll struct {
	cost   int64
	visits int
}

type meter struct {
	draft draft
	limit int64
	spent int64 // on finding out
	known map[visit]toll
}

// toll gives what it costs to judge a value, or more than the limit. It ends early
// above the limit; schemas do not run in circles, see [compiler.loops].
func (m *meter) toll(s *rule, n *Node) toll {
	at := visit{s, n}
	if c, ok := m.known[at]; ok {
		return c
	}
	m.spent += visitCost
	bill := bill{meter: m, toll: toll{cost: visitCost + int64(n.Size) + s.weight}}
	if s.pattern != nil && n.Kind == Text {
		bill.toll.cost += s.pattern.cost(n.Size)
	}
	s.same(m.draft, func(to *rule) { bill.add(to, n) })
	switch n.Kind {
	case Array:
		bill.items(s, n.Items)
	case Object:
		for _, f := range n.Fields {
			bill.member(s, f)
		}
	}
	bill.toll.visits++
	m.known[at] = bill.toll
	return bill.toll
}

// bill adds up what one visit leads to.
type bill struct {
	*meter
	toll toll
}

// over reports whether there is no use in counting on.
func (b *bill) over() bool { return b.toll.cost > b.limit || b.spent > b.limit }

func (b *bill) add(to *rule, n *Node) {
	if b.over() {
		b.toll.cost = b.limit + 1
	} else if to != nil {
		more := b.meter.toll(to, n)
		b.toll.cost += more.cost
		b.toll.visits = max(b.toll.visits, more.visits)
	}
}

func (b *bill) items(s *rule, list []*Node) {
	for i, x := range list {
		for _, keyword := range []string{"items", "additionalItems", "contains", "unevaluatedItems"} {
			if keyword != "items" || !s.tuple {
				b.add(s.part(keyword), x)
			}
		}
		if tuple := s.inOrder(); i < len(tuple) {
			b.add(tuple[i].rule, x)
		}
	}
}

// member counts what may see a member of an object.
func (b *bill) member(s *rule, f Field) {
	b.add(s.properties[f.Name], f.Value)
	for _, p := range s.parts["patternProperties"] {
		b.spent += p.pattern.cost(len(f.Name))
		b.toll.cost += p.pattern.cost(len(f.Name))
		if !b.over() && p.pattern.MatchString(f.Name) {
			b.add(p.rule, f.Value)
		}
	}
	b.add(s.part("additionalProperties"), f.Value)
	b.add(s.part("unevaluatedProperties"), f.Value)
	b.add(s.part("propertyNames"), f.key())
}

// key gives the name of a member as a value.
func (f Field) key() *Node { return &Node{Kind: Text, At: f.At, Text: f.Name, Size: len(f.Name) + 2} }

// cost gives what it costs to match some bytes.
func (p *pattern) cost(bytes int) int64 { return visitCost + int64(bytes)*p.instructions/4 }

// inOrder gives the schemas of the first items of a list.
func (s *rule) inOrder() []part {
	if s.tuple {
		return s.parts["items"]
	}
	return s.parts["prefixItems"]
}

// named finds whether a schema names a property: in properties, in a pattern, or
// in a list of what is required; and whether it says what becomes of the others.
// Schemas that judge the same object count.
type named struct {
	names     []string
	known     map[string]bool
	described map[string]bool // those of properties, which have a schema
	patterns  []*pattern
	open      bool
	others    bool // are taken, as far as can be told
}

// naming collects what a schema names.
func naming(root *rule, d draft) *named {
	all, seen := &named{known: map[string]bool{}, described: map[string]bool{}}, map[*rule]bool{}
	name := func(s string) {
		if !all.known[s] {
			all.known[s] = true
			all.names = append(all.names, s)
		}
	}
	var visit func(s *rule)
	visit = func(s *rule) {
		if seen[s] {
			return
		}
		seen[s] = true
		for _, p := range s.parts["properties"] {
			name(p.name)
			all.described[p.name] = true
		}
		for _, p := range s.parts["patternProperties"] {
			all.patterns = append(all.patterns, p.pattern)
		}
		if required := s.node.Get("required"); required != nil {
			for _, r := range required.Items {
				name(r.Text)
			}
		}
		if s.part("additionalProperties") != nil || s.part("unevaluatedProperties") != nil {
			all.open = true
		}
		for _, keyword := range []string{"additionalProperties", "unevaluatedProperties", "propertyNames"} {
			if rest := s.part(keyword); rest != nil && !rest.takesNothing() {
				all.others = true
			}
		}
		s.same(d, visit)
	}
	visit(root)
	return all
}

// Describes reports whether the schema says what a property has to be, by its name
// or by a pattern, in itself or in a schema that judges the same object.
func (v *Schema) Describes(name string) bool {
	return v.named.described[name] || v.named.matches(name)
}

// TakesOthers reports whether the schema says what properties have to be that it
// does not describe, and does not just forbid them.
func (v *Schema) TakesOthers() bool { return v.named.others }

// Strangers tells which members of an object the schema names nowhere, where it
// does not say what becomes of those. JSON Schema lets them be there.
func (v *Schema) Strangers(n *Node, path string) (why Faults) {
	if v.named.open {
		return nil
	}
	return v.named.strangers(n, path)
}

func (a *named) strangers(n *Node, path string) (why Faults) {
	for _, f := range n.Fields {
		if len(why) == maxTold {
			break
		}
		if a.has(f.Name) {
			continue
		}
		why.Add(f.At, Member(path, f.Name), "is not known; %s%s", Have(a.names), Hint(Near(f.Name, a.names)))
	}
	return why
}

func (a *named) has(name string) bool { return a.known[name] || a.matches(name) }

func (a *named) matches(name string) bool {
	return slices.ContainsFunc(a.patterns, func(p *pattern) bool { return p.MatchString(name) })
}
