//go:build unix && !linux

package child

import (
	"os/exec"
	"syscall"
)

// endWith does nothing: the system has no way to.
func endWith(*exec.Cmd) {}

// limitMemory does nothing: elsewhere than on Linux no limit of the system bounds what
// Go maps.
func limitMemory(Limits) {}

// yield lets everything else go first.
func yield() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness) }
