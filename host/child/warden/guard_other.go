//go:build unix && !linux

package warden

import (
	"syscall"
	"time"
)

// adopt does nothing: the system gives orphans to nobody but its first process.
func adopt() {}

// bound does nothing: elsewhere than on Linux no limit of the system bounds what a program maps.
func bound(int64) {}

// keep does nothing: the runtime opens nothing that a program is given, and what else the daemon was started
// with is not known.
func keep() {}

// endBelow does nothing: the system does not say who is below a process.
func endBelow(int) {}

// ending puts the program into a process group of its own.
func ending() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// orphans gives none: whoever is left was in the program's process group.
func orphans() ([]int, error) { return nil, nil }

// Usage gives zeros: the system does not say without help.
func (r *Running) Usage() (cpu time.Duration, memory int64) { return 0, 0 }
