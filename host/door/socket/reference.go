package socket

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
)

// The sockets that the AI Companion Protocol's reference server ever had: a client says which session it is
// the body of, in JSON-RPC, and gets that companion's actions; the first ones said nothing.
// docs/WIRES.md has all of them.

// shape is how the frames of a body look.
type shape int

const (
	own      shape = iota // of this house, see move
	bare                  // {"action","parameters"}, to who sent subscribe or named the companion in the URL
	executed              // action.execute, in JSON-RPC, to who sent subscribe.request
)

// shapes has what each method that subscribes is answered with.
func shapes(method string) (s shape, ok bool) {
	switch method {
	case "subscribe":
		return bare, true
	case "subscribe.request":
		return executed, true
	}
	return own, false
}

// bareMove is a move as the AI Companion Protocol's document shows it. Fields that are added stand behind.
type bareMove struct {
	Action     string          `json:"action"`
	Parameters json.RawMessage `json:"parameters"`
	ID         string          `json:"id"`
	Seq        uint64          `json:"seq"`
}

// executedMove is a move as the last reference server sent it, and nothing added: what it
// has is JSON-RPC, in which an id asks for an answer.
type executedMove struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  struct {
		Action     string          `json:"action"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"params"`
}

// encode writes a move.
func (s shape) encode(m *move) []byte {
	switch s {
	case bare:
		return encode(bareMove{Action: m.Action, Parameters: m.Parameters, ID: m.ID, Seq: m.Seq})
	case executed:
		e := executedMove{Version: "2.0", Method: "action.execute"}
		e.Params.Action, e.Params.Parameters = m.Action, m.Parameters
		return encode(e)
	}
	return encode(m)
}

// openBare is for a client that listens and says nothing, as there was before there were
// sessions. Its URL has to say so with ?companion=ID, or ?companion= for the usual one:
// at the same place chat-relay's agents listen, and think for each frame that comes.
func (f *Feed) openBare(r *http.Request) (view, error) {
	if err := identity.Of(r.Context()).May(identity.Act); err != nil {
		return view{}, err
	}
	companion := cmp.Or(r.URL.Query().Get("companion"), f.cfg.Usual())
	if companion == "" {
		return view{}, abi.Field("query.companion", abi.CodeNotFound, "nobody who has a card lives in a room; name one")
	}
	return f.bodyOf(r, &body{companion: companion, speaks: f.cfg.Speaks, shape: bare})
}

// call is a message in JSON-RPC.
type call struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // nil or null: a notification
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// maxCallID bounds what is sent back as the id of a call.
const maxCallID = 256

// readCall decodes a call; ok is false for what is none.
func readCall(message []byte) (k call, ok bool) {
	if json.Unmarshal(message, &k) != nil || k.Version != "2.0" || k.Method == "" {
		return call{}, false
	}
	if string(k.ID) == "null" {
		k.ID = nil
	}
	return k, true
}

// The codes of JSON-RPC that are used here. The error's data has the daemon's
// own code, which says what they cannot.
const (
	rpcInvalidRequest = -32600
	rpcUnknownMethod  = -32601
	rpcInvalidParams  = -32602
	rpcInternal       = -32603
	rpcRefused        = -32000
)

type rpcAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null for a notification
	Result  *struct{}       `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int     `json:"code"`
	Message string  `json:"message"`
	Data    rpcData `json:"data"`
}

type rpcData struct {
	Code abi.Code `json:"code"`
}

// answerCall does what a call asks for. Errors are told also to who sent no id:
// nobody would understand why there are no actions otherwise.
func (c *client) answerCall(ctx context.Context, k call) (*view, error) {
	if err := checkCallID(k.ID); err != nil {
		return nil, c.send(c.rpcRefusal(nil, rpcInvalidRequest, err))
	}
	s, ok := shapes(k.Method)
	if !ok {
		if k.ID == nil {
			return nil, nil
		}
		return nil, c.send(c.rpcRefusal(k.ID, rpcUnknownMethod, abi.Errorf(abi.CodeUnknownOp, "method: there are only subscribe and subscribe.request here, not %.64q", k.Method)))
	}
	v, err := c.subscribe(ctx, s, k.Params)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, c.send(c.rpcRefusal(k.ID, rpcCode(err), err))
	}
	if k.ID != nil {
		v.hello = encode(rpcAnswer{Version: "2.0", ID: k.ID, Result: &struct{}{}})
	}
	return v, err
}

// checkCallID refuses an id that is neither a string nor a number.
func checkCallID(id json.RawMessage) error {
	switch {
	case len(id) > maxCallID:
		return abi.Errorf(abi.CodeInvalid, "id: %d bytes, at most %d", len(id), maxCallID)
	case id != nil && !bytes.ContainsAny(id[:1], `"-0123456789`):
		return abi.Errorf(abi.CodeInvalid, "id: is neither a string nor a number")
	}
	return nil
}

// subscribe finds what the body of a session is to see. The session's id is not
// enough: it has to be the caller's own, who must be allowed to act, for ids are seen by others.
func (c *client) subscribe(ctx context.Context, s shape, params json.RawMessage) (*view, error) {
	if err := c.caller.May(identity.Act); err != nil {
		return nil, err
	}
	var p struct {
		SessionID string `json:"sessionId"`
	}
	if params != nil && json.Unmarshal(params, &p) != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "params.sessionId: must be a string in an object")
	}
	if p.SessionID == "" {
		return nil, abi.Errorf(abi.CodeInvalid, "params.sessionId: is missing; open a session with POST /init, or connect to /?companion=ID and subscribe to nothing")
	}
	companion, err := c.cfg.Session(p.SessionID, c.caller.Name)
	if err != nil {
		return nil, err
	}
	talk, err := c.cfg.Rooms.Home(ctx, companion)
	if err != nil {
		return nil, err
	}
	_, head, err := talk.Entries(ctx, 0, 1)
	if err != nil {
		return nil, err
	}
	if err := c.place.Hold(time.Time{}); err != nil {
		return nil, err
	}
	b := &body{talk: talk, companion: companion, speaks: c.cfg.Speaks, shape: s}
	return &view{talk: talk, since: head, dialect: b}, nil
}

func rpcCode(err error) int {
	switch abi.CodeOf(err) {
	case abi.CodeInvalid, abi.CodeTooLarge:
		return rpcInvalidParams
	case abi.CodeInternal:
		return rpcInternal
	}
	return rpcRefused
}

func (c *client) rpcRefusal(id json.RawMessage, code int, err error) []byte {
	e := c.told(err)
	return encode(rpcAnswer{Version: "2.0", ID: id, Error: &rpcError{code, e.Message, rpcData{e.Code}}})
}
