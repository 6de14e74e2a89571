// Package turns reads off the entries of rooms what became of each turn, and how long it took, for logs and figures.
//
// It is pure: the time comes from the entries. It decides nothing, and knows no more than the entries since it was made: of a
// turn that was begun before, it does not know how long it took.
package turns

import (
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
)

// Outcome is what became of a turn.
type Outcome string

// The outcomes. The first six are of whoever had the floor, or paid for a turn; the others are those of rounds in which
// nobody got the floor.
const (
	Said    Outcome = "said"    // the line was said to its end
	Broken  Outcome = "broken"  // the line broke off: its speaker failed, or was not heard of in time
	Cut     Outcome = "cut"     // somebody spoke over it
	Stopped Outcome = "stopped" // a human said STOP, or the room was closed, before or while it was said
	Passed  Outcome = "passed"  // the speaker passed the floor on
	Failed  Outcome = "failed"  // the speaker failed before it said anything
	Late    Outcome = "late"    // the speaker said nothing in time
	Refused Outcome = "refused" // the line came too late, without the floor, or could not be paid for
	Human   Outcome = "human"   // a human's turn, which is never refused for want of the floor

	Silence    = Outcome(entry.OutcomeSilence)
	Closed     = Outcome(entry.OutcomeClosed)
	Capped     = Outcome(entry.OutcomeCapped)
	Superseded = Outcome(entry.OutcomeSuperseded) // also of a floor that passed on without a word
	Absent     = Outcome(entry.OutcomeAbsent)
	Waits      = Outcome(entry.OutcomeWaits)
)

// All are all outcomes.
func All() []Outcome {
	return []Outcome{Said, Broken, Cut, Stopped, Passed, Failed, Late, Refused, Human, Silence, Closed, Capped, Superseded, Absent, Waits}
}

// Turn is a turn that is over.
type Turn struct {
	Room    string
	Number  uint64 // of the turn in its room; 0 where nothing was said, or not known
	Seq     uint64 // of the entry with which it was over
	Who     string // who had it; empty: nobody
	Outcome Outcome
	// Took is how long it took since votes were asked for, or else since the speaker got the floor; of a human's, and where
	// that is not known, Timed is false.
	Took  time.Duration
	Timed bool
}

// Floor says whether somebody had the floor, or took a turn: nothing was merely asked for.
func (t Turn) Floor() bool {
	switch t.Outcome {
	case Silence, Closed, Capped, Superseded, Absent, Waits:
		return t.Who != ""
	}
	return t.Outcome != Refused
}

// maxRooms is of how many rooms it is known at most what goes on there. One in which nothing goes on is forgotten.
const maxRooms = 4096

// Reader reads entries. Its zero value is ready, and may be used from many goroutines.
type Reader struct {
	mu    sync.Mutex
	rooms map[string]open
}

// open is what goes on in a room.
type open struct {
	round  uint64 // seq; 0: none
	asked  time.Time
	given  bool   // somebody of the round got the floor
	grant  string // token of whoever has the floor; empty: nobody
	who    string
	since  time.Time
	decide uint64 // seq of the decision
}

// Read gives the turns that are over with an entry of a room, in order: one, as a rule, or none.
func (r *Reader) Read(room string, e entry.Entry) []Turn {
	switch e.Kind {
	case entry.KindOwner, entry.KindRound, entry.KindDecision, entry.KindSaid, entry.KindFailed, entry.KindRefused, entry.KindDue,
		entry.KindStop, entry.KindArchived, entry.KindLifecycle:
	default:
		return nil // most of them
	}
	r.mu.Lock()
	o, known := r.rooms[room]
	r.mu.Unlock()
	over := o.read(e)
	for i := range over {
		over[i].Room, over[i].Seq = room, e.Seq
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case o == open{}:
		delete(r.rooms, room)
	case known || len(r.rooms) < maxRooms:
		if r.rooms == nil {
			r.rooms = map[string]open{}
		}
		r.rooms[room] = o
	}
	return over
}

// read changes what goes on by an entry.
func (o *open) read(e entry.Entry) []Turn {
	switch e.Kind {
	case entry.KindOwner: // what went on is taken up anew
		*o = open{}
	case entry.KindRound:
		*o = open{round: e.Seq, asked: e.At, grant: o.grant, who: o.who, since: o.since, decide: o.decide}
	case entry.KindDecision:
		return decode(e, o.decided)
	case entry.KindSaid:
		return decode(e, o.said)
	case entry.KindFailed:
		return decode(e, o.failed)
	case entry.KindRefused:
		return decode(e, o.refused)
	case entry.KindDue:
		return decode(e, func(e entry.Entry, b entry.Due) []Turn {
			if b.What == entry.DueGrant && b.Of == o.decide {
				return o.lost(e.At, Late)
			}
			return nil
		})
	case entry.KindStop, entry.KindArchived:
		return o.hushed(e.At)
	case entry.KindLifecycle:
		return decode(e, func(e entry.Entry, b entry.Lifecycle) []Turn {
			switch conversation.State(b.To) {
			case conversation.Pending, conversation.Active:
				return nil
			}
			return o.hushed(e.At)
		})
	}
	return nil
}

// decode hands the body of an entry on; one that cannot be read tells of no turn.
func decode[T any](e entry.Entry, f func(entry.Entry, T) []Turn) []Turn {
	if b, err := entry.Decode[T](e); err == nil {
		return f(e, b)
	}
	return nil
}

func (o *open) decided(e entry.Entry, b entry.Decision) (over []Turn) {
	given := o.given && b.Round == o.round
	if o.grant != "" {
		over = o.lost(e.At, Superseded)
	}
	if b.Outcome == entry.OutcomeGrant && b.Grant != nil {
		o.grant, o.who, o.since, o.decide, o.given = b.Grant.Token, b.Speaker, e.At, e.Seq, true
		if b.Round != o.round { // of a wish, or of a round of which nothing is known
			o.round, o.asked = b.Round, time.Time{}
		}
		return over
	}
	if !given { // else each who had the floor was told of
		t := Turn{Outcome: Outcome(b.Outcome)}
		if b.Round == o.round && !o.asked.IsZero() {
			t.Took, t.Timed = e.At.Sub(o.asked), true
		}
		over = append(over, t)
	}
	*o = open{}
	return over
}

func (o *open) said(e entry.Entry, b entry.Said) []Turn {
	if b.Kind != abi.KindTurn {
		return nil
	}
	if b.By == abi.KindHuman {
		return []Turn{{Number: b.Turn, Who: b.From, Outcome: Human}}
	}
	t := Turn{Number: b.Turn, Who: b.From, Outcome: Said}
	switch {
	case b.Ends == entry.EndCut:
		t.Outcome = Cut
	case b.Ends == entry.EndStopped:
		t.Outcome = Stopped
	case b.Broken != "":
		t.Outcome = Broken
	}
	if b.Grant != "" && b.Grant == o.grant {
		t.Took, t.Timed = o.took(e.At), true
		*o = open{}
	}
	return []Turn{t}
}

func (o *open) failed(e entry.Entry, b entry.Failed) []Turn {
	switch {
	case b.Grant == "" || b.Grant != o.grant:
		return nil
	case b.Pass:
		return o.lost(e.At, Passed)
	}
	return o.lost(e.At, Failed)
}

func (o *open) refused(e entry.Entry, b entry.Refused) []Turn {
	switch {
	case b.Kind != abi.KindTurn || b.Again:
		return nil
	case b.Grant != "" && b.Grant == o.grant:
		return o.lost(e.At, Refused)
	}
	return []Turn{{Who: b.Who, Outcome: Refused}}
}

// hushed ends all that goes on.
func (o *open) hushed(at time.Time) (over []Turn) {
	switch {
	case o.grant != "":
		over = o.lost(at, Stopped)
	case o.round != 0 && !o.given:
		over = []Turn{{Outcome: Stopped, Took: at.Sub(o.asked), Timed: true}}
	}
	*o = open{}
	return over
}

// lost takes the floor from whoever has it. The round goes on, with the next.
func (o *open) lost(at time.Time, what Outcome) []Turn {
	t := Turn{Who: o.who, Outcome: what, Took: o.took(at), Timed: true}
	o.grant, o.who, o.since, o.decide = "", "", time.Time{}, 0
	return []Turn{t}
}

// took is how long the turn takes by now.
func (o *open) took(at time.Time) time.Duration {
	if !o.asked.IsZero() {
		return at.Sub(o.asked)
	}
	return at.Sub(o.since)
}
