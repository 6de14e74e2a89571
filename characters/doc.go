// Package characters holds what the sample characters in the folders beside it
// have in common: the tests that let them talk with each other. It never runs
// in the daemon.
package characters
