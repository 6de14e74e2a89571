package past

import (
	"context"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// ForkIn asks for a fork.
type ForkIn struct {
	Room string  `json:"room"`
	Turn *uint64 `json:"turn"` // nil: the newest
	Name string  `json:"name"` // empty: one that is free
}

// ForkOut is a fork.
type ForkOut struct {
	rooms.Branch
	Next string `json:"next_action"`
}

// Fork makes a room of the past of another.
func (d *Desk) Fork(ctx context.Context, c Caller, in ForkIn) (any, error) {
	talk, err := d.Room(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	by := rooms.Owner{Name: c.Name, Admin: c.May(identity.Admin) == nil}
	if c.Guest {
		by.Name = rooms.Guests
	}
	f := rooms.Forking{Of: talk.Name(), Name: in.Name, By: by}
	if in.Turn != nil {
		f.Turn = *in.Turn
		if n, err := talk.Turns(ctx); err != nil {
			return nil, err
		} else if f.Turn == 0 && n > 0 { // Rooms takes it for none given
			return nil, abi.Field("turn", abi.CodeInvalid, "0 is no turn of %s: it has 1 to %d so far; left out, it is the newest", f.Of, n)
		}
	}
	b, err := d.Rooms.Fork(ctx, f)
	if err != nil {
		return nil, err
	}
	return ForkOut{b, fmt.Sprintf("Go on there with room = %s; %s stays as it is.", b.Name, talk.Name())}, nil
}

// BranchesIn asks for the family of a room.
type BranchesIn struct {
	Room string `json:"room"`
}

// BranchesOut is the family of a room.
type BranchesOut struct {
	Room     string         `json:"room"`
	Branches []rooms.Branch `json:"branches"` // each behind the one that it was forked of
}

// Branches lists the family of a room.
func (d *Desk) Branches(ctx context.Context, _ Caller, in BranchesIn) (any, error) {
	talk, err := d.Room(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	out := BranchesOut{Room: talk.Name(), Branches: []rooms.Branch{}}
	all, err := d.Rooms.Branches(ctx, talk.Name())
	if err != nil {
		return nil, err
	}
	out.Branches = append(out.Branches, all...)
	return out, nil
}
