package meter

import (
	"syscall"
	"time"
)

// threadTime is the processor time that this thread has had.
func threadTime() (t time.Duration, ok bool) {
	const thisThread = 1 // RUSAGE_THREAD, which package syscall does not name
	var u syscall.Rusage
	err := syscall.Getrusage(thisThread, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err == nil
}
