package child

import (
	"os/exec"
	"syscall"
	"time"
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

func limit(Limits) {}

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
