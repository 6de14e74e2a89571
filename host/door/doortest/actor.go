package doortest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/room"
)

// Actor is a companion made of functions. It has no op whose function is nil, so that
// the zero value listens, and it plays any action.
type Actor struct {
	Can      []string // what it plays; nil: anything
	Vote     func(abi.Scene) abi.Vote
	Speak    func(ctx context.Context, s abi.Scene) abi.Line
	Perceive func(abi.Perceiving) abi.Judgement
}

var _ room.Companion = (*Actor)(nil)

// Describe names the ops that it has.
func (a *Actor) Describe() abi.Description {
	d := abi.Description{ABI: "1"}
	for op, has := range map[string]bool{abi.OpVote: a.Vote != nil, abi.OpSpeak: a.Speak != nil, abi.OpPerceive: a.Perceive != nil} {
		if has {
			d.Ops = append(d.Ops, op)
		}
	}
	return d
}

// Permit lets it play whatever it likes, or can.
func (a *Actor) Permit(ask abi.ActionAsk) (string, error) {
	if a.Can != nil && !slices.Contains(a.Can, ask.Action) {
		return "", abi.Field("action", abi.CodeNotFound, "it has no %q", ask.Action)
	}
	return "", nil
}

// Call asks one of the functions.
func (a *Actor) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	switch {
	case req.Op == abi.OpVote && a.Vote != nil:
		return module.Answer(req.Data, func(s abi.Scene) (abi.Vote, error) { return a.Vote(s), nil })
	case req.Op == abi.OpSpeak && a.Speak != nil:
		return module.Answer(req.Data, func(s abi.Scene) (abi.Line, error) { return a.Speak(ctx, s), nil })
	case req.Op == abi.OpPerceive && a.Perceive != nil:
		return module.Answer(req.Data, func(p abi.Perceiving) (abi.Judgement, error) { return a.Perceive(p), nil })
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "this actor knows no %s", req.Op)
}
