package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/statedir"
)

// hold notes the database and its log as they are now. A file of ours is never
// exchanged while it is open, so another one at its path is somebody else's work.
func (j *Journal) hold() error {
	j.held = nil
	for _, path := range []string{j.path, j.path + "-wal"} {
		pin, err := statedir.NewPin(path)
		if err != nil {
			return fmt.Errorf("%w: look at journal: %w", journal.ErrUnavailable, err)
		}
		j.held = append(j.held, pin)
	}
	return nil
}

// errGone says that what is open is not what others find.
type errGone string

func (e errGone) Unwrap() error { return journal.ErrUnavailable }
func (e errGone) Error() string { return journal.ErrUnavailable.Error() + ": " + string(e) }

// watch says whether the database still is the file at its path. Anything
// written to a file without a name is lost with the process, and where the path
// names another file, another daemon may be using that.
func (j *Journal) watch() error {
	for _, pin := range j.held {
		switch still, err := pin.Still(); {
		case errors.Is(err, fs.ErrNotExist):
			return errGone(pin.Path() + " was deleted or moved away")
		case err != nil:
			return errGone(fmt.Sprintf("%s cannot be looked at: %v", pin.Path(), err))
		case !still:
			return errGone(pin.Path() + " is another file than the one that is open")
		}
	}
	return nil
}

// gone acts on a file that is not where it was: writes stop, and all that was
// acknowledged is saved beside it while it can still be read.
func (j *Journal) gone(why errGone) {
	if errors.As(j.Health(), new(errGone)) {
		return // known
	}
	dst := fmt.Sprintf("%s.rescued-%s", j.path, time.Now().UTC().Format("20060102T150405.000Z"))
	advice := "Put it back, or stop companiond and restore a backup"
	if err := j.rescue(dst); err != nil {
		j.log.Error("save a copy of the journal that is gone", "err", err)
	} else {
		advice = fmt.Sprintf("All it held is in %s. Put it back; or stop companiond, rename that copy to %s and start again", dst, filepath.Base(j.path))
	}
	j.setHealth(why + errGone("; writes have stopped. "+advice))
	j.wakeAll()
}

// mislaid refuses to begin an empty journal where a copy lies of one that was moved
// away under the daemon: two histories would go their own ways.
func (j *Journal) mislaid() error {
	if _, err := os.Stat(j.path); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it is found when it is opened
	}
	copies, _ := filepath.Glob(j.path + ".rescued-*") // an error would be of the pattern
	if len(copies) == 0 {
		return nil
	}
	newest := slices.Max(copies)
	return fmt.Errorf("%w: journal %s is not there, but %s holds all that it held: rename that to %s and start again, or put it elsewhere to begin an empty one",
		journal.ErrCorrupt, j.path, newest, filepath.Base(j.path))
}

// rescue writes what the open connection sees to a new file.
func (j *Journal) rescue(dst string) error {
	if j.w == nil {
		return errors.New("it is not open")
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
		return err
	}
	return j.w.exec(`VACUUM INTO ?`, dst)
}
