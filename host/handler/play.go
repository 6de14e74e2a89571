package handler

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
)

// Play has a companion play an action of its card, in its home room, for the handler in whose call it is asked. Its own module
// is not asked about the words of it: it would wait for itself. The handler's own secrets are taken out of the parameters.
//
// # Errors
//
// Those of May; CodeInvalid where no companion is named; CodeDenied for an action that is offered, by whomever, so that no
// handler sets off another or itself; and those of the room.
func (s *Stage) Play(ctx context.Context, c module.Caller, a abi.ActionAsk) (abi.ActionPlayed, error) {
	by, err := s.caller(c)
	if err != nil {
		return abi.ActionPlayed{}, err
	}
	who := a.Companion
	if who == "" {
		return abi.ActionPlayed{}, abi.Field("companion", abi.CodeInvalid, "must not be empty where a handler asks: which of its companions plays it")
	}
	if err := s.May(c, who); err != nil {
		return abi.ActionPlayed{}, err
	}
	talk, err := s.cfg.Home(ctx, who)
	if err != nil {
		return abi.ActionPlayed{}, err
	}
	a.Companion, a.Parameters = "", by.concealed.JSON(a.Parameters)
	return talk.Act(module.During(ctx, by.Module), who, rooms.Player{Agent: by.Name, Card: true, Op: c.Op}, a)
}
