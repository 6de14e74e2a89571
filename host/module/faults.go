package module

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// tally counts the faults of one generation and holds its quarantine. It asks
// no clock: the time comes in.
type tally struct {
	mu     sync.Mutex
	total  int
	recent []time.Time // within the window, oldest first; at most the limit
	why    string      // of the quarantine; empty when there is none
	until  time.Time
}

// add notes a fault and says whether it was the one that begins a quarantine.
// While one lasts, faults of calls that were running are counted only.
func (t *tally) add(now time.Time, f *Fault, l Limits) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total++
	if l.Faults < 0 || t.why != "" && now.Before(t.until) {
		return false
	}
	for len(t.recent) > 0 && now.Sub(t.recent[0]) > l.FaultWindow {
		t.recent = t.recent[1:]
	}
	t.recent = append(t.recent, now)
	if len(t.recent) < l.Faults {
		return false
	}
	t.recent = nil
	t.until = now.Add(l.CoolDown)
	t.why = fmt.Sprintf("quarantined: %d faults in %ss, last: %s", l.Faults,
		strconv.FormatFloat(l.FaultWindow.Seconds(), 'f', -1, 64), firstLine(f.Error()))
	return true
}

// refusal gives why no call may begin now, empty when one may. over is true
// once, for the first call after a quarantine.
func (t *tally) refusal(now time.Time) (why string, over bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why == "" {
		return "", false
	}
	if now.Before(t.until) {
		return t.why, false
	}
	t.why = ""
	return "", true
}

// quarantine gives why and until when calls are refused; it changes nothing.
func (t *tally) quarantine(now time.Time) (why string, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why == "" || !now.Before(t.until) {
		return "", time.Time{}
	}
	return t.why, t.until
}

// count gives all faults of the generation.
func (t *tally) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
