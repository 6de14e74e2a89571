package sqlite

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
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

// trouble acts on an engine's error. It runs in the writer goroutine.
func (j *Journal) trouble(err error) {
	var gone statedir.Gone
	switch {
	case errors.Is(j.Health(), journal.ErrCorrupt):
		// known
	case errors.As(err, &gone):
		j.gone(gone)
	case store.Grave(err) && store.DiskFull(err):
		j.noIndex(err)
	case errors.Is(err, journal.ErrCorrupt):
		j.judge(err)
	case store.Grave(err):
		j.log.Error("I/O error: reopening the journal", "path", j.path, "err", err)
		j.failed = true
		j.setHealth(err)
		j.resume()
	default:
		if store.DiskFull(err) {
			j.reserve.Release()
			err = fmt.Errorf("%w: disk full: %w", journal.ErrUnavailable, err)
		}
		j.setHealth(err)
	}
}

// noIndex closes the database for writing: on a full disk there was no page for
// the log's index, and until there is space each commit would end as this one
// did, of which nobody knows whether it was stored.
func (j *Journal) noIndex(err error) {
	j.reserve.Release()
	j.failed = true
	j.setHealth(fmt.Errorf("%w: %w: %v", journal.ErrUnavailable, syscall.ENOSPC, err))
	j.stopWriting()
}

// probe tries to get out of trouble, once a second.
func (j *Journal) probe() {
	h := j.Health()
	switch {
	case errors.Is(h, journal.ErrCorrupt):
		return // an operator's business
	case j.w == nil && store.DiskFull(h) && !j.reserve.Regrow():
		return
	case j.w == nil:
		j.resume()
		return
	}
	if err := j.held.Look(); err != nil {
		j.trouble(err)
		return
	}
	if !j.reserve.Regrow() || h == nil {
		return
	}
	err := j.w.Exec(`INSERT INTO meta(key, value) VALUES('probe', ?1) ON CONFLICT(key) DO UPDATE SET value = ?1`,
		time.Now().UTC().Format(time.RFC3339))
	if err != nil {
		j.trouble(store.Classify(err, journal.ErrUnknown))
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
	case err == nil && store.DiskFull(was) && !j.reserve.Regrow():
		// open, but there is hardly room: still not well
	case err != nil && !errors.Is(err, journal.ErrUnavailable):
		j.setHealth(fmt.Errorf("%w: %w", journal.ErrUnavailable, err))
	default:
		j.setHealth(err)
	}
	j.desk.Doubt()
}

// judge decides whether the file is damaged or only this connection's idea of
// it: after an I/O error SQLite calls a sound file malformed.
func (j *Journal) judge(cause error) {
	if err := store.Check(j.path); err != nil {
		j.quarantine(fmt.Errorf("%w (%w)", cause, err))
		return
	}
	j.log.Warn("journal seemed damaged, is not: reopening it", "path", j.path, "err", cause)
	j.failed = true
	j.resume()
}

// quarantine stops writes until an operator acts, after copying the files aside
// as they are.
func (j *Journal) quarantine(err error) {
	if !j.copied {
		j.copied = true
		if dst, cerr := statedir.Aside(j.path); cerr != nil {
			j.log.Error("copy damaged journal aside", "err", cerr)
		} else {
			err = fmt.Errorf("%w; a copy is in %s", err, dst)
		}
	}
	j.setHealth(fmt.Errorf("%w; writes have stopped: %s", err, advice))
	j.stopWriting()
}

// stopWriting closes the file for writing; what reads it stays.
func (j *Journal) stopWriting() {
	j.files.Lock()
	defer j.files.Unlock()
	if err := j.closeWriter(); err != nil {
		j.log.Debug("close writer", "err", err)
	}
}
