package companion

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/companiond/companiond/abi"
)

// Carrier is how the registered character reaches the daemon during one call, for packages that
// carry calls some other way than WebAssembly does, as process does. Context may be nil, which
// never ends.
type Carrier struct {
	Ask     func(request []byte) (reply []byte) // carries one host_call: an [abi.Request] in, an [abi.Reply] out
	Log     func(level abi.Level, text string)
	Context context.Context // ends when nobody waits for the answer any more
}

// Serve answers one request of the daemon for the registered character; ok is false for an
// error reply. The reply is always an [abi.Reply].
func Serve(request []byte, c Carrier) (reply []byte, ok bool) {
	return serve(registered, request, c)
}

// Serve answers one request for a character that is not registered, for a program that has several. A character
// answers one at a time.
func (c *Character) Serve(request []byte, by Carrier) (reply []byte, ok bool) {
	return serve(c, request, by)
}

// serve answers one request of the daemon for c. The Wasm export and [Local] both use it, so
// what a test sees natively is what the daemon sees.
func serve(c *Character, request []byte, by Carrier) (reply []byte, ok bool) {
	return encodeReply(answer(c, request, by))
}

// encodeReply wraps the answer of an op, or its error; ok is false for the latter.
// HTML escaping is off: a line's "<" is a "<" on the wire.
func encodeReply(data any, err error) (reply []byte, ok bool) {
	var b bytes.Buffer
	if err == nil {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if bad := enc.Encode(map[string]any{"ok": data}); bad != nil {
			err = abi.Errorf(abi.CodeInternal, "reply: %v", bad)
		} else if b.Len() > abi.MaxReply {
			err = abi.Errorf(abi.CodeTooLarge, "reply: %d bytes, at most %d", b.Len(), abi.MaxReply)
		}
	}
	if err != nil {
		reply, _ = json.Marshal(abi.Reply{Error: abi.AsError(err)}) // strings and a bool can always be marshalled
		return reply, false
	}
	return bytes.TrimRight(b.Bytes(), "\n"), true
}

// failure carries the error of Host.Fail through the maker's code.
type failure struct{ err error }

// answer decodes the envelope and runs the op, turning panics into errors.
func answer(c *Character, request []byte, by Carrier) (data any, err error) {
	if c == nil {
		return nil, abi.Errorf(abi.CodeUnavailable, "no character is registered: call companion.Register from init")
	}
	var req abi.Request
	if err := json.Unmarshal(request, &req); err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "request: %v", err)
	}
	if req.V != abi.Version {
		return nil, abi.Errorf(abi.CodeInvalid, "request.v: %d, this module speaks %d", req.V, abi.Version)
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			data, err = nil, p.err
		default:
			first, _, _ := strings.Cut(fmt.Sprint(p), "\n")
			by.Log(abi.LevelError, fmt.Sprintf("panic in %s: %v\n%s", req.Op, p, debug.Stack()))
			data, err = nil, abi.Errorf(abi.CodeInternal, "panic in %s: %s", req.Op, first)
		}
	}()
	return dispatch(c, req, &Host{req: req, by: by})
}

// dispatch runs one op.
func dispatch(c *Character, req abi.Request, h *Host) (any, error) {
	switch {
	case req.Op == abi.OpDescribe:
		return c.describe(), nil
	case c.handler != nil:
		return c.handler.dispatch(req, h)
	case req.Op == abi.OpVote && c.Vote != nil:
		return given(req, "a scene", func(s Scene) (any, error) {
			v := c.Vote(h, s)
			v.State = cmp.Or(v.State, abi.Listen)
			return v, v.Check()
		})
	case req.Op == abi.OpSpeak && c.Speak != nil:
		return given(req, "a scene", func(s Scene) (any, error) { return c.Speak(h, s), nil })
	case req.Op == abi.OpPerceive && c.Perceive != nil:
		return given(req, "a perception", func(p Perceiving) (any, error) {
			j := c.Perceive(h, p)
			j.State = cmp.Or(j.State, abi.Listen)
			return j, j.Check()
		})
	case req.Op == abi.OpResult && c.Result != nil:
		return given(req, "a result", func(r Result) (any, error) {
			c.Result(h, r)
			return struct{}{}, nil
		})
	case req.Op == abi.OpEvent && c.Forget != nil:
		return given(req, "an event", func(e abi.Event) (any, error) {
			if e.Kind == abi.EventForget && e.Forget != nil {
				c.Forget(h, *e.Forget)
			}
			return struct{}{}, nil
		})
	case req.Op == abi.OpCompress && c.Compress != nil:
		return given(req, "turns", func(t Compressing) (any, error) {
			text := c.Compress(h, t)
			return text, text.Check()
		})
	case req.Op == abi.OpVerify && c.Verify != nil:
		return given(req, "turns", func(t Verifying) (any, error) {
			v := c.Verify(h, t)
			if v.Items == nil {
				v.Items = []abi.VerifiedItem{}
			}
			return v, cmp.Or(v.Check(), v.Answers(t.Keep))
		})
	case req.Op == "":
		return nil, abi.Errorf(abi.CodeInvalid, "request.op: must not be empty")
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "op %q is not one of mine", req.Op)
}

// given decodes the data of an op, which is something, and runs the op.
func given[Data any](req abi.Request, something string, run func(Data) (any, error)) (any, error) {
	if len(req.Data) == 0 {
		return nil, abi.Errorf(abi.CodeInvalid, "request.data: %s needs %s", req.Op, something)
	}
	var data Data
	if err := json.Unmarshal(req.Data, &data); err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "request.data: %v", err)
	}
	return run(data)
}
