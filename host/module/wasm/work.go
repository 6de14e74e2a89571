package wasm

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/companiond/companiond/host/module"
)

// A call is held to what it does, and not to how long that takes: a machine that is busy
// makes no guest hang. What it does is counted in units of package fuel. Its code burns
// them, and host functions charge for their own work what code does in the time, for a
// loop of calls to the host burns hardly any. A wait costs nothing.
//
// A unit is not the same work everywhere: a guest that misses the processor's caches all
// the time, or divides, takes a hundred times longer for one. So where the system tells it,
// processor time is counted beside them.
const (
	// defaultFuel is the budget of a call: some five seconds of ordinary code, and half a
	// one of the tightest loop. A vote burns 2,000 to 500,000, a line a million. On a machine that has a
	// tenth of a core to give it is used up before a vote is given up, after a minute.
	defaultFuel = 1_500_000_000
	// slowerInterpreted is by how much the interpreter is slower, so that a call does
	// not take it longer to use up what it may.
	slowerInterpreted = 50
	// unitTime is what a unit may take in processor time, three times what it does in
	// ordinary code: a slow processor is nobody's fault either.
	unitTime = 10 * time.Nanosecond
)

// What host functions charge, in units: 3 ns, as measured.
const (
	unitsOfImport   = 30      // of any, for the way out of machine code and back
	unitsOfHostCall = 100_000 // of one that is answered, which may be a transaction of the store
	unitsOfJSON     = 4       // a byte that is read or written as JSON
	bytesOfUnit     = 32      // that are copied
)

// debt is what calls have done that time ended, since one ended otherwise. The next has
// it on its account: where a machine is so slow that no call uses up its budget before its
// limit, a guest that hangs does so in several. One that answers has none.
type debt struct {
	units int64
	time  time.Duration // of the processor
}

// work is what a call has done.
type work struct {
	units   int64 // of fuel
	looked  int64 // units when processor time was looked at last
	budget  int64
	most    time.Duration // of processor time
	pinned  bool          // to the thread whose time is counted
	already time.Duration // that thread's before
	before  time.Duration // of the processor, by calls before
}

// begin readies it for a call in a form of code.
func (w *work) begin(e *Engine, machine bool) {
	*w = work{budget: e.cfg.FuelPerCall, most: math.MaxInt64}
	if w.budget < math.MaxInt64/int64(unitTime) {
		w.most = time.Duration(w.budget) * unitTime
	}
	if !machine {
		w.budget /= slowerInterpreted
	}
	if e.cfg.Guard == GuardContext { // which counts nothing
		w.pin()
	}
}

// owe puts what calls before did on the account of this one.
func (w *work) owe(d debt) { w.units, w.looked, w.before = d.units, d.units, d.time }

// end ends the counting.
func (w *work) end() {
	if w.pinned {
		w.before = w.took()
		runtime.UnlockOSThread()
		w.pinned = false
	}
}

// done is what was done, once it has ended.
func (w *work) done() debt { return debt{w.units, w.before} }

// took is the processor time so far.
func (w *work) took() time.Duration {
	now, _ := threadTime()
	return w.before + now - w.already
}

// pin begins to count processor time, with that of the thread that runs the guest.
func (w *work) pin() {
	var ok bool
	if w.already, ok = threadTime(); !ok {
		return
	}
	runtime.LockOSThread()
	w.already, _ = threadTime() // it may have been another thread's
	w.pinned = true
}

// add counts units, and says whether that was too much.
func (w *work) add(units int64) *stop {
	w.units += units
	if w.units > w.budget {
		return &stop{module.FaultFuel, fmt.Errorf("used more than %d units of CPU in one call", w.budget)}
	}
	if w.units-w.looked < slice {
		return nil
	}
	w.looked = w.units
	if !w.pinned {
		w.pin()
		return nil
	}
	return w.time()
}

// time says whether the call has taken too much processor time.
func (w *work) time() *stop {
	if !w.pinned {
		return nil
	}
	if w.took() > w.most {
		return &stop{module.FaultFuel, fmt.Errorf("computed for more than %v in one call", w.most.Round(time.Millisecond))}
	}
	return nil
}
