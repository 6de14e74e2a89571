package room

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/rules"
)

// Info is the room at a glance.
func (r *Room) Info() Info {
	i := *r.info.Load()
	if b, ok := r.Budget(); ok {
		i.Pool = &b
	}
	return i
}

// Say records a message and answers once it is durable.
//
// # Errors
//
// CodeInvalid and CodeTooLarge name the field; CodeDenied when From is a
// companion hosted here; CodeUnavailable while the journal takes nothing.
func (r *Room) Say(ctx context.Context, u Utterance) (abi.Message, error) {
	m, _, err := r.Consume(ctx, u)
	return m, err
}

// Consume is Say, and gives the room's pool right afterwards.
//
// # Errors
//
// Those of Say; CodeExhausted where the pool cannot pay, CodeStale where
// somebody spoke since Basis, CodeConflict while another has the turn.
func (r *Room) Consume(ctx context.Context, u Utterance) (abi.Message, abi.Budget, error) {
	if err := u.check(); err != nil {
		return abi.Message{}, r.budget(), err
	}
	if u.ID != "" {
		if m, found, err := r.saidBefore(ctx, u); found || err != nil {
			return m, r.budget(), err
		}
	} else {
		u.ID = r.cfg.NewID()
	}
	e := sayEvent{done: make(chan sayResult, 1), a: rules.Line{ID: u.ID, Offer: u.Offer, Said: entry.Said{
		From: u.From, By: u.By, To: u.To, Text: u.Text, Kind: u.Kind, Basis: u.Basis, Grant: u.Grant,
	}}}
	res := r.send(ctx, e, e.done)
	if res.err == error(errTwice) { // sent twice at once
		if was, found, ferr := r.saidBefore(ctx, u); found || ferr != nil {
			res.msg, res.err = was, ferr
		}
	}
	if res.pool.Size == 0 { // it did not come as far as the pool
		res.pool = r.budget()
	}
	return res.msg, res.pool, res.err
}

// saidBefore finds a message that was sent with the same id.
func (r *Room) saidBefore(ctx context.Context, u Utterance) (abi.Message, bool, error) {
	e, found, err := r.journal.Find(ctx, r.name, u.ID)
	if err != nil || !found {
		return abi.Message{}, false, DoorError(err)
	}
	m, ok := e.Message()
	if !ok || m.From != u.From || m.Text != u.Text || !slices.Equal(m.To, append([]string{}, u.To...)) {
		return abi.Message{}, true, abi.Field("id", abi.CodeConflict, "%q is another message", u.ID)
	}
	return m, true, nil
}

// Stop takes the floor from whoever has it; the room rests until a human
// speaks again. A name that cannot be the caller's is no reason to refuse it: then
// somebody said it.
func (r *Room) Stop(ctx context.Context, from string) (uint64, error) {
	e := stopEvent{from: from, done: make(chan sayResult, 1)}
	res := r.send(ctx, e, e.done)
	return res.msg.Seq, res.err
}

// Vote counts the vote of a member whom no module call asks (an agent) about
// the message with seq about; a message that has not come yet is waited for.
func (r *Room) Vote(ctx context.Context, from string, about uint64, v abi.Vote) error {
	if err := v.Check(); err != nil {
		return err
	}
	e := outsideVote{about: about, who: from, vote: v, done: make(chan error, 1)}
	return r.answered(ctx, e, e.done)
}

// Attend says that an agent is here. It is in the cast until it has not been
// heard of for a while; with votes it takes part in rounds.
//
// # Errors
//
// CodeDenied for a name that somebody else has; CodeExhausted where the room
// is full of agents.
func (r *Room) Attend(ctx context.Context, who string, votes bool) error {
	if err := abi.CheckName("from", who); err != nil {
		return err
	}
	e := attendEvent{who: who, votes: votes, done: make(chan error, 1)}
	return r.answered(ctx, e, e.done)
}

// answered puts an event into the inbox and waits until it was handled.
func (r *Room) answered(ctx context.Context, e event, done chan error) error {
	told, err := outcome(ctx, r, e, done, "the room did not answer in time")
	if err != nil {
		return err
	}
	return told
}

// outcome puts an event into the inbox and waits for what came of it. A room that
// falls asleep thereafter has answered first.
func outcome[T any](ctx context.Context, r *Room, e event, done chan T, late string) (res T, err error) {
	if err := r.put(ctx, e); err != nil {
		return res, err
	}
	select {
	case res = <-done:
		return res, nil
	case <-r.gone:
		select {
		case res = <-done:
			return res, nil
		default:
			return res, errStopping
		}
	case <-ctx.Done():
		return res, abi.Wrap(abi.CodeTimeout, ctx.Err(), late)
	}
}

var errStopping = abi.Errorf(abi.CodeUnavailable, "the daemon is stopping")

// ErrAsleep says that a room has fallen asleep: nothing of what was asked has
// happened, and another Run of it has to be begun.
var ErrAsleep = errors.New("room: asleep")

// put puts an event into the inbox of a room that is awake.
func (r *Room) put(ctx context.Context, e event) error {
	r.awake.RLock()
	defer r.awake.RUnlock()
	if r.asleep {
		return ErrAsleep
	}
	select {
	case r.inbox <- e:
		return nil
	case <-r.gone:
		return errStopping
	case <-ctx.Done():
		return abi.Wrap(abi.CodeTimeout, ctx.Err(), "the room did not answer in time")
	}
}

// send puts an event into the inbox and waits for its outcome.
func (r *Room) send(ctx context.Context, e event, done chan sayResult) sayResult {
	res, err := outcome(ctx, r, e, done, "the room did not answer in time; the message may still be recorded")
	if err != nil {
		return sayResult{err: err}
	}
	return res
}

// check normalises an utterance and reports the first field that is wrong.
func (u *Utterance) check() error {
	if u.By == "" {
		u.By = abi.KindHuman
	}
	if u.Kind == "" && u.By == abi.KindHuman {
		u.Kind = abi.KindTurn
	}
	if err := abi.CheckName("from", u.From); err != nil {
		return err
	}
	if u.ID != "" {
		if err := abi.CheckName("id", u.ID); err != nil {
			return err
		}
	}
	if err := abi.CheckText("text", u.Text); err != nil {
		return err
	}
	if len(u.To) > abi.MaxTo {
		return abi.Field("to", abi.CodeTooLarge, "%d addressees, at most %d", len(u.To), abi.MaxTo)
	}
	for _, to := range u.To {
		if err := abi.CheckName("to", to); err != nil {
			return err
		}
	}
	if u.Offer != nil && !(*u.Offer >= 0 && *u.Offer <= math.MaxInt32) {
		return abi.Field("amount", abi.CodeInvalid, "%v is outside 0..%d", *u.Offer, math.MaxInt32)
	}
	if u.Kind != "" && u.Kind != abi.KindTurn && u.Kind != abi.KindBackchannel {
		return abi.Field("kind", abi.CodeInvalid, "%q is neither %q nor %q", u.Kind, abi.KindTurn, abi.KindBackchannel)
	}
	return nil
}
