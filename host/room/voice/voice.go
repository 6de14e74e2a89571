// Package voice is the line of whoever has the floor of one room, from its first piece
// until it is said: pieces that sound while the rest is being made, a line that was made
// ahead and waits until it may sound, one that is broken off, and one that comes late.
// It keeps the one mouth that is open in the room.
//
// It never asks a companion for a line, and never decides who has the floor. What the
// journal is to say of a line beside its words is the room's. The room's loop alone uses it.
package voice

import (
	"log/slog"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/glance"
	"github.com/companiond/companiond/host/room/loop"
)

// Config is what a voice stands on.
type Config struct {
	Room     string
	Loop     *loop.Loop
	Running  call.Running // the room's: the call for a line ends with it
	Bodies   *action.Bodies
	Board    *glance.Board
	Log      *slog.Logger
	Draining func() bool      // nobody is asked any more, and nothing begins to sound
	Say      func(entry.Said) // records a line, or its refusal
}

// Voice is one room's. Make it with [New].
type Voice struct {
	cfg   Config
	loop  *loop.Loop
	mouth action.Mouth // of whoever is heard here, with a body
	held  *heldLine    // made, and may not sound yet
	taken int64        // answers that came since Taken was asked
	lost  uint64       // seq of what the last line was about that was stale before it sounded
}

// New makes a voice that is silent. It starts nothing.
func New(c Config) *Voice {
	return &Voice{cfg: c, loop: c.Loop, mouth: c.Bodies.Mouth(c.Room)}
}

func (v *Voice) state() *fold.State { return v.loop.State() }

// Call names the call for the line of who has the floor.
func (v *Voice) Call(f *fold.Floor) string { return call.LineID(v.cfg.Room, f.Token, f.Basis) }

// Has says whether a call is the one for the line of who has the floor.
func (v *Voice) Has(who, id string) bool {
	f := v.state().Floor
	return f != nil && f.Who == who && f.Lost == "" && v.Call(f) == id
}

// Taken gives how many calls for lines were answered since it was asked last: what came
// of them is in the journal, or is lost, once what was made so far is written.
func (v *Voice) Taken() int64 {
	n := v.taken
	v.taken = 0
	return n
}

// MayBegin says whether a line may sound now: nobody else is heard here, and its speaker
// is heard in no other room.
func (v *Voice) MayBegin(f *fold.Floor) bool {
	ok, _ := v.state().MayBegin(f.Token, v.loop.Now())
	return ok && v.mouth.Open(f.Who, v.loop.Wake)
}

// Rest gives the mouth back once nothing more is heard of it.
func (v *Voice) Rest() {
	if l := v.state().Playing; l == nil || l.Who != v.mouth.Of() {
		v.mouth.Shut()
	}
}

// Shut gives the mouth back whatever is heard: the room's loop has ended.
func (v *Voice) Shut() { v.mouth.Shut() }

// NextSound is how long until a line that waits may sound.
func (v *Voice) NextSound() time.Duration {
	grant := ""
	switch f := v.state().Floor; {
	case v.held != nil:
		grant = v.held.grant
	case f != nil && f.Wish != nil && f.Wish.Text != "" && f.Lost == "": // it is there, and waits as one that is held
		grant = f.Token
	default:
		return time.Hour
	}
	ok, at := v.state().MayBegin(grant, v.loop.Now())
	if ok || at.IsZero() {
		return time.Hour // at once, or when what is heard ends
	}
	return max(0, at.Sub(v.loop.Clock()))
}

// drop ends the call for a line, and counts its answer as taken.
func (v *Voice) drop(a Answer) {
	v.cfg.Running.Over(call.LineID(v.cfg.Room, a.Grant, a.Basis))
	v.taken++
}

// Answer is what came of asking a companion for a line.
type Answer struct {
	Grant string
	Basis uint64
	About uint64 // seq of the message that it answers
	Who   string
	Line  abi.Line
	// Warning is why the line lost its parameters.
	Warning string
	// Refused is why a handler lets nothing more of it be said.
	Refused string
	Err     error
}
