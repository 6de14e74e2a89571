package folder

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder/lane"
)

// loader is the one loop that decides what is loaded. It hears names, waits
// until they are quiet, looks what is there, has it loaded beside itself, and
// publishes what came of it.
type loader struct {
	f    *Folder
	cfg  Config
	log  *slog.Logger
	eyes lookout
	news []func() // not yet told, oldest first

	ctx     context.Context
	now     time.Time // of this turn of the loop
	slots   map[string]*slot
	numbers map[string]uint64 // newest generation of every id there ever was
	rescan  time.Time         // when to look at everything
	trouble string            // with the folder itself

	skipped map[string]string // why files that look like companions are none, as the log says already
	watched map[string]fs.FileInfo
	blind   bool // some folder cannot be watched, and the log says so

	asked    uint64 // loads that were asked for
	lanes    lane.Lanes
	running  int
	outcomes chan outcome
	retiring sync.WaitGroup

	starting map[*slot]bool // what Ready waits for; nil once it is closed
	patience time.Time      // until when Ready waits for files that keep changing
	enough   time.Time      // and for files that wait in their engine
}

func newLoader(f *Folder, eyes lookout) *loader {
	return &loader{
		f: f, cfg: f.cfg, log: f.cfg.Log.With("folder", f.cfg.Dir), eyes: eyes,
		slots: map[string]*slot{}, numbers: map[string]uint64{}, skipped: map[string]string{}, watched: map[string]fs.FileInfo{},
		outcomes: make(chan outcome), starting: map[*slot]bool{}, lanes: lane.New(),
	}
}

func (l *loader) run(ctx context.Context) {
	l.ctx, l.now = ctx, time.Now()
	l.patience, l.enough = l.now.Add(10*l.cfg.Debounce), l.now.Add(startAlone)
	if l.cfg.Handlers {
		l.enough = l.now.Add(startHandlers)
	}
	ear := make(chan func())
	var listening sync.WaitGroup
	listening.Go(func() { listen(ctx, ear) })
	defer listening.Wait()
	l.scan()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		l.pump()
		l.checkReady()
		l.show() // before anybody is told
		timer.Reset(time.Until(l.next()))
		var tell chan<- func() // nil, which takes nothing, while there is no news
		var oldest func()
		if len(l.news) > 0 {
			tell, oldest = ear, l.news[0]
		}
		select {
		case <-ctx.Done():
			l.stop()
			return
		case tell <- oldest:
			l.news = l.news[1:]
		case ev := <-l.eyes.events:
			if name, ok := nameOf(l.cfg.Dir, ev); ok {
				l.now = time.Now()
				l.heard(name)
			}
		case err := <-l.eyes.errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				l.log.Warn("watching files", "error", err)
			}
			l.now = time.Now()
			l.heard("")
		case o := <-l.outcomes:
			l.now = time.Now()
			l.ended(o)
		case <-l.f.renew:
			l.now = time.Now()
			l.loadAnew()
		case <-timer.C:
			l.now = time.Now()
			l.tick()
		}
	}
}

// loadAnew has those loaded that [Folder.Renew] was asked for. What engines take may be other files by now.
func (l *loader) loadAnew() {
	l.f.mu.Lock()
	wanted, all := l.f.wanted, l.f.all
	l.f.wanted, l.f.all = nil, false
	l.f.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(l.slots)) {
		s := l.slots[id]
		named := slices.Contains(wanted, id)
		if len(s.sources) == 0 || !named && !(all && s.companion != nil) {
			continue
		}
		l.drop(s) // what is being loaded may hold something by now
		if s.anew, s.refused = true, (key{}); named {
			l.examine(s) // its file may have another name
		} else {
			l.decide(s, s.sources)
		}
	}
	if len(wanted) > 0 {
		l.scan()
	}
}

// show lets the outside see what became of this turn.
func (l *loader) show() {
	views := make(map[string]view, len(l.slots))
	for id, s := range l.slots {
		if s.known {
			views[id] = view{companion: s.companion, status: s.status(), job: s.job, queued: s.want != nil}
		}
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	l.f.views, l.f.trouble = views, l.trouble
}

// listen hears news one at a time until ctx ends, beside the loader, which never
// waits for whoever is told.
func listen(ctx context.Context, ear <-chan func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case told := <-ear:
			if ctx.Err() == nil {
				told()
			}
		}
	}
}

// next gives when there is something to do though nobody says a word.
func (l *loader) next() time.Time {
	t := l.rescan
	if l.starting != nil {
		soon := l.now.Add(l.cfg.Debounce) // nobody tells that a file has begun to wait
		if l.enough.After(soon) {
			soon = l.enough
		}
		if soon.Before(t) {
			t = soon
		}
	}
	for _, s := range l.slots {
		if at := s.next(); !at.IsZero() && at.Before(t) {
			t = at
		}
	}
	return t
}

// heard starts the wait for quiet anew.
func (l *loader) heard(name string) {
	at := l.now.Add(l.cfg.Debounce)
	if name == "" {
		if at.Before(l.rescan) {
			l.rescan = at
		}
		return
	}
	s := l.slot(l.f.finder.idOf(name))
	s.due, s.polled, s.wait = at, nil, 0
}

func (l *loader) slot(id string) *slot {
	s := l.slots[id]
	if s == nil {
		s = &slot{id: id, look: address.LookOf(id)}
		l.slots[id] = s
	}
	return s
}

// tick does what is due.
func (l *loader) tick() {
	due := func(at time.Time) bool { return !at.IsZero() && !l.now.Before(at) }
	for _, id := range slices.Sorted(maps.Keys(l.slots)) {
		if s := l.slots[id]; s != nil && due(s.next()) {
			l.examine(s)
		}
	}
	if due(l.rescan) {
		l.scan()
	}
}

// examine looks what is there of one id.
func (l *loader) examine(s *slot) {
	fresh := false
	found, err := l.f.finder.find(s.id, visitor{
		before: func(folder string) { fresh = l.watch(folder) || fresh }, skipped: l.skip,
	})
	if err != nil {
		l.away(err)
		return
	}
	sources := found[s.id]
	// A folder that was not watched until now may be in the middle of being
	// filled, and so may a file whose writing only polling can see.
	if len(sources) > 0 && (fresh || s.due.IsZero() || s.polled != nil && !sameSources(s.polled, sources)) {
		s.due, s.polled = l.now.Add(l.cfg.Debounce), sources
		return
	}
	l.decide(s, sources)
}

// scan looks at everything. An id whose files changed since they were last decided
// upon is examined after the wait for quiet.
func (l *loader) scan() {
	l.rescan = l.now.Add(l.cfg.Rescan)
	l.watch(l.cfg.Dir)
	seen := map[string]bool{l.cfg.Dir: true}
	skipped := map[string]bool{}
	found, err := l.f.finder.find("", visitor{
		before:  func(folder string) { l.watch(folder); seen[folder] = true },
		skipped: func(show, why string) { l.skip(show, why); skipped[show] = true },
	})
	if err != nil {
		l.away(err)
		return
	}
	maps.DeleteFunc(l.skipped, func(show, _ string) bool { return !skipped[show] })
	l.back(seen)
	for _, id := range slices.Sorted(maps.Keys(found)) {
		now, s := found[id], l.slot(id)
		if !s.due.IsZero() || s.sure && sameSources(s.sources, now) {
			continue
		}
		if l.starting != nil {
			l.starting[s] = true
			if l.old(now) {
				l.decide(s, now)
				continue
			}
		}
		s.due, s.polled, s.wait = l.now.Add(l.cfg.Debounce), now, 0
	}
	for id, s := range l.slots {
		if len(found[id]) == 0 && s.gone.IsZero() && s.due.IsZero() {
			s.due = l.now
		}
	}
}

// skip says once that something is not loaded though it looks as if it could be.
func (l *loader) skip(show, why string) {
	if l.skipped[show] != why {
		l.skipped[show] = why
		l.log.Warn("not loaded", "file", show, "error", why)
	}
}

// old says that nobody seems to be writing these files.
func (l *loader) old(sources []source) bool {
	return !slices.ContainsFunc(sources, func(s source) bool {
		age := l.now.Sub(s.stats.Newest())
		return 0 <= age && age < l.cfg.Debounce
	})
}

// away notes that the folder cannot be read, which says nothing about what is
// in it. It is tried again soon.
func (l *loader) away(err error) {
	why := "the folder cannot be read: " + module.Reason(err)
	if l.trouble != why {
		l.trouble = why
		level := slog.LevelWarn
		if l.cfg.Handlers && errors.Is(err, fs.ErrNotExist) { // a house without any
			level = slog.LevelDebug
		}
		l.log.Log(l.ctx, level, "waiting for the folder, which cannot be read; loaded modules serve on", "error", err)
	}
	l.rescan = l.now.Add(min(l.cfg.Rescan, time.Second))
	for id, s := range l.slots {
		s.due, s.gone, s.polled, s.sure = time.Time{}, time.Time{}, nil, false
		if !s.known {
			delete(l.slots, id)
		}
	}
}

// back notes that the folder can be read, and which folders there are.
func (l *loader) back(seen map[string]bool) {
	if l.trouble != "" {
		l.trouble = ""
		l.log.Info("the folder can be read again")
	}
	maps.DeleteFunc(l.watched, func(folder string, _ fs.FileInfo) bool {
		if !seen[folder] {
			_ = l.eyes.forget(folder)
		}
		return !seen[folder]
	})
}

// watch has a folder looked at. fresh says that until now it was not, or that
// another folder was there.
func (l *loader) watch(folder string) (fresh bool) {
	info, err := os.Stat(folder)
	if err != nil {
		return false
	}
	old, had := l.watched[folder]
	fresh = !had || !os.SameFile(old, info)
	l.watched[folder] = info
	if had && fresh {
		_ = l.eyes.forget(folder)
	}
	if err := l.eyes.watch(folder); err != nil {
		if !l.blind && !errors.Is(err, fs.ErrNotExist) {
			l.blind = true
			l.log.Warn("cannot watch a folder; saves in it are found by rescans only", "at", folder, "every", l.cfg.Rescan, "error", err)
		}
	}
	return fresh
}

// checkReady closes Ready, after the news so far was told, when the start is over.
func (l *loader) checkReady() {
	if l.starting == nil {
		return
	}
	maps.DeleteFunc(l.starting, func(s *slot, _ bool) bool {
		return s.tried || !s.busy() && (s.due.IsZero() || l.now.After(l.patience))
	})
	if len(l.starting) == 0 || l.goesOn() {
		l.starting = nil
		l.news = append(l.news, func() { close(l.f.ready) })
	}
}

const (
	// startTogether is how long after the first companion the others may still take whose
	// files wait in their engine; then the talk begins without them.
	startTogether = 10 * time.Second
	// startAlone is how long they may take where there is nobody else, and startHandlers where they may be handlers,
	// which are waited for whoever else is there: what a filter should look at would pass without it.
	startAlone, startHandlers = 30 * time.Second, 2 * time.Minute
	// longestAgain is the longest that a load which took too long waits to be tried again: a file that hangs costs little.
	longestAgain = 10 * time.Minute
)

// goesOn says that the start does not wait for the files that are left: each of them waits
// in its engine, which compiles one after the other, or for its place, and has for long.
func (l *loader) goesOn() bool {
	for _, s := range l.slots {
		if s.companion != nil && !l.cfg.Handlers { // the first makes it soon, the others never later
			if soon := l.now.Add(startTogether); soon.Before(l.enough) {
				l.enough = soon
			}
		}
	}
	if l.now.Before(l.enough) {
		return false
	}
	for s := range l.starting {
		if (view{job: s.job, queued: s.want != nil}).waits() == loading {
			return false
		}
	}
	return true
}

// stop ends loads and companions and waits for them.
func (l *loader) stop() {
	for _, s := range l.slots {
		if s.job != nil {
			s.job.cancel(nil)
		}
	}
	for l.running > 0 {
		o := <-l.outcomes
		l.over(o)
		o.end()
		l.discard(o.module)
	}
	for _, s := range l.slots {
		if s.companion != nil {
			l.retire(s.id, s.companion.End("companiond stops"))
		}
	}
	l.retiring.Wait()
}

// checkID gives why an id cannot be one.
func checkID(id string) string {
	if err := abi.CheckName("the file's name", id); err != nil {
		return module.Reason(err)
	}
	if why := address.Reserved(id, abi.KindCompanion); why != "" {
		return "the file's name: " + why + "; rename the file"
	}
	return ""
}
