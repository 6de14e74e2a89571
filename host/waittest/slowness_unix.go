//go:build unix

package waittest

import (
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Slowness tells how many times longer work takes than it would if nothing but this
// process ran on the machine; 1 or more. It works on all processors for a moment and
// looks how much of them it was given, so the process should be idle otherwise.
func Slowness() float64 {
	const moment = 100 * time.Millisecond
	began, before := time.Now(), used()
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for time.Since(began) < moment {
			}
		})
	}
	all.Wait()
	wanted := time.Since(began) * time.Duration(runtime.GOMAXPROCS(0))
	return max(1, float64(wanted)/float64(max(used()-before, 1)))
}

// used is the processor time this process has had.
func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it fails for bad arguments alone
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
