package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/companiond/companiond/host/journal"
)

// takeLock makes this process the only writer of the state directory; when it
// already is, it checks that the directory can still be written to. The lock
// goes when the process does, however it ends.
func (j *Journal) takeLock() error {
	path := j.lock.Path()
	if held, err := j.lock.Stat(); err == nil && j.lock.Locked() {
		if there, err := os.Stat(path); err == nil && !os.SameFile(held, there) {
			_ = j.lock.Close() // somebody put another file, or another disk, in its place
		}
	}
	if !j.lock.Locked() {
		ok, err := j.lock.TryLock()
		if err != nil {
			return fmt.Errorf("%w: lock state directory: %w", journal.ErrUnavailable, err)
		}
		if !ok {
			return fmt.Errorf("%w: %s%s", journal.ErrLocked, filepath.Dir(path), holder(path))
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("%w: write to state directory: %w", journal.ErrUnavailable, err)
	}
	defer f.Close()
	// The pid is for people; a full disk must not keep the daemon out.
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintln(f, os.Getpid())
	}
	return nil
}

// holder says in brackets which process wrote the lock file, if it can.
func holder(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (held by process %d)", pid)
}
