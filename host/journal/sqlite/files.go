package sqlite

import (
	"errors"
	"fmt"
	"os"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
)

func (j *Journal) closeFiles() error {
	err := errors.Join(j.r.Close(), j.closeWriter())
	j.r = nil
	return err
}

func (j *Journal) closeWriter() (err error) {
	if j.w != nil {
		err = j.w.Close()
	}
	j.w = nil
	return err
}

// reopen closes the files and opens them again: for writing, or only for
// reading when that fails, which the error then tells the reason of. After an
// I/O error everything readable must first be made durable anew, for the kernel
// may show pages it failed to write.
func (j *Journal) reopen() error {
	locked := j.lock.Take()
	if locked != nil && (j.r != nil && j.w == nil || errors.Is(locked, journal.ErrLocked)) {
		return locked // as before
	}
	j.files.Lock()
	defer j.files.Unlock()
	if err := j.closeFiles(); err != nil {
		j.log.Debug("close journal", "err", err)
	}
	err := locked
	if err == nil {
		j.w, err = j.openWriter()
	}
	if errors.Is(err, store.ErrRefused) {
		return err
	}
	r, rerr := j.openReaders(err != nil)
	if rerr == nil {
		j.r = r
		rerr = j.compareMark(r)
	}
	if rerr != nil && (err == nil || errors.Is(rerr, journal.ErrCorrupt)) {
		err = rerr
	}
	if err != nil {
		return errors.Join(err, j.closeWriter())
	}
	j.failed = false
	return nil
}

// openWriter opens the file for writing. Its errors are classified.
func (j *Journal) openWriter() (_ *writer, err error) {
	if err := j.strayLog(); err != nil {
		return nil, fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
	}
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: open for writing: %w", journal.ErrUnavailable, err)
	}
	f.Close() // SQLite gives its other files the mode of this one
	s, err := store.Open(j.path, store.Writing, j.tune.busy)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(store.Classify(err, journal.ErrUnavailable), s.Close())
		}
	}()
	if err := s.Claim(); err != nil {
		return nil, err
	}
	v, err := j.tune.schema.Version(s)
	if err != nil {
		return nil, err
	}
	if err := s.Configure(j.tune.synchronous); err != nil {
		return nil, err
	}
	if err := j.tune.schema.Migrate(s, j.path, v, j.log); err != nil {
		return nil, err
	}
	if err := s.Settle(j.failed); err != nil {
		return nil, err
	}
	if j.held, err = statedir.Hold(j.path, j.path+"-wal"); err != nil {
		return nil, err
	}
	return &writer{Store: s, rooms: map[string]*roomRow{}}, nil
}

// openReaders opens the connections reads use, with ro such that they never
// touch the file. Its errors are classified.
func (j *Journal) openReaders(ro bool) (*store.Store, error) {
	if !ro {
		return j.openReadersAs(store.Writing)
	}
	s, err := j.openReadersAs(store.OnlyReading)
	if errors.Is(err, journal.ErrUnavailable) {
		if s, aerr := j.openReadersAs(store.Alone); aerr == nil {
			return s, nil
		}
	}
	return s, err
}

func (j *Journal) openReadersAs(access store.Access) (*store.Store, error) {
	s, err := store.Open(j.path, access, j.tune.busy, "query_only(1)")
	if err != nil {
		return nil, err
	}
	if err := j.tune.schema.Current(s); err != nil {
		return nil, errors.Join(store.Classify(err, journal.ErrUnavailable), s.Close())
	}
	return s, nil
}
