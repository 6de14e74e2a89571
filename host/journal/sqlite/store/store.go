// Package store is an SQLite file as a journal uses it: connections with the
// settings that durability rests on, statements that stay prepared, copies, and
// SQLite's errors in the words of host/journal.
//
// It knows no table.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/statedir"
	"modernc.org/sqlite" // also the driver "sqlite"
)

// connections is how many a store has at most.
const connections = 4

// Patience is how long a store usually waits for other processes.
const Patience = 5 * time.Second

// Store is one set of connections with the statements prepared on them.
type Store struct {
	db   *sql.DB
	conn *sql.Conn // the only connection of one that writes; nil for readers
	mu   sync.Mutex
	by   map[string]*sql.Stmt
}

// Access is how a file is opened. Where nothing can be written, not even the index
// of the log which readers share, a reader makes that index for itself. immutable=1
// would do without the log, and so show an old state: never use it.
type Access string

const (
	Writing     Access = "mode=rwc"
	OnlyReading Access = "mode=ro"
	Alone       Access = "mode=ro&readonly_shm=1"
)

// Open makes a store that waits so long for other processes; the file at path is
// opened at its first use.
func Open(path string, access Access, busy time.Duration, pragmas ...string) (*Store, error) {
	pragmas = append(pragmas, fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()), "trusted_schema(0)", "cell_size_check(1)")
	// A path may have any character.
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + string(access) + "&" + url.Values{"_pragma": pragmas}.Encode()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("%w: open: %w", journal.ErrUnavailable, err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return &Store{db: db, by: map[string]*sql.Stmt{}}, nil
}

// Claim makes the store one that writes, on a connection of its own.
func (s *Store) Claim() (err error) {
	s.conn, err = s.db.Conn(context.Background())
	return err
}

func (s *Store) stmt(ctx context.Context, q string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.by[q]; st != nil {
		return st, nil
	}
	prepare := s.db.PrepareContext
	if s.conn != nil {
		prepare = s.conn.PrepareContext
	}
	st, err := prepare(ctx, q)
	if err == nil {
		s.by[q] = st
	}
	return st, err
}

// Exec runs one statement of the writer. It is never interrupted: a request is
// stored or not.
func (s *Store) Exec(q string, args ...any) error {
	st, err := s.stmt(context.Background(), q)
	if err == nil {
		_, err = st.Exec(args...)
	}
	return err
}

// Script runs statements of the writer that are needed once.
func (s *Store) Script(statements string) error {
	_, err := s.conn.ExecContext(context.Background(), statements)
	return err
}

// Row reads one row into dst; sql.ErrNoRows when there is none.
func (s *Store) Row(ctx context.Context, q string, args []any, dst ...any) error {
	st, err := s.stmt(ctx, q)
	if err != nil {
		return err
	}
	return st.QueryRowContext(ctx, args...).Scan(dst...)
}

// Each calls f with every row.
func (s *Store) Each(ctx context.Context, q string, args []any, f func(*sql.Rows) error) error {
	st, err := s.stmt(ctx, q)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// View gives the file as it is now, whatever is written meanwhile.
func (s *Store) View(ctx context.Context) (*sql.Tx, error) {
	return s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
}

// Close closes the connections; a nil store has none.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	var err error
	for _, st := range s.by {
		err = errors.Join(err, st.Close())
	}
	if s.conn != nil {
		err = errors.Join(err, s.conn.Close())
	}
	return errors.Join(err, s.db.Close())
}

// Configure sets what durability rests on, for the writer; synchronous is FULL but
// in tests.
func (s *Store) Configure(synchronous string) error {
	for _, p := range []string{
		"journal_mode=WAL", "synchronous=" + synchronous, "secure_delete=1", "wal_autocheckpoint=1000", "journal_size_limit=67108864",
	} {
		if err := s.Script("PRAGMA " + p); err != nil {
			return fmt.Errorf("set %s: %w", p, err)
		}
	}
	// The log and its index stay when the last connection closes: without them
	// the file could not be read on a disk that is read-only or full by then.
	err := s.conn.Raw(func(c any) error {
		fc, ok := c.(sqlite.FileControl)
		if !ok {
			return errors.New("driver has no file control")
		}
		_, err := fc.FileControlPersistWAL("main", 1)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep log at close: %w", err)
	}
	return s.readBack(synchronous)
}

// readBack refuses to go on with settings other than Configure's.
func (s *Store) readBack(synchronous string) error {
	var mode string
	var sync int
	for q, dst := range map[string]any{"PRAGMA journal_mode": &mode, "PRAGMA synchronous": &sync} {
		if err := s.conn.QueryRowContext(context.Background(), q).Scan(dst); err != nil {
			return fmt.Errorf("read back %s: %w", q, err)
		}
	}
	switch {
	case !strings.EqualFold(mode, "wal"):
		return fmt.Errorf("%w: journal_mode is %s, not wal: this file system cannot keep a journal", ErrRefused, mode)
	case sync != 2 && synchronous == "FULL":
		return fmt.Errorf("%w: synchronous is %d, not 2", ErrRefused, sync)
	}
	return nil
}

// Settle moves what is in the write-ahead log into the database, durably: all of
// it, as after an I/O error it must, or as much as goes without waiting for other
// processes that read.
func (s *Store) Settle(all bool) error {
	q := "PRAGMA wal_checkpoint(PASSIVE)"
	if all {
		q = "PRAGMA wal_checkpoint(TRUNCATE)"
	}
	var busy, log, done int
	if err := s.conn.QueryRowContext(context.Background(), q).Scan(&busy, &log, &done); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if all && busy != 0 {
		return fmt.Errorf("%w: checkpoint after an I/O error: another process reads the database", journal.ErrUnavailable)
	}
	return nil
}

// Rewrite writes the whole file anew, so that nothing stands between its rows. All who write wait for it.
func (s *Store) Rewrite() error {
	if err := s.Script("PRAGMA secure_delete=1; VACUUM"); err != nil {
		return fmt.Errorf("write the file anew: %w", err)
	}
	return nil
}

// Check reads the whole file at path on a connection of its own, and says whether
// it is damaged. One that cannot be read now is not.
func Check(path string) error {
	s, err := Open(path, OnlyReading, Patience, "query_only(1)")
	if err != nil {
		return err
	}
	defer s.Close()
	var found string
	err = s.Row(context.Background(), "PRAGMA integrity_check(1)", nil, &found)
	if err = Classify(err, journal.ErrUnavailable); errors.Is(err, journal.ErrCorrupt) {
		return err
	}
	if err == nil && found != "ok" {
		return fmt.Errorf("%w: %s", journal.ErrCorrupt, found)
	}
	return nil
}

// Copy writes the file at from to a new one with mode 0600, complete or not there,
// on a connection of its own, so that writers go on.
func Copy(ctx context.Context, to, from string) error {
	return Whole(to, func(name string) error {
		// VACUUM INTO does not go with query_only. With secure_delete the copy has nothing between
		// its rows, of which nobody could take anything out again.
		s, err := Open(from, OnlyReading, Patience, "secure_delete(1)")
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = s.db.ExecContext(ctx, `VACUUM INTO ?`, name)
		return Classify(err, journal.ErrUnavailable)
	})
}

// HalfDone ends the name of a file that is not complete yet.
const HalfDone = ".new"

// Whole has fill write an empty file, with mode 0600, that has its name when it is complete
// and on the disk, and not before.
func Whole(to string, fill func(name string) error) (err error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, err)
	}
	tmp := to + HalfDone
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // an empty file is what VACUUM INTO accepts
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp)
		}
		err = errors.Join(err, f.Close())
	}()
	if err = fill(tmp); err != nil {
		return err
	}
	if err = errors.Join(f.Sync(), os.Rename(tmp, to)); err != nil {
		return err
	}
	return statedir.Sync(to)
}
