package doortest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// ByHand is an MCP client whose requests are written by hand.
type ByHand struct {
	T       *testing.T
	URL     string
	Session string
	Header  http.Header // of each request, beside the session's
}

const mcpSession = "Mcp-Session-Id"

// NewByHand begins an MCP session.
func NewByHand(t *testing.T, url string) *ByHand {
	t.Helper()
	c := &ByHand{T: t, URL: url, Header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}}
	res, _ := c.Post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"by hand","version":"1"}}}`)
	c.Session = res.Header.Get(mcpSession)
	c.Post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// Post sends a message and gives the answer and its body.
func (c *ByHand) Post(body string) (*http.Response, string) {
	c.T.Helper()
	req, err := http.NewRequestWithContext(c.T.Context(), http.MethodPost, c.URL, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	req.Header = c.Header.Clone()
	if c.Session != "" {
		req.Header.Set(mcpSession, c.Session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.T.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.T.Fatal(err)
	}
	return res, string(b)
}
