package store

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrRefused marks a file that this program must not write to.
var ErrRefused = errors.New("refused")

// code gives SQLite's extended result code, 0 for an error of another kind.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// Classify puts SQLite's errors into the journal's words; what nobody foresaw, I/O
// errors included, becomes unknown. Errors that already speak those words, or the
// rules', stay as they are.
func Classify(err, unknown error) error {
	for _, own := range []error{journal.ErrUnavailable, journal.ErrUnknown, journal.ErrCorrupt, journal.ErrLocked, ErrRefused} {
		if errors.Is(err, own) {
			return err
		}
	}
	if err == nil || IsRefusal(err) {
		return err
	}
	switch code(err) & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY,
		sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM:
		unknown = journal.ErrUnavailable
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT: // the schema's rules are broken by what is there
		unknown = journal.ErrCorrupt
	}
	return fmt.Errorf("%w: %w", unknown, err)
}

// IsRefusal tells errors of the rules, which concern one request, from trouble of
// the file, which concerns all.
func IsRefusal(err error) bool {
	var rule *abi.Error
	return errors.Is(err, journal.ErrConflict) || errors.Is(err, journal.ErrFenced) || errors.As(err, &rule)
}

// Duplicate says whether err comes from a value that is there already and may be
// there once.
func Duplicate(err error) bool { return code(err) == sqlite3.SQLITE_CONSTRAINT_UNIQUE }

// Wrong says whether err is about a statement and not about the file: there is no such table, or a table of words cannot be read as one. What
// somebody looks for is no reason to say so.
func Wrong(err error) bool {
	return code(err) == sqlite3.SQLITE_ERROR && !strings.Contains(err.Error(), "fts5: syntax error")
}

// DiskFull says whether err comes from a lack of space. Where a page of the log's
// index finds none, its memory cannot be touched.
func DiskFull(err error) bool {
	c := code(err)
	return errors.Is(err, syscall.ENOSPC) || c&0xff == sqlite3.SQLITE_FULL || c == sqlite3.SQLITE_IOERR_SHMSIZE || c == sqlite3.SQLITE_IOERR_IN_PAGE
}

// Grave says whether err asks for more than trying again.
func Grave(err error) bool {
	return errors.Is(err, journal.ErrCorrupt) || errors.Is(err, journal.ErrUnknown) || code(err)&0xff == sqlite3.SQLITE_IOERR
}

// Present lets a missing row pass.
func Present(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}
