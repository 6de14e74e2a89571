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
)

// Fact is one thing that is remembered, a fact or an episode.
type Fact struct {
	abi.Memory
	Slot  string // see [New]
	Value string
	How   entry.How
	// Confirmed is when it was last said: SaidAt, or later.
	Confirmed time.Time
	// Entries are seqs of the stream in which its words stand.
	Entries []uint64
}

// ValidAt says whether it is so at a time.
func (f Fact) ValidAt(at time.Time) bool { return f.ValidTo.IsZero() || at.Before(f.ValidTo) }

// Visible says whether it may be used in a room in which these are, by ids of participants.
// What has no visibility counts as [abi.VisibleRoom].
func (f Fact) Visible(room string, present []string) bool { panic("later") }

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
}

// Change is an entry to write into the stream: ID, Seq, At are the stream's.
type Change struct {
	Kind entry.Kind
	Body any
}

// Table is what one companion remembers. It is not safe for concurrent use.
type Table struct{}

// Bounds of a table.
const MaxFacts = 10_000

// NewTable gives an empty table that keeps at most so many; 0 means [MaxFacts].
func NewTable(most int) *Table { panic("later") }

// Apply folds one entry in and gives the ids of what is other than before. An entry of
// another kind, one that lost its body, and one about what is not there change nothing.
func (t *Table) Apply(e entry.Entry) (changed []string, err error) { panic("later") }

// Add gives the entries by which something is remembered as id, at the time now, and the id
// under which it is: another one where the same is known already. source is the text of the
// turn that the quotation is from. Nothing changes before the entries are applied. No entry at all
// means that there is nothing to write: it was recalled and not said.
// The error is an [abi.Error] that names the field.
func (t *Table) Add(n New, source, id string, now time.Time) (as string, changes []Change, err error) {
	panic("later")
}

// Revise gives the entry by which by changes something, or an [abi.Error].
func (t *Table) Revise(r entry.Revised) (Change, error) { panic("later") }

// Erase gives the entry by which by has these forgotten; those that are not there are left out, and
// with none left there is no entry.
func (t *Table) Erase(ids []string, by string) (c Change, ok bool) { panic("later") }

// Get gives what is remembered by its id.
func (t *Table) Get(id string) (Fact, bool) { panic("later") }

// Len is how many there are.
func (t *Table) Len() int { panic("later") }

// All gives everything, in the order of entries.
func (t *Table) All() []Fact { panic("later") }

// Of gives all that somebody said or that is about somebody, with what is no longer so.
func (t *Table) Of(who string) []Fact { panic("later") }

// From gives what rests on any of these turns of a room.
func (t *Table) From(room string, turns []uint64) []Fact { panic("later") }

// Read gives how far a room's talk was gone through.
func (t *Table) Read(room string) uint64 { panic("later") }

// Blank gives the seqs of the entries whose words are to be taken out of the stream, because
// what they remembered was erased. Those that are blank are not among them.
func (t *Table) Blank() []uint64 { panic("later") }
