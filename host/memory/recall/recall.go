// Package recall finds what a companion remembers that has to do with what is said: by names
// and things, by pairs of letters, by what a question asks for, and by how near the vectors are
// that a model gave.
//
// It searches what is remembered and never the history, shows nothing in a room that may
// not be told there, and finds nothing rather than something that has nothing to do with it.
package recall

import (
	"time"

	"github.com/companiond/companiond/host/memory/fact"
)

// Query asks for what is remembered.
type Query struct {
	Text    string   // what was said; "": the most important and newest
	About   []string // who asks, and whom it is about: 「私の猫」 is theirs. Empty: anybody
	Room    string   // the room of the call
	Present []string // who is there
	// Everywhere also gives what may not be told in Room: for doors of whoever may see it all.
	Everywhere bool
	Limit      int  // 0 means 8; at most abi.MaxMemories
	Past       bool // also what is no longer so
	// At is now; relative dates in Text are counted in its location.
	At time.Time
	// Near are ids, the nearest vectors first (see [Nearest]); nil without vectors.
	Near []string
}

// Found is one of the answers.
type Found struct {
	fact.Fact
	Score float64
}

// Index is what a table's facts are found by. It is not safe for concurrent use.
type Index struct{}

// NewIndex gives an index of a table as it is now.
func NewIndex(t *fact.Table) *Index { panic("later") }

// Update takes in what [fact.Table.Apply] says has changed.
func (ix *Index) Update(changed []string) { panic("later") }

// Find gives what answers the query, the best first.
func (ix *Index) Find(q Query) []Found { panic("later") }

// Nearest gives the ids of at most n vectors that are nearest to one, by the cosine, and no
// farther than the cosine least. Vectors of another length are passed over.
func Nearest(to []float32, vectors map[string][]float32, n int, least float64) []string {
	panic("later")
}
