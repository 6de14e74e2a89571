package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/mcp/rpc"
)

// The SDK spends most of a short call on itself: it decodes the request several
// times, each time into a fresh buffer of 32 KiB, hands it from goroutine to
// goroutine, and makes a session for each call that has none. Calls of the tools
// that agents use all the time are therefore answered here, in both eras. What these
// calls may not be is left to the SDK: those with more _meta than every call has
// (progress), batches, other methods, unusual headers, sessions that may have timed
// out. The answers are the same, which a test holds.

// Tool runs a tool beside the SDK: in a context that ends with the request, with its
// session and with the transport, for who asks, with the arguments as they came, nil
// when there were none. It may wait, if that context ends it. It must answer as it does through
// the SDK; where it answers an error, the call is left to the SDK, which makes it again. The result
// is the transport's.
type Tool func(ctx context.Context, asker Asker, arguments json.RawMessage) (*sdk.CallToolResult, error)

// Asker is what a call says of who makes it.
type Asker struct {
	// Session is the id of an older client's session, empty for one that has none.
	Session string
	// Client is what a client without a session says it is, with each call, see [NameOf].
	// What the client of a session is it has said once, to the SDK.
	Client string
}

// NameOf gives what a client says it is in one text; empty where it says nothing.
func NameOf(client *sdk.Implementation) string {
	if client == nil {
		return ""
	}
	return client.Name + " " + client.Version
}

// quickShare is how much of a session's time-out may pass without the SDK seeing
// a request of it: only those keep the session.
const quickShare = 4

// quickCall is a call of a tool as it is taken here.
type quickCall struct {
	run       Tool
	id        []byte
	asker     Asker
	arguments json.RawMessage
}

// quick answers a request if it is one of those.
func (t *Transport) quick(w http.ResponseWriter, r *http.Request, x *exchange) bool {
	c, ok := t.quickCall(r.Header, x)
	if !ok {
		return false
	}
	end := t.callsEnd
	if x.session != nil {
		end = x.session.ending
	}
	ctx, cancel := endingWith(r.Context(), end)
	defer cancel()
	if x.session != nil {
		defer t.sessions.runs(x.session, c.id, cancel)()
	}
	res, err := c.run(ctx, c.asker, c.arguments)
	if err != nil {
		return false
	}
	if x.modern {
		res = t.completed(res)
	}
	answer, err := response(c.id, res)
	if err != nil {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("Content-Length", strconv.Itoa(len(answer)))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(t.cfg.WriteTimeout)) // a test's recorder has none
	_, _ = w.Write(answer)                                                                 // the client is gone: nothing to do
	return true
}

// quickCall finds out whether a request asks for nothing but a quick tool's answer.
func (t *Transport) quickCall(h http.Header, x *exchange) (c quickCall, ok bool) {
	m := x.message
	if len(t.cfg.Tools) == 0 || m.More || string(m.Version) != `"2.0"` || string(m.Method) != `"tools/call"` || !rpc.UsualID(m.ID) || !usual(h) {
		return c, false
	}
	var of [3][]byte
	if rpc.Pick(m.Params, of[:], "name", "arguments", "_meta") != 0 {
		return c, false
	}
	name, meta := of[0], of[2]
	c.arguments = of[1]
	tool, ok := rpc.PlainText(name)
	if c.id, c.run = m.ID, t.cfg.Tools[tool]; !ok || c.run == nil {
		return c, false
	}
	if x.modern {
		if h.Get(headerVersion) != modernSince || h.Get(headerMethod) != "tools/call" || h.Get(headerName) != tool {
			return c, false
		}
		c.asker.Client, ok = client(meta)
		return c, ok
	}
	if meta != nil || x.session == nil || !sessionVersion(h.Get(headerVersion)) {
		return c, false
	}
	c.asker.Session = x.session.id
	return c, t.sessions.open(x.session, time.Now().Add(-t.cfg.SessionTimeout/quickShare))
}

// client reads the _meta that every call has which belongs to no session: which
// revision it is of, what its client can do, and mostly what that is. With anything
// else in it the call is not a usual one.
func client(meta []byte) (name string, usual bool) {
	var of [3][]byte
	if rpc.Pick(meta, of[:], sdk.MetaKeyProtocolVersion, sdk.MetaKeyClientInfo, sdk.MetaKeyClientCapabilities) != 0 ||
		string(of[0]) != `"`+modernSince+`"` || !capabilities(of[2]) {
		return "", false
	}
	is := of[1]
	if is == nil {
		return "", true
	}
	var known sdk.Implementation
	if is[0] != '{' || json.Unmarshal(is, &known) != nil {
		return "", false
	}
	return NameOf(&known), true
}

// capabilities says whether these are what the SDK takes for capabilities.
func capabilities(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	return string(raw) == "{}" || json.Unmarshal(raw, &sdk.ClientCapabilities{}) == nil
}

// completed gives a result as clients without a session get it: with who answers, and
// marked as one after which nothing is asked back. The SDK has that mark in a field of
// its own, so that the result is made from one that was decoded with it.
func (t *Transport) completed(res *sdk.CallToolResult) *sdk.CallToolResult {
	done := *t.complete
	done.Content, done.StructuredContent, done.IsError = res.Content, res.StructuredContent, res.IsError
	done.Meta = sdk.Meta{sdk.MetaKeyServerInfo: t.cfg.Server}
	maps.Copy(done.Meta, res.Meta)
	return &done
}

// aComplete makes the result that completed begins from.
func aComplete() *sdk.CallToolResult {
	res := &sdk.CallToolResult{}
	if err := json.Unmarshal([]byte(`{"content":[],"resultType":"complete"}`), res); err != nil {
		panic(err) // cannot be: it is a constant
	}
	return res
}

// response is a JSON-RPC response.
func response(id json.RawMessage, res *sdk.CallToolResult) ([]byte, error) {
	return Encode(struct {
		Version string              `json:"jsonrpc"`
		ID      json.RawMessage     `json:"id"`
		Result  *sdk.CallToolResult `json:"result"`
	}{"2.0", id, res})
}

// Encode is json.Marshal without escapes of <, > and &, as the SDK writes JSON: models
// read it.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// usual says whether the headers are those of a client that takes both kinds of
// answer, and asks for nothing that only the SDK knows.
func usual(h http.Header) bool {
	if kind := h.Get("Content-Type"); kind != "application/json" {
		if kind, _, err := mime.ParseMediaType(kind); err != nil || kind != "application/json" {
			return false
		}
	}
	var object, events bool
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept"), ","), ",") {
		switch strings.TrimSpace(part) {
		case "application/json":
			object = true
		case "text/event-stream":
			events = true
		}
	}
	_, resumes := h["Last-Event-Id"]
	return object && events && !resumes
}

// sessionVersion says whether a header names a revision with sessions, or none.
func sessionVersion(version string) bool {
	switch version {
	case "", "2025-03-26", "2025-06-18", "2025-11-25":
		return true
	}
	return false
}
