package schema

import (
	"slices"

	"github.com/companiond/companiond/host/card/tree"
)

// What may be spent on judging a value: visits of a schema to a value, and the bytes
// that they look at. A schema whose parts refer to each other can double the visits
// at every level of a value, and whoever made it must not stop the daemon with that,
// nor fill its memory: each visit may find something to tell.
const (
	maxVisits  = 150_000
	spendFixed = 4 << 20
	spendByte  = 8
	// numberCost is what a number costs to compare, uniqueCost how many times its
	// bytes a list whose items must differ, and pairCost two of its items, where those
	// are lists or objects.
	numberCost = 64
	uniqueCost = 16
	pairCost   = 8
)

// affordable reports whether a value can be judged in a time that is in
// proportion to its size. It counts every schema that might see a part of the
// value, as if each did.
func (v *Schema) affordable(n *tree.Node) bool {
	m := meter{draft: v.draft, limit: spendFixed + spendByte*int64(n.Size), known: map[visit]toll{}}
	return !m.over(m.toll(v.root, n))
}

type visit struct {
	s *rule
	n *tree.Node
}

// toll is what a visit costs, with all that it leads to.
type toll struct{ visits, bytes int64 }

type meter struct {
	draft draft
	limit int64 // of bytes
	spent toll  // on finding out
	known map[visit]toll
}

// over reports whether there is no use in counting on.
func (m *meter) over(t toll) bool { return t.visits > maxVisits || t.bytes > m.limit }

// toll gives what it costs to judge a value, or more than the limit. It ends early
// above the limit; schemas do not run in circles, see [compiler.loops].
func (m *meter) toll(s *rule, n *tree.Node) toll {
	at := visit{s, n}
	if t, ok := m.known[at]; ok {
		return t
	}
	t := toll{visits: 1, bytes: int64(n.Size) + s.weight}
	m.spent.visits++
	over := func() bool { return m.over(t) || m.over(m.spent) }
	add := func(to *rule, n *tree.Node) {
		if over() {
			t.visits = maxVisits + 1
		} else if to != nil {
			more := m.toll(to, n)
			t = toll{t.visits + more.visits, t.bytes + more.bytes}
		}
	}
	s.same(m.draft, func(to *rule) { add(to, n) })
	switch n.Kind {
	case tree.Number:
		t.bytes += numberCost
	case tree.Text:
		if s.pattern != nil {
			t.bytes += s.pattern.cost(n.Size)
		}
	case tree.Array:
		t.bytes += s.differ(n)
		first, items := s.parts["prefixItems"], s.node.Get("items")
		tuple := items != nil && items.Kind == tree.Array // of draft-07
		if tuple {
			first = s.parts["items"]
		}
		for i, x := range n.Items {
			if i < len(first) {
				add(first[i].rule, x)
			}
			if !tuple {
				add(s.part("items"), x)
			}
			add(s.part("additionalItems"), x)
			add(s.part("contains"), x)
			add(s.part("unevaluatedItems"), x)
		}
	case tree.Object:
		for _, f := range n.Fields {
			add(s.properties[f.Name], f.Value)
			for _, p := range s.parts["patternProperties"] {
				cost := p.pattern.cost(len(f.Name))
				t.bytes, m.spent.bytes = t.bytes+cost, m.spent.bytes+cost
				if !over() && p.pattern.MatchString(f.Name) {
					add(p.rule, f.Value)
				}
			}
			add(s.part("additionalProperties"), f.Value)
			add(s.part("unevaluatedProperties"), f.Value)
			add(s.part("propertyNames"), &tree.Node{Kind: tree.Text, Text: f.Name, Size: len(f.Name) + 2})
		}
	}
	m.known[at] = t
	return t
}

// differ gives what it costs to find out whether the items of a list differ, where
// they must.
func (s *rule) differ(n *tree.Node) (bytes int64) {
	if unique := s.node.Get("uniqueItems"); unique == nil || !unique.Truth {
		return 0
	}
	if slices.ContainsFunc(n.Items, func(x *tree.Node) bool { return x.Kind == tree.Array || x.Kind == tree.Object }) {
		bytes = pairCost * int64(len(n.Items)) * int64(len(n.Items))
	}
	return bytes + uniqueCost*int64(n.Size)
}
