package room

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/rules"
)

// A room that nobody uses falls asleep: its Run ends, and what is to be known of it
// stands in the journal, with the time at which it is to be looked at again.

// Someday is when a room is due that waits for a companion to come: a human said
// something there, and nobody is there to answer.
var Someday = time.UnixMilli(1 << 46).UTC()

// Drain asks nobody any more: the daemon is stopping.
func (r *Room) Drain() { r.drain.Store(true) }

// Draining says whether a line is being made, or waits to be written down.
func (r *Room) Draining() bool { return r.lines.Load() > 0 || len(r.inbox) > 0 }

// SetCast says which companions are loaded now, ordered by id, and answers when the
// room knows it. It takes those that live there.
func (r *Room) SetCast(ctx context.Context, cast []entry.Joined) error {
	if cast == nil {
		cast = []entry.Joined{}
	}
	e := castEvent{cast, make(chan struct{})}
	if err := r.put(ctx, e); err != nil {
		return err
	}
	select {
	case <-e.done:
		return nil
	case <-r.gone:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Used writes down what a language model was asked for in the room.
func (r *Room) Used(ctx context.Context, u entry.Usage) error { return r.put(ctx, usageEvent{u}) }

// Gone is closed when Run has returned.
func (r *Room) Gone() <-chan struct{} { return r.gone }

// Settle gives the room settings, and answers when they are in the journal.
func (r *Room) Settle(ctx context.Context, s Settings) error {
	s.Rules.Version = rules.Version
	e := settleEvent{s, make(chan error, 1)}
	return r.answered(ctx, e, e.done)
}

func (r *Room) handleSettle(s Settings) error {
	if r.trouble != nil {
		return DoorError(r.trouble)
	}
	r.settings, r.names.stale = s, true
	r.syncRules()
	return DoorError(r.trouble)
}

// Glance gives a room that sleeps at a glance: its state is folded from the
// journal, which stays as it is. cast are the companions that are loaded now.
func Glance(ctx context.Context, j journal.Journal, set Settings, cast []entry.Joined, now time.Time) (Info, error) {
	s, _, err := fold(ctx, j, set.Name)
	if err != nil {
		return Info{}, DoorError(err)
	}
	s.Cast = slices.DeleteFunc(s.Cast, func(m entry.Joined) bool { return m.Kind == abi.KindCompanion })
	for _, c := range cast {
		if set.Lives(c.ID) {
			s.Cast = append(s.Cast, c)
		}
	}
	slices.SortFunc(s.Cast, func(a, b entry.Joined) int { return strings.Compare(a.ID, b.ID) })
	set.Rules.Version = rules.Version
	s.Assume(set.Rules)
	i := infoOf(set, s, s.Head, s.Members())
	i.Loading = set.waits(cast)
	if b, ok := s.Budget(later(now.UTC().Truncate(time.Millisecond), s.At)); ok {
		i.Pool = &b
	}
	return i, nil
}

// idleFor gives how long it takes until the room may fall asleep, 0 for never.
func (r *Room) idleFor() time.Duration {
	switch {
	case r.cfg.Idle == 0:
		return 0
	case r.busy.Load() > 0: // a call tells the room what came of it shortly before it has returned
		return min(r.cfg.Idle, time.Second)
	case !r.atRest():
		return 0
	}
	return max(time.Millisecond, r.cfg.Idle-time.Since(r.used))
}

// atRest says whether nothing is going on, and nothing will soon.
func (r *Room) atRest() bool {
	s := r.m.State
	if r.trouble != nil || r.cast == nil && s.Archived == "" || r.busy.Load() > 0 || len(r.agents)+len(r.judging)+len(r.acks)+len(r.running) > 0 {
		return false
	}
	if s.Round != nil || s.Floor != nil {
		return false
	}
	at, _, due := s.NextDue()
	return !due || at.Sub(r.clock()) > r.cfg.Idle
}

// fallAsleep says whether the room falls asleep now. Nothing is put into the inbox
// afterwards.
func (r *Room) fallAsleep() bool {
	if r.cfg.Idle == 0 || time.Since(r.used) < r.cfg.Idle || !r.atRest() || !r.awake.TryLock() {
		return false
	}
	defer r.awake.Unlock()
	r.asleep = len(r.inbox) == 0
	return r.asleep
}

// rest writes down what the next to wake the room wants to know. Where it cannot,
// the room counts as awake, and is looked at when the daemon starts again.
func (r *Room) rest(ctx context.Context) {
	if r.trouble != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if len(r.m.Made()) > 0 {
		r.write(ctx) // votes and usage that no decision came of
	}
	if r.trouble != nil {
		return
	}
	if r.m.State.Head > r.snapped {
		r.snapshot(ctx)
	}
	if err := r.journal.Rest(ctx, r.name, r.head, r.dueAgain()); err != nil {
		r.log.Warn("room cannot be put to rest", "err", err)
	}
}

// dueAgain is when the room is to be looked at, zero for not before somebody comes.
func (r *Room) dueAgain() time.Time {
	s := r.m.State
	at, _, ok := s.NextDue()
	switch {
	case s.Archived != "" || s.Unjudged() != "":
		return time.Time{}
	case s.Round != nil || s.Floor != nil:
		return r.now()
	case ok:
		return at
	case s.Open() && s.LastBy == abi.KindHuman && s.Stopped == "":
		return Someday
	}
	return time.Time{}
}

// closed says why a room takes nothing new whoever asks.
func (r *Room) closed() error {
	s := r.m.State
	switch {
	case s.Archived != "":
		return Settings{Name: r.name, Closed: true}.Refuses()
	case r.settings.Refuses() != nil:
		return r.settings.Refuses()
	case s.Unjudged() != "":
		return abi.Field("room", abi.CodeUnavailable, "%s takes nothing new: %s", r.name, s.Unjudged())
	}
	return nil
}

// Archive closes the room: nobody talks there any more, unless it is
// opened again. What was said stays.
func (r *Room) Archive(ctx context.Context, by string) error {
	e := archiveEvent{by: by, done: make(chan error, 1)}
	return r.answered(ctx, e, e.done)
}

func (r *Room) handleArchive(e archiveEvent) error {
	if r.trouble != nil {
		return DoorError(r.trouble)
	}
	if r.m.State.Archived != "" {
		return nil
	}
	if r.m.State.Newer() != "" {
		return r.closed()
	}
	r.settings.Reopen = nil // that was before
	r.breakOff()
	r.running.stop()
	if r.trouble == nil {
		r.must(r.m.Input(entry.KindArchived, r.now(), entry.Archived{By: e.by}))
	}
	r.used = time.Time{} // there is nothing to wait for
	return DoorError(r.trouble)
}
