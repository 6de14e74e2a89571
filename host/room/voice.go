package room

import (
	"cmp"
	"context"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/playback"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/speech"
)

// What is heard: bodies that play lines and tell so, and humans who speak over them.

// spokenNames are those that make no two lines alike.
func (r *Room) spokenNames() (names []string) {
	for _, m := range r.membersNow() {
		names = append(names, m.ID, m.Name)
	}
	return names
}

// kindOf says what a human's message is: while a companion is heard, a word of a
// listener takes nobody's turn, unless it answers a question.
func (r *Room) kindOf(l rules.Line) abi.MessageKind {
	s := r.state()
	if s.Sounds() && speech.Backchannel(l.Text) && !speech.Question(s.Playing.Heard(r.loop.Now())) {
		return abi.KindBackchannel
	}
	return abi.KindTurn
}

// Stir has the room look at what has changed around it.
func (r *Room) Stir() { r.loop.Wake() }

// syncBodies writes down which bodies came and left. Those that leave because the daemon stops speak their
// sentence to its end, which the next one knows of bodies that were there.
func (r *Room) syncBodies() {
	if r.drain.Load() || r.closed() != nil || r.loop.Trouble() != nil {
		return
	}
	if change := r.cfg.Bodies.Change(r.Name(), r.state().Bodies); len(change.Joined)+len(change.Left) > 0 {
		r.loop.Input(entry.KindBody, change)
	}
	if r.loop.Trouble() == nil {
		r.syncOffers()
	}
}

// syncOffers writes down what games offer by now.
func (r *Room) syncOffers() {
	here := func(body string) bool {
		return slices.ContainsFunc(r.state().Bodies, func(b playback.Body) bool { return b.ID == body })
	}
	for _, change := range r.cfg.Bodies.Offers(r.Name(), r.state().Offered, here) {
		if r.loop.Trouble() == nil {
			r.loop.Input(entry.KindOffered, change)
		}
	}
}

// heldTooLong ends a line that has begun to sound when its time is over, and says so where that is handlers' doing.
func (r *Room) heldTooLong(f *fold.Floor) {
	why := "the floor was held too long"
	if took := r.words.Took(r.voice.Call(f)); took != "" {
		r.log.Warn("a line lost its end: its floor was over, and handlers were slow", "companion", f.Who, "why", took)
		why += "; " + took
	}
	r.voice.BreakOff("", why)
}

// Played takes a body's word about a line: how many of its parts it has played, or that
// it has played all, or cannot. One without a line is about whatever was sent to it before it was connected, by
// a daemon that is gone: where nobody waits for that, it is of no use.
//
// # Errors
//
// CodeNotFound for a line that is not heard now; CodeDenied for a body that does not
// tell.
func (r *Room) Played(ctx context.Context, p entry.Played) error {
	if err := cmp.Or(action.CheckReason(p.Failed), p.Check()); err != nil {
		return err
	}
	return loop.Tell(ctx, r.loop, func() error {
		l := r.state().Playing
		if p.Line = cmp.Or(p.Line, r.state().Before(p.Body)); p.Line == "" {
			return nil
		}
		if r.state().HearsOf(p) {
			r.loop.Input(entry.KindPlayed, p)
			return nil
		}
		if l == nil || l.ID != p.Line || l.Who != p.Who {
			return abi.Field("line", abi.CodeNotFound, "%q is not heard now", p.Line)
		}
		if _, waits := l.Waits[p.Body]; !waits && p.Seconds == 0 {
			return abi.Field("played", abi.CodeDenied, "nobody waits for it; connect with playback=1 before the line begins")
		}
		r.loop.Input(entry.KindPlayed, p)
		return nil
	})
}

// Sound takes how a part of the line that is heard sounds, for the bodies that play it.
//
// # Errors
//
// Those of [voice.Voice.Sound].
func (r *Room) Sound(ctx context.Context, who, by string, s abi.Sound) error {
	return loop.Tell(ctx, r.loop, func() error { return r.voice.Sound(who, by, s) })
}

// Speaking says that a human speaks into a microphone, or has ended. What was said comes
// as a message. Meanwhile nobody begins a line, and the one that is heard ends as the
// room's interrupt says.
//
// # Errors
//
// CodeDenied for a name that somebody else has.
func (r *Room) Speaking(ctx context.Context, from string, on bool) error {
	if err := abi.CheckName("from", from); err != nil {
		return err
	}
	return loop.Tell(ctx, r.loop, func() error {
		if err := cmp.Or(r.closed(), r.mayBe(from, abi.KindHuman)); err != nil {
			return err
		}
		if r.state().News(from, on, r.loop.Now()) {
			r.loop.Input(entry.KindSpeaking, entry.Speaking{From: from, On: on})
		}
		return nil
	})
}
