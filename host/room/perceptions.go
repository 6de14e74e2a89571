package room

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/perception"
	"github.com/companiond/companiond/host/room/loop"
)

// A companion's perception (the AI Companion Protocol): the companion judges it beside the
// loop; host/room/senses keeps it until then, and writes down what came of it.

const judgePatience = 60 * time.Second // a language model that looks at a picture takes its time

// Keep writes down what a companion perceives and is to judge, also after a restart.
// kept is called with it by the loop once it is in the journal, in the order of the
// journal, and is not to wait; that may be after Keep has answered, where ctx ended.
// A caller that sends many has to bound them, and to have them judged with Perceive.
//
// # Errors
//
// CodeNotFound for a companion that is not here; CodeDenied after a STOP.
func (r *Room) Keep(ctx context.Context, who string, p abi.Percept, kept func(abi.Percept)) error {
	return r.senses.Keep(ctx, who, p, kept)
}

// Perceive lets a companion of the room perceive something and answers when it
// has judged it: one perception, which is written down, or what Keep wrote down before, one
// or several, oldest first. A caller that sends many has to bound and order them.
//
// # Errors
//
// CodeNotFound for a companion that is not here; CodeDenied after a STOP; and
// the companion's own: it is in the journal then that it could not judge. Of what
// was kept a [perception.Ended] is in the chain where it waits no more, and any other
// error leaves it waiting.
func (r *Room) Perceive(ctx context.Context, who string, all ...abi.Percept) (abi.Judged, error) {
	return r.senses.Perceive(ctx, who, all...)
}

// Retract writes down that nobody is to judge some of what Keep wrote down, by its seqs.
func (r *Room) Retract(ctx context.Context, who string, seqs []uint64) error {
	return r.senses.Retract(ctx, who, seqs)
}

// Note writes down what a game tells a companion, which does not judge it: it is told with what
// the companion is asked next.
//
// # Errors
//
// Those of a room that takes nothing new; CodeDenied after a STOP: then nothing is perceived.
func (r *Room) Note(ctx context.Context, who string, p abi.Percept) error {
	note := perception.Note(who, p, false)
	return loop.Tell(ctx, r.loop, func() error {
		if err := cmp.Or(r.loop.Trouble(), r.closed()); err != nil {
			return err
		}
		if who := r.state().Stopped; who != "" {
			return abi.Errorf(abi.CodeDenied, "%s said STOP; a human's next line starts the talk again", who)
		}
		r.loop.Input(entry.KindPerceived, note)
		return r.loop.Trouble()
	})
}

// mayPerceive says why somebody can neither perceive nor act now.
func (r *Room) mayPerceive(who string) error {
	s := r.state()
	switch {
	case r.loop.Trouble() != nil:
		return r.loop.Trouble()
	case r.closed() != nil:
		return r.closed()
	case !r.present.Known():
		return errLoading
	case s.Kinds()[who] != abi.KindCompanion:
		return abi.Errorf(abi.CodeNotFound, "companion: %q is not in room %s", who, r.Name())
	case s.Stopped != "":
		return abi.Errorf(abi.CodeDenied, "%s said STOP; a human's next line starts the talk again", s.Stopped)
	}
	return nil
}

// judge gets one judgement and puts it into the inbox. The call ends with during.
func (r *Room) judge(ctx, during context.Context, p perception.Judging, m call.Context, ask abi.Perceiving) {
	defer r.lines.Add(-1)
	var j abi.Judgement
	known, err := r.callees.Ask(during, p.Who, abi.OpPerceive, m, ask, &j, func() error { return r.senses.Check(p, j) })
	if err == nil && !known {
		j = abi.Judgement{State: abi.Listen, Reason: "does not perceive"}
	}
	var handled *entry.Handled
	if err == nil && j.State == abi.Speak && j.Text != "" {
		j, handled, err = r.filterJudged(during, p.Who, j)
	}
	r.loop.Post(ctx, func() {
		wish := r.senses.Judged(p, j, err)
		if handled != nil && wish != 0 {
			handled.Line = fmt.Sprintf("%s/%d", entry.KindWish, wish)
		}
		r.handled(handled)
	})
}

// filterJudged has handlers look at the words of a judgement. Where one refuses them the companion would rather listen.
func (r *Room) filterJudged(during context.Context, who string, j abi.Judgement) (abi.Judgement, *entry.Handled, error) {
	said, handled, refused, err := r.words.Ask(during, who, j.Text)
	switch {
	case err != nil:
		return abi.Judgement{}, nil, err
	case refused != "":
		return abi.Judgement{State: abi.Listen, Reason: refused}, handled, nil
	case len(j.Parameters) > 0:
		j.Parameters = card.Saying(j.Parameters, said)
	}
	j.Text = said
	return j, handled, nil
}
