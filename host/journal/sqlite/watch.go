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

// gone acts on a file that is not where it was: writes stop, and all that was
// acknowledged is saved beside it while it can still be read.
func (j *Journal) gone(why statedir.Gone) {
	if errors.As(j.Health(), new(statedir.Gone)) {
		return // known
	}
	dst := fmt.Sprintf("%s.rescued-%s", j.path, time.Now().UTC().Format("20060102T150405.000Z"))
	advice := "Put it back, or stop companiond and restore a backup"
	if err := j.rescue(dst); err != nil {
		j.log.Error("save a copy of the journal that is gone", "err", err)
	} else {
		advice = fmt.Sprintf("All it held is in %s. Put it back; or stop companiond, rename that copy to %s and start again", dst, filepath.Base(j.path))
	}
	j.setHealth(why + statedir.Gone("; writes have stopped. "+advice))
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
	return j.w.Exec(`VACUUM INTO ?`, dst)
}
