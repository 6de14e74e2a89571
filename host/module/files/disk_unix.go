//go:build unix

package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writable says why files cannot be saved in the folder; nil: they can.
func (s *Store) writable() error {
	if err := unix.Access(s.cfg.Dir, unix.W_OK|unix.X_OK); err != nil {
		return s.denied(err)
	}
	return nil
}

// readOnly says whether an error is that of a file system that is only read.
func readOnly(err error) bool { return errors.Is(err, unix.EROFS) }

// settle has names be on the disk as files are.
func settle(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}
