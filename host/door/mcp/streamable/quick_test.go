package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/doortest"
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

// What is in any way special is the SDK's.
func TestQuickLeavesTheRest(t *testing.T) {
	s, n := newQuickStage(t)
	c := doortest.NewByHand(t, s.url)
	const status = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`
	for name, body := range map[string]string{
		"another method": `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "another tool": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nonsense"}}`,
		"no id": `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"status"}}`, "id null": strings.Replace(status, ":1,", ":null,", 1),
		"id an object": strings.Replace(status, ":1,", ":{},", 1), "version": strings.Replace(status, "2.0", "1.0", 1),
		"progress": strings.Replace(status, `"name"`, `"_meta":{"progressToken":1},"name"`, 1), "batch": "[" + status + "]", "broken": status[:20],
	} {
		c.Post(body)
		if *n != 0 {
			t.Fatalf("%s was quick", name)
		}
	}
	nobody := s.tr.cfg.Owner
	for name, change := range map[string]func(*doortest.ByHand){
		"accept":          func(c *doortest.ByHand) { c.Header.Set("Accept", "application/json") },
		"content type":    func(c *doortest.ByHand) { c.Header.Set("Content-Type", "text/plain") },
		"another era":     func(c *doortest.ByHand) { c.Header.Set(headerVersion, "2026-07-28") },
		"no such era":     func(c *doortest.ByHand) { c.Header.Set(headerVersion, "1999-01-01") },
		"no session":      func(c *doortest.ByHand) { c.Session = "" },
		"no such one":     func(c *doortest.ByHand) { c.Session = "nonsense" },
		"somebody else's": func(*doortest.ByHand) { s.tr.cfg.Owner = func(*http.Request) string { return "mika" } },
	} {
		other := &doortest.ByHand{T: t, URL: c.URL, Session: c.Session, Header: c.Header.Clone()}
		change(other)
		res, body := other.Post(status)
		if *n != 0 || (!strings.Contains(body, "error") && name != "another era" && res.StatusCode < 400) {
			t.Errorf("%s: %d %s, quick %d", name, res.StatusCode, body, *n)
		}
		s.tr.cfg.Owner = nobody
	}
	c.Post(status) // the SDK refused some of the session's requests; it has to see that it is there
	if _, body := c.Post(status); *n != 1 || !strings.Contains(body, `"resource":100`) {
		t.Errorf("and the plain call: %d %s", *n, body)
	}
}

// A session is quick while it is there for sure: after the SDK took a request of
// it, until that is long ago, or the session was ended.
func TestQuickSessions(t *testing.T) {
	s, n := newQuickStage(t)
	c := doortest.NewByHand(t, s.url)
	const status = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`
	open := s.tr.sessions
	age := func(by time.Duration) {
		open.mu.Lock()
		mine := open.all[c.Session]
		mine.passed = mine.passed.Add(-by)
		open.mu.Unlock()
	}
	c.Post(status)
	age(s.tr.cfg.SessionTimeout / quickShare)
	if c.Post(status); *n != 1 {
		t.Errorf("%d quick calls: one of a session not seen for long was", *n)
	}
	if c.Post(status); *n != 2 {
		t.Errorf("%d quick calls: the SDK saw the session again", *n)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(headerSession, c.Session)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res, body := c.Post(status); res.StatusCode != http.StatusNotFound || *n != 2 {
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
