// Package usage is what a server that is measured costs its machine, as Linux tells it. It
// looks, and never waits or samples.
package usage

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has used.
type Usage struct {
	CPU    time.Duration
	Memory float64 // resident, in MiB
}

// Of reads a process's usage from /proc; without one, which is 0, there is none.
func Of(pid int) (u Usage, err error) {
	if pid == 0 {
		return u, nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, fmt.Errorf("-pid: %w", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // a name may have blanks
	fields := strings.Fields(rest)
	if len(fields) < 22 {
		return u, fmt.Errorf("-pid: /proc/%d/stat has %d fields", pid, len(fields))
	}
	const tick = 10 * time.Millisecond // what Linux shows is in hundredths
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return u, fmt.Errorf("-pid: %w", err)
		}
		u.CPU += time.Duration(n) * tick
	}
	pages, err := strconv.ParseInt(fields[21], 10, 64)
	u.Memory = float64(pages) * float64(os.Getpagesize()) / (1 << 20)
	return u, err
}
