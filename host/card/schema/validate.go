package schema

import (
	"errors"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/tree"
)

// Schema judges values. It does not change, so that many may use it at once.
type Schema struct {
	root   *rule
	draft  draft
	named  *naming
	theirs *jsonschema.Schema // the validator's own
}

// Check says why a value is not what the schema asks for, nothing when it is. path
// is how the value is called. The code is abi.CodeInvalid, or abi.CodeTooLarge for
// what would take too long to judge.
func (v *Schema) Check(n *tree.Node, path string) (why tree.Faults, code abi.Code) {
	if !v.affordable(n) {
		why.Add(n.At, path, "would take too long to check: make it shorter, or its schema simpler")
		return why, abi.CodeTooLarge
	}
	var refusal *jsonschema.ValidationError
	if !errors.As(v.theirs.Validate(n.Value()), &refusal) {
		return nil, ""
	}
	return explainer{root: n, path: path, most: tree.MaxTold, named: v.named}.explain(refusal), abi.CodeInvalid
}

// OnlyRef reports whether at the top there is a $ref that hides all that stands
// beside it, as in draft-07.
func (v *Schema) OnlyRef() bool { return v.draft == draft7 && v.root.ref != nil }

// Words gives which words of JSON Schema the schema has, in itself or in a part of it, sorted.
func (v *Schema) Words() []string {
	have := map[string]bool{}
	var visit func(s *rule)
	visit = func(s *rule) {
		for _, f := range s.node.Fields {
			if words[f.Name]&v.draft != 0 {
				have[f.Name] = true
			}
		}
		for _, parts := range s.parts {
			for _, p := range parts {
				visit(p.rule)
			}
		}
	}
	visit(v.root)
	return slices.Sorted(maps.Keys(have))
}
