package streamable

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
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
	s = newStage(t, Config{Server: stageInfo, Tools: map[string]Tool{"status": func(context.Context, Asker, json.RawMessage) (*sdk.CallToolResult, error) {
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

// modernStatus is a call of status of the era without sessions; meta is put into its _meta,
// params into its params.
func modernStatus(meta, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"` + params + `,"_meta":{` + meta + `}}}`
}

const (
	saysVersion = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	saysCan     = `,"io.modelcontextprotocol/clientCapabilities":{}`
	saysClient  = `,"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"}`
)

// Without a session, a call is quick with the _meta that each such call has, and
// answered as the SDK does; with anything else it is the SDK's.
func TestQuickWithoutSession(t *testing.T) {
	s, n := newQuickStage(t)
	post := func(body string, change ...string) (*http.Response, string) {
		return whole(t, http.DefaultClient, request(t, "POST", s.url, body, append(in("", "tools/call", "status"), change...)...))
	}
	usual := modernStatus(saysVersion+saysClient+saysCan, "")
	for _, body := range []string{
		`{"method":"tools/call","params":{"name":"status","arguments":{},"_meta":{` + saysVersion + saysClient + saysCan + `}},"jsonrpc":"2.0","id":0}`, // as the TypeScript client 2 and AI SDK 7 write it
		usual, modernStatus(saysVersion+saysCan, ""), modernStatus(saysVersion+saysClient+saysCan, `,"arguments":{}`),
		strings.ReplaceAll(usual, `":`, "\" :\n\t"), strings.Replace(usual, ":1,", `:"an id & <one>",`, 1), strings.Replace(usual, ":1,", `:-12,`, 1),
		modernStatus(saysVersion+saysClient+`,"io.modelcontextprotocol/clientCapabilities":{"roots":{"listChanged":true},"elicitation":{"form":{}},"sampling":{}}`, ""),
	} {
		before := *n
		quick, answer := post(body)
		if *n != before+1 {
			t.Errorf("%s: was not quick", body)
		}
		slow, same := post(body, "Accept", "*/*") // which leaves it to the SDK
		if *n != before+1 {
			t.Errorf("%s: was quick", body)
		}
		if quick.StatusCode != 200 || slow.StatusCode != 200 || answer != same {
			t.Errorf("%s:\nquick %d %s\nslow  %d %s", body, quick.StatusCode, answer, slow.StatusCode, same)
		}
		quick.Header.Del("Date")
		slow.Header.Del("Date")
		if !maps.EqualFunc(quick.Header, slow.Header, slices.Equal) {
			t.Errorf("%s:\nquick %v\nslow  %v", body, quick.Header, slow.Header)
		}
	}
	*n = 0
	for name, body := range map[string]string{
		"progress": modernStatus(saysVersion+saysCan+`,"progressToken":1`, ""), "a log level": modernStatus(saysVersion+saysCan+`,"io.modelcontextprotocol/logLevel":"info"`, ""),
		"no meta": modernStatus("", ""), "no capabilities": modernStatus(saysVersion, ""), "capabilities null": modernStatus(saysVersion+strings.Replace(saysCan, "{}", "null", 1), ""),
		"capabilities of another kind": modernStatus(saysVersion+strings.Replace(saysCan, "{}", `{"roots":1}`, 1), ""),
		"client null":                  modernStatus(saysVersion+saysCan+`,"io.modelcontextprotocol/clientInfo":null`, ""),
		"a client without a name":      modernStatus(saysVersion+saysCan+`,"io.modelcontextprotocol/clientInfo":{"name":1}`, ""),
		"another revision":             modernStatus(strings.Replace(saysVersion, "2026", "2027", 1)+saysCan, ""),
		"meta twice":                   modernStatus(saysVersion+saysCan, `,"_meta":{}`), "an answer": modernStatus(saysVersion+saysCan, `,"inputResponses":{}`), "a task": modernStatus(saysVersion+saysCan, `,"task":{}`),
		"a name in escapes": strings.Replace(usual, "status", `st\u0061tus`, 1), "the id twice": strings.Replace(usual, ":1,", `:1,"id":2,`, 1), "a large id": strings.Replace(usual, ":1,", ":9007199254740993,", 1),
		"a broken id": strings.Replace(usual, ":1,", ":1.5,", 1), "deep": modernStatus(saysVersion+saysCan, `,"arguments":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)), "no object": `"status"`, "cut": usual[:40],
	} {
		if post(body); *n != 0 {
			t.Fatalf("%s was quick", name)
		}
	}
	for name, header := range map[string][]string{
		"another method": {headerMethod, "tools/list"}, "no method": {headerMethod, ""}, "another name": {headerName, "echo"}, "no name": {headerName, ""},
		"another revision": {headerVersion, "2027-01-01"}, "it resumes": {"Last-Event-Id", "x_1"}, "no events": {"Accept", "application/json"},
	} {
		if resp, body := post(usual, header...); *n != 0 || resp.StatusCode != 400 {
			t.Fatalf("%s: %d %s, quick %d", name, resp.StatusCode, body, *n)
		}
	}
}

// A quick tool learns who asks, as far as the call says it.
func TestQuickAsker(t *testing.T) {
	var last Asker
	s := newStage(t, Config{Server: stageInfo, Tools: map[string]Tool{"status": func(_ context.Context, who Asker, _ json.RawMessage) (*sdk.CallToolResult, error) {
		last = who
		return result(text("x")), nil
	}}})
	for meta, want := range map[string]string{saysVersion + saysCan + saysClient: "raw 1", saysVersion + saysCan: ""} {
		whole(t, http.DefaultClient, request(t, "POST", s.url, modernStatus(meta, ""), in("", "tools/call", "status")...))
		if last != (Asker{Client: want}) {
			t.Errorf("%s: %+v", meta, last)
		}
	}
	c := doortest.NewByHand(t, s.url)
	c.Post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`)
	if last != (Asker{Session: c.Session}) {
		t.Errorf("%+v of %s", last, c.Session)
	}
	shut(t, s.tr)
}
