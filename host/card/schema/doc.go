// Package schema judges JSON by the JSON Schemas that stand in a definition file,
// and says where in the file a schema is wrong and where in a value it is not met.
//
// It judges with santhosh-tekuri/jsonschema, of which nothing is seen outside, and never
// by itself: what it adds is the places, the words, and the bounds. Package card
// has the list of what is refused.
package schema
