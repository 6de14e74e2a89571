package room

import (
	"context"
	"errors"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/rooms"
)

// A room that nobody uses falls asleep: its Run ends, and all that is to be known of it
// stands in the journal, with the time at which it is to be looked at again.

// Someday is when a room is due that waits for a companion to come: a human said
// something there, and nobody is there to answer.
var Someday = time.UnixMilli(1 << 46).UTC()

// Drain asks nobody any more: the daemon is stopping.
func (r *Room) Drain() {
	if !r.drain.Swap(true) {
		r.loop.Wake() // whoever waits for its turn is told
	}
}

// Draining says whether a line is being made, or waits to be written down.
func (r *Room) Draining() bool { return r.lines.Load() > 0 || r.loop.Waits() }

// Answers waits until the room's loop takes something, which is nothing. One that sleeps, or ends, counts as well.
//
// # Errors
//
// CodeTimeout where ctx ends first.
func (r *Room) Answers(ctx context.Context) error {
	_, err := loop.Await(ctx, r.loop, "the room does not answer", func(q loop.Request[struct{}]) { q.Tell(struct{}{}, nil) })
	if errors.Is(err, loop.ErrAsleep) || errors.Is(err, rooms.ErrStopping) {
		return nil
	}
	return err
}

// SetCast says which companions are loaded now, ordered by id, and answers when the
// room knows it. It takes those that live there. cast is not nil, which would say that
// nobody knows yet.
func (r *Room) SetCast(ctx context.Context, cast []entry.Joined) error {
	_, err := loop.Await(ctx, r.loop, loop.Late, func(q loop.Request[struct{}]) {
		r.present.SetCast(cast)
		if r.loop.Trouble() != nil {
			q.Tell(struct{}{}, nil)
			return
		}
		r.loop.Ack(func(error) { q.Tell(struct{}{}, nil) })
	})
	return err
}

// Used writes down what a language model was asked for in the room.
func (r *Room) Used(ctx context.Context, u entry.Usage) error {
	return r.loop.Put(ctx, func() {
		if r.loop.Use(); r.loop.Trouble() == nil {
			r.loop.Input(entry.KindUsage, u)
		}
	})
}

// Settle gives the room settings, and answers when they are in the journal.
func (r *Room) Settle(ctx context.Context, s Settings) error {
	s.Rules.Version = fold.Version
	return loop.Tell(ctx, r.loop, func() error {
		r.settings = s
		r.present.Stale()
		r.syncRules()
		return nil
	})
}

// Change gives the room settings as soon as nobody has the floor, and no round is open. It answers when the room
// knows of them.
func (r *Room) Change(ctx context.Context, s Settings) error {
	s.Rules.Version = fold.Version
	return r.loop.Put(ctx, func() { r.anew = &s })
}

// renew takes other settings between two turns.
func (r *Room) renew() {
	if s := r.state(); r.anew == nil || s.Round != nil || s.Floor != nil {
		return
	}
	r.settings, r.anew = *r.anew, nil
	r.present.Stale()
	r.syncRules()
}

// atRest says whether nothing is going on, and nothing will soon.
func (r *Room) atRest() bool {
	s := r.state()
	if !r.present.Known() && s.Archived == "" || r.busy.Load() > 0 || r.senses.Waits() || r.present.Agents()+len(r.running)+len(r.offers) > 0 {
		return false
	}
	if s.Round != nil || s.Floor != nil || s.History.Awaits(r.settings.Standing) {
		return false
	}
	at, _, due := s.NextDue()
	return !due || at.Sub(r.loop.Clock()) > r.cfg.Idle
}

// dueAgain is when the room is to be looked at, zero for not before somebody comes.
func (r *Room) dueAgain() time.Time {
	s := r.state()
	at, _, ok := s.NextDue()
	switch {
	case s.Archived != "" || s.Unjudged() != "":
		return time.Time{}
	case s.Round != nil || s.Floor != nil || s.History.Awaits(r.settings.Standing):
		return r.loop.Now()
	case ok:
		return at
	case s.Stopped == "" && len(s.Unanswered) > 0:
		return Someday
	}
	return time.Time{}
}

// closed says why a room takes nothing new whoever asks.
func (r *Room) closed() error { return r.settings.In(r.state()).Refuses() }

// Archive closes the room: nobody talks there any more, unless it is
// opened again. All that was said stays.
func (r *Room) Archive(ctx context.Context, by string) error {
	return loop.Tell(ctx, r.loop, func() error {
		if r.state().Archived != "" {
			return nil
		}
		if r.state().Newer() != "" {
			return r.closed()
		}
		r.settings.Reopen = nil // that was before
		r.voice.BreakOff(entry.EndStopped, by+" closed the room")
		r.running.Stop()
		r.giveUp(func(queue.Request) bool { return true })
		if r.loop.Trouble() == nil {
			r.loop.Input(entry.KindArchived, entry.Archived{By: by})
		}
		r.loop.Unused() // there is nothing to wait for
		return nil
	})
}
