//go:build !linux

package statedir

import (
	"io/fs"
	"os"
)

// pin is a file as it was found at a path.
type pin struct {
	path string
	info fs.FileInfo
}

func newPin(path string) (pin, error) {
	info, err := os.Stat(path)
	return pin{path, info}, err
}

// still says whether the same file is at the path.
func (p pin) still() (bool, error) {
	info, err := os.Stat(p.path)
	return err == nil && os.SameFile(info, p.info), err
}
