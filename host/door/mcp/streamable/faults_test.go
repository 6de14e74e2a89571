package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
)

// Whatever is wrong with a request is told in JSON-RPC, with the code that the
// protocol has for it, and not in words of Go.
func TestFaults(t *testing.T) {
	s := newStage(t, Config{})
	s.server.AddPrompt(&sdk.Prompt{Name: "rules"}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		switch r.Params.Arguments["fail"] {
		case "house":
			return nil, errors.New("the house is on fire")
		case "full":
			return nil, abi.Errorf(abi.CodeUnavailable, "the disk is full")
		}
		return nil, abi.Errorf(abi.CodeInvalid, "fail: is missing")
	})
	c := http.DefaultClient
	for _, tc := range []struct {
		name, method, target, body string
		session, modern            int // HTTP statuses
		code                       int
		says                       string
	}{
		{"nothing", "", "", ``, 400, 400, -32700, "body: is empty"},
		{"cut", "", "", `{"jsonrpc":"2.0","id":1`, 400, 400, -32700, "body: is no JSON: unexpected end of JSON input, at byte 23"},
		{"words", "", "", `nonsense`, 400, 400, -32700, "body: is no JSON: invalid character"},
		{"a number", "", "", `5`, 400, 400, -32600, "body: must be an object"},
		{"an empty batch", "", "", `[ ]`, 400, 400, -32600, "body: an empty batch"},
		{"a batch", "", "", `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`, 400, 400, -32600, "body: a batch; send its requests one by one"},
		{"a batch of numbers", "", "", `[1,2]`, 400, 400, -32600, "body[0]: must be an object"},
		{"a batch with one wrong", "", "", `[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"id":2}]`, 400, 400, -32600, `body[1].jsonrpc: must be "2.0"`},
		{"an answer with an odd error", "", "", `{"jsonrpc":"2.0","id":1,"error":7}`, 400, 400, -32600, "body: is no message of JSON-RPC"},
		{"no version", "", "", `{"id":1,"method":"tools/list"}`, 400, 400, -32600, `jsonrpc: must be "2.0"`},
		{"an odd id", "", "", `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, 400, 400, -32600, "id: must be a text or a number"},
		{"an odd method", "", "", `{"jsonrpc":"2.0","id":1,"method":7}`, 400, 400, -32600, "method: must be a text"},
		{"neither", "", "", `{"jsonrpc":"2.0"}`, 400, 400, -32600, "method: is missing"},
		{"a request without id", "tools/list", "", `{"jsonrpc":"2.0","method":"tools/list"}`, 400, 400, -32600, "id: is missing; tools/list is a request"},
		{"a notification with one", "notifications/initialized", "", message(sessionEra, "notifications/initialized", nil), 400, 400, -32600, "id: must not be there"},
		{"an unknown method", "foo/bar", "", message(modernEra, "foo/bar", nil), 200, 404, -32601, `method: there is no "foo/bar"`},
		{"an unknown notification", "foo/bar", "", `{"jsonrpc":"2.0","method":"foo/bar"}`, 400, 400, -32601, `method: there is no "foo/bar"`},
		{"no params", "tools/call", "echo", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, 200, 400, -32602, "params: are missing; tools/call needs some"},
		{"a list of them", "tools/call", "echo", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}`, 200, 0, -32602, "params: must be an object"},
		{"a wrong one", "tools/call", "echo", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}`, 200, 0, -32602, "params.name: must be a text"},
		{"an unknown tool", "tools/call", "nobody", message(modernEra, "tools/call", map[string]any{"name": "nobody"}), 0, 400, -32602, `unknown tool "nobody"`},
		{"begun twice", "initialize", "", initBody(), 200, 0, -32600, "initialize: this session has begun already"},
		{"a prompt without an argument", "prompts/get", "rules", message(modernEra, "prompts/get", map[string]any{"name": "rules"}), 0, 400, -32602, "fail: is missing"},
		{"a house on fire", "prompts/get", "rules", message(modernEra, "prompts/get", map[string]any{"name": "rules", "arguments": map[string]string{"fail": "house"}}), 0, 200, -32603, "the house is on fire"},
		{"a full disk", "prompts/get", "rules", message(modernEra, "prompts/get", map[string]any{"name": "rules", "arguments": map[string]string{"fail": "full"}}), 0, 200, -32603, "the disk is full"},
	} {
		for era, want := range map[string]int{sessionEra: tc.session, modernEra: tc.modern} {
			if want == 0 {
				continue
			}
			id, asked := "", tc.body
			if era == sessionEra {
				id = initialize(t, c, s.url)
				asked = strings.Replace(asked, `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"x":1`, 1)
			}
			resp, body := whole(t, c, request(t, "POST", s.url, asked, in(id, tc.method, tc.target)...))
			told(t, tc.name+" of "+era, resp, body, want, tc.code, tc.says)
			if called := strings.Contains(tc.body, `"id":7`); called != strings.HasPrefix(body, `{"jsonrpc":"2.0","id":7,`) {
				t.Errorf("%s: %s", tc.name, body)
			}
		}
	}
	shut(t, s.tr)
}

// told demands that an answer is an error of JSON-RPC.
func told(t *testing.T, name string, resp *http.Response, body string, status, code int, says string) {
	t.Helper()
	var e struct {
		JSONRPC string
		ID      *json.RawMessage
		Error   struct {
			Code    int
			Message string
		}
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(body)))
	if err := dec.Decode(&e); err != nil || e.JSONRPC != "2.0" || !strings.Contains(body, `"id":`) ||
		resp.StatusCode != status || resp.Header.Get("Content-Type") != "application/json" ||
		strings.Contains(body, "Go ") || e.Error.Code != code || !strings.Contains(e.Error.Message, says) || resp.ContentLength != int64(len(body)) {
		t.Errorf("%s: %d %s %s, want %d, %d and %q", name, resp.StatusCode, resp.Header.Get("Content-Type"), body, status, code, says)
	}
}

// So is what is wrong around it.
func TestFaultsOfHeaders(t *testing.T) {
	s := newStage(t, Config{})
	c := http.DefaultClient
	id := initialize(t, c, s.url)
	call := toolCall(sessionEra, "echo", "x")
	for _, tc := range []struct {
		name, method, body string
		header             []string
		status, code       int
		says               string
	}{
		{"no session", "POST", call, nil, 400, -32600, "Mcp-Session-Id: is missing; begin with initialize"},
		{"no session, revision", "POST", call, []string{headerVersion, sessionEra}, 400, -32600, "Mcp-Session-Id: is missing"},
		{"no such session", "POST", call, []string{headerSession, "gone"}, 404, -32001, "session: there is none of this id"},
		{"no such session to listen in", "GET", "", []string{headerSession, "gone"}, 404, -32001, "session: there is none"},
		{"no such session to end", "DELETE", "", []string{headerSession, "gone"}, 404, -32001, "session: there is none"},
		{"nothing to listen in", "GET", "", nil, 400, -32600, "requires an Mcp-Session-Id"},
		{"no such revision", "POST", call, []string{headerVersion, "1999-01-01", headerSession, id}, 400, -32600, "Mcp-Protocol-Version: must be one of 2026-07-28, 2025-11-25"},
		{"no such revision to listen in", "GET", "", []string{headerVersion, "1999-01-01", headerSession, id}, 400, -32600, "Mcp-Protocol-Version: must be one of 2026-07-28, 2025-11-25"},
		{"no meta", "POST", call, []string{headerVersion, modernEra}, 400, -32602, "_meta"},
		{"no events", "POST", call, []string{"Accept", "application/json", headerSession, id}, 400, -32600, "text/event-stream"},
		{"text", "POST", call, []string{"Content-Type", "text/plain", headerSession, id}, 415, -32600, "application/json"},
		{"put", "PUT", "", nil, 405, -32600, "method: here it must be GET, POST, DELETE"},
		{"listen without", "GET", "", []string{headerVersion, modernEra}, 405, -32600, "method: here it must be POST"},
	} {
		resp, body := whole(t, c, request(t, tc.method, s.url, tc.body, tc.header...))
		told(t, tc.name, resp, body, tc.status, tc.code, tc.says)
	}
	shut(t, s.tr)
}

// The SDK's own client knows a session that is gone from a request that is wrong: it
// may begin anew.
func TestClientsKnowThatASessionIsGone(t *testing.T) {
	s := newStage(t, Config{})
	cs, err := sdk.NewClient(stageInfo, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: s.url, DisableStandaloneSSE: true}, &sdk.ClientSessionOptions{ProtocolVersion: sessionEra})
	if err != nil {
		t.Fatal(err)
	}
	s.tr.sessions.letGo(s.tr.sessions.all[cs.ID()])
	if _, err := callTool(t.Context(), cs, "echo", "x"); !errors.Is(err, sdk.ErrSessionMissing) {
		t.Errorf("%v", err)
	}
	_ = cs.Close()
	shut(t, s.tr)
}
