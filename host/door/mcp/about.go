package mcp

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/door/mcp/guide"
	"github.com/companiond/companiond/host/door/mcp/watch"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

type aboutIn struct {
	Room string `json:"room"`
	From string `json:"from"`
}

// about tells an agent what it can find out in no other way. What it shows of the talk is
// not read by it; that there are too few points for a turn is told.
func (d *Door) about(ctx context.Context, c call, in aboutIn) (any, error) {
	talk, who, kind, err := d.someone(ctx, c, in.Room, in.From)
	if err != nil {
		return nil, err
	}
	w := watch.Waiter{Talk: talk, Who: who, At: c.in(talk.Name(), who), Readers: d.readers, Stopping: d.cfg.Stopping}
	news, info, err := w.Look(ctx)
	if err != nil && info.Error == "" {
		return nil, err
	}
	d.priced(info)
	if err := taken(info, who, kind); err != nil {
		return nil, err
	}
	if who != "" && kind == abi.KindAgent {
		watch.Poor(d.readers, w.At, info)
	}
	names, err := d.cfg.Rooms.Names(ctx, "", guide.Listed+1)
	if err != nil {
		return nil, err
	}
	return guide.Tell(guide.You{Name: who, Kind: kind, Guest: c.caller.Guest, Scopes: append([]identity.Scope{}, c.caller.Scopes...)}, news, info, names), nil
}

// someone is speaker for who need not have said its name.
func (d *Door) someone(ctx context.Context, c call, roomName, from string) (talk rooms.Room, who string, kind abi.ParticipantKind, err error) {
	if c.caller.Guest && from == "" {
		talk, err = d.room(ctx, roomName)
		return talk, "", abi.KindAgent, err
	}
	return d.speaker(ctx, c, roomName, from)
}

// taken refuses a name under which an agent could not speak in a room, as wait_for_turn does.
func taken(info rooms.Info, who string, kind abi.ParticipantKind) error {
	if who == "" || kind != abi.KindAgent {
		return nil
	}
	for _, m := range info.Members {
		if m.ID == who && m.Kind == abi.KindAgent || !address.Same(m.ID, who) && !address.Same(m.Name, who) {
			continue
		}
		what := "a " + string(m.Kind)
		if m.Kind == abi.KindAgent {
			what = "an agent"
		}
		if address.Reading(m.ID) == address.Reading(who) {
			return abi.Field("from", abi.CodeDenied, "%q is %s here; take another name", who, what)
		}
		return abi.Field("from", abi.CodeDenied, "%q cannot be told from a name of %s, who is %s here; take another name", who, m.ID, what)
	}
	return nil
}
