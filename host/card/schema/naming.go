package schema

import (
	"slices"

	"github.com/companiond/companiond/host/card/tree"
	"github.com/companiond/companiond/host/spell"
)

// naming is what a schema names at its top, in itself or in a schema that judges the
// same object: in properties, in a pattern, or in a list of what is required; and
// whether it says what becomes of others.
type naming struct {
	names    []string        // as they stood
	known    map[string]bool // is true of those of properties, which have a schema
	patterns []*pattern
	open     bool
	others   bool // are taken, as far as can be told
}

// namesOf collects what a schema names.
func namesOf(root *rule, d draft) *naming {
	all, seen := &naming{known: map[string]bool{}}, map[*rule]bool{}
	name := func(s string, described bool) {
		if _, known := all.known[s]; !known {
			all.names = append(all.names, s)
		}
		all.known[s] = all.known[s] || described
	}
	var visit func(s *rule)
	visit = func(s *rule) {
		if seen[s] {
			return
		}
		seen[s] = true
		for _, p := range s.parts["properties"] {
			name(p.name, true)
		}
		for _, p := range s.parts["patternProperties"] {
			all.patterns = append(all.patterns, p.pattern)
		}
		for _, r := range s.node.Get("required").List() {
			name(r.Text, false)
		}
		for _, word := range []string{"additionalProperties", "unevaluatedProperties", "propertyNames"} {
			if rest := s.part(word); rest != nil {
				all.open = all.open || word != "propertyNames"
				all.others = all.others || rest.node.Kind != tree.Boolean || rest.node.Truth
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
	return v.named.known[name] || v.named.matches(name)
}

// DescribesBeside reports whether the schema says so of a property with another name.
func (v *Schema) DescribesBeside(name string) bool {
	for known, described := range v.named.known {
		if described && known != name {
			return true
		}
	}
	return false
}

// TakesOthers reports whether the schema says what properties have to be that it
// does not describe, and does not just forbid them.
func (v *Schema) TakesOthers() bool { return v.named.others }

// Strangers tells which members of an object the schema names nowhere, where it
// does not say what becomes of those. JSON Schema lets them be there.
func (v *Schema) Strangers(n *tree.Node, path string) (why tree.Faults) {
	for _, f := range n.Fields {
		_, known := v.named.known[f.Name]
		if len(why) < tree.MaxTold && !known && !v.named.open && !v.named.matches(f.Name) {
			why.Add(f.At, tree.Member(path, f.Name), "%s", v.named.stranger(f.Name))
		}
	}
	return why
}

// stranger says what is said of a name that is not named.
func (a *naming) stranger(name string) string {
	return "is not known; " + tree.Have(a.names) + tree.Hint(spell.Slip(name, a.names))
}

func (a *naming) matches(name string) bool {
	return slices.ContainsFunc(a.patterns, func(p *pattern) bool { return p.MatchString(name) })
}
