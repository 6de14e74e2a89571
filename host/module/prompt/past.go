package prompt

import (
	"context"
	"encoding/json"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt/digest"
)

// past answers the ops about a room's past, which are the same for a card and for the house: no
// character has a say in what was said.
type past struct {
	who    string // as refusals call it
	models Models
	caller module.Caller
	wanted string // the model that its card names
}

func (c *call) past() past {
	return past{who: "a card", models: c.m.engine.cfg.Models, caller: c.caller, wanted: c.m.card.Model}
}

func (p past) answer(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	switch req.Op {
	case abi.OpCompress:
		return module.Answer(req.Data, func(c abi.Compressing) (abi.Compressed, error) {
			m, err := p.model()
			if err != nil {
				return abi.Compressed{}, err
			}
			return m.Compress(ctx, c)
		})
	case abi.OpVerify:
		return module.Answer(req.Data, func(v abi.Verifying) (abi.Verified, error) {
			m, err := p.model()
			if err != nil {
				return abi.Verified{}, err
			}
			return m.Verify(ctx, v)
		})
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "%s does not answer %q", p.who, req.Op)
}

// model gives the model, whose calls are written down as those for votes and lines are. What it was
// told is not kept: the original is in the room, and the draft with its proposal.
func (p past) model() (digest.Model, error) {
	if why := p.models.Waits(p.caller.Companion, p.wanted); why != "" {
		return digest.Model{}, abi.Errorf(abi.CodeUnavailable, "%s", why)
	}
	context, meter := p.models.Window(p.wanted)
	return digest.Model{Ask: p.ask, Context: context, Meter: meter}, nil
}

func (p past) ask(ctx context.Context, req model.Request) (model.Answer, error) {
	a, err := p.models.Generate(ctx, p.caller, p.wanted, Ask{Request: req}, nil)
	return a, late(ctx, err)
}

// House is the compresser and verifier of a house that has a model and asks no companion: it
// answers OpDescribe, OpCompress and OpVerify, and lives in no room. What its calls used is
// written down under its id.
type House struct {
	id     string
	wanted string
	models Models
}

// NewHouse makes one with an id, under which no companion should live. wanted names its model; empty: the usual one.
func NewHouse(id string, models Models, wanted string) *House {
	return &House{id: id, wanted: wanted, models: models}
}

// Waits says why it has no model; empty when it has one.
func (h *House) Waits() string { return h.models.Waits(h.id, h.wanted) }

// Longest is how many tokens a draft may come to so that the house can verify it, by a policy.
func (h *House) Longest(policy string) int {
	context, meter := h.models.Window(h.wanted)
	return digest.Model{Context: context, Meter: meter}.Longest(policy)
}

// Describe says what it answers.
func (h *House) Describe() abi.Description {
	return abi.Description{ABI: "1", Name: h.id, Ops: []string{abi.OpDescribe, abi.OpCompress, abi.OpVerify}}
}

// Call answers one op. Its errors are those of digest.Model, and CodeUnavailable where there is no model.
func (h *House) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	if req.Op == abi.OpDescribe {
		return json.Marshal(h.Describe())
	}
	p := past{who: "the house", models: h.models, wanted: h.wanted, caller: module.Caller{Companion: h.id, Room: req.Room, Call: req.ID, Op: req.Op, Engine: (*Engine)(nil).Name()}}
	return p.answer(ctx, req)
}

// Permit lets it play nothing.
func (h *House) Permit(a abi.ActionAsk) (warning string, err error) {
	return "", abi.Field("action", abi.CodeDenied, "%s plays no %q: it has no body", h.id, a.Action)
}
