//go:build unix

package child

import (
	"os/exec"
	"syscall"
	"time"
)

// niceness is that of a child that lets everything else go first.
const niceness = 10

// group makes the child the first of a process group of its own, which ends with it.
func group(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { killGroup(cmd); return nil }
}

// ask asks a child and those that it started to end.
func ask(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// limit sets the system's limits. One that it refuses leaves the watch of [Obey].
func limit(l Limits) {
	if l.CPU > 0 {
		setLimit(syscall.RLIMIT_CPU, int64(l.CPU/time.Second)+1) // behind the watch, which can say why
	}
	if l.File > 0 {
		setLimit(syscall.RLIMIT_FSIZE, l.File)
	}
	setLimit(syscall.RLIMIT_CORE, 0)
	limitMemory(l)
	if l.Background {
		yield()
	}
}

// setLimit sets a limit of the system for good.
func setLimit(which int, n int64) {
	var l syscall.Rlimit
	assign(&l.Cur, n)
	assign(&l.Max, n)
	_ = syscall.Setrlimit(which, &l)
}

// assign is there because a limit's number has another type on each system.
func assign[T int64 | uint64](to *T, n int64) { *to = T(n) }

// cpuTime is what the process has computed.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
