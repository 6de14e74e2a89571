package mcp

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

const headerSession = "Mcp-Session-Id"

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
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", freePool())}, &actor{id: "aya"})
	h.human("main", `<こんにちは> & "hello"`)
	waittest.Until(t, "the room rests", func() bool { return h.talk("main").Info().State == "resting" }) // the head moves on until then
	c, n := doortest.NewByHand(h.t, h.url), counted(h)
	for _, args := range []string{
		`"name":"status"`, `"name":"status","arguments":{}`, `"name":"status","arguments":{"room":"attic"}`,
		`"name":"history","arguments":{"since":0}`, `"name":"history"`, `"name":"history","arguments":[]`, `"name":"history","arguments":null`,
		`"name":"consume","arguments":{"amount":0,"from":"aya","message":"x"}`,
		`"name":"consume","arguments":{"amount":101,"from":"k","message":"x"}`,
		`"name":"consume","arguments":{"amount":100,"from":"k","message":"x","basis_seq":1}`,
	} {
		for _, id := range []string{"7", `"seven"`, `-7`} {
			before := *n
			quick, answer := c.Post(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + args + `}}`)
			if *n != before+1 {
				t.Errorf("%s: was not quick", args)
			}
			slow, same := c.Post(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"_meta":{},` + args + `}}`)
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
