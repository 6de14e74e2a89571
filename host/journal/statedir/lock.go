package statedir

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/companiond/companiond/host/journal"
	"github.com/gofrs/flock"
)

// Lock makes a process the only writer of a state directory. It goes when the
// process does, however that ends.
type Lock struct{ file *flock.Flock }

// NewLock is the lock of a directory, not yet taken.
func NewLock(dir string) *Lock {
	return &Lock{flock.New(filepath.Join(dir, "lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))}
}

// Take takes the lock; when the process already has it, it checks that the
// directory can still be written to.
//
// # Errors
//
// journal.ErrLocked when another process has it, else journal.ErrUnavailable.
func (l *Lock) Take() error {
	path := l.file.Path()
	if held, err := l.file.Stat(); err == nil && l.file.Locked() {
		if there, err := os.Stat(path); err == nil && !os.SameFile(held, there) {
			_ = l.file.Close() // somebody put another file, or another disk, in its place
		}
	}
	if !l.file.Locked() {
		ok, err := l.file.TryLock()
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
	if err := Inherit(path); err != nil {
		return fmt.Errorf("%w: give the lock to the owner of its folder: %w", journal.ErrUnavailable, err)
	}
	return nil
}

// Release lets another process take the lock.
func (l *Lock) Release() error { return l.file.Close() }

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
