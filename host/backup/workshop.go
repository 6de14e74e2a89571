package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/statedir"
)

// unfinished ends the name of the folder in which an archive is made, beside where it will be.
const unfinished = ".unfinished"

// workshop makes the folder in which an archive is made, and takes away those of backups that were killed. done deletes it.
func (o Options) workshop() (dir string, done func() error, err error) {
	if o.File == "" {
		dir, err = os.MkdirTemp("", "companiond")
		return dir, func() error { return os.RemoveAll(dir) }, err
	}
	killed, _ := filepath.Glob(filepath.Join(escaped(filepath.Dir(o.File)), "*"+unfinished)) // an error would be of the pattern
	for _, k := range killed {
		if k != o.File+unfinished {
			sweep(k)
		}
	}
	dir = o.File + unfinished
	if err := os.Mkdir(dir, 0o700); errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("there is no folder %s; make it first", filepath.Dir(o.File))
	} else if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", nil, err
	}
	lock := statedir.NewLock(dir)
	if err := lock.Take(); errors.Is(err, journal.ErrLocked) {
		return "", nil, fmt.Errorf("another companiond backup is writing %s", o.File)
	} else if err != nil {
		return "", nil, err
	}
	done = func() error { return errors.Join(lock.Release(), os.RemoveAll(dir)) }
	if err := emptied(dir); err != nil {
		return "", nil, errors.Join(err, done())
	}
	return dir, done, nil
}

// sweep deletes the folder of a backup that was killed; one that is at work has its lock.
func sweep(dir string) {
	if _, err := os.Stat(filepath.Join(dir, "lock")); err != nil {
		return // it is somebody else's
	}
	lock := statedir.NewLock(dir)
	if lock.Take() != nil {
		return
	}
	_ = emptied(dir) // what cannot be deleted is tried the next time
	_ = lock.Release()
	_ = os.RemoveAll(dir)
}

// emptied deletes all in a folder but its lock.
func emptied(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Name() != "lock" {
			if err := os.RemoveAll(filepath.Join(dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// escaped writes a path so that filepath.Glob takes it as it is.
func escaped(path string) string {
	if filepath.Separator == '\\' { // nothing can be escaped there
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
