package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/statedir"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Health implements journal.Journal. On a full disk it stays an error while
// less is free than the reserve needs, though writes may go through: what is
// left is for rooms to write down their end.
func (j *Journal) Health() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.health
}

func (j *Journal) setHealth(err error) {
	j.mu.Lock()
	was := j.health
	j.health = err
	j.mu.Unlock()
	switch {
	case err == nil && was != nil:
		j.log.Info("journal takes writes again", "path", j.path)
	case err != nil && (was == nil || was.Error() != err.Error()):
		j.log.Error("journal takes no writes", "path", j.path, "err", err)
	}
}

// code gives SQLite's primary result code, 0 for an error of another kind.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// classify puts an engine's error into the journal's words; what nobody
// foresaw, I/O errors included, becomes unknown. Errors that already speak
// those words, or the rules', stay as they are.
func classify(err, unknown error) error {
	for _, own := range []error{journal.ErrUnavailable, journal.ErrUnknown, journal.ErrCorrupt, journal.ErrLocked, errRefused} {
		if errors.Is(err, own) {
			return err
		}
	}
	if err == nil || isRefusal(err) {
		return err
	}
	switch code(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY,
		sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM:
		unknown = journal.ErrUnavailable
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT: // the schema's rules are broken by what is there
		unknown = journal.ErrCorrupt
	}
	return fmt.Errorf("%w: %w", unknown, err)
}

// diskFull says whether err comes from a lack of space. Where a page of the log's
// index finds none, its memory cannot be touched.
func diskFull(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, syscall.ENOSPC) || code(err) == sqlite3.SQLITE_FULL ||
		errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE || e.Code() == sqlite3.SQLITE_IOERR_IN_PAGE)
}

// grave says whether err asks for more than trying again.
func grave(err error) bool {
	return errors.Is(err, journal.ErrCorrupt) || errors.Is(err, journal.ErrUnknown) || code(err) == sqlite3.SQLITE_IOERR
}

// trouble acts on an engine's error. It runs in the writer goroutine.
func (j *Journal) trouble(err error) {
	var gone errGone
	switch {
	case errors.Is(j.Health(), journal.ErrCorrupt):
		// known
	case errors.As(err, &gone):
		j.gone(gone)
	case grave(err) && diskFull(err):
		j.noIndex(err)
	case errors.Is(err, journal.ErrCorrupt):
		j.judge(err)
	case grave(err):
		j.log.Error("I/O error: reopening the journal", "path", j.path, "err", err)
		j.failed = true
		j.setHealth(err)
		j.resume()
	default:
		if diskFull(err) {
			j.releaseReserve()
			err = fmt.Errorf("%w: disk full: %w", journal.ErrUnavailable, err)
		}
		j.setHealth(err)
	}
}

// noIndex closes the database for writing: on a full disk there was no page for
// the log's index, and until there is space each commit would end as this one
// did, of which nobody knows whether it was stored.
func (j *Journal) noIndex(err error) {
	j.releaseReserve()
	j.failed = true
	j.setHealth(fmt.Errorf("%w: %w: %v", journal.ErrUnavailable, syscall.ENOSPC, err))
	j.files.Lock()
	defer j.files.Unlock()
	if err := j.closeWriter(); err != nil {
		j.log.Debug("close writer", "err", err)
	}
}

// probe tries to get out of trouble, once a second.
func (j *Journal) probe() {
	h := j.Health()
	switch {
	case errors.Is(h, journal.ErrCorrupt):
		return // an operator's business
	case j.w == nil && diskFull(h) && !j.regrowReserve():
		return
	case j.w == nil:
		j.resume()
		return
	}
	if err := j.watch(); err != nil {
		j.trouble(err)
		return
	}
	if !j.regrowReserve() || h == nil {
		return
	}
	err := j.w.exec(`INSERT INTO meta(key, value) VALUES('probe', ?1) ON CONFLICT(key) DO UPDATE SET value = ?1`,
		time.Now().UTC().Format(time.RFC3339))
	if err != nil {
		j.trouble(classify(err, journal.ErrUnknown))
		return
	}
	j.setHealth(nil)
}

// resume opens the files anew and says how that went.
func (j *Journal) resume() {
	was := j.Health()
	err := j.reopen()
	switch {
	case errors.Is(err, journal.ErrCorrupt):
		j.quarantine(err)
	case err == nil && diskFull(was) && !j.regrowReserve():
		// open, but there is hardly room: still not well
	case err != nil && !errors.Is(err, journal.ErrUnavailable):
		j.setHealth(fmt.Errorf("%w: %w", journal.ErrUnavailable, err))
	default:
		j.setHealth(err)
	}
	j.wakeAll()
}

// judge decides whether the file is damaged or only this connection's idea of
// it: after an I/O error SQLite calls a sound file malformed.
func (j *Journal) judge(cause error) {
	if err := j.check(); err != nil {
		j.quarantine(fmt.Errorf("%w (%w)", cause, err))
		return
	}
	j.log.Warn("journal seemed damaged, is not: reopening it", "path", j.path, "err", cause)
	j.failed = true
	j.resume()
}

// check reads the whole file on a connection of its own.
func (j *Journal) check() error {
	s, err := j.connect(onlyReading, "query_only(1)")
	if err != nil {
		return err
	}
	defer s.close()
	var found string
	if err := s.row(context.Background(), "PRAGMA integrity_check(1)", nil, &found); err != nil {
		if err = classify(err, journal.ErrUnavailable); errors.Is(err, journal.ErrCorrupt) {
			return err
		}
		return nil // cannot be read now; reopening will tell
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", journal.ErrCorrupt, found)
	}
	return nil
}

// quarantine stops writes until an operator acts, after copying the files aside
// as they are.
func (j *Journal) quarantine(err error) {
	if !j.copied {
		j.copied = true
		if dst, cerr := j.copyAside(); cerr != nil {
			j.log.Error("copy damaged journal aside", "err", cerr)
		} else {
			err = fmt.Errorf("%w; a copy is in %s", err, dst)
		}
	}
	j.setHealth(fmt.Errorf("%w; writes have stopped: %s", err, advice))
	j.files.Lock()
	defer j.files.Unlock()
	if err := j.closeWriter(); err != nil {
		j.log.Debug("close writer", "err", err)
	}
}

// copyAside copies the database and its log, unless they were copied as they are
// now, say at the last start: then it gives that copy. It drops the locks this process
// has on the files, which only hold off tools: the daemon's own lock stays.
func (j *Journal) copyAside() (dir string, err error) {
	if dir, err = j.copiedAlready(); dir != "" || err != nil {
		return dir, err
	}
	dir = filepath.Join(filepath.Dir(j.path), "corrupt-"+time.Now().UTC().Format("20060102T150405.000Z"))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("create directory: %w", err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := statedir.Copy(filepath.Join(dir, filepath.Base(j.path)+suffix), j.path+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("copy file: %w", err)
		}
	}
	return dir, nil
}

// copiedAlready finds a copy of the damaged files; "" when there is none.
func (j *Journal) copiedAlready() (string, error) {
	dirs, err := filepath.Glob(filepath.Join(filepath.Dir(j.path), "corrupt-*"))
	if err != nil {
		return "", fmt.Errorf("look for copies: %w", err)
	}
	for _, dir := range dirs {
		same := true
		for _, suffix := range []string{"", "-wal"} { // the index, -shm, is made anew
			equal, err := sameContent(filepath.Join(dir, filepath.Base(j.path)+suffix), j.path+suffix)
			if err != nil {
				return "", fmt.Errorf("compare with a copy: %w", err)
			}
			same = same && equal
		}
		if same {
			return dir, nil
		}
	}
	return "", nil
}

// sameContent says whether two files hold the same bytes; a missing one is
// like an empty one.
func sameContent(a, b string) (bool, error) {
	x, xsize, err := content(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, ysize, err := content(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	if xsize != ysize {
		return false, nil
	}
	one, two := sha256.New(), sha256.New()
	if _, err := io.Copy(one, x); err != nil {
		return false, err
	}
	_, err = io.Copy(two, y)
	return bytes.Equal(one.Sum(nil), two.Sum(nil)), err
}

func content(name string) (io.ReadCloser, int64, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(strings.NewReader("")), 0, nil
	} else if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}
