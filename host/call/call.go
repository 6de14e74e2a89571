// Package call asks companions beside the loop of a room: it encodes the question, holds
// the answer to the rules of its op, and puts what failed into words.
//
// It keeps no state of a room, and never decides what becomes of an answer.
package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// Companion is a hosted character as a room sees it.
type Companion interface {
	Describe() abi.Description
	Call(ctx context.Context, req abi.Request) (json.RawMessage, error)
	// Permit checks an action against the companion's card, where it has one. A
	// warning says that it is played all the same.
	Permit(a abi.ActionAsk) (warning string, err error)
}

// drafter is a companion that may begin a line with its vote, see module.Drafter.
type drafter interface {
	Withdraw(room string) bool
}

// Calls is what calls of companions need.
type Calls struct {
	Find  func(id string) (Companion, bool) // a loaded companion
	NewID func() string                     // unique ids
	// Blame is told of answers of a companion that break the rules of their op. It may
	// be called from many goroutines at once.
	Blame func(companion, op string, err error)
}

// Context is what a call takes with it out of a room.
type Context struct {
	ID    string // of the call; empty: any
	Room  string
	Now   time.Time // of the room's clock
	Limit time.Time // of the process's: then it is ended, however long anybody waits for it
}

// A call may outlive what waits for it: a machine that is slow just then is nobody's
// fault, and an answer may still be of use. The limits only end what hangs. They are far
// above what anybody waits, so that a machine with a tenth of a core to give reaches an
// answer that takes it a second elsewhere, and low enough that a companion which waits
// for something that never comes is asked again while people are still there.
const (
	leastVote = time.Minute     // a talk goes on with other things after that
	leastLine = 2 * time.Minute // a language model that is loaded from a disk first
)

// VoteLimit is how long a call for a vote may take in a room that waits so long for it.
func VoteLimit(patience time.Duration) time.Duration { return max(10*patience, leastVote) }

// LineLimit is how long a call for a line may take where the floor is given for so long.
func LineLimit(floor time.Duration) time.Duration { return max(3*floor, leastLine) }

// Ask asks one op of a companion, decodes the answer and has it checked; known is false
// when it does not answer that op. It waits until at.Limit. An answer that breaks the
// rules of its op is blamed on the companion.
func (c Calls) Ask(ctx context.Context, who, op string, at Context, ask, answer any, check func() error) (known bool, err error) {
	companion, ok := c.Find(who)
	if !ok {
		return false, abi.Errorf(abi.CodeUnavailable, "%s is not loaded", who)
	}
	if !slices.Contains(companion.Describe().Ops, op) {
		return false, nil
	}
	data, err := json.Marshal(ask)
	if err != nil {
		return false, fmt.Errorf("encode %s: %w", op, err)
	}
	if at.ID == "" {
		at.ID = c.NewID()
	}
	ctx, cancel := context.WithDeadline(ctx, at.Limit)
	defer cancel()
	got, err := companion.Call(ctx, abi.Request{
		V: abi.Version, Op: op, ID: at.ID, Self: who, Room: at.Room, Now: at.Now, Data: data,
	})
	switch {
	case abi.CodeOf(err) == abi.CodeUnknownOp:
		return false, nil
	case err != nil:
		if useless(err) {
			c.Blame(who, op, err)
		}
		return true, err
	}
	if err = json.Unmarshal(got, answer); err != nil {
		err = abi.Errorf(abi.CodeInvalid, "%s answered %s with something else: %v", who, op, err)
	} else {
		err = check()
	}
	if err != nil {
		c.Blame(who, op, err)
	}
	return true, err
}

// Withdraw tells a companion that the line which it may have begun with its vote in a room
// is not wanted, and gives whether there was one.
func (c Calls) Withdraw(who, room string) bool {
	companion, ok := c.Find(who)
	if !ok {
		return false
	}
	d, ok := companion.(drafter)
	return ok && d.Withdraw(room)
}

// useless says whether an error is the companion's own and is worth its maker's
// attention: not that it is late, away, or broke down, which is told elsewhere, nor that a bound
// was reached, or that the talk went on without it.
func useless(err error) bool {
	var own *abi.Error
	if !errors.As(err, &own) {
		return false
	}
	switch own.Code {
	case abi.CodeUnavailable, abi.CodeTimeout, abi.CodeExhausted, abi.CodeStale, abi.CodeConflict:
		return false
	case abi.CodeDenied: // the room says so where the floor is another's
		return !strings.HasPrefix(own.Message, "say: ") && !strings.HasPrefix(own.Message, "action: ")
	}
	return true
}

// Failure puts a failed call into words for the journal.
func Failure(err error) (abi.Code, string) {
	var fault *module.Fault
	switch {
	case errors.As(err, &fault) && fault.Kind == module.FaultTimeout:
		return abi.CodeTimeout, "did not answer in time and was stopped"
	case errors.As(err, &fault):
		return abi.CodeInternal, Clip("broke down: " + fault.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return abi.CodeTimeout, "did not answer in time"
	case errors.Is(err, context.Canceled):
		return abi.CodeUnavailable, "the daemon is stopping"
	}
	e := abi.AsError(err)
	return e.Code, Clip(e.Message)
}

// longestWait is how long an answer may have itself not asked again; a day, as bounds of a day
// say at most.
const longestWait = 24 * time.Hour

// Until gives when a companion that failed may be asked again, zero where it did not say.
func Until(err error, now time.Time) time.Time {
	var e *abi.Error
	if !errors.As(err, &e) || e.After <= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(min(e.After, longestWait.Milliseconds())) * time.Millisecond).UTC().Truncate(time.Millisecond)
}

// Clip keeps a module's words in the journal short.
func Clip(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…" // a letter that is cut in two is left out
}

// CheckLine reports the first thing that is wrong with a module's line. A line
// without a text is none.
func CheckLine(l abi.Line) error {
	if l.Text == "" {
		return nil
	}
	if err := abi.CheckText("line.text", l.Text); err != nil {
		return err
	}
	if l.Closing.Stage() < 0 {
		return abi.Errorf(abi.CodeInvalid, "line.closing: %q is none of none, pre-closing, closing, terminal", l.Closing)
	}
	return nil
}

// Running are the calls that run for a vote, a line or a perception, by id. A STOP ends
// them all; the loop alone uses it.
type Running map[string]Run

// Run is a call that runs, or is about to.
type Run struct {
	Perception uint64 // seq of what is judged; 0: a vote or a line is made
	// Force are the actions of games that may be played with it; nil: any.
	Force []string
	Line  bool   // a line is made
	Basis uint64 // seq of the newest turn that it knows
	end   context.CancelFunc
}

// Has says whether a call runs, or is about to.
func (c Running) Has(call string) bool { _, ok := c[call]; return ok }

// LineID names the call for a line, so that its segments are known by it.
func LineID(room, token string, basis uint64) string {
	return fmt.Sprintf("%s/%s@%d", room, token, basis)
}

// VoteID names the call for a vote, of which a companion has one at a time.
func VoteID(who string) string { return "vote/" + who }

// Begin gives the context of a call, which has ended already where a STOP came
// between.
func (c Running) Begin(ctx context.Context, call string) context.Context {
	during, end := context.WithCancel(ctx)
	if run, live := c[call]; live {
		run.end = end
		c[call] = run
	} else {
		end()
	}
	return during
}

// Over forgets a call that has ended.
func (c Running) Over(call string) {
	if run := c[call]; run.end != nil {
		run.end()
	}
	delete(c, call)
}

// Stop ends all calls.
func (c Running) Stop() {
	for call := range c {
		c.Over(call)
	}
}
