package warden

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// apart shows no window.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true} }

// wake and endBelow do nothing: the job does.
func wake(*os.Process) {}

func endBelow(int) {}

// guard runs the program in the job of the guard, which ends with it.
func guard(argv []string, memory int64) (code int, err error) {
	job, err := windows.CreateJobObject(nil, nil) // as long as the guard
	if err != nil {
		return 0, err
	}
	var set windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	set.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if memory > 0 {
		set.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
		set.ProcessMemoryLimit = uintptr(memory)
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&set)), uint32(unsafe.Sizeof(set))); err != nil {
		return 0, err
	}
	if err := windows.AssignProcessToJobObject(job, windows.CurrentProcess()); err != nil {
		return 0, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = cmd.Process.Kill()
	}()
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// Usage gives zeros.
func (r *Running) Usage() (cpu time.Duration, memory int64) { return 0, 0 }
