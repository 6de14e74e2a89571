package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/answer"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/perception"
)

// The wires of the AI Companion Protocol's reference server: JSON-RPC by POST /init, which opens a session with
// a companion, and POST /perception in that session, whose id is in the URL or in a
// header, or which nobody opened: that is how it began. docs/WIRES.md has all of them. The body of a session is at
// the WebSocket door. Shapes are the protocol's, so this is no part of the described
// API.

// answerPatience is how long a perception waits for what the companion says.
const answerPatience = 55 * time.Second

// sessionHeader carries the session of a perception.
const sessionHeader = "Mcp-Session-Id"

// The codes of JSON-RPC.
const (
	rpcParse   = -32700
	rpcRequest = -32600
	rpcMethod  = -32601
	rpcParams  = -32602
	rpcServer  = -32000
)

type rpcRequestIn struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

type rpcAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcFault       `json:"error,omitempty"`
}

type rpcFault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// wrongCall is an error that has a code of its own in JSON-RPC.
type wrongCall struct {
	why  *abi.Error
	code int
}

func (c wrongCall) Error() string { return c.why.Error() }

// Unwrap gives the error that the other doors know.
func (c wrongCall) Unwrap() error { return c.why }

func wrong(code int, format string, args ...any) error {
	return wrongCall{abi.Errorf(abi.CodeInvalid, format, args...), code}
}

// readCall reads a call. The call can be answered also when it is wrong. A
// bare one may be no call at all: nothing, or an object.
func readCall(r *http.Request, bare bool) (in rpcRequestIn, err error) {
	raw, err := guard.ReadBody(r.Body, MaxPerception)
	if err != nil {
		return in, err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		if bare {
			return in, nil
		}
		return in, wrong(rpcRequest, "body: is missing")
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		switch mistyped(err) {
		case "jsonrpc":
			return in, wrong(rpcRequest, `jsonrpc: must be "2.0"`)
		case "method":
			return in, wrong(rpcRequest, "method: must be a text")
		}
		if json.Valid(raw) {
			return in, wrong(rpcRequest, "body: must be an object")
		}
		return in, wrong(rpcParse, "body: is no JSON: %v", err)
	}
	if in.Version != "2.0" && !(bare && in.Version == "") {
		return in, wrong(rpcRequest, `jsonrpc: must be "2.0"`)
	}
	return in, nil
}

// mistyped gives the field that is of another type, "" where an error has another cause.
func mistyped(err error) string {
	if typed := (*json.UnmarshalTypeError)(nil); errors.As(err, &typed) {
		return typed.Field
	}
	return ""
}

// answerCall answers a call with a result or an error.
func answerCall(w http.ResponseWriter, in rpcRequestIn, result any, err error) {
	out := rpcAnswer{Version: "2.0", ID: json.RawMessage("null"), Result: result}
	if id := bytes.TrimSpace(in.ID); len(id) > 0 && (id[0] == '"' || id[0] == '-' || '0' <= id[0] && id[0] <= '9') {
		out.ID = id // else it is no id, and is not given back
	}
	if err == nil {
		writeJSON(w, http.StatusOK, out)
		return
	}
	guard.Note(w, err)
	d := guard.DetailsOf(err)
	out.Result, out.Error = nil, &rpcFault{rpcServer, d.Detail}
	if own, ok := err.(wrongCall); ok { //nolint:errorlint // it is never wrapped
		out.Error.Code = own.code
	}
	if after := guard.RetryAfter(err); after != "" {
		w.Header().Set("Retry-After", after)
	}
	writeJSON(w, d.Status, out)
}

// initSession opens a session. Which companion it is with may be said by
// ?companion= or params.companion; the protocol knows one only.
func (d *door) initSession(w http.ResponseWriter, r *http.Request) {
	in, err := readCall(r, true)
	id := ""
	if err == nil {
		id, err = d.open(r, in.Params)
	}
	answerCall(w, in, struct {
		SessionID string `json:"sessionId"`
	}{id}, err)
}

func (d *door) open(r *http.Request, params json.RawMessage) (id string, err error) {
	caller := identity.Of(r.Context())
	if caller.May(identity.Talk) != nil {
		if err := caller.May(identity.Act); err != nil {
			return "", err
		}
	}
	var asked struct {
		Companion string `json:"companion"`
	}
	if len(params) > 0 && json.Unmarshal(params, &asked) != nil {
		return "", wrong(rpcParams, "params.companion: must be a text in an object")
	}
	companion := cmp.Or(r.URL.Query().Get("companion"), asked.Companion)
	if companion == "" {
		if companion, err = d.usual(); err != nil {
			return "", err
		}
	}
	return d.cfg.Perceptions.Open(companion, caller.Name, caller.Sharer)
}

// usual is the companion of whoever names none.
func (d *door) usual() (string, error) {
	const another = "name one in the URL: /init?companion=ID, /perception/ID"
	usual := d.cfg.Usual()
	if usual == "" {
		return "", abi.Errorf(abi.CodeNotFound, "companion: nobody who has a card lives in a room; %s", another)
	}
	if _, err := d.cfg.Cards(usual); abi.CodeOf(err) == abi.CodeNotFound {
		return "", abi.Errorf(abi.CodeNotFound, "companion: %s, whom the configuration means by whoever names nobody, has no file here; %s", usual, another)
	}
	return usual, nil
}

// perception lets a session's companion perceive something and answers with what
// it says because of it.
func (d *door) perception(w http.ResponseWriter, r *http.Request) {
	in, err := readCall(r, false)
	if err != nil {
		answerCall(w, in, nil, err)
		return
	}
	companion, taken, err := d.perceiveCall(r, in)
	in.Params = nil // nothing of an image is kept while the answer is waited for
	guard.BodyDone(r.Context())
	text := ""
	if err == nil {
		text, err = d.spoken(r.Context(), companion, taken)
	}
	answerCall(w, in, struct {
		Text string `json:"text"`
	}{text}, err)
}

// perceiveCall offers what a call has to a session's companion.
func (d *door) perceiveCall(r *http.Request, in rpcRequestIn) (companion string, taken perception.Taken, err error) {
	// Versions of the reference call it perception and perception.send.
	if !strings.HasPrefix(in.Method, "perception") {
		return "", taken, wrong(rpcMethod, "method: is %.64q, must be %q", in.Method, "perception")
	}
	if companion, err = d.meant(r); err != nil {
		return "", taken, err
	}
	var p struct {
		Title  string          `json:"title"`
		Format string          `json:"format"`
		Body   json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(in.Params, &p); err != nil {
		if field := mistyped(err); field != "" {
			return "", taken, wrong(rpcParams, "params.%s: must be a text", field)
		}
		return "", taken, wrong(rpcParams, "params: must be {title, format, body}")
	}
	taken, err = d.offer(r.Context(), companion, card.Percept{Title: p.Title, Format: p.Format, Body: p.Body}, "")
	if e := abi.AsError(err); e != nil && e.Field != "" {
		err = wrongCall{abi.Field("params."+e.Field, e.Code, "%s", e.Reason()), rpcParams}
	}
	return companion, taken, err
}

// meant is whose perception it is: of the session, or the companion, that the URL
// names, else of the session in the header, else of the usual companion.
func (d *door) meant(r *http.Request) (companion string, err error) {
	name, session, caller := r.PathValue("companion"), r.Header.Get(sessionHeader), identity.Of(r.Context()).Name
	switch {
	case name == "" && session == "":
		return d.usual()
	case name == "":
		return d.cfg.Perceptions.Session(session, caller)
	}
	if companion, err = d.cfg.Perceptions.Meant(name, caller); err != nil || session == "" {
		return companion, err
	}
	// Clients of MCP have sessions of another kind, which say nothing here.
	if other, err := d.cfg.Perceptions.Session(session, caller); err == nil && other != companion {
		return "", wrong(rpcRequest, "mcp-session-id: is a session with %s, and the URL names %s; leave one of them out", other, companion)
	}
	return companion, nil
}

// spoken waits for what a companion says because of a perception: "" when it says
// nothing, not in time, or a newer perception took this one's place.
func (d *door) spoken(ctx context.Context, companion string, taken perception.Taken) (string, error) {
	talk, err := d.cfg.Rooms.Home(ctx, companion)
	if err != nil {
		return "", err
	}
	ctx, cancel := d.patience(ctx, answerPatience)
	defer cancel()
	if taken.Message != nil {
		return answer.ToMessage(ctx, talk, companion, taken.Message.Seq)
	}
	select {
	case o := <-taken.Outcome:
		if o.Err != nil || o.Judged.Wish == 0 {
			return "", o.Err // a replaced one has neither
		}
		return answer.OfWish(ctx, talk, companion, o.Judged.Wish)
	case <-ctx.Done():
		return "", nil
	}
}
