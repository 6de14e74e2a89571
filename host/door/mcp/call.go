package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/arguments"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/door/mcp/streamable"
	"github.com/companiond/companiond/host/door/mcp/tools"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// call is one call of a tool: who makes it, in which session, with which client.
type call struct {
	caller          identity.Caller
	session, client string               // empty where it has none, and where nobody knows
	companion       string               // that the URL names; "" for none
	request         *sdk.CallToolRequest // nil for one that is answered beside the SDK
}

// in is where the caller reads a room, under the name that it gives, or under none.
func (c call) in(room, name string) readers.Place {
	return readers.Place{Room: room, Who: readers.Who{Holder: c.caller.Name, Session: c.session, Address: c.caller.Address, Client: c.client, Name: name}}
}

// reads is in for a call that may give a name: one that the caller could not wait under
// either, for what is read under it would be another's.
func (c call) reads(talk rooms.Room, from string) (readers.Place, error) {
	if from == "" {
		return c.in(talk.Name(), ""), nil
	}
	name, kind, err := c.caller.From(from, abi.KindAgent)
	if err == nil {
		err = taken(talk.Info(), name, kind)
	}
	return c.in(talk.Name(), name), err
}

// callOf gives the call that a request is.
func (d *Door) callOf(s *sdk.ServerSession, extra *sdk.RequestExtra) call {
	c := call{caller: d.callerOf(extra), session: s.ID(), companion: companionOf(extra)}
	if p := s.InitializeParams(); p != nil && p.ClientInfo != nil {
		c.client = streamable.NameOf(p.ClientInfo)
	}
	return c
}

// tool is a tool with typed arguments. Unknown arguments are refused, and a
// mistake names its argument; refusals are results with isError, for a model
// can learn from them.
type tool[In any] struct {
	tools.Tool
	scope identity.Scope
	run   func(context.Context, call, In) (any, error)
	quick bool // answers at once, or when its context ends, so it may be called beside the SDK
	// told shapes what a refusal is answered with, nil: as the other tools' are.
	told func(error) any
}

func (t tool[In]) add(d *Door) {
	d.server.AddTool(&sdk.Tool{
		Name: t.Name, Title: t.Title, Description: t.About, InputSchema: t.In, OutputSchema: t.Out,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: !t.Changes, DestructiveHint: new(false), IdempotentHint: !t.Changes, OpenWorldHint: new(false)},
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := d.callOf(r.Session, r.Extra)
		c.request = r
		return t.answer(ctx, c, r.Params.Arguments)
	})
	if _, offered := d.quick[t.Name]; t.quick && !offered { // one that is offered anew does the same
		d.quick[t.Name] = func(ctx context.Context, asker streamable.Asker, raw json.RawMessage) (*sdk.CallToolResult, error) {
			return t.answer(ctx, call{caller: identity.Of(ctx), session: asker.Session, client: asker.Client}, raw)
		}
	}
}

// answer is the tool as a function of who calls it with what.
func (t tool[In]) answer(ctx context.Context, c call, raw json.RawMessage) (*sdk.CallToolResult, error) {
	if err := c.caller.May(t.scope); err != nil {
		return t.refuse(err)
	}
	in, err := arguments.Decode[In](raw)
	if err != nil {
		return t.refuse(err)
	}
	out, err := t.run(ctx, c, in)
	if err != nil {
		return t.refuse(arguments.Name(err))
	}
	if question, ok := out.(*sdk.CallToolResult); ok { // to be called again with the answer
		return question, nil
	}
	return answerOf(out)
}

func (t tool[In]) refuse(err error) (*sdk.CallToolResult, error) {
	if t.told != nil {
		return refusalAs(t.told(err))
	}
	return refusal(err)
}

// answerOf gives an answer as chat-relay's server does: structured, and the same as
// JSON in a text for clients that know no better.
func answerOf(out any) (*sdk.CallToolResult, error) {
	text, err := streamable.Encode(out)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: string(text)}},
		StructuredContent: json.RawMessage(text),
	}, nil
}

// metaError is where a refusal has its code, for programs.
const metaError = "companiond/error"

// refusal is a result that says what was wrong, in words for a model. It has no
// structured answer: clients hold that against the tool's output schema, also
// when the result is an error, and would throw the words away.
func refusal(err error) (*sdk.CallToolResult, error) {
	e := abi.AsError(err)
	structured, encodeErr := streamable.Encode(e)
	if encodeErr != nil {
		return nil, encodeErr
	}
	return &sdk.CallToolResult{
		Meta:    sdk.Meta{metaError: json.RawMessage(structured)},
		IsError: true,
		Content: []sdk.Content{&sdk.TextContent{Text: e.Error()}},
	}, nil
}

// refusalAs is a refusal in a shape that the tool's output schema has: also structured.
func refusalAs(told any) (*sdk.CallToolResult, error) {
	res, err := answerOf(told)
	if err != nil {
		return nil, err
	}
	res.IsError, res.Meta = true, sdk.Meta{metaError: res.StructuredContent}
	return res, nil
}
