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

// tell says what a refusal has in it.
func (e *explainer) tell(refusal *jsonschema.ValidationError) {
	n, path := e.place(refusal.InstanceLocation)
	switch k := refusal.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range refusal.Causes {
			e.tell(cause)
		}
	case *kind.AnyOf, *kind.OneOf:
		e.alternatives(refusal, n, path)
	case *kind.FalseSchema:
		text := "is not allowed"
		if e.named != nil && len(refusal.InstanceLocation) == 1 && strings.HasSuffix(refusal.SchemaURL, "/unevaluatedProperties") {
			text = e.named.stranger(refusal.InstanceLocation[0])
		}
		e.add(tree.Fault{At: n.At, Path: path, Text: text})
	case *kind.AdditionalItems:
		for i := len(n.Items) - k.Count; i < len(n.Items); i++ {
			e.item(n, path, i, "is not allowed")
		}
	case *kind.UniqueItems:
		e.item(n, path, k.Duplicates[1], fmt.Sprintf("is the same as item %d, and items must differ", k.Duplicates[0]))
	case *kind.AdditionalProperties:
		e.ofMembers(n, path, "is not allowed", k.Properties...)
	case *kind.PropertyNames:
		e.ofMembers(n, path, "is not allowed by this name", k.Property)
	case *kind.Required:
		e.ofMembers(n, path, "is missing", k.Missing...)
	case *kind.DependentRequired:
		e.ofMembers(n, path, "is missing, where there is "+k.Prop, k.Missing...)
	case *kind.Dependency:
		e.ofMembers(n, path, "is missing, where there is "+k.Prop, k.Missing...)
	default:
		_, wrongKind := k.(*kind.Type)
		e.add(tree.Fault{At: n.At, Path: path, Text: unfit(n, k), Kind: wrongKind})
	}
}

// item says something of an item of a list.
func (e *explainer) item(n *tree.Node, path string, i int, text string) {
	e.add(tree.Fault{At: n.Items[i].At, Path: tree.Item(path, i), Text: text})
}

// ofMembers says something of members of an object, at its end of those that are missing.
func (e *explainer) ofMembers(n *tree.Node, path, text string, names ...string) {
	for _, name := range names {
		at := n.At + n.Size
		if x := e.member(n, name); x != nil {
			at = x.At
		}
		e.add(tree.Fault{At: at, Path: tree.Member(path, name), Text: text})
	}
}

// unfit says why a value by itself does not fit.
func unfit(n *tree.Node, why jsonschema.ErrorKind) string {
	switch k := why.(type) {
	case *kind.Type:
		return wrongType(n, k.Want)
	case *kind.Enum:
		return "is " + n.Written() + ", must be one of " + choices(n, k.Want)
	case *kind.Const:
		return "is " + n.Written() + ", must be " + tree.Written(k.Want)
	case *kind.Not:
		return "is what the schema excludes"
	case *kind.Minimum:
		return bounded(n, "at least", k.Want)
	case *kind.Maximum:
		return bounded(n, "at most", k.Want)
	case *kind.ExclusiveMinimum:
		return bounded(n, "more than", k.Want)
	case *kind.ExclusiveMaximum:
		return bounded(n, "less than", k.Want)
	case *kind.MultipleOf:
		return bounded(n, "a multiple of", k.Want)
	case *kind.Pattern:
		return "is " + n.Written() + ", must match the pattern " + tree.Show(k.Want)
	case *kind.MinLength:
		return counted(k.Got, "characters", "at least", k.Want)
	case *kind.MaxLength:
		return counted(k.Got, "characters", "at most", k.Want)
	case *kind.MinItems:
		return counted(k.Got, "items", "at least", k.Want)
	case *kind.MaxItems:
		return counted(k.Got, "items", "at most", k.Want)
	case *kind.MinProperties:
		return counted(k.Got, "members", "at least", k.Want)
	case *kind.MaxProperties:
		return counted(k.Got, "members", "at most", k.Want)
	case *kind.Contains:
		return "has none of the items that it must contain"
	case *kind.MinContains:
		return counted(len(k.Got), "of the items that it must contain", "at least", k.Want)
	case *kind.MaxContains:
		return counted(len(k.Got), "of the items that it must contain", "at most", k.Want)
	}
	return "is not what the schema asks for as a whole" // of a newer validator
}

func bounded(n *tree.Node, words string, want *big.Rat) string {
	x, _ := want.Float64()
	return "is " + n.Written() + ", must be " + words + " " + tree.Written(x)
}

func counted(got int, of, words string, want int) string {
	return fmt.Sprintf("has %d %s, must have %s %d", got, of, words, want)
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
// the one that objects to something deepest inside it. Where none objects, it fits
// more than one, and must not.
func (e *explainer) alternatives(refusal *jsonschema.ValidationError, n *tree.Node, path string) {
	var best []tree.Fault
	for _, cause := range refusal.Causes {
		if one := e.explain(cause); best == nil || deeper(one[0].Path, best[0].Path) {
			best = one
		}
	}
	switch {
	case best == nil:
		best = []tree.Fault{{At: n.At, Path: path, Text: "fits more than one of the alternatives, must fit exactly one"}}
	case !e.nearest:
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
