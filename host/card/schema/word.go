package schema

// draft is a version of JSON Schema.
type draft int

const (
	draft2020 draft = 1 << iota // 2020-12, which is meant where there is no $schema
	draft7
	anyDraft = draft2020 | draft7
)

func (d draft) String() string {
	if d == draft7 {
		return "draft-07"
	}
	return "draft 2020-12"
}

// drafts are what $schema may be, less a # at its end.
var drafts = map[string]draft{
	"https://json-schema.org/draft/2020-12/schema": draft2020,
	"http://json-schema.org/draft-07/schema":       draft7,
	"https://json-schema.org/draft-07/schema":      draft7,
}

// words are those of JSON Schema that a schema in a card may use, and in which drafts
// each is one.
var words = map[string]draft{
	"$schema": anyDraft, "$id": anyDraft, "$ref": anyDraft, "$anchor": draft2020, "$comment": anyDraft, "$defs": draft2020, "definitions": anyDraft,

	"title": anyDraft, "description": anyDraft, "default": anyDraft, "examples": anyDraft, "deprecated": anyDraft, "readOnly": anyDraft, "writeOnly": anyDraft,
	"format": anyDraft, "contentEncoding": anyDraft, "contentMediaType": anyDraft, "contentSchema": draft2020,

	"type": anyDraft, "enum": anyDraft, "const": anyDraft,
	"minimum": anyDraft, "maximum": anyDraft, "exclusiveMinimum": anyDraft, "exclusiveMaximum": anyDraft, "multipleOf": anyDraft,
	"minLength": anyDraft, "maxLength": anyDraft, "pattern": anyDraft,

	"items": anyDraft, "prefixItems": draft2020, "additionalItems": draft7, "unevaluatedItems": draft2020,
	"contains": anyDraft, "minContains": draft2020, "maxContains": draft2020,
	"minItems": anyDraft, "maxItems": anyDraft, "uniqueItems": anyDraft,

	"properties": anyDraft, "patternProperties": anyDraft, "additionalProperties": anyDraft, "unevaluatedProperties": draft2020, "propertyNames": anyDraft,
	"required": anyDraft, "minProperties": anyDraft, "maxProperties": anyDraft,
	"dependentRequired": draft2020, "dependentSchemas": draft2020, "dependencies": draft7,

	"allOf": anyDraft, "anyOf": anyDraft, "oneOf": anyDraft, "not": anyDraft, "if": anyDraft, "then": anyDraft, "else": anyDraft,
}

var (
	// inWhole are the words whose value is a schema or a list of schemas, inMembers those
	// whose value is an object of schemas.
	inWhole = []string{"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "contentSchema", "additionalProperties",
		"unevaluatedProperties", "propertyNames", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"}
	inMembers = []string{"$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"}
	// forSame are the words whose schemas judge the same value as the schema they are
	// in, as allOf does, and not a part of it, as items does.
	forSame = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}
	// compared are the words whose value a value is compared with.
	compared = []string{"type", "enum", "const", "required", "dependentRequired", "dependencies"}
	// counts are the words whose value is a number of things.
	counts = []string{"minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties"}
)

// unsupported are words that would change what a schema takes and that are
// refused, each with the reason.
var unsupported = map[string]string{
	"$dynamicRef":      "use $ref",
	"$dynamicAnchor":   "use $anchor",
	"$vocabulary":      "only a meta-schema has it",
	"$recursiveRef":    "it is of draft 2019-09; use $ref",
	"$recursiveAnchor": "it is of draft 2019-09; use $anchor",
	"id":               "it is of draft-04; use $id",
	"divisibleBy":      "it is of draft-03; use multipleOf",
	"disallow":         "it is of draft-03; use not",
	"extends":          "it is of draft-03; use allOf",
	"nullable":         "it is OpenAPI's; write \"type\": [..., \"null\"]",
	"discriminator":    "it is OpenAPI's; use oneOf",
}
