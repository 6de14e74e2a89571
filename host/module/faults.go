package module

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
)

// tally counts the faults of one generation and holds its quarantine. It asks
// no clock: the time comes in.
type tally struct {
	mu     sync.Mutex
	total  int
	recent []time.Time // within the window, oldest first; at most the limit, see took
	why    string      // of the quarantine; empty when there is none
	until  time.Time

	useless int    // answers that broke the rules of their op
	last    string // what was wrong with the newest of them
	said    map[string]time.Time
}

// sayEvery is how often the log hears of useless answers of one kind, and
// mostKinds of how many kinds: codes are a guest's to choose.
const (
	sayEvery  = time.Minute
	mostKinds = 16
)

// blame notes an answer that broke the rules of its op and says whether the log
// should hear of it, with how many there were.
func (t *tally) blame(now time.Time, op string, code abi.Code, why string) (say bool, useless int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.useless++
	t.last = op + ": " + why
	kind := op + " " + string(code) // none of a guest's own words, or each would be a kind
	maps.DeleteFunc(t.said, func(_ string, at time.Time) bool { return now.Sub(at) >= sayEvery })
	if _, told := t.said[kind]; told || len(t.said) >= mostKinds {
		return false, t.useless
	}
	if t.said == nil {
		t.said = map[string]time.Time{}
	}
	t.said[kind] = now
	return true, t.useless
}

// blamed gives the useless answers in words; empty when there were none.
func (t *tally) blamed() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.useless {
	case 0:
		return ""
	case 1:
		return "one answer was of no use: " + t.last
	}
	return fmt.Sprintf("%d answers were of no use, last: %s", t.useless, t.last)
}

// took notes how long a call took that cost an instance. The window of faults is of the
// time between such calls: on a slow machine each takes longer, and no three faults
// would fit into a minute.
func (t *tally) took(now time.Time, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, at := range t.recent {
		t.recent[i] = at.Add(min(took, now.Sub(at)))
	}
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

// brief gives the first line of what may hold a guest's own words, not too much
// of it.
func brief(s string) string {
	const most = 300
	s = firstLine(s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
