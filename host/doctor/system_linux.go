package doctor

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// fewFiles is how many open files a daemon with many clients needs.
const fewFiles = 1024

// system looks at the limits of the system.
func system() []Item { return []Item{files(), watches()} }

func files() Item {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return Item{OK, "open files", "the limit is not known here", ""}
	}
	found := fmt.Sprintf("at most %d", l.Max) // Go raises the soft limit to it
	if l.Max < fewFiles {
		return Item{Warn, "open files", found, "ulimit -n 4096, or LimitNOFILE= of the unit"}
	}
	return Item{OK, "open files", found, ""}
}

// watches tries whether folders can be watched.
func watches() Item {
	most := "?"
	if b, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches"); err == nil {
		most = strings.TrimSpace(string(b))
	}
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
	if err != nil {
		return Item{Warn, "inotify", fmt.Sprintf("folders cannot be watched (%v): changes are found by modules.rescan", err), "sudo sysctl fs.inotify.max_user_instances=512"}
	}
	defer syscall.Close(fd)
	if _, err := syscall.InotifyAddWatch(fd, os.TempDir(), syscall.IN_DELETE_SELF); err != nil {
		return Item{Warn, "inotify", fmt.Sprintf("no more than %s files can be watched (%v)", most, err), "sudo sysctl fs.inotify.max_user_watches=524288"}
	}
	return Item{OK, "inotify", most + " watches", ""}
}

// synchronised says whether the system keeps the clock right; true where nobody may ask.
func synchronised() bool {
	const unsynchronised = 0x40 // STA_UNSYNC
	var t syscall.Timex
	if _, err := syscall.Adjtimex(&t); err != nil {
		return true
	}
	return t.Status&unsynchronised == 0
}
