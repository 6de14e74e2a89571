// Package fact is the table of what one companion remembers: the fold of the entries of its
// own stream. It checks what is to be remembered, finds out what is known already and what is
// no longer so, and keeps their number in bounds.
//
// It never stores or looks anything up elsewhere, makes no ids, asks no clock, and never
// decides while it folds: what an entry leads to was written into it.
package fact

import (
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/lineage"
)

// Fact is one thing that is remembered, a fact or an episode.
type Fact struct {
	abi.Memory
	Slot  string // see [New]; none where somebody wrote another text
	Value string
	How   entry.How
	// Confirmed is when it was last said: SaidAt, or later.
	Confirmed time.Time
	// ClosedBy is the id of what it is no longer so by; empty where somebody said that at a door.
	ClosedBy string
	// Entries are seqs of the stream in which its words stand, or what was made of them.
	Entries []uint64
	// Vector is what a model made of Text; without Numbers none did.
	Vector entry.Vector
	vector uint64 // seq of its entry
	left   string // the slot that it was in before somebody wrote another text: what is said of that closes it no more

	newest uint64    // entry of Room that it rests on, or 0
	turns  []uint64  // Turns without those in which it was said again
	until  time.Time // ValidTo without what marks say
	marks  []mark
}

// ValidAt says whether it is so at a time.
func (f Fact) ValidAt(at time.Time) bool { return f.ValidTo.IsZero() || at.Before(f.ValidTo) }

// Turn is one thing that was said, as far as remembering needs it.
type Turn struct {
	Room string
	Seq  uint64
	From string
	By   abi.ParticipantKind
	// At is when it was said; relative dates (tomorrow, 来週の土曜) are counted in its location.
	At   time.Time
	Text string
}

// New is something that may be worth remembering.
type New struct {
	// Memory as it is to be: its ID is given to [Table.Add]; no Visibility means
	// [abi.VisibleRoom], no Kind a fact, and no Importance 3.
	abi.Memory
	// Slot is what there can be one of at a time for SaidBy: "name", "pet.name:cat",
	// "taste:ramen". Another value there closes the one before. Empty: none.
	Slot     string
	Value    string
	How      entry.How
	Replaces []string // ids of what is no longer so
	// Corrects are values that SaidBy said are wrong (ミケ in 「ミケじゃなくてタマ」): facts
	// of SaidBy with one of these values are closed.
	Corrects []string
	// Upto is the newest message of Room, which it was remembered after; needed where there are no Turns.
	Upto uint64
	// Past is what Room has lived through; nil: everything.
	Past *lineage.Past
}

// Change is an entry to write into the stream: ID, Seq, At are the stream's.
type Change struct {
	Kind entry.Kind
	Body any
}
