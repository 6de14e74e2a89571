// Package scrub says what of an entry, or of any other text, has to go when somebody's words
// are erased, and what may stay.
//
// It is learned in two goes over what there is. A [Gatherer] first reads what the person said
// and what is remembered of that, and takes names and words from it by which a repetition
// can be told; then it weighs them against what others said, so that a word which
// everybody uses erases nothing. The [Words] that come of it take the texts out of
// bodies and leave their shapes.
//
// It is pure: it never reads or writes anything, and the words it holds go with it.
package scrub
