//go:build unix

package waittest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Gone waits until processes have ended. One that nobody waits for counts as ended: in a container nobody
// waits for orphans.
func Gone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		Until(t, fmt.Sprintf("process %d is gone", pid), func() bool {
			if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
				return strings.Contains(string(stat), ") Z ")
			}
			return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
		})
	}
}
