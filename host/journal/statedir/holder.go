package statedir

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// Holder says whether a process has the lock of a directory, and which, 0 where nobody knows. It leaves the lock file as it is.
func Holder(dir string) (pid int, held bool) {
	path := filepath.Join(dir, "lock")
	if _, err := os.Stat(path); err != nil {
		return 0, false
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryRLock()
	if err == nil && ok {
		_ = l.Close()
		return 0, false
	}
	if err != nil {
		return 0, false
	}
	b, _ := os.ReadFile(path)
	pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
	return pid, true
}
