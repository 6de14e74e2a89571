package warden

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// prSetChildSubreaper is PR_SET_CHILD_SUBREAPER of prctl(2).
const prSetChildSubreaper = 36

// adopt makes the guard the parent of all that is below it and loses its own.
func adopt() { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0) }

// bound has whoever is below the guard have so much memory at most. The guard itself needs little.
func bound(memory int64) {
	if memory > 0 {
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: uint64(memory), Max: uint64(memory)})
	}
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}

// keep hands nothing of what the daemon was started with on to the program, such as a file that a shell opened.
func keep() {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// endBelow ends whoever is below a process, from the top: whoever starts others is ended first.
func endBelow(pid int) {
	children, _ := childrenOf(pid)
	for _, child := range children {
		below, _ := childrenOf(child)
		_ = syscall.Kill(child, syscall.SIGKILL)
		for _, b := range below {
			endBelow(b)
			_ = syscall.Kill(b, syscall.SIGKILL)
		}
	}
}

// ending has the system end the program with the guard, should somebody kill that.
func ending() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// orphans gives the guard's children, those that have ended too.
func orphans() ([]int, error) { return childrenOf(os.Getpid()) }

// stat is what is wanted of /proc/PID/stat.
type stat struct {
	parent int
	ticks  int64 // of processor time, with that of children that have ended
	pages  int64 // in memory
}

// statOf reads the stat of a process; ok is false for one that is gone.
func statOf(pid string) (s stat, ok bool) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return s, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // its name may hold anything
	if len(fields) < 22 {
		return s, false
	}
	number := func(field int) int64 { // counted from 3, as proc(5) does
		n, _ := strconv.ParseInt(string(fields[field-3]), 10, 64)
		return n
	}
	return stat{int(number(4)), number(14) + number(15) + number(16) + number(17), number(24)}, true
}

// childrenOf gives the children of a process.
func childrenOf(parent int) (children []int, err error) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	for _, dir := range all {
		pid := filepath.Base(dir)
		if s, ok := statOf(pid); ok && s.parent == parent {
			n, _ := strconv.Atoi(pid)
			children = append(children, n)
		}
	}
	return children, nil
}

// ticksPerSecond is what Linux counts processor time in, for programs, on every machine that Go
// knows.
const ticksPerSecond = 100

// Usage gives the processor time that the program behind a guard has taken so far, with what it
// started and has ended, and the memory that it holds now in bytes: zeros where nothing is left.
func (r *Running) Usage() (cpu time.Duration, memory int64) {
	pid := r.program.Load()
	if pid == 0 {
		children, _ := childrenOf(r.PID())
		if len(children) == 0 {
			return 0, 0
		}
		pid = int64(slices.Min(children)) // orphans came later
		r.program.Store(pid)
	}
	s, ok := statOf(strconv.FormatInt(pid, 10))
	if !ok || s.parent != r.PID() { // gone, and its number may be another's
		return 0, 0
	}
	return time.Duration(s.ticks) * time.Second / ticksPerSecond, s.pages * int64(os.Getpagesize())
}
