// Package card reads definition files of companions: who they are, what
// they can do and perceive, and by which rules they act. It checks actions and
// perceptions against the JSON Schemas in them.
//
// It is pure: it opens no file, knows no clock, and follows no reference out of a
// card. It never decides what a companion does; it says what they may.
//
// # The action speak
//
// An action with the title [Speak] is an action and a message at once: its parameter
// message is what is said aloud, and each line that a companion says, however it came
// to it, goes to bodies as speak {"message": "..."}. A card need not have it. One that
// has it is refused unless it takes such parameters: it may have others beside
// message, and must not require them.
//
// # Keys of perceptions
//
// Beside its JSON Schema a perception may have keys that are not the protocol's: input,
// media_types, max_bytes, cool_down, and coalesce, which says whether a newer percept
// takes the place of one that waits ([Perception.Coalesces]).
//
// # What would load and not work
//
// A card is also refused for what JSON Schema ignores and a maker means: the schema
// of an action under parameters, input_schema, inputSchema or arguments, as functions
// have it elsewhere; format, formats or body beside the properties of a perception;
// a name in required of an action that neither properties nor anything else
// describes; a language that is the code of a country, or a name.
//
// # Schemas
//
// Actions and perceptions are JSON Schemas of draft 2020-12, or of draft-07 where
// their $schema says so. They are judged by santhosh-tekuri/jsonschema, which package
// schema below this one imports, and no type of which is seen outside. Of both
// drafts all is supported but this, which is refused when the card is loaded:
//
//   - $ref to anything but # and a pointer or an anchor in the same schema.
//   - $id and $schema anywhere but at the top of a schema. There $id means nothing.
//   - $dynamicRef, $dynamicAnchor, $vocabulary; $recursiveRef and $recursiveAnchor of
//     draft 2019-09; id, divisibleBy, disallow and extends of older ones; nullable and
//     discriminator of OpenAPI.
//   - words of the other draft.
//   - pattern and patternProperties that Go's regexp does not take: no look around, no
//     back references. A pattern that it takes means the same as in ECMA 262, but that \s knows
//     ASCII only, that . stands for all but a line feed, and that there are (?i), \A,
//     \z, \pL and [[:alpha:]].
//   - what looks like a misspelled word of JSON Schema. Other words that are not
//     JSON Schema's are ignored, as it says.
//   - a type other than "object" at the top, and in draft-07 a $ref there.
//   - whatever could hang the daemon or fill its memory: schemas that refer to
//     themselves for the same value without an end, or more than 32 one in the other;
//     a pattern of more than 1,000 bytes or instructions, 20,000 instructions in a
//     file; 4,000 schemas in a file, those inside others counted; 20,000 values that
//     enum, required and the like compare with.
//
// Numbers are float64, and compared as they are written: 0.3 is a multiple of 0.1.
// format, contentEncoding and contentMediaType are not judged,
// which both drafts allow.
//
// The JSON Schema Test Suite is the judge of this: in schema/testdata/refused.txt is
// each of its cases that is refused, and why; in all others the answer is the suite's.
package card
