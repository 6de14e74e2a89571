//go:build unix

package statedir

import (
	"os"
	"path/filepath"
	"syscall"
)

// Inherit gives a file that root has made to the owner of the folder it lies in: a daemon that is another user has to write there. Whoever
// is not root makes files that are its own, and that is all it may.
func Inherit(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	if is, ok := info.Sys().(*syscall.Stat_t); ok {
		return os.Lchown(path, int(is.Uid), int(is.Gid))
	}
	return nil
}
