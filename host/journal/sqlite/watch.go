package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
	"github.com/companiond/companiond/host/journal/swap"
)

// gone acts on a file that is not where it was: writes stop, and all that was
// acknowledged is saved beside it while it can still be read.
func (j *Journal) gone(why statedir.Gone) {
	if errors.As(j.Health(), new(statedir.Gone)) {
		return // known
	}
	dst := fmt.Sprintf("%s.rescued-%s", j.path, statedir.Stamp())
	advice := "Put it back, or stop companiond and restore a backup"
	if err := j.rescue(dst); err != nil {
		j.log.Error("save a copy of the journal that is gone", "err", err)
	} else {
		advice = fmt.Sprintf("All it held is in %s. Put it back; or stop companiond, rename that copy to %s and start again", dst, filepath.Base(j.path))
	}
	j.setHealth(why + statedir.Gone("; writes have stopped. "+advice))
	j.desk.Doubt()
}

// finishSwap puts a journal in place that somebody was about to put there, and was killed.
func finishSwap(dir string) (err error) {
	if !swap.Pending(dir) {
		return nil
	}
	lock := statedir.NewLock(dir)
	if err := lock.Take(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return swap.Finish(dir)
}

// mislaid refuses to begin an empty journal where a copy lies of one that was moved
// away under the daemon, or its write-ahead log: two histories would go their own ways, and
// SQLite would delete the log.
func (j *Journal) mislaid() error {
	if _, err := os.Stat(j.path); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it is found when it is opened
	}
	base := filepath.Base(j.path)
	copies, _ := filepath.Glob(j.path + ".rescued-*") // an error would be of the pattern
	copies = slices.DeleteFunc(copies, func(name string) bool { return strings.HasSuffix(name, store.HalfDone) })
	if len(copies) > 0 {
		newest := slices.Max(copies)
		return fmt.Errorf("%w: journal %s is not there, but %s holds all that it held: rename that to %s and start again, or put it elsewhere to begin an empty one",
			journal.ErrCorrupt, j.path, newest, base)
	}
	if log, err := os.Stat(j.path + "-wal"); err == nil && log.Size() > 0 {
		return fmt.Errorf("%w: journal %s is not there, but its newest entries are, in %s-wal: put %s back and start again, or put %s-wal, %s-shm and heads elsewhere to begin an empty one",
			journal.ErrCorrupt, j.path, base, base, base, base)
	}
	return nil
}

// strayLog puts a write-ahead log aside that belongs to a file which was here before. A
// copy, as one that was rescued, never had one: SQLite would play the other's into it.
func (j *Journal) strayLog() error {
	head := make([]byte, 20)
	f, err := os.Open(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	const writeVersion, readVersion, rollback = 18, 19, 1 // https://www.sqlite.org/fileformat.html
	if _, err := io.ReadFull(f, head); err != nil || head[writeVersion] != rollback || head[readVersion] != rollback {
		return nil // empty, of another program, or a file that has a log
	}
	aside := ".stray-" + statedir.Stamp()
	for _, suffix := range []string{"-wal", "-shm"} {
		switch err := os.Rename(j.path+suffix, j.path+suffix+aside); {
		case err == nil:
			j.log.Warn("a write-ahead log of another file lay beside the journal, and is put aside", "file", filepath.Base(j.path)+suffix+aside)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("put a stray write-ahead log aside: %w", err)
		}
	}
	return nil
}

// rescue writes what the open connection sees to a new file.
func (j *Journal) rescue(dst string) error {
	if j.w == nil {
		return errors.New("it is not open")
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
		return err
	}
	return store.Whole(dst, func(name string) error { return j.w.Exec(`VACUUM INTO ?`, name) })
}
