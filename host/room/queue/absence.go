package queue

import (
	"time"

	"github.com/companiond/companiond/host/entry"
)

// MaxAbsent is how many rounds in a row in which nobody could vote are asked again.
const MaxAbsent = 10

const (
	longestAbsent = time.Minute      // between two of them
	firstAbsent   = time.Millisecond // where the room has no patience
)

// Absence is why nobody was asked about the newest turn, or nobody could vote.
type Absence struct {
	N  int       `json:"n"`            // rounds in a row in which nobody could vote
	At time.Time `json:"at,omitzero"`  // not before this is it asked again, unless somebody comes or votes
	Of uint64    `json:"of,omitempty"` // entry that set At
	// Why says what the room waits for.
	Why string `json:"why,omitempty"`
}

// And gives the absence after one more round, which ended by a decision with that seq;
// counts says whether it is one of those of which there are [MaxAbsent]. The one before may
// be nil.
func (a *Absence) And(d entry.Decision, seq uint64, counts bool) *Absence {
	next := &Absence{At: d.Until, Of: seq, Why: d.Reason}
	if counts {
		next.N = 1
	}
	if a != nil {
		next.N += a.N
	}
	return next
}

// Again is when a room in which nobody could vote asks again; ok is false when it has
// asked often enough. The absence before may be nil.
func (a *Absence) Again(at time.Time, patience time.Duration) (_ time.Time, ok bool) {
	n := 0
	if a != nil {
		n = a.N
	}
	wait := max(firstAbsent, patience) << n
	return at.Add(min(wait, longestAbsent)), n < MaxAbsent
}
