//go:build unix

package process

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/companiond/companiond/abi"
)

// checkOwner refuses a program that others than root and the daemon's own user may change, or may put
// another in place of. Whoever mends that changes no byte of the file, so it may be tried again.
func checkOwner(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for _, at := range []struct{ name, what, fix string }{
		{real, "the file", "chmod o-w " + real},
		{filepath.Dir(path), "its folder", "chmod o-w " + filepath.Dir(path)},
		{filepath.Dir(real), "the folder that it is linked to", "chmod o-w " + filepath.Dir(real)},
	} {
		info, err := os.Stat(at.name)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o002 != 0 {
			return again(abi.CodeDenied, "%s may be written by everybody on this machine, so it is not run: %s", at.what, at.fix)
		}
		if info.Mode().IsRegular() && info.Mode().Perm()&0o111 == 0 {
			return again(abi.CodeDenied, "%s is not executable, so it is not run: chmod +x %s", at.what, at.name)
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
			return again(abi.CodeDenied, "%s belongs to another user (%d), so it is not run: chown it to root or to the user of companiond", at.what, s.Uid)
		}
	}
	return nil
}
