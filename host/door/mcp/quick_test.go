package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
)

const headerSession = "Mcp-Session-Id"

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
	for name, run := range h.door.quick { // the map is the one that the transport has
		h.door.quick[name] = func(ctx context.Context, session string, raw json.RawMessage) (*sdk.CallToolResult, error) {
			*n++
			return run(ctx, session, raw)
		}
	}
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
