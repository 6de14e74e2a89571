package schema

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/companiond/companiond/host/card/tree"
	"github.com/companiond/companiond/host/spell"
)

// explainer says of a value what the validator has against it. It keeps the first
// faults in the order of the text: the validator goes through the members of an
// object in any order.
type explainer struct {
	root    *tree.Node
	path    string
	most    int
	named   *naming // what the schema names at its top, if anything is to be said of it
	nearest bool    // of alternatives, speak of the nearest alone
	told    []tree.Fault
	members map[*tree.Node]map[string]*tree.Node
}

// explain gives the first reasons for a refusal of the validator's. It never gives
// none.
func (e explainer) explain(refusal *jsonschema.ValidationError) []tree.Fault {
	e.told = nil
	if e.members == nil {
		e.members = map[*tree.Node]map[string]*tree.Node{}
	}
	e.tell(refusal)
	return e.told
}

func (e *explainer) add(f tree.Fault) {
	i, known := slices.BinarySearchFunc(e.told, f, func(a, b tree.Fault) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Path, b.Path), strings.Compare(a.Text, b.Text))
	})
	if !known {
		e.told = slices.Insert(e.told, i, f)
		e.told = e.told[:min(len(e.told), e.most)]
	}
}

// member finds a member of an object, of which there may be thousands to tell of.
func (e *explainer) member(n *tree.Node, name string) *tree.Node {
	if e.members[n] == nil {
		e.members[n] = map[string]*tree.Node{}
		for _, f := range slices.Backward(n.Fields) {
			e.members[n][f.Name] = f.Value
		}
	}
	return e.members[n][name]
}

// place finds what a refusal is about.
func (e *explainer) place(location []string) (n *tree.Node, path string) {
	n, path = e.root, e.path
	for _, name := range location {
		if i, err := strconv.Atoi(name); n.Kind == tree.Array && err == nil {
			n, path = n.Items[i], tree.Item(path, i)
		} else {
			n, path = e.member(n, name), tree.Member(path, name)
		}
	}
	return n, path
}

// tell says what a refusal has in it. It is long because the validator knows as many
// kinds of them.
func (e *explainer) tell(refusal *jsonschema.ValidationError) {
	n, path := e.place(refusal.InstanceLocation)
	say := func(format string, args ...any) {
		e.add(tree.Fault{At: n.At, Path: path, Text: fmt.Sprintf(format, args...)})
	}
	item := func(i int, text string) { e.add(tree.Fault{At: n.Items[i].At, Path: tree.Item(path, i), Text: text}) }
	member := func(text string, names ...string) {
		for _, name := range names {
			at := n.At + n.Size // where it is missing
			if x := e.member(n, name); x != nil {
				at = x.At
			}
			e.add(tree.Fault{At: at, Path: tree.Member(path, name), Text: text})
		}
	}
	bound := func(words string, want *big.Rat) {
		x, _ := want.Float64()
		say("is %s, must be %s %s", n.Written(), words, tree.Written(x))
	}
	count := func(got int, of, words string, want int) { say("has %d %s, must have %s %d", got, of, words, want) }
	switch k := refusal.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range refusal.Causes {
			e.tell(cause)
		}
	case *kind.AnyOf:
		e.alternatives(refusal, n, path)
	case *kind.OneOf:
		if k.Subschemas == nil {
			e.alternatives(refusal, n, path)
		} else {
			say("fits more than one of the alternatives, must fit exactly one")
		}
	case *kind.Type:
		e.add(tree.Fault{At: n.At, Path: path, Text: wrongType(n, k.Want), Kind: true})
	case *kind.Enum:
		say("is %s, must be one of %s", n.Written(), choices(n, k.Want))
	case *kind.Const:
		say("is %s, must be %s", n.Written(), tree.Written(k.Want))
	case *kind.Not:
		say("is what the schema excludes")
	case *kind.FalseSchema:
		if e.named != nil && len(refusal.InstanceLocation) == 1 && strings.HasSuffix(refusal.SchemaURL, "/unevaluatedProperties") {
			say("%s", e.named.stranger(refusal.InstanceLocation[0]))
		} else {
			say("is not allowed")
		}
	case *kind.AdditionalProperties:
		member("is not allowed", k.Properties...)
	case *kind.AdditionalItems:
		for i := len(n.Items) - k.Count; i < len(n.Items); i++ {
			item(i, "is not allowed")
		}
	case *kind.PropertyNames:
		member("is not allowed by this name", k.Property)
	case *kind.Required:
		member("is missing", k.Missing...)
	case *kind.DependentRequired:
		member("is missing, where there is "+k.Prop, k.Missing...)
	case *kind.Dependency:
		member("is missing, where there is "+k.Prop, k.Missing...)
	case *kind.Minimum:
		bound("at least", k.Want)
	case *kind.Maximum:
		bound("at most", k.Want)
	case *kind.ExclusiveMinimum:
		bound("more than", k.Want)
	case *kind.ExclusiveMaximum:
		bound("less than", k.Want)
	case *kind.MultipleOf:
		bound("a multiple of", k.Want)
	case *kind.MinLength:
		count(k.Got, "characters", "at least", k.Want)
	case *kind.MaxLength:
		count(k.Got, "characters", "at most", k.Want)
	case *kind.Pattern:
		say("is %s, must match the pattern %s", tree.Show(n.Text), tree.Show(k.Want))
	case *kind.MinItems:
		count(k.Got, "items", "at least", k.Want)
	case *kind.MaxItems:
		count(k.Got, "items", "at most", k.Want)
	case *kind.UniqueItems:
		item(k.Duplicates[1], fmt.Sprintf("is the same as item %d, and items must differ", k.Duplicates[0]))
	case *kind.Contains:
		say("has none of the items that it must contain")
	case *kind.MinContains:
		count(len(k.Got), "of the items that it must contain", "at least", k.Want)
	case *kind.MaxContains:
		count(len(k.Got), "of the items that it must contain", "at most", k.Want)
	case *kind.MinProperties:
		count(k.Got, "members", "at least", k.Want)
	case *kind.MaxProperties:
		count(k.Got, "members", "at most", k.Want)
	default: // of a newer validator
		say("is not what the schema asks for as a whole")
	}
}

// wrongType says that a value is of none of the types.
func wrongType(n *tree.Node, types []string) string {
	is := n.Kind.Called()
	var wanted []string
	for _, t := range types {
		if t != "integer" {
			wanted = append(wanted, tree.Kind(t).Called())
			continue
		}
		wanted = append(wanted, "a whole number")
		if n.Kind == tree.Number {
			is = n.Written()
		}
	}
	return "is " + is + ", must be " + strings.Join(wanted, " or ")
}

// choices lists what a value may be, and asks whether one of them was meant.
func choices(n *tree.Node, values []any) string {
	var all, texts []string
	for _, v := range values {
		if text, ok := v.(string); ok && n.Kind == tree.Text {
			texts = append(texts, text)
		}
		if len(all) <= tree.MostListed {
			all = append(all, tree.Written(v))
		}
	}
	return tree.Listed(all) + tree.Hint(spell.Slip(n.Text, texts))
}

// alternatives says what keeps a value from the alternative that it is nearest to:
// the one that objects to something deepest inside it.
func (e *explainer) alternatives(refusal *jsonschema.ValidationError, n *tree.Node, path string) {
	var best []tree.Fault
	for _, cause := range refusal.Causes {
		if one := e.explain(cause); best == nil || deeper(one[0].Path, best[0].Path) {
			best = one
		}
	}
	if !e.nearest {
		best = []tree.Fault{{At: n.At, Path: path, Text: fmt.Sprintf("fits none of %d alternatives; the nearest fails because %s %s",
			len(refusal.Causes), cmp.Or(best[0].Path, "it"), best[0].Text)}}
	}
	for _, f := range best {
		e.add(f)
	}
}

// deeper reports whether a path leads further into a value.
func deeper(a, b string) bool {
	depth := func(s string) int { return strings.Count(s, ".") + strings.Count(s, "[") }
	return depth(a) > depth(b)
}

// names judges the names of an object's members in the validator's place, which
// loses where it met the object.
type names struct{ *jsonschema.Schema }

func (s names) Validate(ctx *jsonschema.ValidatorContext, v any) {
	members, _ := v.(map[string]any)
	for name := range members {
		if s.Schema.Validate(name) != nil {
			ctx.AddError(&kind.PropertyNames{Property: name})
		}
	}
}
