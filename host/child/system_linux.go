package child

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// endWith has the system end a child that is not told of it when the daemon is gone.
func endWith(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }

// limitMemory bounds what the process maps, and offers it to the system as the first to
// go where memory is short.
func limitMemory(l Limits) {
	if l.Memory > 0 {
		setLimit(syscall.RLIMIT_DATA, l.Memory+memoryRoom)
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
}

// yield lets everything else go first. Linux knows a niceness for each thread, and a new
// one has that of the thread that makes it.
func yield() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, niceness)
		}
	}
}
