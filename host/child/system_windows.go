package child

import (
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// belowNormal is Windows' BELOW_NORMAL_PRIORITY_CLASS.
const belowNormal = 0x00004000

// group lets the child go behind everything else, which is said at its start here.
// Windows has no process groups: those that the child starts are its own affair.
func group(cmd *exec.Cmd, background bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
	if background {
		cmd.SysProcAttr.CreationFlags = belowNormal
	}
}

func killGroup(*exec.Cmd) {}

// ask ends the child: there is no request that every program knows.
func ask(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// endWith does nothing: the system ends no child with its parent.
func endWith(*exec.Cmd) {}

// limit puts the process into a job of its own. Where the system refuses that, the
// watch of [Obey] is left.
func limit(l Limits) {
	job, err := windows.CreateJobObject(nil, nil) // as long as the process
	if err != nil {
		return
	}
	var set windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	if l.Memory > 0 {
		set.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
		set.ProcessMemoryLimit = uintptr(l.Memory + memoryRoom)
	}
	if l.CPU > 0 {
		set.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_TIME
		set.BasicLimitInformation.PerProcessUserTimeLimit = int64(l.CPU+time.Second) / 100 // behind the watch, which can say why
	}
	_, _ = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&set)), uint32(unsafe.Sizeof(set)))
	_ = windows.AssignProcessToJobObject(job, windows.CurrentProcess())
}

// cpuTime is what the process has computed.
func cpuTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(ticks(kernel)+ticks(user)) * 100
}
