//go:build !linux

package statedir

import (
	"io/fs"
	"os"
)

// Pin is a file as it was found at a path.
type Pin struct {
	path string
	info fs.FileInfo
}

// NewPin notes which file is at a path now.
func NewPin(path string) (Pin, error) {
	info, err := os.Stat(path)
	return Pin{path, info}, err
}

// Path is where the file was.
func (p Pin) Path() string { return p.path }

// Still says whether the same file is at the path.
func (p Pin) Still() (bool, error) {
	info, err := os.Stat(p.path)
	return err == nil && os.SameFile(info, p.info), err
}
