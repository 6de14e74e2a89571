// Package registry has all rooms: those of the configuration and those that were
// opened at a door. It opens and closes rooms while the daemon runs, wakes a room
// that something is done in or that is due, and lets one that nobody uses sleep.
//
// A room that sleeps is a row of the journal's index, and nothing else. To read it
// wakes nobody and writes nothing. The registry never decides anything that happens
// in a room; host/room does.
package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/rooms"
)

// Idle is after how long a room with nothing to do falls asleep, unless Config says
// otherwise.
const Idle = 30 * time.Second

// Config is what a registry needs.
type Config struct {
	// Room is what the rooms stand on. Its Owner and Bodies are the registry's.
	Room  room.Config
	Rooms []room.Settings // of the configuration
	Usual string          // of whoever names none
	// Homes gives the rooms of companions that are not to be found out by who lives
	// where.
	Homes map[string]string
	// Read gives the settings of a room that was opened at a door, from what it was
	// opened with.
	Read func(name string, settings []byte) (room.Settings, error)
	// Talks are the rules of rooms that are for a conversation.
	Talks entry.Rules
	// MaxRooms is how many rooms one caller may have open. 0 means none.
	MaxRooms int
	// Opened is told of a room that was opened at a door. Nil: nobody is.
	Opened func(name string)
}

// Registry has all rooms. Make one with New; it does nothing before Run.
type Registry struct {
	cfg        Config
	journal    journal.Journal
	log        *slog.Logger
	configured atomic.Pointer[map[string]room.Settings] // never changed
	bodies     action.Bodies
	opening    sync.Mutex // one at a time opens or archives a room
	started    chan struct{}
	done       chan struct{}   // closed when Run ends
	ctx        context.Context // of the rooms, once started
	due        chan struct{}   // has a value when rooms may be due sooner than was known
	running    sync.WaitGroup

	mu     sync.Mutex // guards what follows
	awake  map[string]*room.Room
	quiet  map[string]*quiet
	fenced map[string]error // why rooms stay closed here: another daemon has taken them
	cast   []entry.Joined   // loaded now; nil: not known yet
	come   bool             // somebody is among them for whom a room may have waited
	closed bool
}

var _ rooms.Directory = (*Registry)(nil)

// New makes a registry; nothing runs yet.
func New(c Config) (*Registry, error) {
	g := &Registry{
		cfg: c, journal: c.Room.Journal, log: c.Room.Log,
		started: make(chan struct{}), done: make(chan struct{}), due: make(chan struct{}, 1), awake: map[string]*room.Room{}, quiet: map[string]*quiet{}, fenced: map[string]error{},
	}
	if g.cfg.Room.Idle == 0 {
		g.cfg.Room.Idle = Idle
	}
	g.cfg.Room.Owner, g.cfg.Room.Bodies = "companiond/"+c.Room.NewID(), &g.bodies
	rooms, err := byName(c.Rooms)
	g.configured.Store(&rooms)
	return g, err
}

// byName checks the names of rooms of the configuration.
func byName(all []room.Settings) (map[string]room.Settings, error) {
	rooms := map[string]room.Settings{}
	for _, s := range all {
		if err := abi.CheckName("room", s.Name); err != nil {
			return nil, err
		}
		if _, twice := rooms[s.Name]; twice {
			return nil, abi.Field("room", abi.CodeInvalid, "%q is there twice", s.Name)
		}
		rooms[s.Name] = s
	}
	return rooms, nil
}

// rooms are those of the configuration, which are not to be changed.
func (g *Registry) rooms() map[string]room.Settings { return *g.configured.Load() }

// Configure gives the rooms of the configuration other settings, and adds rooms to them: those that are awake have them as
// soon as nobody has the floor there, all others when they wake.
//
// # Errors
//
// CodeInvalid for names that no room may have, and where a room is missing; nothing has changed then.
func (g *Registry) Configure(ctx context.Context, all []room.Settings) error {
	rooms, err := byName(all)
	if err != nil {
		return err
	}
	for name := range g.rooms() {
		if _, stays := rooms[name]; !stays {
			return abi.Field("room", abi.CodeInvalid, "%q is not there any more", name)
		}
	}
	g.configured.Store(&rooms)
	for name := range rooms {
		if r := g.awakeNow(name); r != nil {
			s, err := g.settings(ctx, name)
			if err == nil {
				err = r.Change(ctx, s)
			}
			if err != nil && !errors.Is(err, loop.ErrAsleep) {
				return fmt.Errorf("room %s: %w", name, err)
			}
		}
	}
	return nil
}

// Run lets rooms run until ctx ends, and returns when all their goroutines are
// gone. Rooms that were busy when the daemon last ended are woken at once, the usual
// one first.
func (g *Registry) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g.ctx = ctx
	close(g.started)
	defer close(g.done)
	defer g.running.Wait()
	g.wakeUsual(ctx)
	g.wakeWhenDue(ctx)
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	return nil
}

// SetCast tells the rooms that are awake which companions are loaded now, ordered
// by id, and answers when they know it. Rooms that wait for somebody to come wake.
func (g *Registry) SetCast(ctx context.Context, cast []entry.Joined) {
	if cast == nil {
		cast = []entry.Joined{}
	}
	g.mu.Lock()
	come := g.cast == nil || slices.ContainsFunc(cast, func(c entry.Joined) bool {
		return !slices.ContainsFunc(g.cast, func(was entry.Joined) bool { return was.ID == c.ID })
	})
	g.cast, g.come = cast, g.come || come
	clear(g.quiet)
	rooms := slices.Collect(maps.Values(g.awake))
	g.mu.Unlock()
	var told sync.WaitGroup
	for _, r := range rooms {
		told.Go(func() { _ = r.SetCast(ctx, cast) }) // one that fell asleep or ended hears of it when it wakes
	}
	told.Wait()
	if come {
		g.lookAgain()
	}
}

// lookAgain has Run look which rooms are due.
func (g *Registry) lookAgain() {
	select {
	case g.due <- struct{}{}:
	default: // it will
	}
}

// Answers waits until each room that is awake answers. A room that is still being read counts as well: a long journal takes its
// time.
//
// # Errors
//
// Of the first room that does not before ctx ends, which it names.
func (g *Registry) Answers(ctx context.Context) error {
	g.mu.Lock()
	awake := maps.Clone(g.awake)
	g.mu.Unlock()
	answers := make(chan error, len(awake))
	for name, r := range awake {
		go func() {
			select {
			case <-r.Loaded():
			default:
				answers <- nil
				return
			}
			if err := r.Answers(ctx); err != nil {
				answers <- fmt.Errorf("room %s: %w", name, err)
				return
			}
			answers <- nil
		}()
	}
	for range awake {
		if err := <-answers; err != nil {
			return err
		}
	}
	return nil
}

// Hush has the rooms that are awake ask nobody any more, and write down of no body that it leaves.
func (g *Registry) Hush() { g.hush() }

// hush says whether a line is still being made.
func (g *Registry) hush() (busy bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.awake {
		r.Drain()
		busy = busy || r.Draining()
	}
	return busy
}

// Drain asks nobody any more and waits until the lines that are being made are in
// the journal, or ctx ends.
func (g *Registry) Drain(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if !g.hush() {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-g.done:
			return
		case <-tick.C:
		}
	}
}

// Owner is what the owner entries of this run say.
func (g *Registry) Owner() string { return g.cfg.Room.Owner }

// Awake says whether a room is awake now.
func (g *Registry) Awake(name string) bool { return g.awakeNow(name) != nil }

// Count gives how many rooms are awake.
func (g *Registry) Count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.awake)
}

// Inboxes gives how many requests wait in each room that is awake.
func (g *Registry) Inboxes() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	waiting := make(map[string]int, len(g.awake))
	for name, r := range g.awake {
		waiting[name] = r.Inbox()
	}
	return waiting
}

// Configured says whether a room stands in the configuration.
func (g *Registry) Configured(name string) bool {
	_, ok := g.rooms()[name]
	return ok
}

// Usual is the room of whoever names none.
func (g *Registry) Usual() string { return g.cfg.Usual }

func notFound(name string) error { return abi.Field("room", abi.CodeNotFound, "there is no %q", name) }

// settings gives how a room is to be. Where a room has been opened at a door and
// stands in the configuration, too, the configuration wins.
func (g *Registry) settings(ctx context.Context, name string) (room.Settings, error) {
	row, known, err := g.journal.Room(ctx, name)
	if err != nil {
		return room.Settings{}, journal.Coded(err)
	}
	known = known && journal.IsRoom(name)
	return g.settingsOf(ctx, name, row, known)
}

func (g *Registry) settingsOf(ctx context.Context, name string, row journal.Room, known bool) (room.Settings, error) {
	if s, ok := g.rooms()[name]; ok {
		s.Reopen = &entry.Opened{By: "the configuration", Settings: []byte("{}")}
		return s, nil
	}
	if !known {
		return room.Settings{}, notFound(name)
	}
	if row.By == halls {
		return g.hallOf(name, row.Settings), nil
	}
	if row.Settings == nil && row.Fork.Of != "" {
		return g.forkOf(ctx, row)
	}
	if row.Settings == nil {
		return room.Settings{Name: name, Unknown: "it is not in the configuration any more; write [room." + name + "] there to talk in it"}, nil
	}
	s, err := g.cfg.Read(name, row.Settings)
	if err != nil {
		s = room.Settings{Name: name, Unknown: "its settings are not known to this companiond: " + abi.AsError(err).Message}
	}
	if row.Archived {
		s.Closed = true
	} else {
		s.Open = &entry.Opened{By: row.By, Settings: row.Settings}
	}
	return s, nil
}

// Standing gives what the configuration says of compressing what was said in a room: nothing is compressed that
// nobody asked for where the room takes nothing new, or is for a conversation.
func (g *Registry) Standing(ctx context.Context, name string) history.Standing {
	set, err := g.settings(ctx, name)
	if err != nil || set.Refuses() != nil || set.Terms != nil {
		return history.Standing{}
	}
	return set.Standing
}

// History answers a companion's history.get about a room.
func (g *Registry) History(ctx context.Context, name string, ask abi.HistoryAsk) (abi.History, error) {
	talk, err := g.Room(ctx, name)
	if err != nil {
		return abi.History{}, err
	}
	return talk.Told(ctx, ask)
}

// Segment shows a part of the line that a companion is speaking; see
// [room.Room.Segment]. The room of a line that is spoken is awake.
func (g *Registry) Segment(ctx context.Context, name, who, call string, a abi.SayAsk) error {
	r := g.awakeNow(name)
	if r == nil {
		return abi.Errorf(abi.CodeInvalid, "say: this call is about no room")
	}
	return r.Segment(ctx, who, call, a)
}

// Used writes down what a language model was asked for, in the room for which it
// was asked.
func (g *Registry) Used(ctx context.Context, name string, u entry.Usage) {
	if r := g.awakeNow(name); r != nil {
		_ = r.Used(ctx, u) // a room that is gone has nobody to tell
	}
}

// awakeNow gives a room that is awake, nil for none.
func (g *Registry) awakeNow(name string) *room.Room {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.awake[name]
}

// refusal says why a room is not to be woken. Nil: whatever its settings are.
type refusal func(room.Settings) error

// wake gives a room that is awake, and wakes it if it is not.
func (g *Registry) wake(ctx context.Context, name string, unless refusal) (*room.Room, error) {
	select {
	case <-g.started:
	case <-ctx.Done():
		return nil, abi.Wrap(abi.CodeTimeout, ctx.Err(), "the daemon has not started")
	}
	if r := g.awakeNow(name); r != nil {
		return r, nil
	}
	set, err := g.settings(ctx, name)
	if err == nil && unless != nil {
		err = unless(set)
	}
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.awake[name]; r != nil || g.fenced[name] != nil {
		return r, g.fenced[name]
	}
	if g.closed || g.ctx.Err() != nil {
		return nil, rooms.ErrStopping
	}
	r := room.New(set, g.cfg.Room, g.cast)
	g.awake[name] = r
	delete(g.quiet, name)
	g.running.Go(func() { g.run(name, r) })
	return r, nil
}

// run runs a room until it falls asleep. Its trouble is its own: one that another
// daemon has taken stays closed here.
func (g *Registry) run(name string, r *room.Room) {
	err := r.Run(g.ctx)
	g.mu.Lock()
	if errors.Is(err, journal.ErrFenced) {
		g.fenced[name] = journal.Coded(err)
		g.log.Error("another daemon has taken a room over", "room", name)
	}
	if g.awake[name] == r { // else forget was first, and another may be awake by now
		delete(g.awake, name)
		delete(g.quiet, name)
	}
	g.mu.Unlock()
	g.lookAgain()
}

// wakeUsual wakes the usual room, if it has anything to do.
func (g *Registry) wakeUsual(ctx context.Context) {
	row, known, err := g.journal.Room(ctx, g.cfg.Usual)
	if err == nil && known && (row.Awake || !row.Due.IsZero() && !row.Due.After(time.Now())) {
		_, _ = g.wake(ctx, g.cfg.Usual, nil) // whoever talks there is told what is wrong
	}
}

// wakeWhenDue wakes rooms when they are due, until ctx ends; first those that were
// awake when the daemon last ended.
func (g *Registry) wakeWhenDue(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.due:
			if g.somebodyCame() {
				g.wakeAll(ctx, room.Someday)
			}
		case <-timer.C:
			g.wakeAll(ctx, time.Now())
		}
		timer.Reset(g.untilDue(ctx))
	}
}

// somebodyCame says, once, whether rooms that wait for a companion are to be woken.
func (g *Registry) somebodyCame() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	come := g.come
	g.come = false
	return come
}

// retry is how long the registry waits after the journal could not be asked.
const retry = time.Second

// untilDue is how long no room is due that sleeps.
func (g *Registry) untilDue(ctx context.Context) time.Duration {
	at, err := g.journal.NextDue(ctx)
	switch {
	case err != nil:
		return retry
	case at.IsZero() || !at.Before(room.Someday):
		return time.Hour
	}
	return max(0, time.Until(at))
}

// wakeAtOnce is how many rooms are woken before the registry looks whether they
// have read their journals.
const wakeAtOnce = 8

// wakeAll wakes the rooms that are due at a time, and those that were awake when
// the daemon last ended, a few at once.
func (g *Registry) wakeAll(ctx context.Context, by time.Time) {
	var waking []*room.Room
	for row, err := range journal.AllWaking(ctx, g.journal, by) {
		if ctx.Err() != nil { // an ordinary stop
			return
		}
		if err != nil {
			g.log.Warn("rooms that are due cannot be listed", "err", err)
			return
		}
		if g.awakeNow(row.Name) != nil || !row.Awake && row.Due.Equal(room.Someday) && !g.awaited(ctx, row) {
			continue
		}
		if r, err := g.wake(ctx, row.Name, nil); err == nil {
			waking = append(waking, r)
		}
		if len(waking) == wakeAtOnce {
			<-waking[0].Loaded()
			waking = waking[1:]
		}
	}
}

// awaited says whether somebody is loaded who lives in a room that waits: others
// would only be looked at in vain.
func (g *Registry) awaited(ctx context.Context, row journal.Room) bool {
	set, err := g.settingsOf(ctx, row.Name, row, true)
	if err != nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.cast, func(c entry.Joined) bool { return set.Lives(c.ID) })
}
