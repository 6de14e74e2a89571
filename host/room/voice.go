package room

import (
	"cmp"
	"context"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/speech"
)

// What is heard: bodies that play lines and tell so, humans who speak over them, and
// the next line, which is made meanwhile and waits until it may sound.

// heldLine is one that was made ahead. It is not in the journal: a daemon that is
// killed has it made again.
type heldLine struct {
	grant  string
	pieces []string
	bytes  int
	whole  *spoken // nil: more of it comes
}

// holds says whether the line of who has the floor has to wait before it sounds, or is
// behind what waits.
func (r *Room) holds(f *rules.Floor) bool {
	return !r.mayBegin(f) || r.held != nil && r.held.grant == f.Token
}

// mayBegin says whether a line may sound now: nobody else is heard here, and its speaker
// is heard in no other room.
func (r *Room) mayBegin(f *rules.Floor) bool {
	ok, _ := r.state().MayBegin(f.Token, r.loop.Now())
	return ok && r.mouth.Open(f.Who, r.Stir)
}

// shut gives a mouth back once nothing more is heard of it.
func (r *Room) shut() {
	if l := r.state().Playing; l == nil || l.Who != r.mouth.Of() {
		r.mouth.Shut()
	}
}

// toHold says whether what came of a call waits: a line that may not sound yet, or the end,
// whatever it is, of one whose pieces wait.
func (r *Room) toHold(e spoken) bool {
	f := r.state().Floor
	if r.loop.Trouble() != nil || f == nil || f.Token != e.grant || f.Basis != e.basis || f.Lost != "" {
		return false
	}
	pieces := r.held != nil && r.held.grant == e.grant
	return pieces || e.err == nil && e.line.Text != "" && r.holds(f)
}

// hold keeps a piece of a line, or its end.
func (r *Room) hold(grant, piece string, whole *spoken) {
	if r.held == nil || r.held.grant != grant {
		r.letGo()
		r.held = &heldLine{grant: grant}
	}
	if whole != nil {
		r.held.whole = whole
		return
	}
	r.held.pieces, r.held.bytes = append(r.held.pieces, piece), r.held.bytes+len(piece)
}

// letGo forgets the line that waits: something newer was said, or the daemon stops.
func (r *Room) letGo() {
	h := r.held
	r.held = nil
	if h == nil || h.whole == nil {
		return
	}
	r.running.Over(call.LineID(r.Name(), h.whole.grant, h.whole.basis))
	r.spoken++
	if r.loop.Trouble() == nil && !r.drain.Load() && len(h.pieces) == 0 {
		r.stillOfUse(*h.whole) // which may have it wait again
	}
}

// sayHeld lets the line that waits sound once it may.
func (r *Room) sayHeld() {
	h, f := r.held, r.state().Floor
	switch {
	case h == nil:
		return
	case r.drain.Load() || f == nil || f.Token != h.grant || f.Lost != "" || h.whole != nil && h.whole.basis != f.Basis:
		r.letGo()
		return
	}
	if !r.mayBegin(f) || r.loop.Trouble() != nil {
		return
	}
	r.held = nil
	for _, piece := range h.pieces {
		if r.segment(f.Who, call.LineID(r.Name(), h.grant, f.Basis), piece) != nil {
			break // the line is over, and its call hears of it
		}
	}
	if h.whole != nil {
		r.handleSpoken(*h.whole)
	}
}

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

// syncBodies writes down which bodies came and left.
func (r *Room) syncBodies() {
	if r.closed() != nil || r.loop.Trouble() != nil {
		return
	}
	if change := r.cfg.Bodies.Change(r.Name(), r.state().Bodies); len(change.Joined)+len(change.Left) > 0 {
		r.loop.Input(entry.KindBody, change)
	}
}

// longestLine is more than anybody says at once.
const longestLine = 10 * time.Minute

// Played takes a body's word about a line: how many of its parts it has played, or that
// it has played all, or cannot.
//
// # Errors
//
// CodeNotFound for a line that is not heard now; CodeDenied for a body that does not
// tell.
func (r *Room) Played(ctx context.Context, p entry.Played) error {
	if err := checkReason(p.Failed); err != nil {
		return err
	}
	if !(p.Seconds >= 0 && p.Seconds <= longestLine.Seconds()) {
		return abi.Field("seconds", abi.CodeInvalid, "%v is outside 0..%v", p.Seconds, longestLine.Seconds())
	}
	return loop.Tell(ctx, r.loop, func() error {
		l := r.state().Playing
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

// resume ends what was heard when the daemon was killed: what had gone out of a line is
// the message.
func (r *Room) resume() {
	l := r.state().Playing
	if l == nil || l.Of != 0 || r.state().Floor != nil || r.closed() != nil {
		return
	}
	r.sayLine(entry.Said{
		From: l.Who, By: abi.KindCompanion, Text: l.Text(), Kind: abi.KindTurn, Basis: cmp.Or(l.Basis, r.state().Last.Seq), Grant: l.ID,
		Segments: len(l.Parts), Broken: "the daemon was stopped",
	}, nil)
}

// nextSound is how long until a line that waits may sound.
func (r *Room) nextSound() time.Duration {
	if r.held == nil {
		return time.Hour
	}
	ok, at := r.state().MayBegin(r.held.grant, r.loop.Now())
	if ok || at.IsZero() {
		return time.Hour // at once, or when what is heard ends
	}
	return max(0, at.Sub(r.loop.Clock()))
}
