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

// ending puts the program into a process group of its own.
func ending() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// orphans gives none: whoever is left was in the program's process group.
func orphans() ([]int, error) { return nil, nil }

// Usage gives zeros: the system does not say without help.
func (r *Running) Usage() (cpu time.Duration, memory int64) { return 0, 0 }
