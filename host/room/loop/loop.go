// Package loop runs the loop of one room: one goroutine that takes requests from an
// inbox, has the rules turn them into entries, makes those durable and only then tells
// anybody. It is the only writer of the room's journal stream, and falls asleep when
// nothing is to be done.
//
// It never decides what a request means or whom to ask: that is host/room's, in the
// steps of its Config.
package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/rules"
)

// SnapshotEvery is how many entries a room writes between two snapshots.
const SnapshotEvery = 500

const (
	inboxSize = 256
	batchSize = 64          // requests handled before the journal is written
	retry     = time.Second // between tries while the journal takes no writes
	together  = 300 * time.Microsecond
	crowd     = 4 // fewer that ask together are not worth the wait
)

// Config is what a loop stands on, and the steps of its room. All of them are called
// by the loop alone.
type Config struct {
	Journal journal.Journal
	Room    string
	Owner   string        // of this run of the daemon, in the owner entries
	Idle    time.Duration // a room with nothing to do for so long falls asleep; 0: never
	Log     *slog.Logger

	Load     func(context.Context, *fold.State) error // the room was read, anew after trouble
	Begin    func()                                   // nothing is wrong since
	Settle   func()                                   // after requests: finds what follows from them and from the time
	Dispatch func(context.Context)                    // after a write: makes the calls that are due
	Wrote    func([]entry.Entry)                      // these are durable, and nobody has heard of it
	Dropped  func(why error)                          // what was not durable is gone
	Show     func()                                   // the room may look different from outside
	Next     func() time.Duration                     // until when nothing is to be done, if nobody asks
	AtRest   func() bool                              // nothing is going on, and nothing will soon
	Due      func() time.Time                         // when a room that sleeps is to be looked at
}

// Loop is a room's, from New until Run returns.
type Loop struct {
	cfg    Config
	inbox  chan func()
	awake  sync.RWMutex // held shared while something is put into the inbox
	asleep bool
	gone   chan struct{} // closed when Run returns
	loaded chan struct{} // closed when the journal was read, or could not be

	// Owned by Run.
	m    rules.Machine
	head journal.Head
	acks []func(error) // who waits for the entries so far to be durable
	// expected is how many were told together that theirs are.
	expected int
	seen     struct{ mono, room time.Time } // the clocks when they were last looked at
	used     time.Time                      // by the process's clock: when something was last asked or done here
	trouble  error                          // why the journal takes nothing; nil when it does
	snapped  uint64
	ids      newestIDs
}

var errNotLoaded = errors.New("not loaded yet")

// New makes a loop. It starts nothing.
func New(c Config) *Loop {
	return &Loop{
		cfg: c, inbox: make(chan func(), inboxSize), gone: make(chan struct{}), loaded: make(chan struct{}),
		m: rules.Machine{State: fold.New()}, trouble: errNotLoaded, used: time.Now(),
	}
}

// Loaded is closed when the room has read its journal, or could not.
func (l *Loop) Loaded() <-chan struct{} { return l.loaded }

// Gone is closed when Run has returned.
func (l *Loop) Gone() <-chan struct{} { return l.gone }

// Wake has the loop look at the room. It may be called from anywhere.
func (l *Loop) Wake() {
	select {
	case l.inbox <- func() {}:
	default: // it is about to
	}
}

// Inbox gives how many requests wait. It may be called from anywhere.
func (l *Loop) Inbox() int { return len(l.inbox) }

// Waits says whether requests wait in the inbox. It may be called from anywhere.
func (l *Loop) Waits() bool { return len(l.inbox) > 0 }

// past is the channel of a timer whose time has come. No timer is set for no time: of several that have run out in one
// bubble of synctest, with the race detector, two can run at once and end the process (Go 1.26).
var past = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

// Run is the loop, until ctx ends or the room falls asleep. It answers an error only
// when the journal says that the room is another daemon's.
func (l *Loop) Run(ctx context.Context) error {
	defer close(l.gone)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	due := past    // the room looks at itself before anybody asks
	l.recover(ctx) // a speaker that comes meanwhile waits in the inbox
	l.cfg.Show()
	close(l.loaded)
	for {
		select {
		case <-ctx.Done():
			l.rest(context.WithoutCancel(ctx))
			return nil
		case do := <-l.inbox:
			l.take(do)
			l.gather(ctx)
		case <-due:
			select { // what waits there goes into the same write
			case do := <-l.inbox:
				l.take(do)
			default:
			}
		}
		if l.trouble != nil {
			l.recover(ctx)
		}
		if l.trouble == nil {
			l.cfg.Settle()
			l.flush(ctx)
		}
		if errors.Is(l.trouble, journal.ErrFenced) {
			return fmt.Errorf("room %s: %w", l.cfg.Room, l.trouble)
		}
		if l.trouble == nil {
			l.cfg.Dispatch(ctx)
		}
		l.cfg.Show()
		if l.fallAsleep() {
			l.rest(context.WithoutCancel(ctx))
			return nil
		}
		if wait := l.next(); wait > 0 {
			timer.Reset(wait)
			due = timer.C
		} else {
			due = past
		}
	}
}

// take does what a request is about, and those that wait behind it, up to a batch.
func (l *Loop) take(do func()) {
	for n := 1; ; n++ {
		do()
		if n == batchSize {
			return
		}
		select {
		case do = <-l.inbox:
		default:
			return
		}
	}
}

// gather waits a moment for those who were answered together last: they are likely to
// ask again together, and what is asked together shares a write. Whoever asks alone, or
// in a talk of a few, waits for nobody.
func (l *Loop) gather(ctx context.Context) {
	if l.trouble != nil || len(l.acks) == 0 || l.expected < crowd {
		return
	}
	moment := time.NewTimer(together)
	defer moment.Stop()
	for len(l.acks) < min(l.expected, batchSize) {
		select {
		case do := <-l.inbox:
			do()
		case <-moment.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// next gives how long the loop waits when nobody asks.
func (l *Loop) next() time.Duration {
	if l.trouble != nil {
		return retry
	}
	next := l.cfg.Next()
	if l.cfg.Idle > 0 && l.AtRest() {
		next = min(next, max(time.Millisecond, l.cfg.Idle-time.Since(l.used)))
	}
	return next
}

// AtRest says whether nothing is going on, and nothing will soon.
func (l *Loop) AtRest() bool { return l.trouble == nil && len(l.acks) == 0 && l.cfg.AtRest() }

// Use says that something was asked or done, Unused that there is nothing to wait for.
func (l *Loop) Use()    { l.used = time.Now() }
func (l *Loop) Unused() { l.used = time.Time{} }

// fallAsleep says whether the room falls asleep now. Nothing is put into the inbox
// afterwards.
func (l *Loop) fallAsleep() bool {
	if l.cfg.Idle == 0 || time.Since(l.used) < l.cfg.Idle || !l.AtRest() || !l.awake.TryLock() {
		return false
	}
	defer l.awake.Unlock()
	l.asleep = len(l.inbox) == 0
	return l.asleep
}

// rest writes down what the next to wake the room wants to know. Where it cannot,
// the room counts as awake, and is looked at when the daemon starts again.
func (l *Loop) rest(ctx context.Context) {
	if l.trouble != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if len(l.m.Made()) > 0 {
		l.write(ctx) // votes and usage that no decision came of
	}
	if l.trouble != nil {
		return
	}
	if l.m.State.Head > l.snapped {
		l.snapshot(ctx)
	}
	if err := l.cfg.Journal.Rest(ctx, l.cfg.Room, l.head, l.cfg.Due()); err != nil {
		l.cfg.Log.Warn("room cannot be put to rest", "err", err)
	}
}

// Now is the room's clock: whole milliseconds, never back.
func (l *Loop) Now() time.Time { return l.Clock().Truncate(time.Millisecond) }

// Clock is the wall's, and where that ran back, or is behind the journal, goes
// on from where the room is: times that are stored come all the same.
func (l *Loop) Clock() time.Time {
	now := time.Now()
	at := now.UTC().Round(0)
	if on := l.seen.room.Add(now.Sub(l.seen.mono)); !l.seen.mono.IsZero() && on.After(at) {
		at = on
	}
	if l.m.State.At.After(at) {
		at = l.m.State.At
	}
	l.seen.mono, l.seen.room = now, at
	return at
}

// Real puts a time of the room's clock on the process's own, for timers.
func (l *Loop) Real(at time.Time) time.Time { return time.Now().Add(at.Sub(l.Clock())) }

// State is the room's. It is changed by entries only.
func (l *Loop) State() *fold.State { return l.m.State }

// Head is how far the journal is.
func (l *Loop) Head() journal.Head { return l.head }

// Trouble says why the room takes nothing, as doors show it; nil when it does.
func (l *Loop) Trouble() error {
	if errors.Is(l.trouble, errNotLoaded) {
		return abi.Wrap(abi.CodeUnavailable, l.trouble, "the room is being loaded")
	}
	return journal.Coded(l.trouble)
}
