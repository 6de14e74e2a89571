//go:build unix

package warden

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// apart keeps what is typed at the daemon's terminal from the guard: a stop of the daemon is
// orderly.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// wake lets a guard go on that was stopped.
func wake(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }

// guard runs the program, and gives how it ended when nothing is left of it.
func guard(argv []string, memory int64) (code int, err error) {
	runtime.LockOSThread() // the system ends the program with the thread that started it
	adopt()
	bound(memory)
	keep()
	// A guard that a signal ends could not end the others. An ignored signal would be ignored by the
	// program as well.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	pid, err := start(argv)
	if errors.Is(err, syscall.EACCES) {
		err = fmt.Errorf("%w; is its directory on a filesystem that is mounted noexec?", err)
	}
	if err != nil {
		return 0, fmt.Errorf("%s cannot be started: %w", argv[0], err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the daemon lets go, or is gone
		_, _ = syscall.Kill(-pid, syscall.SIGKILL), syscall.Kill(pid, syscall.SIGKILL)
	}()
	for {
		ended, status, err := wait()
		switch {
		case err != nil:
			return 0, err
		case ended == pid && status.Signaled():
			code = 128 + int(status.Signal())
		case ended == pid:
			code = status.ExitStatus()
		default: // one that the program lost
			continue
		}
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		return code, endOrphans()
	}
}

// start starts the program. What writes programs may be held open for writing for a moment, by a child
// that the daemon is just about to start.
func start(argv []string) (pid int, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	for range 100 {
		pid, err = syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
			Env: os.Environ(), Files: []uintptr{null.Fd(), os.Stdout.Fd(), os.Stderr.Fd()}, Sys: ending(),
		})
		if !errors.Is(err, syscall.ETXTBSY) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return pid, err
}

// wait waits for any child.
func wait() (pid int, status syscall.WaitStatus, err error) {
	for {
		pid, err = syscall.Wait4(-1, &status, 0, nil)
		if !errors.Is(err, syscall.EINTR) {
			return pid, status, err
		}
	}
}

// endOrphans ends whoever is still below the guard. Those of one that is ended come to the guard in
// their turn.
func endOrphans() error {
	for {
		children, err := orphans()
		if err != nil {
			return err
		}
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(children) == 0 {
			return nil
		}
		if _, _, err := wait(); errors.Is(err, syscall.ECHILD) {
			return nil
		}
	}
}
