package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
)

// raw is a client that writes its requests by hand.
type raw struct {
	t       *testing.T
	url     string
	session string
	header  http.Header
}

func (h *home) raw() *raw {
	h.t.Helper()
	c := &raw{t: h.t, url: h.url, header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}}
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

// counted counts the calls that are answered beside the SDK.
func counted(h *home) *int {
	n := new(int)
	tools := map[string]quickTool{}
	for name, run := range h.door.quick {
		tools[name] = func(ctx context.Context, c call, raw json.RawMessage) (*sdk.CallToolResult, error) {
			*n++
			return run(ctx, c, raw)
		}
	}
	h.door.transport.tools = tools
	return n
}

// A call answered beside the SDK has the answer it would have had from it, to
// the header and the byte.
func TestQuickAnswersAreTheSame(t *testing.T) {
	h := openHome(t, map[string]abi.Rules{"main": rulesOf("pool", freePool())}, &actor{id: "aya"})
	h.human("main", `<こんにちは> & "hello"`)
	c, n := h.raw(), counted(h)
	for _, args := range []string{
		`"name":"status"`, `"name":"status","arguments":{}`, `"name":"status","arguments":{"room":"attic"}`,
		`"name":"history","arguments":{"since":0}`, `"name":"history"`, `"name":"history","arguments":[]`, `"name":"history","arguments":null`,
		`"name":"consume","arguments":{"amount":0,"from":"aya","message":"x"}`,
		`"name":"consume","arguments":{"amount":101,"from":"k","message":"x"}`,
		`"name":"consume","arguments":{"amount":100,"from":"k","message":"x","basis_seq":1}`,
	} {
		for _, id := range []string{"7", `"seven"`, `-7`} {
			before := *n
			quick, answer := c.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + args + `}}`)
			if *n != before+1 {
				t.Errorf("%s: was not quick", args)
			}
			slow, same := c.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"_meta":{},` + args + `}}`)
			if *n != before+1 {
				t.Errorf("%s with _meta: was quick", args)
			}
			if quick.StatusCode != slow.StatusCode || answer != same {
				t.Errorf("%s:\nquick %d %s\nslow  %d %s", args, quick.StatusCode, answer, slow.StatusCode, same)
			}
			for _, name := range []string{"Content-Type", headerSession, "Cache-Control", "Content-Length"} {
				if q, s := quick.Header.Get(name), slow.Header.Get(name); q != s {
					t.Errorf("%s: %s is %q, slow %q", args, name, q, s)
				}
			}
		}
	}
}

// What is in any way special is the SDK's.
func TestQuickLeavesTheRest(t *testing.T) {
	h := openHome(t, map[string]abi.Rules{"main": rulesOf("pool", freePool())})
	c, n := h.raw(), counted(h)
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
	for name, change := range map[string]func(*raw){
		"accept":          func(c *raw) { c.header.Set("Accept", "application/json") },
		"content type":    func(c *raw) { c.header.Set("Content-Type", "text/plain") },
		"another era":     func(c *raw) { c.header.Set(headerVersion, "2026-07-28") },
		"no such era":     func(c *raw) { c.header.Set(headerVersion, "1999-01-01") },
		"no session":      func(c *raw) { c.session = "" },
		"no such one":     func(c *raw) { c.session = "nonsense" },
		"somebody else's": func(*raw) { h.door.transport.cfg.Owner = func(*http.Request) string { return "mika" } },
	} {
		other := &raw{t: t, url: c.url, session: c.session, header: c.header.Clone()}
		change(other)
		res, body := other.post(status)
		if *n != 0 || (!strings.Contains(body, "error") && name != "another era" && res.StatusCode < 400) {
			t.Errorf("%s: %d %s, quick %d", name, res.StatusCode, body, *n)
		}
		h.door.transport.cfg.Owner = owner
	}
	c.post(status) // the SDK refused some of the session's requests; it has to see that it is there
	if _, body := c.post(status); *n != 1 || !strings.Contains(body, `"resource":100`) {
		t.Errorf("and the plain call: %d %s", *n, body)
	}
}

// A session is quick while it is there for sure: after the SDK took a request of
// it, until that is long ago, or the session was ended.
func TestQuickSessions(t *testing.T) {
	h := openHome(t, map[string]abi.Rules{"main": rulesOf("pool", freePool())})
	c, n := h.raw(), counted(h)
	const status = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`
	s := h.door.transport.sessions
	age := func(by time.Duration) {
		s.mu.Lock()
		s.passed[c.session] = s.passed[c.session].Add(-by)
		s.mu.Unlock()
	}
	c.post(status)
	age(h.door.transport.cfg.SessionTimeout / quickShare)
	if c.post(status); *n != 1 {
		t.Errorf("%d quick calls: one of a session not seen for long was", *n)
	}
	if c.post(status); *n != 2 {
		t.Errorf("%d quick calls: the SDK saw the session again", *n)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, h.url, nil)
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
		res, err := refusal(fmt.Errorf("x"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := response(q.ID, res)
		var back struct{ ID json.RawMessage }
		if err != nil || json.Unmarshal(answer, &back) != nil || !bytes.Equal(back.ID, bytes.TrimSpace(q.ID)) {
			t.Fatalf("%s: %s %v", body, answer, err)
		}
	})
}
