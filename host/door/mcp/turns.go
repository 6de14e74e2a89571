package mcp

import (
	"context"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/tools"
	"github.com/companiond/companiond/host/door/mcp/watch"
	"github.com/companiond/companiond/host/rooms"
)

// The tools that chat-relay lacks: an agent waits for its turn, votes as a companion
// of the house does (aikyo's State), and speaks with the grant it won.

// usualWait is how long wait_for_turn waits, in seconds.
const usualWait = 25.0

type waitIn struct {
	From    string   `json:"from"`
	Room    string   `json:"room"`
	Basis   *uint64  `json:"basis_seq"`
	Timeout *float64 `json:"timeout_seconds"`
}

type voteIn struct {
	From       string      `json:"from"`
	Room       string      `json:"room"`
	About      uint64      `json:"about"`
	State      abi.State   `json:"state"`
	Importance float64     `json:"importance"`
	Selected   bool        `json:"selected"`
	Closing    abi.Closing `json:"closing"`
	Reason     string      `json:"reason"`
}

type voteOut struct {
	Counted bool   `json:"counted"`
	About   uint64 `json:"about"`
}

type sayIn struct {
	From    string          `json:"from"`
	Message *string         `json:"message"`
	Grant   string          `json:"grant"`
	Kind    abi.MessageKind `json:"kind"`
	To      []string        `json:"to"`
	Room    string          `json:"room"`
	Basis   uint64          `json:"basis_seq"`
}

type sayOut struct {
	Seq      uint64          `json:"seq"`
	ID       string          `json:"id"`
	Kind     abi.MessageKind `json:"kind"`
	Resource *float64        `json:"resource,omitempty"`
}

func (d *Door) waitForTurn(ctx context.Context, c call, in waitIn) (any, error) {
	talk, who, kind, err := d.speaker(ctx, c, in.Room, in.From)
	if err != nil {
		return nil, err
	}
	limit := usualWait
	if in.Timeout != nil {
		limit = *in.Timeout
	}
	if !(limit >= 0 && limit <= tools.LongestWait) {
		return nil, abi.Field("timeout_seconds", abi.CodeInvalid, "%v is outside 0..%v", limit, tools.LongestWait)
	}
	attend := func() error { return nil }
	if kind == abi.KindAgent {
		// Where turns are paid for, nobody has to be asked.
		attend = func() error { return talk.Attend(ctx, who, !talk.Info().FreeTurns) }
	}
	if err := attend(); err != nil {
		return nil, err
	}
	if in.Basis != nil {
		if err := reached(ctx, talk, "basis_seq", *in.Basis); err != nil {
			return nil, err
		}
	}
	at := c.in(talk.Name(), who)
	long := time.Duration(limit * float64(time.Second))
	leave, err := d.waits.Enter(at.Agent(), c.caller.Sharer, time.Now().Add(long))
	if err != nil {
		return nil, err
	}
	defer leave()
	w := watch.Waiter{Talk: talk, Who: who, At: at, Readers: d.readers, Basis: in.Basis, Stopping: d.cfg.Stopping, Here: func(info rooms.Info) error {
		if isHere(info, who) {
			return nil
		}
		// A human may have its name by now, whose words are not its own: it is told so
		// and has seen nothing.
		return attend()
	}}
	n, err := w.Wait(ctx, long)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// speaker finds the room of a call and the name under which it speaks.
func (d *Door) speaker(ctx context.Context, c call, roomName, from string) (talk rooms.Room, who string, kind abi.ParticipantKind, err error) {
	if talk, err = d.room(ctx, roomName); err != nil {
		return nil, "", "", err
	}
	if who, kind, err = c.caller.From(from, abi.KindAgent); err != nil {
		return nil, "", "", err
	}
	return talk, who, kind, abi.CheckName("from", who)
}

func (d *Door) vote(ctx context.Context, c call, in voteIn) (any, error) {
	talk, who, kind, err := d.speaker(ctx, c, in.Room, in.From)
	if err != nil {
		return nil, err
	}
	if kind != abi.KindAgent {
		return nil, abi.Field("from", abi.CodeDenied, "people need no vote, they may speak whenever they like")
	}
	if err := talk.Attend(ctx, who, true); err != nil {
		return nil, err
	}
	if in.About == 0 {
		in.About = newestTurn(talk.Info())
	}
	if in.About == 0 {
		return nil, abi.Errorf(abi.CodeConflict, "nobody has spoken yet, so there is nothing to vote about: a person has to begin, or a companion; call wait_for_turn")
	}
	v := abi.Vote{State: in.State, Importance: in.Importance, Selected: in.Selected, Closing: in.Closing, Reason: in.Reason}
	if err := talk.Vote(ctx, who, in.About, v); err != nil {
		return nil, err
	}
	return voteOut{Counted: true, About: in.About}, nil
}

func (d *Door) say(ctx context.Context, c call, in sayIn) (any, error) {
	talk, who, kind, err := d.speaker(ctx, c, in.Room, in.From)
	if err != nil {
		return nil, err
	}
	if in.Message == nil {
		return nil, abi.Field("message", abi.CodeInvalid, "is missing")
	}
	if err := reached(ctx, talk, "basis_seq", in.Basis); err != nil {
		return nil, err
	}
	at := c.in(talk.Name(), who)
	u := rooms.Utterance{From: who, By: kind, To: in.To, Text: *in.Message, Kind: in.Kind, Grant: in.Grant, Basis: in.Basis}
	if info := talk.Info(); u.Basis == 0 && in.Grant != "" && info.Grant != nil && info.Grant.Token == in.Grant {
		u.Basis = info.Grant.Basis
	}
	if u.Basis == 0 {
		u.Basis = d.readers.Basis(at)
	}
	if in.Grant != "" && u.Kind == "" {
		u.Kind = abi.KindTurn
	}
	m, pool, err := talk.Consume(ctx, u)
	d.readers.Tried(at, u, pool, m, err)
	if err != nil {
		return nil, err
	}
	out := sayOut{Seq: m.Seq, ID: m.ID, Kind: m.Kind}
	if pool.Size > 0 {
		out.Resource = &pool.Level
	}
	return out, nil
}

// isHere says whether an agent is a member of a room.
func isHere(info rooms.Info, who string) bool {
	return slices.ContainsFunc(info.Members, func(m abi.Member) bool { return m.ID == who && m.Kind == abi.KindAgent })
}

// newestTurn is what a vote is about now.
func newestTurn(info rooms.Info) uint64 {
	if info.Round != nil {
		return info.Round.About
	}
	return info.Last
}
