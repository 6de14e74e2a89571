package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newQuickStage has a tool, status, that may be called beside the SDK; n counts
// when it was.
func newQuickStage(t *testing.T) (s *stage, n *int) {
	t.Helper()
	n = new(int)
	answer := func() (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: json.RawMessage(`{"resource":100}`), Content: []sdk.Content{text("100")}}, nil
	}
	s = newStage(t, Config{Tools: map[string]Tool{"status": func(context.Context, string, json.RawMessage) (*sdk.CallToolResult, error) {
		*n++
		return answer()
	}}})
	s.server.AddTool(&sdk.Tool{Name: "status", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return answer()
	})
	t.Cleanup(func() { shut(t, s.tr) })
	return s, n
}

// raw is a client that writes its requests by hand.
type raw struct {
	t       *testing.T
	url     string
	session string
	header  http.Header
}

func (s *stage) raw(t *testing.T) *raw {
	t.Helper()
	c := &raw{t: t, url: s.url, header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}}
	res, _ := c.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	c.session = res.Header.Get(headerSession)
	c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *raw) post(body string) (*http.Response, string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = c.header.Clone()
	if c.session != "" {
		req.Header.Set(headerSession, c.session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res, string(b)
}

// What is in any way special is the SDK's.
func TestQuickLeavesTheRest(t *testing.T) {
	s, n := newQuickStage(t)
	c := s.raw(t)
	const status = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`
	for name, body := range map[string]string{
		"another method": `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "another tool": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nonsense"}}`,
		"no id": `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"status"}}`, "id null": strings.Replace(status, ":1,", ":null,", 1),
		"id an object": strings.Replace(status, ":1,", ":{},", 1), "version": strings.Replace(status, "2.0", "1.0", 1),
		"progress": strings.Replace(status, `"name"`, `"_meta":{"progressToken":1},"name"`, 1), "batch": "[" + status + "]", "broken": status[:20],
	} {
		c.post(body)
		if *n != 0 {
			t.Fatalf("%s was quick", name)
		}
	}
	nobody := s.tr.cfg.Owner
	for name, change := range map[string]func(*raw){
		"accept":          func(c *raw) { c.header.Set("Accept", "application/json") },
		"content type":    func(c *raw) { c.header.Set("Content-Type", "text/plain") },
		"another era":     func(c *raw) { c.header.Set(headerVersion, "2026-07-28") },
		"no such era":     func(c *raw) { c.header.Set(headerVersion, "1999-01-01") },
		"no session":      func(c *raw) { c.session = "" },
		"no such one":     func(c *raw) { c.session = "nonsense" },
		"somebody else's": func(*raw) { s.tr.cfg.Owner = func(*http.Request) string { return "mika" } },
	} {
		other := &raw{t: t, url: c.url, session: c.session, header: c.header.Clone()}
		change(other)
		res, body := other.post(status)
		if *n != 0 || (!strings.Contains(body, "error") && name != "another era" && res.StatusCode < 400) {
			t.Errorf("%s: %d %s, quick %d", name, res.StatusCode, body, *n)
		}
		s.tr.cfg.Owner = nobody
	}
	c.post(status) // the SDK refused some of the session's requests; it has to see that it is there
	if _, body := c.post(status); *n != 1 || !strings.Contains(body, `"resource":100`) {
		t.Errorf("and the plain call: %d %s", *n, body)
	}
}

// A session is quick while it is there for sure: after the SDK took a request of
// it, until that is long ago, or the session was ended.
func TestQuickSessions(t *testing.T) {
	s, n := newQuickStage(t)
	c := s.raw(t)
	const status = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`
	open := s.tr.sessions
	age := func(by time.Duration) {
		open.mu.Lock()
		open.passed[c.session] = open.passed[c.session].Add(-by)
		open.mu.Unlock()
	}
	c.post(status)
	age(s.tr.cfg.SessionTimeout / quickShare)
	if c.post(status); *n != 1 {
		t.Errorf("%d quick calls: one of a session not seen for long was", *n)
	}
	if c.post(status); *n != 2 {
		t.Errorf("%d quick calls: the SDK saw the session again", *n)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(headerSession, c.session)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res, body := c.post(status); res.StatusCode != http.StatusNotFound || *n != 2 {
		t.Errorf("after the end: %d %s, quick %d", res.StatusCode, body, *n)
	}
}

// FuzzQuick: whatever comes, what is answered here is one JSON-RPC response to
// the id that was asked.
func FuzzQuick(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"\u0041","method":"tools/call","params":{"name":"status","arguments":{"room":"x"}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var q quickCall
		if json.Unmarshal(body, &q) != nil || !q.plain() {
			return
		}
		answer, err := response(q.ID, result(text("x")))
		var back struct{ ID json.RawMessage }
		if err != nil || json.Unmarshal(answer, &back) != nil || !bytes.Equal(back.ID, bytes.TrimSpace(q.ID)) {
			t.Fatalf("%s: %s %v", body, answer, err)
		}
	})
}
