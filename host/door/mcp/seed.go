package mcp

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/arguments"
	"github.com/companiond/companiond/host/door/mcp/guide"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/door/mcp/watch"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// The tools of chat-relay: its names, its arguments and the shapes of its answers.
// What is added are arguments that may be left out; an answer has more in it
// only when such an argument asks for it.

type consumeIn struct {
	Amount  *float64 `json:"amount"`
	Message *string  `json:"message"`
	From    *string  `json:"from"`
	Room    string   `json:"room"`
	Basis   uint64   `json:"basis_seq"`
}

type consumeOut struct {
	Success  bool    `json:"success"`
	Resource float64 `json:"resource"`
	Message  string  `json:"message"`
}

type statusIn struct {
	From string `json:"from"`
	Room string `json:"room"`
}

// statusOut is chat-relay's, whose agents refuse an answer with more in it: that is there
// only for who gives its name. How far the talk is wait_for_turn tells.
type statusOut struct {
	Resource float64 `json:"resource"`
	Head     *uint64 `json:"head,omitempty"`
	Note     string  `json:"note,omitempty"`
}

type historyIn struct {
	From   string  `json:"from"`
	Room   string  `json:"room"`
	Since  *uint64 `json:"since"`
	Limit  int     `json:"limit"`
	Budget int     `json:"budget"`
}

// historyOut is chat-relay's; what is added is there for who gives its name or a position.
type historyOut struct {
	History []watch.Message `json:"history"`
	Head    *uint64         `json:"head,omitempty"`
	More    bool            `json:"more,omitempty"`         // behind these
	Missed  *uint64         `json:"missed_since,omitempty"` // there were more, behind this and before these
}

// check finds the first argument that is missing. A token says who speaks, so its holder
// need not: the schema asks for from since chat-relay's does.
func (in consumeIn) check(c identity.Caller) error {
	switch {
	case in.Amount == nil:
		return abi.Field("amount", abi.CodeInvalid, "is missing")
	case in.Message == nil:
		return abi.Field("message", abi.CodeInvalid, "is missing")
	case in.From == nil && c.Guest:
		return abi.Field("from", abi.CodeInvalid, "is missing")
	}
	return nil
}

// consume says something for points. An agent's line waits for what the room wants:
// see rooms.Room.Offer.
func (d *Door) consume(ctx context.Context, c call, in consumeIn) (any, error) {
	if err := in.check(c.caller); err != nil {
		return nil, err
	}
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	info := talk.Info()
	d.priced(info)
	var pool abi.Budget
	if info.Pool != nil {
		pool = *info.Pool
	}
	if err := guide.CheckAmount(*in.Amount, pool); err != nil && info.Error == "" {
		return nil, err
	}
	claimed := ""
	if in.From != nil {
		claimed = *in.From
	}
	who, kind, err := c.caller.From(claimed, abi.KindAgent)
	if err != nil { // a name that is refused is so in chat-relay's words, whoever refuses it
		return consumed(pool, err)
	}
	if err := reached(ctx, talk, "basis_seq", in.Basis); err != nil {
		return consumed(pool, err)
	}
	at := c.in(talk.Name(), who)
	u := rooms.Utterance{From: who, By: kind, Text: *in.Message, Basis: in.Basis, Offer: in.Amount}
	if u.Basis == 0 {
		u.Basis = d.readers.Basis(at)
	}
	say := talk.Consume
	if kind != abi.KindHuman {
		say = func(ctx context.Context, u rooms.Utterance) (abi.Message, abi.Budget, error) {
			return talk.Offer(ctx, u, guide.Importance(*u.Offer, pool))
		}
	}
	m, pool, err := say(ctx, u) // right after it
	d.readers.Tried(at, u, pool, m, err)
	return consumed(pool, err)
}

// consumed answers as chat-relay does: a refusal is an answer with success false,
// a fault of the house is an error.
func consumed(pool abi.Budget, err error) (any, error) {
	out := consumeOut{Success: err == nil, Resource: pool.Level, Message: "Resource consumed."}
	if pool.Size == 0 {
		out.Resource = guide.Unpaid
	}
	if err == nil {
		return out, nil
	}
	e := abi.AsError(arguments.Name(err))
	if e.Code == abi.CodeExhausted && e.Field == "" { // of the pool; a field says what else there is too much of
		out.Message = "Not enough resource."
		return out, nil
	}
	switch e.Code {
	case abi.CodeStale:
		out.Message = "Stale: " + e.Message + ". Read history again."
	case abi.CodeInvalid, abi.CodeDenied, abi.CodeConflict, abi.CodeTooLarge, abi.CodeTimeout, abi.CodeExhausted:
		out.Message = e.Message
	default:
		return nil, err
	}
	return out, nil
}

// status gives the pool; a room without one says that it is full, since nothing
// is spent there.
func (d *Door) status(ctx context.Context, c call, in statusIn) (any, error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	info := talk.Info()
	if info.Error != "" {
		return nil, abi.Errorf(abi.CodeUnavailable, "%s", info.Error)
	}
	d.priced(info)
	at, err := c.reads(talk, in.From)
	if err != nil {
		return nil, err
	}
	out := statusOut{Resource: guide.Unpaid}
	if in.From != "" {
		if seen, read := d.readers.Seen(at); read {
			out.Head = &seen
		}
	}
	if info.Pool == nil {
		if in.From != "" {
			out.Note = guide.NoPool(info)
		}
		return out, nil
	}
	d.readers.Told(at, *info.Pool)
	out.Resource = info.Pool.Level
	return out, nil
}

func (d *Door) history(ctx context.Context, c call, in historyIn) (any, error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	if in.Limit < 0 || in.Limit > abi.MaxHistory {
		return nil, abi.Field("limit", abi.CodeInvalid, "%d is outside 1..%d", in.Limit, abi.MaxHistory)
	}
	switch {
	case in.Budget < 0:
		return nil, abi.Field("budget", abi.CodeInvalid, "%d is less than 0", in.Budget)
	case in.Budget > 0 && in.Since != nil:
		return nil, abi.Field("budget", abi.CodeInvalid, "is for the newest messages, and since for those that follow; leave one of them out")
	}
	if in.Limit == 0 {
		in.Limit = abi.MaxHistory
	}
	at, err := c.reads(talk, in.From)
	if err != nil {
		return nil, err
	}
	if in.Since != nil {
		return d.historySince(ctx, talk, at, *in.Since, in.Limit)
	}
	past, err := talk.Told(ctx, abi.HistoryAsk{Limit: in.Limit, Budget: in.Budget})
	if err != nil {
		return nil, err
	}
	out := historyOut{History: []watch.Message{}}
	if in.From == "" {
		for _, m := range past.Messages {
			out.History = append(out.History, watch.Message{From: m.From, Message: m.Text, Cut: m.Cut})
		}
		d.readers.Read(at, past.Head)
		return out, nil
	}
	seen, _ := d.readers.Seen(at)
	switch missed, err := watch.Gap(ctx, talk, past.Messages, seen); {
	case err != nil:
		return nil, err
	case missed:
		out.Missed = &seen
	}
	return d.shown(at, out, past.Messages, past.Head), nil
}

// historySince goes on behind a position, as far as limit reaches.
func (d *Door) historySince(ctx context.Context, talk rooms.Room, at readers.Place, since uint64, limit int) (any, error) {
	if err := reached(ctx, talk, "since", since); err != nil {
		return nil, err
	}
	ms, head, err := talk.Messages(ctx, since, limit)
	if err != nil {
		return nil, err
	}
	out := historyOut{History: []watch.Message{}}
	if len(ms) == limit {
		last := ms[limit-1].Seq
		rest, _, err := talk.Messages(ctx, last, 1)
		if err != nil {
			return nil, err
		}
		if out.More = len(rest) > 0; out.More {
			head = last
		}
	}
	return d.shown(at, out, ms, head), nil
}

// shown answers with messages and the position they leave the reader at.
func (d *Door) shown(at readers.Place, out historyOut, ms []abi.Message, head uint64) historyOut {
	for _, m := range ms {
		out.History = append(out.History, watch.Shown(m))
	}
	d.readers.Read(at, head)
	out.Head = &head
	return out
}

// reached refuses a position that a room has not reached: who names it has read something
// else, and would not be told of what comes next.
func reached(ctx context.Context, talk rooms.Room, field string, seq uint64) error {
	if seq <= talk.Info().Head {
		return nil
	}
	past, err := talk.History(ctx, abi.HistoryAsk{Limit: 1}) // the head at a glance may be told a moment late
	if err != nil || seq <= past.Head {
		return err
	}
	return abi.Field(field, abi.CodeInvalid, "%d is beyond the room's head, %d: give the head of your last answer, or leave it out", seq, past.Head)
}
