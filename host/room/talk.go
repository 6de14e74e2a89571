package room

import (
	"cmp"
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/offer"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/rooms"
)

// Info is the room at a glance.
func (r *Room) Info() rooms.Info { return r.board.Info() }

// Budget gives the room's pool now; ok is false in a room without one.
func (r *Room) Budget() (abi.Budget, bool) { return r.board.Budget() }

// History answers a companion's history.get; the newest messages are at hand.
func (r *Room) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	return r.tail.History(ctx, r.Room, ask)
}

// Told is History as minds are told it.
func (r *Room) Told(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	return r.tail.Told(ctx, r.Room, ask, *r.laid.Load())
}

// Say records a message and answers once it is durable.
//
// # Errors
//
// CodeInvalid and CodeTooLarge name the field; CodeDenied when From is a
// companion hosted here; CodeUnavailable while the journal takes nothing.
func (r *Room) Say(ctx context.Context, u rooms.Utterance) (abi.Message, error) {
	m, _, err := r.Consume(ctx, u)
	return m, err
}

// Consume is Say, and gives the room's pool right afterwards.
//
// # Errors
//
// Those of Say; CodeExhausted where the pool cannot pay, CodeStale where
// somebody spoke since Basis, CodeConflict while another has the turn.
func (r *Room) Consume(ctx context.Context, u rooms.Utterance) (abi.Message, abi.Budget, error) {
	if err := cmp.Or(u.Check(), r.mayConverse(u)); err != nil {
		return r.outcomeOf(offer.Outcome{}, err)
	}
	l := lineOf(u, u.ID)
	if u.ID == "" {
		l.ID = r.cfg.NewID()
	} else if m, found, err := r.Sent(ctx, l.ID, l.Said); found || err != nil {
		if found {
			_ = loop.Tell(ctx, r.loop, func() error { return nil }) // what the room shows, as its pool, may be a moment behind the journal
		}
		return r.outcomeOf(offer.Outcome{Msg: m}, err)
	}
	res, err := loop.Ask(ctx, r.loop, loop.Late+"; the message may still be recorded", func() (offer.Outcome, error) { return r.handleSay(l) })
	if err == nil && res.Refused == error(errTwice) { // sent twice at once
		if was, found, ferr := r.Sent(ctx, l.ID, l.Said); found || ferr != nil {
			res.Msg, res.Refused = was, ferr
		}
	}
	return r.outcomeOf(res, err)
}

// outcomeOf gives what became of a line, with the pool as it is where the line did not
// come as far.
func (r *Room) outcomeOf(res offer.Outcome, err error) (abi.Message, abi.Budget, error) {
	if res.Pool.Size == 0 {
		res.Pool, _ = r.Budget()
	}
	return res.Msg, res.Pool, cmp.Or(err, res.Refused)
}

// Stop takes the floor from whoever has it; the room rests until a human
// speaks again. A name that cannot be the caller's is no reason to refuse it: then
// somebody said it.
func (r *Room) Stop(ctx context.Context, from string) (uint64, error) {
	return loop.Ask(ctx, r.loop, loop.Late, func() (uint64, error) { return r.handleStop(from) })
}

// Vote counts the vote of a member whom no module call asks (an agent) about
// the message with seq about; a message that has not come yet is waited for.
func (r *Room) Vote(ctx context.Context, from string, about uint64, v abi.Vote) error {
	if err := v.Check(); err != nil {
		return err
	}
	return loop.Tell(ctx, r.loop, func() error {
		r.present.Hear(from, r.loop.Now())
		if err := r.closed(); err != nil {
			return err
		}
		return r.votes.Cast(about, from, v)
	})
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
	return loop.Tell(ctx, r.loop, func() error {
		if err := cmp.Or(r.closed(), r.mayBe(who, abi.KindAgent)); err != nil {
			return err
		}
		return r.attend(who, votes)
	})
}

// lineOf gives an utterance as the rules see it.
func lineOf(u rooms.Utterance, id string) rules.Line {
	return rules.Line{ID: id, Offer: u.Offer, Said: entry.Said{
		From: u.From, By: u.By, To: u.To, Text: u.Text, Kind: u.Kind, Basis: u.Basis, Grant: u.Grant, Source: u.Source,
	}}
}
