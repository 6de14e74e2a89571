package module

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// WriteRequest writes what an engine asks a guest, with the version of the border, and the id of its
// module where the request names none.
//
// # Errors
//
// *abi.Error: it cannot be written, or is longer than abi.MaxRequest.
func WriteRequest(req abi.Request, self string) ([]byte, error) {
	req.V, req.Self = abi.Version, cmp.Or(req.Self, self)
	request, err := json.Marshal(req)
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "the request cannot be written: %w", err)
	}
	if len(request) > abi.MaxRequest {
		return nil, abi.Errorf(abi.CodeTooLarge, "the request has %d bytes, at most %d", len(request), abi.MaxRequest)
	}
	return request, nil
}

// ReadReply reads what a guest replied, for engines. guest is the guest's own error, tidied up;
// err says why it is no reply.
func ReadReply(reply []byte) (ok json.RawMessage, guest *abi.Error, err error) {
	var r abi.Reply
	if !utf8.Valid(reply) {
		return nil, nil, errors.New("the reply is not UTF-8")
	}
	if err := json.Unmarshal(reply, &r); err != nil {
		return nil, nil, fmt.Errorf("the reply is no JSON reply: %w", err)
	}
	switch {
	case r.OK != nil && r.Error != nil:
		return nil, nil, errors.New(`the reply has both "ok" and "error"`)
	case r.OK == nil && r.Error == nil:
		return nil, nil, errors.New(`the reply has neither "ok" nor "error"`)
	}
	return r.OK, tidy(r.Error), nil
}

// maxErrorText is how many bytes of a guest's error message are kept.
const maxErrorText = 4 << 10

// tidy makes a guest's error fit for others: with a code they know and a
// message of bounded length. nil stays nil.
func tidy(e *abi.Error) *abi.Error {
	if e == nil {
		return nil
	}
	switch e.Code {
	case abi.CodeInvalid, abi.CodeDenied, abi.CodeNotFound, abi.CodeConflict, abi.CodeStale, abi.CodeTooLarge,
		abi.CodeExhausted, abi.CodeUnavailable, abi.CodeTimeout, abi.CodeUnknownOp, abi.CodeInternal:
	default:
		e.Code = abi.CodeInternal
	}
	if len(e.Message) > maxErrorText {
		e.Message = strings.ToValidUTF8(e.Message[:maxErrorText], "") + "..."
	}
	return e
}

// Asking is a guest's host calls during one of its calls.
type Asking struct {
	Calls  HostCalls // nil: there is no op
	By     Caller
	Loaded bool // before, none is answered
	Log    *slog.Logger
}

// Answer answers a host_call of n bytes, of which ask are all unless they are too many, with the
// bytes of an abi.Reply: at most abi.MaxAnswer of them. A panic in a call is a bug of ours: the guest
// gets an error and the log the rest.
func (a Asking) Answer(ctx context.Context, ask []byte, n int) []byte {
	var reply abi.Reply
	data, err := a.answer(ctx, ask, n)
	if err != nil {
		reply.Error = abi.AsError(err)
	} else if reply.OK = data; len(data) == 0 {
		reply.OK = json.RawMessage("{}")
	}
	answer, err := json.Marshal(reply)
	if err != nil { // the host's data is no JSON
		answer, _ = json.Marshal(abi.Reply{Error: abi.Errorf(abi.CodeInternal, "the host's answer cannot be written")})
	}
	if len(answer) > abi.MaxAnswer {
		answer, _ = json.Marshal(abi.Reply{Error: abi.Errorf(abi.CodeTooLarge, "the answer has %d bytes, at most %d", len(answer), abi.MaxAnswer)})
	}
	return answer
}

func (a Asking) answer(ctx context.Context, ask []byte, n int) (answer json.RawMessage, err error) {
	if n > abi.MaxReply {
		return nil, abi.Errorf(abi.CodeTooLarge, "host call of %d bytes, at most %d", n, abi.MaxReply)
	}
	var req abi.Request
	if err := json.Unmarshal(ask, &req); err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "host call is no request: %v", err)
	}
	switch {
	case a.Calls == nil:
		return nil, abi.Errorf(abi.CodeUnknownOp, "host_call: there is no op %q", req.Op)
	case !a.Loaded:
		return nil, abi.Errorf(abi.CodeUnavailable, "host ops are answered once the module is loaded, not while it starts or describes itself")
	}
	defer func() {
		if r := recover(); r != nil {
			a.Log.Error("host call panicked", "op", req.Op, "panic", r, "stack", string(debug.Stack()))
			err = abi.AsError(errors.New("panic in a host call"))
		}
	}()
	return a.Calls.HostCall(ctx, a.By, req.Op, req.Data)
}
