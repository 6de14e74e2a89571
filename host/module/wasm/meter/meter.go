// Package meter counts what a call of a guest does, and says when that is too much.
//
// A call is held to what it does, and not to how long that takes: a machine that is busy
// makes no guest hang. What it does is counted in units of package fuel. Its code burns
// them, and host functions charge for their own work what code does in the time, for a
// loop of calls to the host burns hardly any. A wait costs nothing.
//
// A unit is not the same work everywhere: a guest that misses the processor's caches all
// the time, or divides, takes a hundred times longer for one. So where the system tells it,
// processor time is counted beside them.
//
// It never looks at the clock, and it ends nothing itself.
package meter

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/companiond/companiond/abi"
)

const (
	// Budget is what a call may do unless something else is configured: some five seconds
	// of ordinary code, and half a one of the tightest loop. A vote burns 2,000 to 500,000,
	// a line a million. On a machine that has a tenth of a core to give it is used up
	// before a vote is given up, after a minute.
	Budget = 1_500_000_000
	// slowerInterpreted is by how much the interpreter is slower, so that a call does
	// not take it longer to use up what it may.
	slowerInterpreted = 50
	// unitTime is what a unit may take in processor time, three times what it does in
	// ordinary code: a slow processor is nobody's fault either.
	unitTime = 10 * time.Nanosecond
	// every is how many units lie between two looks at processor time.
	every = 100_000
)

// Debt is what calls have done that time ended, since one ended otherwise. The next has
// it on its account: where a machine is so slow that no call uses up its budget before its
// limit, a guest that hangs does so in several. One that answers has none.
type Debt struct {
	Units int64
	Time  time.Duration // of the processor
}

// Work is what a call has done. It belongs to the goroutine that runs the call.
type Work struct {
	units   int64 // of fuel
	looked  int64 // units when processor time was looked at last
	budget  int64
	most    time.Duration // of processor time
	pinned  bool          // to the thread whose time is counted
	already time.Duration // that thread's before
	before  time.Duration // of the processor, by calls before
}

// Begin readies it for a call with a budget, of which one that is interpreted has a part.
func (w *Work) Begin(budget int64, interpreted bool) {
	*w = Work{budget: budget, most: math.MaxInt64}
	if budget < math.MaxInt64/int64(unitTime) {
		w.most = time.Duration(budget) * unitTime
	}
	if interpreted {
		w.budget /= slowerInterpreted
	}
}

// Owe puts what calls before did on the account of this one.
func (w *Work) Owe(d Debt) { w.units, w.looked, w.before = d.Units, d.Units, d.Time }

// Of says which op the call is of: those of filters have a part of the budget. Of what they owe they have half of that at most,
// for it may be of an op that may do more.
func (w *Work) Of(op string) {
	if !abi.Filters(op) {
		return
	}
	w.budget, w.most = w.budget/abi.FilterShare, w.most/abi.FilterShare
	w.units, w.before = min(w.units, w.budget/2), min(w.before, w.most/2)
	w.looked = w.units
}

// End ends the counting. It may be called again.
func (w *Work) End() {
	if w.pinned {
		w.before = w.took()
		runtime.UnlockOSThread()
		w.pinned = false
	}
}

// Done is what was done, once it has ended.
func (w *Work) Done() Debt { return Debt{w.units, w.before} }

// Pin begins to count processor time, with that of the thread that runs the guest, which
// is the goroutine's alone until End. Add does so once there is something to count.
func (w *Work) Pin() {
	runtime.LockOSThread()
	if w.already, w.pinned = threadTime(); !w.pinned {
		runtime.UnlockOSThread()
	}
}

// took is the processor time so far.
func (w *Work) took() time.Duration {
	now, _ := threadTime()
	return w.before + now - w.already
}

// Add counts units. The error says that they were too many.
func (w *Work) Add(units int64) error {
	w.units += units
	if w.units > w.budget {
		return fmt.Errorf("used more than %d units of CPU in one call", w.budget)
	}
	if w.units-w.looked < every {
		return nil
	}
	w.looked = w.units
	if !w.pinned {
		w.Pin()
		return nil
	}
	return w.Check()
}

// Nearly says whether nine tenths of what may be done is done.
func (w *Work) Nearly() bool {
	return w.units > w.budget/10*9 || w.pinned && w.took() > w.most/10*9
}

// Check looks at processor time. The error says that it was too much.
func (w *Work) Check() error {
	if w.pinned && w.took() > w.most {
		return fmt.Errorf("computed for more than %v in one call", w.most.Round(time.Millisecond))
	}
	return nil
}
