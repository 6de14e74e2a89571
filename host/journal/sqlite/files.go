package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/companiond/companiond/host/journal"
	"modernc.org/sqlite" // also the driver "sqlite"
)

const readers = 4

// oldest is the first SQLite without the WAL-reset race, which loses committed
// writes (sqlite.org/wal.html#the_wal_reset_bug).
var oldest = [3]int{3, 51, 3}

// store is one set of connections with the statements prepared on them.
type store struct {
	db   *sql.DB
	conn *sql.Conn // the writer's only connection; nil for readers
	mu   sync.Mutex
	by   map[string]*sql.Stmt
}

// How a file is opened. Where nothing can be written, not even the index of the
// log which readers share, a reader makes that index for itself. immutable=1
// would do without the log, and so show an old state: never use it.
const (
	writing     = "mode=rwc"
	onlyReading = "mode=ro"
	alone       = "mode=ro&readonly_shm=1"
)

// dsn names the file to the driver, whatever characters its path has.
func dsn(path string, access string, pragmas ...string) string {
	q, err := url.ParseQuery(access)
	if err != nil {
		panic(err) // one of the constants below
	}
	q["_pragma"] = pragmas
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

func (s *store) stmt(ctx context.Context, q string) (*sql.Stmt, error) {
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

// exec runs one statement of the writer. It is never interrupted: a request is
// stored or not.
func (s *store) exec(q string, args ...any) error {
	st, err := s.stmt(context.Background(), q)
	if err == nil {
		_, err = st.Exec(args...)
	}
	return err
}

// row reads one row into dst; sql.ErrNoRows when there is none.
func (s *store) row(ctx context.Context, q string, args []any, dst ...any) error {
	st, err := s.stmt(ctx, q)
	if err != nil {
		return err
	}
	return st.QueryRowContext(ctx, args...).Scan(dst...)
}

// each calls f with every row.
func (s *store) each(ctx context.Context, q string, args []any, f func(*sql.Rows) error) error {
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

func (s *store) close() error {
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

func (j *Journal) closeFiles() error {
	err := errors.Join(j.r.close(), j.closeWriter())
	j.r = nil
	return err
}

func (j *Journal) closeWriter() (err error) {
	if j.w != nil {
		err = j.w.close()
	}
	j.w = nil
	return err
}

// reopen closes the files and opens them again: for writing, or only for
// reading when that fails, which the error then tells the reason of. After an
// I/O error everything readable must first be made durable anew, for the kernel
// may show pages it failed to write.
func (j *Journal) reopen() error {
	locked := j.takeLock()
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
	if errors.Is(err, errRefused) {
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
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: open for writing: %w", journal.ErrUnavailable, err)
	}
	f.Close() // SQLite gives its other files the mode of this one
	s, err := j.connect(writing)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(classify(err, journal.ErrUnavailable), s.close())
		}
	}()
	if s.conn, err = s.db.Conn(context.Background()); err != nil {
		return nil, err
	}
	v, err := j.identify(s)
	if err != nil {
		return nil, err
	}
	if err := j.configure(s); err != nil {
		return nil, err
	}
	if err := j.migrate(s, v); err != nil {
		return nil, err
	}
	if err := settle(s, j.failed); err != nil {
		return nil, err
	}
	return &writer{store: s, rooms: map[string]*roomRow{}}, j.hold()
}

// connect makes a store; the file is opened at its first use.
func (j *Journal) connect(access string, pragmas ...string) (*store, error) {
	pragmas = append(pragmas, fmt.Sprintf("busy_timeout(%d)", j.tune.busy.Milliseconds()), "trusted_schema(0)", "cell_size_check(1)")
	db, err := sql.Open("sqlite", dsn(j.path, access, pragmas...))
	if err != nil {
		return nil, fmt.Errorf("%w: open: %w", journal.ErrUnavailable, err)
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return &store{db: db, by: map[string]*sql.Stmt{}}, nil
}

// configure sets what durability rests on.
func (j *Journal) configure(s *store) error {
	for _, p := range []string{
		"journal_mode=WAL", "synchronous=" + j.tune.synchronous, "secure_delete=1", "wal_autocheckpoint=1000", "journal_size_limit=67108864",
	} {
		if _, err := s.conn.ExecContext(context.Background(), "PRAGMA "+p); err != nil {
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
	return j.readBack(s)
}

// readBack refuses to go on with settings other than configure's.
func (j *Journal) readBack(s *store) error {
	var mode, version string
	var sync int
	for q, dst := range map[string]any{"PRAGMA journal_mode": &mode, "PRAGMA synchronous": &sync, "SELECT sqlite_version()": &version} {
		if err := s.conn.QueryRowContext(context.Background(), q).Scan(dst); err != nil {
			return fmt.Errorf("read back %s: %w", q, err)
		}
	}
	var v [3]int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil {
		return fmt.Errorf("%w: read SQLite version %q: %w", errRefused, version, err)
	}
	switch {
	case !strings.EqualFold(mode, "wal"):
		return fmt.Errorf("%w: journal_mode is %s, not wal: this file system cannot keep a journal", errRefused, mode)
	case sync != 2 && j.tune.synchronous == "FULL":
		return fmt.Errorf("%w: synchronous is %d, not 2", errRefused, sync)
	case v[0] != oldest[0] || v[1] < oldest[1] || v[1] == oldest[1] && v[2] < oldest[2]:
		return fmt.Errorf("%w: SQLite %s can lose writes; 3.51.3 or newer is needed", errRefused, version)
	}
	return nil
}

// settle moves what is in the write-ahead log into the database, durably.
// After an I/O error all of it must get there; else as much as goes without
// waiting for other processes that read.
func settle(s *store, failed bool) error {
	q := "PRAGMA wal_checkpoint(PASSIVE)"
	if failed {
		q = "PRAGMA wal_checkpoint(TRUNCATE)"
	}
	var busy, log, done int
	if err := s.conn.QueryRowContext(context.Background(), q).Scan(&busy, &log, &done); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if failed && busy != 0 {
		return fmt.Errorf("%w: checkpoint after an I/O error: another process reads the database", journal.ErrUnavailable)
	}
	return nil
}

// openReaders opens the connections reads use, with ro such that they never
// touch the file. Its errors are classified.
func (j *Journal) openReaders(ro bool) (*store, error) {
	if !ro {
		return j.openReadersAs(writing)
	}
	s, err := j.openReadersAs(onlyReading)
	if errors.Is(err, journal.ErrUnavailable) {
		if s, aerr := j.openReadersAs(alone); aerr == nil {
			return s, nil
		}
	}
	return s, err
}

func (j *Journal) openReadersAs(access string) (*store, error) {
	s, err := j.connect(access, "query_only(1)")
	if err != nil {
		return nil, err
	}
	v, err := j.identify(s)
	if err == nil && v < j.schema() {
		err = fmt.Errorf("%w: schema %d is older than this program's %d and cannot be brought up to date now: %w", errRefused, v, j.schema(), errOlder)
	}
	if err != nil {
		return nil, errors.Join(classify(err, journal.ErrUnavailable), s.close())
	}
	return s, nil
}
