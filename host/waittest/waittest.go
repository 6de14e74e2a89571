// Package waittest is how tests wait on a machine that may be busy: as long as it
// takes for what is to come, and by the machine's own measure where time is what they
// judge. The daemon never uses it.
package waittest

import (
	"testing"
	"time"
)

// Long is longer than anything takes that happens at all, on however slow a machine. A
// test that waits for so long has failed.
const Long = 2 * time.Minute

// Until waits for what happens by itself and sends nothing that could be waited for.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(Long); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", Long, what)
		}
	}
}

// Late says whether something took longer than it may on an idle machine, and by more
// than all work is slower just now.
func Late(took, most time.Duration) bool {
	return took > most && float64(took) > float64(most)*Slowness()
}

// WithoutRaces skips a test while the race detector is on, which makes it many times slower, or late, and would find nothing that
// it does not find in other tests: nothing happens at once in it, or it kills processes, or is of how long guests take. make
// test runs all that call this once more without the detector.
func WithoutRaces(t testing.TB) {
	t.Helper()
	if RaceDetector {
		t.Skip("runs without the race detector only")
	}
}
