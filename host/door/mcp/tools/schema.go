package tools

import (
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// shape makes the schema of an object; names ending in ? may be absent.
func shape(fields ...prop) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, f := range fields {
		name, optional := strings.CutSuffix(f.name, "?")
		s.Properties[name] = f.schema
		s.PropertyOrder = append(s.PropertyOrder, name)
		if !optional {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

type prop struct {
	name   string
	schema *jsonschema.Schema
}

func words(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: about}
}

func amount(about string, low, high float64) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", Description: about, Minimum: &low, Maximum: &high}
}

func integer(about string) *jsonschema.Schema {
	low := 0.0
	return &jsonschema.Schema{Type: "integer", Description: about, Minimum: &low}
}

func within(about string, low, high float64) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Description: about, Minimum: &low, Maximum: &high}
}

func truth(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "boolean", Description: about}
}

func list(about string, of *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Description: about, Items: of}
}

func choice(about string, of ...any) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: about, Enum: of}
}
