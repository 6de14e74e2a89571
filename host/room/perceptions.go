package room

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/rules"
)

// A companion's perception (the AI Companion Protocol): it is written down, the companion judges
// it beside the loop, and its wish to speak waits for the floor.

const (
	judgePatience = 60 * time.Second // a language model that looks at a picture takes its time
	keptBody      = 4 << 10          // bytes of a body that are kept in the journal
)

// perception is one that is being judged.
type perception struct {
	who  string
	seq  uint64 // of its entry
	call string // id of the request that it is judged with
	p    abi.Percept
	tell func(abi.Judged, error) // who waits for the judgement
}

// Perceive lets a companion of the room perceive something and answers when it
// has judged it. A caller that sends many has to bound and order them.
//
// # Errors
//
// CodeNotFound for a companion that is not here; CodeDenied after a STOP; and
// the companion's own: it is in the journal then that it could not judge.
func (r *Room) Perceive(ctx context.Context, who string, p abi.Percept) (abi.Judged, error) {
	kept := keep(who, p)
	return loop.Await(ctx, r.loop, "the companion did not judge in time", func(q loop.Request[abi.Judged]) {
		r.loop.Use()
		r.handlePerceive(perception{who: who, p: p, tell: q.Tell}, kept)
	})
}

// keep gives what the journal keeps of a perception.
func keep(who string, p abi.Percept) entry.Perceived {
	data := []byte(p.Body)
	if p.Format == "image" {
		data = p.Image
	}
	sum := sha256.Sum256(data)
	k := entry.Perceived{
		Who: who, Title: p.Title, Format: p.Format, From: p.From, MediaType: p.MediaType, Size: len(data), SHA256: hex.EncodeToString(sum[:]),
	}
	if p.Format != "image" && len(data) <= keptBody {
		k.Body = p.Body
	}
	return k
}

func (r *Room) handlePerceive(p perception, kept entry.Perceived) {
	if err := r.mayPerceive(p.who); err != nil {
		p.tell(abi.Judged{}, err)
		return
	}
	if _, why := r.state().Blind(r.loop.Now()); why != "" { // then no model is asked
		p.tell(abi.Judged{}, abi.Errorf(abi.CodeExhausted, "%s", why))
		return
	}
	p.seq = r.loop.Input(entry.KindPerceived, kept)
	if r.loop.Trouble() != nil {
		p.tell(abi.Judged{}, r.loop.Trouble())
		return
	}
	p.call, p.p.Seq, p.p.At = r.cfg.NewID(), p.seq, r.state().At
	r.running[p.call] = call.Run{Perception: p.seq}
	r.loop.Ack(func(err error) {
		if err != nil {
			r.running.Over(p.call)
			p.tell(abi.Judged{}, err)
			return
		}
		r.judging = append(r.judging, p)
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
	case r.cast == nil:
		return errLoading
	case s.Kinds()[who] != abi.KindCompanion:
		return abi.Errorf(abi.CodeNotFound, "companion: %q is not in room %s", who, r.Name())
	case s.Stopped != "":
		return abi.Errorf(abi.CodeDenied, "%s said STOP; a human's next line starts the talk again", s.Stopped)
	}
	return nil
}

// judge gets one judgement and puts it into the inbox. The call ends with during.
func (r *Room) judge(ctx, during context.Context, p perception, m call.Context, ask abi.Perceiving) {
	defer r.lines.Add(-1)
	var j abi.Judgement
	known, err := r.callees.Ask(during, p.who, abi.OpPerceive, m, ask, &j, func() error { return r.checkJudgement(p, j) })
	if err == nil && !known {
		j = abi.Judgement{State: abi.Listen, Reason: "does not perceive"}
	}
	r.loop.Post(ctx, func() { r.handleJudged(p, j, err) })
}

// checkJudgement reports the first thing that is wrong with a judgement. Where it
// comes with the parameters of the action "speak", they are the card's and their
// message is its text.
func (r *Room) checkJudgement(p perception, j abi.Judgement) error {
	if err := j.Check(); err != nil || len(j.Parameters) == 0 {
		return err
	}
	c, ok := r.cfg.Find(p.who)
	if !ok {
		return abi.Errorf(abi.CodeUnavailable, "%s is not loaded", p.who)
	}
	if action.Speech(entry.Action{Action: card.Speak, Parameters: j.Parameters}) != j.Text {
		return abi.Errorf(abi.CodeInvalid, "judgement.parameters: their message is not the text")
	}
	_, err := c.Permit(abi.ActionAsk{Action: card.Speak, Parameters: j.Parameters, Perception: p.p.Title})
	return err
}

func (r *Room) handleJudged(p perception, j abi.Judgement, failed error) {
	live := r.running.Has(p.call)
	r.running.Over(p.call)
	if r.loop.Trouble() != nil {
		p.tell(abi.Judged{}, r.loop.Trouble())
		return
	}
	res := abi.Judged{Seq: p.seq, Judgement: j}
	why := ""
	var code abi.Code
	switch s := r.state(); {
	case !live:
		code, why = abi.CodeDenied, "a human said STOP before it had judged"
		res.Judgement, failed = abi.Judgement{State: abi.Listen, Reason: why}, nil
	case failed != nil:
		code, why = call.Failure(failed)
		r.counts.add("perception failed: " + string(code))
	case j.State != abi.Speak:
	case s.Kinds()[p.who] != abi.KindCompanion:
		code, why = abi.CodeUnavailable, "wanted to speak, but left the room"
	case waiting(s, p.who) >= rules.MaxRequests:
		code, why = abi.CodeExhausted, "wanted to speak, but has more waiting already"
	default:
		res.Wish = r.loop.Input(entry.KindWish, entry.Wish{
			Who: p.who, Perception: p.seq, Importance: j.Importance, Reason: call.Clip(j.Reason),
			Text: j.Text, To: r.here(j.To), Due: r.loop.Now().Add(wishPatience), Parameters: action.Beside(j.Parameters),
		})
	}
	if why != "" {
		r.loop.Input(entry.KindFailed, entry.Failed{Perception: p.seq, Who: p.who, Code: code, Error: why})
	}
	r.loop.Ack(func(err error) {
		if err == nil {
			err = failed
		}
		p.tell(res, err)
	})
}
