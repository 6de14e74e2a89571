package past

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

type (
	forkIn struct {
		Room string `path:"room" doc:"The room's name." example:"main"`
		Body forkBody
	}
	forkBody struct {
		Turn *uint64 `json:"turn,omitempty" nullable:"false" maximum:"9007199254740991" doc:"The newest turn that both are to have, from 1. Left out: the newest there is." example:"20"`
		Name string  `json:"name,omitempty" doc:"The fork's name. Left out: one that is free." example:"main-2"`
	}
	branchesOut struct {
		Branches []rooms.Branch `json:"branches" doc:"Each behind the one that it was forked of."`
	}
	diffIn struct {
		Room string `path:"room" doc:"The room's name." example:"main"`
		With string `query:"with" required:"true" doc:"The other room." example:"main-2"`
	}
	diffOut struct {
		Common uint64         `json:"common" doc:"The newest turn that both have; 0: none."`
		Turns  []abi.PastTurn `json:"turns" doc:"This room's behind it, at most 1000."`
		With   []abi.PastTurn `json:"with" doc:"The other room's behind it, at most 1000."`
	}
)

func (d *door) fork(ctx context.Context, in *forkIn) (rooms.Branch, error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return rooms.Branch{}, err
	}
	f := rooms.Forking{Of: in.Room, Name: in.Body.Name, By: d.cfg.Owner(identity.Of(ctx))}
	if in.Body.Turn != nil {
		f.Turn = *in.Body.Turn
		if n, err := talk.Turns(ctx); err != nil {
			return rooms.Branch{}, err
		} else if f.Turn == 0 && n > 0 { // Rooms takes it for none given
			return rooms.Branch{}, abi.Field("turn", abi.CodeInvalid, "0 is no turn of %s: it has 1 to %d so far; left out, it is the newest", in.Room, n)
		}
	}
	return d.cfg.Rooms.Fork(ctx, f)
}

func (d *door) branches(ctx context.Context, in *inRoom) (out branchesOut, err error) {
	if _, err := d.room(ctx, in.Room); err != nil {
		return out, err
	}
	out.Branches, err = d.cfg.Rooms.Branches(ctx, in.Room)
	return out, err
}

func (d *door) diff(ctx context.Context, in *diffIn) (out diffOut, err error) {
	one, err := d.room(ctx, in.Room)
	if err != nil {
		return out, err
	}
	other, err := d.room(ctx, in.With)
	if abi.CodeOf(err) == abi.CodeNotFound {
		err = abi.Field("with", abi.CodeNotFound, "%s", abi.AsError(err).Reason())
	}
	if err != nil {
		return out, err
	}
	all, err := d.cfg.Rooms.Branches(ctx, in.Room)
	if err != nil {
		return out, err
	}
	out.Common = rooms.Common(all, in.Room, in.With)
	if out.Turns, err = behind(ctx, one, out.Common); err == nil {
		out.With, err = behind(ctx, other, out.Common)
	}
	return out, err
}

// behind gives the turns of a room behind one.
func behind(ctx context.Context, talk rooms.Room, common uint64) ([]abi.PastTurn, error) {
	n, err := talk.Turns(ctx)
	if err != nil || n <= common {
		return []abi.PastTurn{}, err
	}
	past, err := talk.Past(ctx, history.Range{From: common + 1, To: min(n, common+most)}, true)
	return past.Turns, err
}
