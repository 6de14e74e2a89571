// Package sqlite keeps the journal in one SQLite file: append with
// compare-and-set, read, follow, snapshots, the stores of characters, backup.
// Everything it acknowledges is durable, also through a power cut: one writer
// goroutine gathers waiting requests into a transaction, commits it with
// synchronous=FULL, and answers only then.
//
// When the disk is full, read-only or failing, reads go on, writes answer
// journal.ErrUnavailable or journal.ErrUnknown, and the writer tries every
// second to come back by itself. A damaged file stops writes until an operator
// acts.
//
// It never interprets an entry's body, never changes an entry, never repairs a
// damaged file, and never lets a second daemon into its directory.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/handover"
	"github.com/companiond/companiond/host/journal/sqlite/schema"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
)

// advice is for the operator of a damaged journal. A log that does not belong
// to the database would be played back into it.
const advice = "restore a backup, and delete the -wal and -shm files and heads beside it"

// Config says where a journal is and how it is kept.
type Config struct {
	// Path is the database file. Its directory is the state directory: it is
	// made with mode 0700 if need be, belongs to one daemon at a time, and also
	// holds the files lock, heads and reserve.
	Path string
	// Reserve is the size in bytes of a file that is deleted when the disk is
	// full, so that rooms can write down their end. 0 means none.
	Reserve int64
	// Log hears of trouble and recovery; nil means nobody does.
	Log *slog.Logger
}

// Journal is an open database.
type Journal struct {
	path    string
	tune    tuning
	log     *slog.Logger
	lock    *statedir.Lock // nil when opened read-only
	reserve *statedir.Reserve
	// temporary is a folder that goes when the journal is closed; empty: none.
	temporary string

	queue   chan *request
	desk    *handover.Desk // of those who follow
	suspect chan error     // trouble met by a read, for the writer to judge
	quit    chan struct{}  // closed by Close
	stopped chan struct{}  // closed when the writer is gone
	kept    chan struct{}  // closed when the keeper of the mark is gone
	once    sync.Once

	files sync.RWMutex // held shared while r is used, alone while it is exchanged
	r     *store.Store // nil while nothing can be read
	w     *writer      // nil while the file is not open for writing; the writer goroutine's own

	// The writer goroutine's own:
	failed bool          // an I/O error is not yet mended
	copied bool          // a damaged file was copied aside
	held   statedir.Held // the files that are open

	mu     sync.Mutex // guards what follows
	health error
	mark   statedir.Mark // the newest that was acknowledged
	fresh  bool          // mark changed since it was last kept
}

var (
	_ journal.Journal  = (*Journal)(nil)
	_ journal.KV       = (*Journal)(nil)
	_ journal.Stores   = (*Journal)(nil)
	_ journal.Backuper = (*Journal)(nil)
	_ journal.Eraser   = (*Journal)(nil)
)

// tuning is what only tests change.
type tuning struct {
	synchronous string        // as PRAGMA synchronous
	busy        time.Duration // how long to wait for another process's lock
	probe       time.Duration // how often to try to come back, and to keep the mark
	poll        time.Duration // how often a read-only follower looks; 0: never
	schema      schema.Schema
}

func usual() tuning {
	return tuning{synchronous: "FULL", busy: store.Patience, probe: time.Second, schema: schema.Usual()}
}

// Open opens or creates the journal at cfg.Path.
//
// On a read-only or full disk an existing journal opens all the same: reads
// work, writes answer journal.ErrUnavailable, Health says why, and writing
// starts by itself when it can.
//
// # Errors
//
// journal.ErrLocked when another daemon has the directory. journal.ErrCorrupt
// when the file is damaged, or has lost the entry that was its newest when the
// directory was last used, or is gone and a copy was rescued from it; the error
// says what to do, and OpenReadOnly may still read. A file of another program, or of a newer companiond, is refused
// and not touched.
func Open(cfg Config) (*Journal, error) { return open(cfg, usual()) }

func open(cfg Config, tune tuning) (*Journal, error) {
	j, err := newJournal(cfg, tune)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(j.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create state directory: %w", err)
	}
	if err := finishSwap(dir); err != nil {
		return nil, err
	}
	if err := j.mislaid(); err != nil {
		return nil, err
	}
	j.lock = statedir.NewLock(dir)
	if j.mark, err = statedir.LoadMark(dir); err != nil {
		j.log.Warn("read mark: a loss since the last run would not be noticed", "err", err)
	}
	err = j.reopen()
	if store.DiskFull(err) {
		j.setHealth(err)
		j.reserve.Release()
		err = j.reopen()
	}
	if err != nil && (j.r == nil || !errors.Is(err, journal.ErrUnavailable)) {
		if errors.Is(err, journal.ErrCorrupt) {
			err = fmt.Errorf("%w; %s", err, advice)
		}
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", j.path, err), j.closeFiles(), j.lock.Release())
	}
	if err != nil {
		j.setHealth(err)
	} else if j.Health() == nil {
		j.reserve.Regrow()
	}
	held, err := statedir.Hold(j.path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", j.path, err), j.closeFiles(), j.lock.Release())
	}
	go j.write()
	go j.keepMark(held)
	return j, nil
}

// OpenReadOnly opens the journal at path for tools, also while a daemon writes
// to it. Read, Find, Follow (which looks twice a second), Rooms, Verify,
// GetSnapshot, KVGet, KVList and Backup work; writes answer
// journal.ErrUnavailable. A file of an older schema is read from a copy.
func OpenReadOnly(path string) (*Journal, error) {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, noJournal("no journal at " + path)
	} else if err == nil && info.IsDir() {
		return nil, noJournal("no journal at " + path + ", which is a folder")
	}
	tune := usual()
	tune.poll = 500 * time.Millisecond
	j, err := newJournal(Config{Path: path}, tune)
	if err != nil {
		return nil, err
	}
	j.health = fmt.Errorf("%w: opened read-only", journal.ErrUnavailable)
	close(j.stopped)
	close(j.kept)
	j.r, err = j.openReaders(true)
	if errors.Is(err, schema.ErrOlder) {
		return j.openMigrated()
	}
	if err != nil {
		return nil, fmt.Errorf("open journal %s read-only: %w", path, err)
	}
	return j, nil
}

// openMigrated opens a copy of a file of an older schema, which is migrated while
// the file stays as it is. Close deletes the copy.
func (j *Journal) openMigrated() (_ *Journal, err error) {
	dir, err := os.MkdirTemp("", "companiond")
	if err != nil {
		return nil, fmt.Errorf("copy journal of an older schema: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	path := filepath.Join(dir, filepath.Base(j.path))
	if err := j.Backup(context.Background(), path); err != nil {
		return nil, fmt.Errorf("copy journal of an older schema: %w", err)
	}
	migrated, err := Open(Config{Path: path})
	if err == nil {
		err = migrated.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("migrate a copy: %w", err)
	}
	if migrated, err = OpenReadOnly(path); err != nil {
		return nil, err
	}
	migrated.temporary = dir
	return migrated, nil
}

// noJournal is journal.ErrUnavailable in the words of whoever gave the path.
type noJournal string

func (e noJournal) Error() string { return string(e) }
func (e noJournal) Unwrap() error { return journal.ErrUnavailable }

func newJournal(cfg Config, tune tuning) (*Journal, error) {
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("find journal: %w", err)
	}
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Journal{
		path: path, tune: tune, log: log, reserve: statedir.NewReserve(filepath.Dir(path), cfg.Reserve, log),
		queue: make(chan *request, 1024), suspect: make(chan error, 1),
		quit: make(chan struct{}), stopped: make(chan struct{}), kept: make(chan struct{}), desk: new(handover.Desk),
	}, nil
}

// Close stores what was already handed over, keeps the mark and closes the
// file. Later calls of any method answer journal.ErrUnavailable.
func (j *Journal) Close() error {
	var err error
	j.once.Do(func() {
		close(j.quit)
		<-j.stopped
		<-j.kept
		j.files.Lock()
		defer j.files.Unlock()
		if j.w != nil && j.Health() == nil {
			// An empty log holds nothing that was taken out of the database, and on a
			// disk that is full by the next start a longer one is refused cleanly.
			if err := j.w.Settle(true); err != nil {
				j.log.Debug("empty the log", "err", err)
			}
		}
		err = j.closeFiles()
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.health == nil {
			j.health = fmt.Errorf("%w: closed", journal.ErrUnavailable)
		}
		if j.lock != nil {
			err = errors.Join(err, j.lock.Release())
		}
		if j.temporary != "" {
			err = errors.Join(err, os.RemoveAll(j.temporary))
		}
	})
	return err
}
