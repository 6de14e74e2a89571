// Package words makes sense of what people say in Japanese and English without a
// language model: which language it is, whether somebody is greeted or asked,
// what the topic is, which name was given, which phrase is worth quoting, and
// whether somebody may want to die.
//
// It is a handful of tables and rules, right often enough for a talk that
// smiles. It never remembers anything and never decides what to say.
package words
