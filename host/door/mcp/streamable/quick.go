package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK spends most of a short call on itself: it decodes the request several
// times, each time into a fresh buffer of 32 KiB, and hands it from goroutine to
// goroutine. Calls of the tools that agents use all the time, in sessions that
// the SDK has opened, are therefore answered here. What these calls may not be
// is left to the SDK: anything with _meta (progress), batches, other methods,
// unusual headers. The answers are the same, which a test holds.

// Tool runs a tool beside the SDK: in a context that ends with the request and
// with the transport, for the session of that id, with the arguments as they
// came, nil when there were none. It must be quick, and answer as it does through
// the SDK; where it answers an error, the call is left to the SDK, which makes it
// again.
type Tool func(ctx context.Context, session string, arguments json.RawMessage) (*sdk.CallToolResult, error)

// quickShare is how much of a session's time-out may pass without the SDK seeing
// a request of it: only those keep the session.
const quickShare = 4

// quickCall is the part of a request that is looked at here.
type quickCall struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      json.RawMessage `json:"_meta"`
		Task      json.RawMessage `json:"task"`
		Input     json.RawMessage `json:"inputResponses"`
	} `json:"params"`
}

// quick answers a request if it is one of those; otherwise the body is there to
// be read again.
func (t *Transport) quick(w http.ResponseWriter, r *http.Request) bool {
	id := r.Header.Get(headerSession)
	if len(t.cfg.Tools) == 0 || r.Method != http.MethodPost || id == "" || !usual(r.Header) ||
		!t.sessions.open(id, t.cfg.Owner(r), time.Now().Add(-t.cfg.SessionTimeout/quickShare)) {
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false // the guard has read it already, so this cannot be
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var q quickCall
	if json.Unmarshal(body, &q) != nil || !q.plain() {
		return false
	}
	run, ok := t.cfg.Tools[q.Params.Name]
	if !ok {
		return false
	}
	ctx, cancel := endingWith(r.Context(), t.callsEnd)
	defer cancel()
	res, err := run(ctx, id, q.Params.Arguments)
	if err != nil {
		return false
	}
	answer, err := response(q.ID, res)
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

// usual says whether the headers are those of an older client that takes both
// kinds of answer.
func usual(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	accept := strings.Join(h.Values("Accept"), ",")
	switch h.Get(headerVersion) {
	case "", "2025-03-26", "2025-06-18", "2025-11-25":
	default:
		return false
	}
	return err == nil && kind == "application/json" && strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
}

// plain says whether nothing is asked for but a tool's answer.
func (q quickCall) plain() bool {
	id := string(q.ID)
	return q.Version == "2.0" && q.Method == "tools/call" && id != "" && id != "null" && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9') &&
		q.Params.Meta == nil && q.Params.Task == nil && q.Params.Input == nil
}
