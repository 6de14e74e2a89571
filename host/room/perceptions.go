package room

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/perception"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/presence"
	"github.com/companiond/companiond/host/room/queue"
)

// A companion's perception (the AI Companion Protocol): it is written down, the companion judges
// it beside the loop, and its wish to speak waits for the floor.

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
	note := perception.Note(who, p, true)
	return loop.Tell(ctx, r.loop, func() error {
		if err := r.mayPerceive(who); err != nil {
			return err
		}
		p.Seq = r.loop.Input(entry.KindPerceived, note)
		if r.loop.Trouble() != nil {
			return r.loop.Trouble()
		}
		p.At = r.state().At
		r.loop.Ack(func(err error) {
			if err == nil {
				kept(p)
			}
		})
		return nil
	})
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
	p := perception.Judging{Who: who, All: slices.Clone(all), Kept: all[0].Seq != 0}
	var note entry.Perceived
	if !p.Kept {
		note = perception.Note(who, all[0], false)
	}
	return loop.Await(ctx, r.loop, "the companion did not judge in time", func(q loop.Request[abi.Judged]) {
		r.loop.Use()
		p.Tell = q.Tell
		r.handlePerceive(p, note)
	})
}

func (r *Room) handlePerceive(p perception.Judging, note entry.Perceived) {
	err := r.mayPerceive(p.Who)
	if p.Kept && r.loop.Trouble() == nil {
		err = cmp.Or(p.Over(r.state().ToJudge), err)
	}
	if err != nil {
		p.Tell(abi.Judged{}, err)
		return
	}
	if _, why := r.state().Blind(r.loop.Now()); why != "" { // then no model is asked
		p.Tell(abi.Judged{}, abi.Errorf(abi.CodeExhausted, "%s", why))
		return
	}
	if p.Lost() {
		r.lost(p)
		return
	}
	if !p.Kept {
		p.All[0].Seq = r.loop.Input(entry.KindPerceived, note)
		p.All[0].At = r.state().At
	}
	if r.loop.Trouble() != nil {
		p.Tell(abi.Judged{}, r.loop.Trouble())
		return
	}
	p.Call = r.cfg.NewID()
	r.running[p.Call] = call.Run{Perception: p.Newest().Seq}
	r.loop.Ack(func(err error) {
		if err != nil {
			r.running.Over(p.Call)
			p.Tell(abi.Judged{}, err)
			return
		}
		r.judging = append(r.judging, p)
	})
}

// lost ends an image that cannot be judged any more.
func (r *Room) lost(p perception.Judging) {
	err := abi.Errorf(abi.CodeUnavailable, "the daemon ended before it was judged, and images are not kept")
	r.fail(p, abi.CodeUnavailable, err.Message)
	r.loop.Ack(func(trouble error) { p.Tell(abi.Judged{}, cmp.Or(trouble, p.Ended(err))) })
}

// fail writes down that perceptions could not be judged.
func (r *Room) fail(p perception.Judging, code abi.Code, why string) {
	for _, seq := range p.Seqs() {
		r.loop.Input(entry.KindFailed, entry.Failed{Perception: seq, Who: p.Who, Code: code, Error: why})
	}
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
	known, err := r.callees.Ask(during, p.Who, abi.OpPerceive, m, ask, &j, func() error { return r.checkJudgement(p, j) })
	if err == nil && !known {
		j = abi.Judgement{State: abi.Listen, Reason: "does not perceive"}
	}
	r.loop.Post(ctx, func() { r.handleJudged(p, j, err) })
}

// checkJudgement reports the first thing that is wrong with a judgement.
func (r *Room) checkJudgement(p perception.Judging, j abi.Judgement) (err error) {
	if err := j.Check(); err != nil || len(j.Parameters) == 0 {
		return err
	}
	c, ok := r.cfg.Find(p.Who)
	if !ok {
		return abi.Errorf(abi.CodeUnavailable, "%s is not loaded", p.Who)
	}
	return action.CheckSpeech(j, p.All, c.Permit)
}

func (r *Room) handleJudged(p perception.Judging, j abi.Judgement, failed error) {
	live := r.running.Has(p.Call)
	r.running.Over(p.Call)
	if r.loop.Trouble() != nil {
		p.Tell(abi.Judged{}, r.loop.Trouble())
		return
	}
	res := abi.Judged{Seq: p.Newest().Seq, Judgement: j}
	why := ""
	var code abi.Code
	switch s := r.state(); {
	case !live:
		code, why = abi.CodeDenied, "a human said STOP before it had judged"
		res.Judgement, failed = abi.Judgement{State: abi.Listen, Reason: why}, nil
	case failed != nil:
		code, why = call.Failure(failed)
		r.board.Count("perception failed: " + string(code))
	case j.State != abi.Speak:
	case s.Kinds()[p.Who] != abi.KindCompanion:
		code, why = abi.CodeUnavailable, "wanted to speak, but left the room"
	case s.Full(p.Who):
		code, why = abi.CodeExhausted, "wanted to speak, but has more waiting already"
	default:
		res.Wish = r.loop.Input(entry.KindWish, entry.Wish{
			Who: p.Who, Perception: res.Seq, Importance: j.Importance, Reason: call.Clip(j.Reason),
			Text: j.Text, To: presence.Here(s.Members(), j.To), Due: r.loop.Now().Add(queue.WishPatience), Parameters: action.Beside(j.Parameters),
		})
	}
	switch {
	case why != "":
		r.fail(p, code, why)
	case p.Kept:
		r.loop.Input(entry.KindJudged, entry.Judged{Who: p.Who, Perceptions: p.Seqs(), Wish: res.Wish, Reason: call.Clip(j.Reason)})
	}
	r.loop.Ack(func(err error) { p.Tell(res, cmp.Or(err, p.Ended(failed))) })
}
