// Package tree reads JSON that somebody wrote by hand, in an editor that may have put
// in quotes of its own: into nodes that know where in the text they stood. It says
// where a text stops being JSON and what to write instead, and has the words in which
// faults of files and values are told: paths, what is listed, what was probably meant.
//
// It knows nothing of schemas, which are package tree's, nor of cards.
package tree
