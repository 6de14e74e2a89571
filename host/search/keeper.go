package search

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/sqlite/words"
)

// File is what the index is called in the state directory.
const File = "search.db"

// Journal is what is searched.
type Journal interface {
	journal.Log
	journal.Index
	// Forks gives the rows of rooms that were forked of a room itself, by name.
	Forks(ctx context.Context, room string) ([]journal.Room, error)
}

// Config is what a keeper needs.
type Config struct {
	Journal Journal
	Path    string // of the index; its folder is there
	// ReadOnly keeps to an index that is there, and writes nothing: then new messages are found only where
	// whoever keeps it has run since.
	ReadOnly bool
	Log      *slog.Logger // nil: nothing is logged
}

// Keeper keeps the index and searches in it. Make one with [New]; Close it. All its methods may be
// called from many goroutines.
type Keeper struct {
	cfg Config

	writing sync.Mutex // whoever brings the index up to date, takes out of it, opens or deletes it
	// files is held shared by whoever searches, and whole while the index is opened, cleaned or closed.
	files  sync.RWMutex
	index  *words.Index // nil: it is not open
	closed bool

	mu     sync.Mutex
	heads  map[string]uint64 // of the journal's rooms, when they were last indexed up to there
	rooms  int               // how many there are, and when they were last all looked at
	looked time.Time
	wrong  error // why the index is not open, or not up to date; nil: it is
}

// New makes a keeper. Nothing is opened yet: a house without space for an index runs without one.
func New(c Config) *Keeper {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Keeper{cfg: c, heads: map[string]uint64{}}
}

const (
	// every is how long lies between two looks of Run at the rooms, and retry how long it waits after trouble.
	every = 5 * time.Second
	retry = time.Minute
)

// Run keeps the index up to date until ctx ends. Trouble with the index is logged once and tried again: it
// ends nothing.
func (k *Keeper) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var told string
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		wait := every
		done, err := k.follow(ctx, batches)
		if done && err == nil {
			err = k.tidy(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			wait = retry
			if told != err.Error() {
				k.cfg.Log.Warn("the index of what was said is not up to date; it is tried again, and searches say so", "err", err)
			}
			told = err.Error()
		case !done:
			wait = 0
		default:
			told = ""
		}
		timer.Reset(wait)
	}
}

// Close closes the index.
func (k *Keeper) Close() error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.files.Lock()
	defer k.files.Unlock()
	k.closed = true
	if k.index == nil {
		return nil
	}
	err := k.index.Close()
	k.index = nil
	return err
}

// open opens the index where it is not. k.writing is held.
func (k *Keeper) open() error {
	k.files.Lock()
	defer k.files.Unlock()
	if k.index != nil || k.closed {
		return nil
	}
	x, err := words.Open(k.cfg.Path, !k.cfg.ReadOnly)
	if errors.Is(err, words.ErrStale) && !k.cfg.ReadOnly {
		k.cfg.Log.Info("the index of what was said is made again", "why", err)
		if err = words.Delete(k.cfg.Path); err == nil {
			x, err = words.Open(k.cfg.Path, true)
		}
	}
	k.index = x
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.heads)
	return err
}

// anew deletes the index and opens an empty one. k.writing is held.
func (k *Keeper) anew(why error) error {
	k.cfg.Log.Info("the index of what was said is made again", "why", why)
	k.drop()
	if err := words.Delete(k.cfg.Path); err != nil {
		return err
	}
	return k.open()
}

// drop closes the index, so that it is opened again at the next use. k.writing is held.
func (k *Keeper) drop() {
	k.files.Lock()
	defer k.files.Unlock()
	if k.index != nil {
		_ = k.index.Close() // it is damaged
	}
	k.index = nil
}

// note keeps why the index is not as it should be, in the words of doors.
func (k *Keeper) note(err error) error {
	if err != nil {
		err = k.coded(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wrong = err
	return err
}

// none says why there is no index.
func (k *Keeper) none() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.wrong != nil {
		return k.wrong
	}
	return abi.Errorf(abi.CodeUnavailable, "there is no index of what was said now; try again")
}

// coded puts trouble into the words that doors show.
func (k *Keeper) coded(err error) error {
	var known *abi.Error
	switch {
	case errors.As(err, &known):
		return known
	case store.DiskFull(err):
		return abi.Wrap(abi.CodeUnavailable, err, "the index of what was said cannot be written: the disk is full; make room, and search again")
	case errors.Is(err, store.ErrRefused):
		return abi.Wrap(abi.CodeUnavailable, err, "the index of what was said cannot be made: "+err.Error())
	case k.cfg.ReadOnly:
		return abi.Wrap(abi.CodeUnavailable, err, "there is no index of what was said that can be read here: start companiond, which makes it")
	}
	return abi.Wrap(abi.CodeUnavailable, err, "the index of what was said cannot be used now: "+strings.ReplaceAll(err.Error(), journal.ErrUnavailable.Error()+": ", "")) // the journal is well
}

// trouble is what a search says that met trouble. A damaged index is made again at the next look.
func (k *Keeper) trouble(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !errors.Is(err, words.ErrStale) {
		return k.coded(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wrong = abi.Wrap(abi.CodeUnavailable, err, "the index of what was said is damaged, and is made again; try again in a while")
	return k.wrong
}
