package actions

import (
	"bytes"
	"encoding/json"

	"github.com/companiond/companiond/abi"
)

// Shapes has what each method that subscribes is answered with.
func Shapes(method string) (s Shape, ok bool) {
	switch method {
	case "subscribe":
		return Bare, true
	case "subscribe.request":
		return Executed, true
	}
	return Own, false
}

// Call is a message in JSON-RPC.
type Call struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // nil or null: a notification
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// maxCallID bounds what is sent back as the id of a call.
const maxCallID = 256

// ReadCall decodes a call; ok is false for what is none.
func ReadCall(message []byte) (k Call, ok bool) {
	if json.Unmarshal(message, &k) != nil || k.Version != "2.0" || k.Method == "" {
		return Call{}, false
	}
	if string(k.ID) == "null" {
		k.ID = nil
	}
	return k, true
}

// CheckID refuses an id that is neither a string nor a number.
func (k Call) CheckID() error {
	switch {
	case len(k.ID) > maxCallID:
		return abi.Errorf(abi.CodeInvalid, "id: %d bytes, at most %d", len(k.ID), maxCallID)
	case k.ID != nil && !bytes.ContainsAny(k.ID[:1], `"-0123456789`):
		return abi.Errorf(abi.CodeInvalid, "id: is neither a string nor a number")
	}
	return nil
}

// Session gives the session that a subscription names.
func (k Call) Session() (id string, err error) {
	var p struct {
		SessionID string `json:"sessionId"`
	}
	if k.Params != nil && json.Unmarshal(k.Params, &p) != nil {
		return "", abi.Errorf(abi.CodeInvalid, "params.sessionId: must be a string in an object")
	}
	if p.SessionID == "" {
		return "", abi.Errorf(abi.CodeInvalid, "params.sessionId: is missing; open a session with POST /init, or connect to /?companion=ID and subscribe to nothing")
	}
	return p.SessionID, nil
}

// The codes of JSON-RPC that are used here. The error's data has the daemon's
// own code, which says what they cannot.
const (
	InvalidRequest = -32600
	UnknownMethod  = -32601
	invalidParams  = -32602
	internal       = -32603
	refused        = -32000
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

// Subscribed is the frame that says that a call was done.
func Subscribed(id json.RawMessage) []byte {
	return encode(rpcAnswer{Version: "2.0", ID: id, Result: &struct{}{}})
}

// CallRefusal is the frame that says why a call came to nothing.
func CallRefusal(id json.RawMessage, code int, err *abi.Error) []byte {
	return encode(rpcAnswer{Version: "2.0", ID: id, Error: &rpcError{code, err.Message, rpcData{err.Code}}})
}

// CodeOf gives the code of JSON-RPC for an error.
func CodeOf(err error) int {
	switch abi.CodeOf(err) {
	case abi.CodeInvalid, abi.CodeTooLarge:
		return invalidParams
	case abi.CodeInternal:
		return internal
	}
	return refused
}
