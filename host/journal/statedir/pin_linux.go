package statedir

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// pin is a file as it was found at a path.
type pin struct {
	path string
	id   fileID
}

type fileID struct {
	major, minor uint32
	inode        uint64
}

func newPin(path string) (pin, error) {
	id, err := identify(path)
	return pin{path, id}, err
}

// still says whether the same file is at the path. It asks for the inode alone:
// to ask for a time makes Linux write down a finer one at the next change, which
// each fsync then has to wait for.
func (p pin) still() (bool, error) {
	id, err := identify(p.path)
	return id == p.id, err
}

func identify(path string) (fileID, error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &st); err != nil {
		return fileID{}, &fs.PathError{Op: "statx", Path: path, Err: err}
	}
	return fileID{st.Dev_major, st.Dev_minor, st.Ino}, nil
}
