package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/door/mcp/streamable"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// call is one call of a tool: who makes it, and where it reads.
type call struct {
	caller identity.Caller
	reader string // of the readers; empty when nothing tells calls apart
}

// in is where the caller reads a room.
func (c call) in(talk rooms.Room) readers.Place {
	return readers.Place{Reader: c.reader, Room: talk.Name()}
}

func (d *Door) callOf(r *sdk.CallToolRequest) call {
	caller := d.callerOf(r.Extra)
	return call{caller, readerOf(r.Session, caller)}
}

// readerOf names a reader: the session, or the token's holder where there is
// none; empty for a guest without one.
func readerOf(s *sdk.ServerSession, caller identity.Caller) string {
	if id := s.ID(); id != "" || caller.Guest {
		return id
	}
	return readers.Holder(caller.Name)
}

// tool is a tool with typed arguments. Unknown arguments are refused, and a
// mistake names its argument; refusals are results with isError, for a model
// can learn from them.
type tool[In any] struct {
	name, title, about string
	scope              identity.Scope
	changes            bool // what is in the room
	quick              bool // answers at once, so it may be called beside the SDK
	in                 any  // its JSON Schema: a *jsonschema.Schema, or as it is written
	out                *jsonschema.Schema
	run                func(context.Context, call, In) (any, error)
}

func (t tool[In]) add(d *Door) {
	d.server.AddTool(&sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: t.in, OutputSchema: t.out,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: !t.changes, DestructiveHint: new(false), IdempotentHint: !t.changes, OpenWorldHint: new(false)},
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return t.answer(ctx, d.callOf(r), r.Params.Arguments)
	})
	if t.quick {
		d.quick[t.name] = func(ctx context.Context, session string, raw json.RawMessage) (*sdk.CallToolResult, error) {
			return t.answer(ctx, call{caller: identity.Of(ctx), reader: session}, raw)
		}
	}
}

// answer is the tool as a function of who calls it with what.
func (t tool[In]) answer(ctx context.Context, c call, raw json.RawMessage) (*sdk.CallToolResult, error) {
	if err := c.caller.May(t.scope); err != nil {
		return refusal(err)
	}
	in, err := arguments[In](raw)
	if err != nil {
		return refusal(err)
	}
	out, err := t.run(ctx, c, in)
	if err != nil {
		return refusal(err)
	}
	return answerOf(out)
}

// arguments decodes a call's arguments; a mistake names the argument.
func arguments[In any](raw json.RawMessage) (In, error) {
	var in In
	if len(bytes.TrimSpace(raw)) == 0 {
		return in, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&in)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return in, abi.Errorf(abi.CodeInvalid, "%s: must be %s, not %s", wrong.Field, kindOf(wrong.Type.Kind().String()), wrong.Value)
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		return in, abi.Errorf(abi.CodeInvalid, "%s: there is no such argument", strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`))
	case err != nil:
		return in, abi.Errorf(abi.CodeInvalid, "arguments: %v", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return in, abi.Errorf(abi.CodeInvalid, "arguments: more than one value")
	}
	return in, nil
}

func kindOf(kind string) string {
	switch {
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case strings.HasPrefix(kind, "int"):
		return "a whole number"
	case strings.HasPrefix(kind, "uint"):
		return "a whole number of 0 or more"
	case kind == "string":
		return "a text"
	case kind == "slice":
		return "a list"
	case kind == "bool":
		return "true or false"
	}
	return "an object"
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

// shape makes the schema of an object; names ending in ? may be absent.
func shape(fields ...prop) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, f := range fields {
		name, optional := strings.CutSuffix(f.name, "?")
		s.Properties[name] = f.schema
		s.PropertyOrder = append(s.PropertyOrder, name)
		if !optional {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

type prop struct {
	name   string
	schema *jsonschema.Schema
}

func words(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: about}
}

func amount(about string, low, high float64) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", Description: about, Minimum: &low, Maximum: &high}
}

func integer(about string) *jsonschema.Schema {
	low := 0.0
	return &jsonschema.Schema{Type: "integer", Description: about, Minimum: &low}
}

func truth(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "boolean", Description: about}
}

func list(about string, of *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Description: about, Items: of}
}

func choice(about string, of ...any) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: about, Enum: of}
}
