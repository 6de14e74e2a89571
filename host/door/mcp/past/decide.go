package past

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/history"
)

// DecideIn is the proposal that something is to become of.
type DecideIn struct {
	Room     string `json:"room"`
	Proposal string `json:"proposal"`
	Why      string `json:"why"`
}

// patience is how long a person may take for an answer.
const patience = 10 * time.Minute

// Replace has turns told as what was drafted and verified, on the word of the person who calls. Where the client can
// ask, the person is asked first.
func (d *Desk) Replace(ctx context.Context, c Caller, in DecideIn) (any, error) {
	f, err := d.find(ctx, in.Room, in.Proposal, history.Offered, "nothing waits for approval")
	if err != nil {
		return nil, err
	}
	room := f.talk.Name()
	switch f.p.State {
	case history.Approved:
		return d.stands(ctx, f)
	case history.Offered:
	default:
		return nil, d.is(f.p, room)
	}
	if err := c.person("approves", d.where("approve", room, f.p.ID)); err != nil {
		return nil, err
	}
	does, why := approve, ""
	if c.Ask != nil {
		q, err := d.question(ctx, f)
		if err != nil {
			return nil, err
		}
		if does, why, err = d.asked(ctx, c, q); err != nil {
			return nil, err
		}
	}
	if does == later {
		return d.undecided(ctx, f)
	}
	p, err := d.Compressing.Decide(ctx, room, f.p.ID, c.Name, does == approve, why)
	if abi.CodeOf(err) == abi.CodeConflict { // somebody else decided meanwhile
		if now, lookErr := d.now(ctx, f, f.p); lookErr == nil && now.State == history.Approved && does == approve {
			p, err = now, nil
		}
	}
	if err != nil {
		return nil, err
	}
	f.p = p
	return d.stands(ctx, f)
}

// undecided answers that a person has not said yes or no.
func (d *Desk) undecided(ctx context.Context, f found) (any, error) {
	s, err := d.stands(ctx, f)
	s.Next = fmt.Sprintf("It was left open, and waits as before. %s", s.Next)
	return s, err
}

// asked asks the person at the client. Whoever gives no answer has decided nothing.
func (d *Desk) asked(ctx context.Context, c Caller, q Question) (does, why string, err error) {
	leave, err := d.waits.Enter(c.Sharer+"\n"+c.name(), c.Sharer, time.Now().Add(patience))
	if err != nil {
		return "", "", err
	}
	defer leave()
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer context.AfterFunc(d.Stopping, cancel)()
	end := c.pulses("A person is asked.")
	a, err := c.Ask(bounded, q)
	end()
	switch {
	case err != nil && ctx.Err() == nil && bounded.Err() != nil:
		return later, "", nil
	case err != nil:
		return "", "", err
	case !a.Accepted || a.Decision == later:
		return later, "", nil
	case !slices.Contains(q.may, a.Decision):
		return "", "", abi.Field(fieldDecision, abi.CodeInvalid, "%.64q is none of %s: nothing was decided", a.Decision, strings.Join(q.may, ", "))
	}
	return a.Decision, a.Why, nil
}

// Revert has turns told as they were, on the word of the person who calls. Where the client can ask, the person is asked
// first.
func (d *Desk) Revert(ctx context.Context, c Caller, in DecideIn) (any, error) {
	if err := compress.CheckWhy(in.Why); err != nil {
		return nil, err
	}
	f, err := d.find(ctx, in.Room, in.Proposal, history.Approved, "no turns are told in fewer words")
	if err != nil {
		return nil, err
	}
	if f.p.State == history.Reverted {
		return d.stands(ctx, f)
	}
	if err := c.person("reverts", d.where("revert", f.talk.Name(), f.p.ID)); err != nil {
		return nil, err
	}
	if f.p.State != history.Approved {
		return nil, d.is(f.p, f.talk.Name())
	}
	why := in.Why
	if c.Ask != nil {
		q, err := d.back(ctx, f)
		if err != nil {
			return nil, err
		}
		does, reason, err := d.asked(ctx, c, q)
		if err != nil {
			return nil, err
		}
		if does == later {
			s, err := d.stands(ctx, f)
			s.Next = fmt.Sprintf("It was left open: the turns are told so as before. %s", s.Next)
			return s, err
		}
		why = cmp.Or(reason, why)
	}
	p, err := d.Compressing.Revert(ctx, f.talk.Name(), f.p.ID, c.Name, why)
	if abi.CodeOf(err) == abi.CodeConflict { // somebody else did meanwhile
		if now, lookErr := d.now(ctx, f, f.p); lookErr == nil && now.State == history.Reverted {
			p, err = now, nil
		}
	}
	if err != nil {
		return nil, err
	}
	f.p = p
	return d.stands(ctx, f)
}
