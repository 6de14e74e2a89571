package mcp

import (
	"context"
	"encoding/json"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/past"
	"github.com/companiond/companiond/host/door/mcp/tools"
	"github.com/companiond/companiond/host/identity"
)

// addPast offers the tools of seed D, where something has turns compressed.
func (d *Door) addPast() {
	if d.cfg.Compressing == nil {
		return
	}
	desk := past.New(past.Config{Compressing: d.cfg.Compressing, Rooms: d.cfg.Rooms, Room: d.room, Stopping: d.cfg.Stopping})
	offerPast(d, tools.ReadSessionTurns(), true, desk.ReadTurns)
	offerPast(d, tools.CreateVerifiedSummary(), true, desk.Summarize)
	offerPast(d, tools.ReplaceSessionTurns(), false, desk.Replace) // a person may be asked
	offerPast(d, tools.RevertCompression(), false, desk.Revert)    // likewise
	offerPast(d, tools.ForkSession(), true, desk.Fork)
	offerPast(d, tools.ListBranches(), true, desk.Branches)
}

// offerPast offers one of them. Each wants read, besides talk where it changes something: what it answers has turns in it, or
// a way to them.
func offerPast[In any](d *Door, t tools.Tool, quick bool, run func(context.Context, past.Caller, In) (any, error)) {
	scope := identity.Read
	if t.Changes {
		scope = identity.Talk
	}
	tool[In]{Tool: t, scope: scope, quick: quick, run: func(ctx context.Context, c call, in In) (any, error) {
		if err := c.caller.May(identity.Read); err != nil {
			return nil, err
		}
		out, err := run(identity.With(ctx, c.caller), past.Caller{Caller: c.caller, Tell: c.teller(ctx), Ask: c.asker()}, in)
		if asked := (*asking)(nil); errors.As(err, &asked) {
			return asked.result, nil
		}
		return out, err
	}}.add(d)
}

// teller tells the client how far its call is, nil where it has not asked for that.
func (c call) teller(ctx context.Context) func(words string) {
	if c.request == nil || c.request.Params.GetProgressToken() == nil {
		return nil
	}
	told := 0.0
	return func(words string) {
		told++
		p := &sdk.ProgressNotificationParams{ProgressToken: c.request.Params.GetProgressToken(), Progress: told, Message: words}
		_ = c.request.Session.NotifyProgress(ctx, p) // the client is gone: it is not told
	}
}

// approval is what the form is called in a result that asks for it.
const approval = "approval"

// asking is the error that the person at the client is to be asked, by a client that then calls again.
type asking struct{ result *sdk.CallToolResult }

func (*asking) Error() string { return "the person is asked first" }

// asker has the person at the client fill in a form; nil where the client cannot.
func (c call) asker() func(context.Context, past.Question) (past.Answer, error) {
	if c.request == nil {
		return nil
	}
	can := c.request.ClientCapabilities()
	if can == nil || can.Elicitation == nil || can.Elicitation.Form == nil && can.Elicitation.URL != nil {
		return nil
	}
	return func(ctx context.Context, q past.Question) (past.Answer, error) {
		p := &sdk.ElicitParams{Mode: "form", Message: q.Message, RequestedSchema: json.RawMessage(q.Form)}
		if init := c.request.Session.InitializeParams(); init != nil && init.ProtocolVersion < sessionless {
			return elicited(c.request.Session.Elicit(ctx, p))
		}
		given, ok := c.request.Params.InputResponses[approval].(*sdk.ElicitResult)
		if !ok || given == nil || c.request.Params.RequestState != q.State { // it was not asked this
			return past.Answer{}, &asking{&sdk.CallToolResult{InputRequests: sdk.InputRequestMap{approval: p}, RequestState: q.State}}
		}
		return elicited(given, nil)
	}
}

// sessionless is the first revision in which a server asks by its answer to a call.
const sessionless = "2026-07-28"

func elicited(r *sdk.ElicitResult, err error) (past.Answer, error) {
	if err != nil {
		return past.Answer{}, abi.Errorf(abi.CodeUnavailable, "the client gave no answer that can be read, and nothing was decided: %v", err)
	}
	return past.AnswerOf(r.Action == "accept", r.Content), nil
}
