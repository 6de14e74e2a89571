//go:build unix

package folder_test

import (
	"syscall"
	"testing"

	"github.com/companiond/companiond/host/module"
)

// A pipe would block who opens it; a folder can carry a suffix.
func TestWhatIsNoFileIsRefused(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		if err := syscall.Mkfifo(r.path("pipe.fake"), 0o644); err != nil {
			t.Skip(err)
		}
		write(t, r.path("dir.fake/dir.fake"), saying("x"))
		r.begin()
		for _, id := range []string{"pipe", "dir"} {
			checkStatus(t, r.folder, id, module.StateFailed, 0, "is not a regular file")
		}
	})
}
