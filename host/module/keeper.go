package module

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
)

// keeper is the one loop that decides what is loaded. It hears names, waits
// until they are quiet, looks what is there, has it loaded beside itself, and
// publishes what came of it.
type keeper struct {
	f    *Folder
	cfg  FolderConfig
	log  *slog.Logger
	eyes lookout // may be nil
	tell *teller

	ctx     context.Context
	now     time.Time // of this turn of the loop
	seats   map[string]*seat
	numbers map[string]uint64 // newest generation of every id there ever was
	rescan  time.Time         // when to look at everything

	skipped map[string]string // why files that look like companions are none, as the log says already
	watched map[string]fs.FileInfo
	blind   bool // some folder cannot be watched, and the log says so

	queue    []*seat
	running  int
	outcomes chan outcome
	retiring sync.WaitGroup

	starting map[*seat]bool // what Ready waits for; nil once it is closed
	patience time.Time      // until when Ready waits for files that keep changing
}

func newKeeper(f *Folder, eyes lookout, t *teller) *keeper {
	return &keeper{
		f: f, cfg: f.cfg, log: f.cfg.Log.With("folder", f.cfg.Dir), eyes: eyes, tell: t,
		seats: map[string]*seat{}, numbers: map[string]uint64{}, skipped: map[string]string{}, watched: map[string]fs.FileInfo{},
		outcomes: make(chan outcome), starting: map[*seat]bool{},
	}
}

func (k *keeper) run(ctx context.Context) {
	k.ctx, k.now = ctx, time.Now()
	k.patience = k.now.Add(10 * k.cfg.Debounce)
	var names <-chan string
	if k.eyes != nil {
		names = k.eyes.names()
	}
	k.scan()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		k.pump()
		k.checkReady()
		timer.Reset(time.Until(k.next()))
		select {
		case <-ctx.Done():
			k.stop()
			return
		case name := <-names:
			k.now = time.Now()
			k.heard(name)
		case o := <-k.outcomes:
			k.now = time.Now()
			k.ended(o)
		case <-timer.C:
			k.now = time.Now()
			k.tick()
		}
	}
}

// next gives when there is something to do though nobody says a word.
func (k *keeper) next() time.Time {
	t := k.rescan
	for _, s := range k.seats {
		if at := s.next(); !at.IsZero() && at.Before(t) {
			t = at
		}
	}
	return t
}

// heard starts the wait for quiet anew.
func (k *keeper) heard(name string) {
	at := k.now.Add(k.cfg.Debounce)
	if name == "" {
		if at.Before(k.rescan) {
			k.rescan = at
		}
		return
	}
	s := k.seat(k.f.finder.idOf(name))
	s.due, s.polled = at, nil
}

func (k *keeper) seat(id string) *seat {
	s := k.seats[id]
	if s == nil {
		s = &seat{id: id, reading: address.Reading(id), shape: address.Skeleton(id)}
		k.seats[id] = s
	}
	return s
}

// tick does what is due.
func (k *keeper) tick() {
	due := func(at time.Time) bool { return !at.IsZero() && !k.now.Before(at) }
	for _, id := range slices.Sorted(maps.Keys(k.seats)) {
		if s := k.seats[id]; s != nil && due(s.next()) {
			k.examine(s)
		}
	}
	if due(k.rescan) {
		k.scan()
	}
}

// examine looks what is there of one id.
func (k *keeper) examine(s *seat) {
	fresh := false
	found, err := k.f.finder.find(s.id, visitor{
		before: func(folder string) { fresh = k.watch(folder) || fresh }, skipped: k.skip,
	})
	if err != nil {
		k.away(err)
		return
	}
	fd := found[s.id]
	if fd == nil {
		fd = &finding{}
	}
	// A folder that was not watched until now may be in the middle of being
	// filled, and so may a file whose writing only polling can see.
	if len(fd.sources) > 0 && (fresh || s.due.IsZero() || s.polled != nil && !sameSources(s.polled, fd.sources)) {
		s.due, s.polled = k.now.Add(k.cfg.Debounce), fd.sources
		return
	}
	k.decide(s, fd.sources)
}

// scan looks at everything. What changed since it was last decided upon is
// examined after the wait for quiet.
func (k *keeper) scan() {
	k.rescan = k.now.Add(k.cfg.Rescan)
	k.watch(k.cfg.Dir)
	seen := map[string]bool{k.cfg.Dir: true}
	skipped := map[string]bool{}
	found, err := k.f.finder.find("", visitor{
		before:  func(folder string) { k.watch(folder); seen[folder] = true },
		skipped: func(show, why string) { k.skip(show, why); skipped[show] = true },
	})
	if err != nil {
		k.away(err)
		return
	}
	maps.DeleteFunc(k.skipped, func(show, _ string) bool { return !skipped[show] })
	k.back(seen)
	for _, id := range slices.Sorted(maps.Keys(found)) {
		now := found[id].sources
		if len(now) == 0 {
			continue
		}
		s := k.seat(id)
		if !s.due.IsZero() || s.sure && sameSources(s.sources, now) {
			continue
		}
		if k.starting != nil {
			k.starting[s] = true
			if k.old(now) {
				k.decide(s, now)
				continue
			}
		}
		s.due, s.polled = k.now.Add(k.cfg.Debounce), now
	}
	for id, s := range k.seats {
		if fd := found[id]; (fd == nil || len(fd.sources) == 0) && s.gone.IsZero() && s.due.IsZero() {
			s.due = k.now
		}
	}
}

// skip says once that something is not loaded though it looks as if it could be.
func (k *keeper) skip(show, why string) {
	if k.skipped[show] != why {
		k.skipped[show] = why
		k.log.Warn("not loaded", "file", show, "error", why)
	}
}

// old says that nobody seems to be writing these files.
func (k *keeper) old(sources []source) bool {
	return !slices.ContainsFunc(sources, func(s source) bool {
		age := time.Duration(-1)
		if s.info != nil {
			age = k.now.Sub(s.info.ModTime())
		}
		return 0 <= age && age < k.cfg.Debounce
	})
}

// away notes that the folder cannot be read, which says nothing about what is
// in it. It is tried again soon.
func (k *keeper) away(err error) {
	if k.f.setTrouble("the folder cannot be read: " + reason(err)) {
		k.log.Warn("waiting for the folder, which cannot be read; what is loaded serves on", "error", err)
	}
	k.rescan = k.now.Add(min(k.cfg.Rescan, time.Second))
	for id, s := range k.seats {
		s.due, s.gone, s.polled, s.sure = time.Time{}, time.Time{}, nil, false
		if !s.known {
			delete(k.seats, id)
		}
	}
}

// back notes that the folder can be read, and which folders there are.
func (k *keeper) back(seen map[string]bool) {
	if k.f.setTrouble("") {
		k.log.Info("the folder can be read again")
	}
	maps.DeleteFunc(k.watched, func(folder string, _ fs.FileInfo) bool {
		if !seen[folder] && k.eyes != nil {
			k.eyes.forget(folder)
		}
		return !seen[folder]
	})
}

// watch has a folder looked at. fresh says that until now it was not, or that
// another folder was there.
func (k *keeper) watch(folder string) (fresh bool) {
	info, err := os.Stat(folder)
	if err != nil {
		return false
	}
	old, had := k.watched[folder]
	fresh = !had || !os.SameFile(old, info)
	k.watched[folder] = info
	if k.eyes == nil {
		return fresh
	}
	if had && fresh {
		k.eyes.forget(folder)
	}
	if err := k.eyes.watch(folder); err != nil {
		if !k.blind && !errors.Is(err, fs.ErrNotExist) {
			k.blind = true
			k.log.Warn("cannot watch a folder; saves in it are found by rescans only", "at", folder, "every", k.cfg.Rescan, "error", err)
		}
	}
	return fresh
}

// checkReady closes Ready, by way of the teller, when the start is over.
func (k *keeper) checkReady() {
	if k.starting == nil {
		return
	}
	maps.DeleteFunc(k.starting, func(s *seat, _ bool) bool {
		return s.tried || !s.busy() && (s.due.IsZero() || k.now.After(k.patience))
	})
	if len(k.starting) == 0 {
		k.starting = nil
		k.tell.say(func() { close(k.f.ready) })
	}
}

// atOnce is how many loads run at a time: at the start there is nobody to
// disturb.
func (k *keeper) atOnce() int {
	if k.starting != nil {
		return min(4, runtime.GOMAXPROCS(0))
	}
	return 1
}

// stop ends loads and companions and waits for them.
func (k *keeper) stop() {
	for _, s := range k.seats {
		if s.job != nil {
			s.job.cancel()
		}
	}
	for k.running > 0 {
		o := <-k.outcomes
		k.running--
		o.cancel()
		k.discard(o.module)
	}
	for _, s := range k.seats {
		if s.companion != nil {
			k.retire(s.id, s.companion.end("companiond stops"))
		}
	}
	k.retiring.Wait()
}

// checkID gives why an id cannot be one.
func checkID(id string) string {
	if err := abi.CheckName("the file's name", id); err != nil {
		return reason(err)
	}
	if why := address.Reserved(id, abi.KindCompanion); why != "" {
		return "the file's name: " + why + "; rename the file"
	}
	return ""
}
