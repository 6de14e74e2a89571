package companion

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/companiond/companiond/abi"
)

// HostFunc carries one host_call: an [abi.Request] with op and data in, an
// [abi.Reply] out, both as JSON.
type HostFunc func(request []byte) (reply []byte)

// Serve answers one request of the daemon for the registered character. The
// Wasm export and native programs both use it, so a test or a benchmark
// sees natively what the daemon sees. The reply is always an [abi.Reply].
func Serve(request []byte, host HostFunc) []byte {
	reply, _ := serve(registered, request, host, platformLog)
	return reply
}

// serve answers one request for c; ok is false for an error reply.
func serve(c *Character, request []byte, host HostFunc, log logFunc) (reply []byte, ok bool) {
	data, err := answer(c, request, host, log)
	if err == nil {
		if reply, err = encodeReply(data); err == nil {
			return reply, true
		}
	}
	e := abi.AsError(err)
	reply, mErr := json.Marshal(abi.Reply{Error: e})
	if mErr != nil { // cannot be: an Error is two strings and a bool
		reply = []byte(`{"error":{"code":"internal","message":"the error could not be encoded"}}`)
	}
	return reply, false
}

// encodeReply wraps the answer of an op. HTML escaping is off: a line's "<" is
// a "<" on the wire.
func encodeReply(data any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(struct {
		OK any `json:"ok"`
	}{data}); err != nil {
		return nil, abi.Errorf(abi.CodeInternal, "reply: %v", err)
	}
	if b.Len() > abi.MaxReply {
		return nil, abi.Errorf(abi.CodeTooLarge, "reply: %d bytes, at most %d", b.Len(), abi.MaxReply)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// failure carries the error of Host.Fail through the maker's code.
type failure struct{ err error }

// answer decodes the envelope and runs the op, turning panics into errors.
func answer(c *Character, request []byte, host HostFunc, log logFunc) (data any, err error) {
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
			log(abi.LevelError, fmt.Sprintf("panic in %s: %v\n%s", req.Op, p, debug.Stack()))
			data, err = nil, abi.Errorf(abi.CodeInternal, "panic in %s: %s", req.Op, first)
		}
	}()
	return dispatch(c, req, &Host{req: req, call: host, log: log})
}

// dispatch runs one op.
func dispatch(c *Character, req abi.Request, h *Host) (any, error) {
	switch {
	case req.Op == abi.OpDescribe:
		return c.describe(), nil
	case req.Op == abi.OpVote && c.Vote != nil:
		s, err := scene(req)
		if err != nil {
			return nil, err
		}
		v := c.Vote(h, s)
		if v.State == "" {
			v.State = abi.Listen
		}
		return v, v.Check()
	case req.Op == abi.OpSpeak && c.Speak != nil:
		s, err := scene(req)
		if err != nil {
			return nil, err
		}
		return c.Speak(h, s), nil
	case req.Op == abi.OpPerceive && c.Perceive != nil:
		var p Perceiving
		if err := decode(req, "a perception", &p); err != nil {
			return nil, err
		}
		j := c.Perceive(h, p)
		if j.State == "" {
			j.State = abi.Listen
		}
		return j, j.Check()
	case req.Op == abi.OpResult && c.Result != nil:
		var r Result
		if err := decode(req, "a result", &r); err != nil {
			return nil, err
		}
		c.Result(h, r)
		return struct{}{}, nil
	case req.Op == "":
		return nil, abi.Errorf(abi.CodeInvalid, "request.op: must not be empty")
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "op %q is not one of mine", req.Op)
}

// scene decodes the data of a vote or a line.
func scene(req abi.Request) (s Scene, err error) { return s, decode(req, "a scene", &s) }

// decode takes the data of an op, which is something.
func decode(req abi.Request, something string, v any) error {
	if len(req.Data) == 0 {
		return abi.Errorf(abi.CodeInvalid, "request.data: %s needs %s", req.Op, something)
	}
	if err := json.Unmarshal(req.Data, v); err != nil {
		return abi.Errorf(abi.CodeInvalid, "request.data: %v", err)
	}
	return nil
}

// errNoHost is the cause when a character asks a host that is not there.
var errNoHost = errors.New("no host to ask")
