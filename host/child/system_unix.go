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

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// limit sets the system's limits. One that it refuses leaves the watch of [Obey].
func limit(l Limits) {
	if l.CPU > 0 {
		s := uint64(l.CPU/time.Second) + 1 // behind the watch, which can say why
		_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: s, Max: s})
	}
	if l.File > 0 {
		_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(l.File), Max: uint64(l.File)})
	}
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	limitMemory(l)
	if l.Background {
		yield()
	}
}

// cpuTime is what the process has computed.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
