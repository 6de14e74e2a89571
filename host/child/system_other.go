//go:build unix && !linux

package child

import "syscall"

// limitMemory does nothing: elsewhere than on Linux no limit of the system bounds what
// Go maps.
func limitMemory(Limits) {}

// yield lets everything else go first.
func yield() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness) }
