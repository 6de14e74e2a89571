package filter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/companiond/companiond/host/module"
)

// A handler that is late costs whoever waits for it its whole patience, for each piece of a line anew. Whose fault that is nobody
// knows, a slow machine's or that of a server which it asks, and so it is no fault; but where it is late twice in a row it
// is not asked for a while, longer each time, and then once.
const (
	mostLate    = 2
	firstRest   = 10 * time.Second
	longestRest = 5 * time.Minute
)

// resting is why a handler that is left alone is not asked. It has no times, or each piece of a line would have another one.
var resting = fmt.Sprintf("it is left alone for a while: it was too slow %d times in a row", mostLate)

// rest is what is known of a handler's time. Its zero value knows nothing.
type rest struct {
	mu    sync.Mutex
	row   int       // how often it was late since it answered last
	noted time.Time // when it was late last
	until time.Time // when it may be asked again
}

// over says whether a handler may be asked.
func (r *rest) over(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !now.Before(r.until)
}

// answered notes that it was not late.
func (r *rest) answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.row, r.until = 0, time.Time{}
}

// late notes that a call which began then was late, and gives for how long the handler is left alone from now on, 0 for not at
// all. Calls that ran at once are one: they may have waited for each other.
func (r *rest) late(begun, now time.Time) (alone time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if begun.Before(r.noted) {
		return 0
	}
	r.noted = now
	if r.row++; r.row < mostLate {
		return 0
	}
	alone = min(firstRest<<min(r.row-mostLate, 10), longestRest)
	r.until = now.Add(alone)
	return alone
}

// isLate says whether an error is that a handler did not answer in time, or computed for longer than it may.
func isLate(err error) bool {
	var fault *module.Fault
	if errors.As(err, &fault) {
		return fault.Kind == module.FaultTimeout || fault.Kind == module.FaultFuel
	}
	return errors.Is(err, context.DeadlineExceeded)
}
