// Package folder keeps the companions of one folder loaded: it watches the folder
// makers drop files into, finds out which file is whose, lets an engine load each,
// and hands each new generation to its companion.
//
// It never runs a module itself, and it is for an engine to judge what a file says.
package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/companiond/companiond/host/module"
)

// Config says which folder is watched and how. Dir and Engines are
// required; any other zero field means its default.
type Config struct {
	Dir     string // need not exist yet
	Engines []module.Engine

	Debounce    time.Duration // how long a file must be left alone before it is read; 250 ms
	Rescan      time.Duration // how often everything is looked at, for changes nobody told of; 10 s
	Gone        time.Duration // how long a file must be gone before its companion leaves; 1 s
	LoadTimeout time.Duration // for one file, without what it waits for; 30 s
	MaxFile     int64         // bytes of one source; 32 MiB
	Grants      module.Grants // a file that needs more is refused
	Handlers    bool          // handlers may be there too, and not characters alone
	module.Limits

	Log *slog.Logger // nil discards

	// Changed is told of every change, one after the other, beside the watching
	// and loading: a slow receiver learns late but slows nothing. It must
	// return before Run can, and must not wait for Ready. After Run's ctx has
	// ended it is told nothing more, so that a stop of the daemon is not taken
	// for companions that leave.
	Changed func(Change)

	shown string                 // Dir as it was given
	taken func(id string) string // why an id cannot be one here; "" for one that can
}

func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		return c, errors.New("module folder: Dir is empty")
	}
	c.shown = c.Dir
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return c, fmt.Errorf("module folder %s: %w", c.Dir, err)
	}
	c.Dir = dir
	if len(c.Engines) == 0 {
		return c, fmt.Errorf("module folder %s: no engines", dir)
	}
	c.Engines = slices.Clone(c.Engines)
	c.Debounce = cmp.Or(c.Debounce, 250*time.Millisecond)
	c.Rescan = cmp.Or(c.Rescan, 10*time.Second)
	c.Gone = cmp.Or(c.Gone, time.Second)
	c.LoadTimeout = cmp.Or(c.LoadTimeout, 30*time.Second)
	c.MaxFile = cmp.Or(c.MaxFile, 32<<20)
	c.Limits = c.Limits.WithDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.taken == nil {
		c.taken = func(string) string { return "" }
	}
	return c, nil
}

// Folder keeps the companions of one folder loaded. A companion is a file
// DIR/NAME.suffix that an engine takes, or a folder DIR/NAME/ that an engine takes
// whole or in which there is one such file; NAME.suffix wins if there are several.
// The id is NAME in Unicode NFC, with its case as it is, and must pass
// [abi.CheckName].
//
// Its promises:
//
//   - a file is read when it was left alone for Debounce, and loaded only if it
//     stayed as it was while it was read;
//   - one save makes one generation; one that changes no byte makes none, except
//     that it ends a quarantine;
//   - a file that is refused changes nothing but the log and its Status; the
//     same bytes are not tried twice, unless another save came between;
//   - a save during the load of an older one supersedes it;
//   - while the folder itself is away, the modules that are loaded serve on. A companion that
//     is not in it when it comes back leaves.
type Folder struct {
	cfg    Config
	finder finder
	ready  chan struct{}
	begun  atomic.Bool

	reading chan struct{} // holds a token for each file that is read and checked
	renew   chan struct{} // has a value when some are to be loaded anew

	mu      sync.Mutex
	views   map[string]view
	trouble string   // with the folder itself
	wanted  []string // ids that are to be loaded anew
	all     bool     // all are that are loaded
}

// view is what the outside may see of a slot.
type view struct {
	companion *module.Companion // nil before the first generation
	status    module.Status     // ID, File, Error; all of it while companion is nil
	job       *job              // being loaded; nil when nothing is
	queued    bool              // to be loaded when there is place
}

// New checks the config. It touches no file and starts nothing.
func New(cfg Config) (*Folder, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Folder{
		cfg:    cfg,
		finder: finder{dir: cfg.Dir, engines: cfg.Engines},
		ready:  make(chan struct{}),

		reading: make(chan struct{}, readers),
		renew:   make(chan struct{}, 1),
		views:   map[string]view{},
	}, nil
}

// Run watches and loads until ctx ends, then ends every companion: calls that
// run get Grace. When it returns, its goroutines are gone and all modules are
// closed; an engine that ignores the end of Load's ctx holds it up. The error
// says that Run was called before; a folder that cannot be watched or read is
// no error but a matter for the log, and is tried again.
func (f *Folder) Run(ctx context.Context) error {
	if !f.begun.CompareAndSwap(false, true) {
		return fmt.Errorf("module folder %s: Run was called twice", f.cfg.Dir)
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		f.cfg.Log.Warn("cannot watch files; saves are found by rescans only", "every", f.cfg.Rescan, "error", err)
		newLoader(f, blind()).run(ctx)
		return nil
	}
	defer w.Close()
	newLoader(f, lookout{w.Events, w.Errors, w.Add, w.Remove}).run(ctx)
	return nil
}

// Ready is closed when everything that was in the folder at the start has been
// loaded or refused, and Changed has been told of it. A folder that does not
// exist yet has nothing in it.
func (f *Folder) Ready() <-chan struct{} { return f.ready }

// Renew has companions loaded anew though no byte of their files changed: those with these ids, also where they were refused, or
// all that are loaded, so that nothing is left of what they held in memory. Until the new generations are there the old ones serve on.
func (f *Folder) Renew(ids ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wanted = append(f.wanted, ids...); len(ids) == 0 {
		f.all = true
	}
	select {
	case f.renew <- struct{}{}:
	default: // they will be
	}
}

// IDs gives the ids of all companions there are files for, sorted, also of those
// that are being loaded or were refused.
func (f *Folder) IDs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.views))
}

// Status gives all companions there are files for, sorted by id.
func (f *Folder) Status() []module.Status {
	f.mu.Lock()
	trouble := f.trouble
	views := make([]view, 0, len(f.views))
	for _, v := range f.views {
		views = append(views, v)
	}
	f.mu.Unlock()
	now := time.Now()
	all := make([]module.Status, 0, len(views))
	for _, v := range views {
		s := v.status
		if v.companion != nil {
			s = v.companion.Status(now)
			s.File = v.status.File
			s.Error = module.Sentence(s.Error, v.status.Error)
		}
		s.Folder = f.cfg.shown
		s.Error, s.Progress = module.Sentence(s.Error, trouble), v.waits()
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b module.Status) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Companion gives the companion with this id; ok is false while none of its
// files ever loaded.
func (f *Folder) Companion(id string) (c *module.Companion, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c = f.views[id].companion
	return c, c != nil
}

// Companions gives all companions that can be called, sorted by id.
func (f *Folder) Companions() []*module.Companion {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*module.Companion, 0, len(f.views))
	for _, v := range f.views {
		if v.companion != nil {
			all = append(all, v.companion)
		}
	}
	slices.SortFunc(all, func(a, b *module.Companion) int { return strings.Compare(a.ID(), b.ID()) })
	return all
}
