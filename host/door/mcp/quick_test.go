package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/mcp/streamable"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// counted counts the calls that are answered beside the SDK.
func counted(h *home) *int {
	n := new(int)
	for name, run := range h.door.quick { // the map is the one that the transport has
		h.door.quick[name] = func(ctx context.Context, asker streamable.Asker, raw json.RawMessage) (*sdk.CallToolResult, error) {
			*n++
			return run(ctx, asker, raw)
		}
	}
	return n
}

// usualMeta is what every call has that belongs to no session.
const usualMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"by hand","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`

// withoutSession makes a client whose calls belong to no session.
func withoutSession(t *testing.T, url string) *doortest.ByHand {
	return &doortest.ByHand{T: t, URL: url, Header: http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {modernEra}, "Mcp-Method": {"tools/call"},
	}}
}

// A call answered beside the SDK has the answer it would have had from it, to
// the header and the byte, with a session and without.
func TestQuickAnswersAreTheSame(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", freePool())}, &actor{id: "aya"})
	h.human("main", `<こんにちは> & "hello"`)
	waittest.Until(t, "the room rests", func() bool { return h.talk("main").Info().State == "resting" }) // the head moves on until then
	n := counted(h)
	for meta, c := range map[string]*doortest.ByHand{"": doortest.NewByHand(h.t, h.url), usualMeta: withoutSession(h.t, h.url)} {
		for _, call := range [][2]string{
			{"status", ``}, {"status", `,"arguments":{}`}, {"status", `,"arguments":{"room":"attic"}`},
			{"history", `,"arguments":{"since":0}`}, {"history", ``}, {"history", `,"arguments":[]`}, {"history", `,"arguments":null`},
			{"consume", `,"arguments":{"amount":0,"from":"aya","message":"x"}`},
			{"consume", `,"arguments":{"amount":101,"from":"k","message":"x"}`},
			{"consume", `,"arguments":{"amount":100,"from":"k","message":"x","basis_seq":1}`},
			{"vote", `,"arguments":{"from":"aya","state":"listen"}`}, {"say", `,"arguments":{"from":"k"}`}, {"say", `,"arguments":{"from":"k","message":"x","grant":"none"}`},
		} {
			for _, id := range []string{"7", `"seven"`, `-7`} {
				body := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + meta + `"name":"` + call[0] + `"` + call[1] + `}}`
				post := func(accept string) (*http.Response, string) {
					c.Header.Set("Mcp-Name", call[0])
					c.Header.Set("Accept", accept)
					return c.Post(body)
				}
				before := *n
				quick, answer := post("application/json, text/event-stream")
				if *n != before+1 {
					t.Errorf("%s: was not quick", body)
				}
				slow, same := post("*/*") // an unusual one is the SDK's
				if *n != before+1 {
					t.Errorf("%s: was quick", body)
				}
				if quick.StatusCode != slow.StatusCode || answer != same {
					t.Errorf("%s:\nquick %d %s\nslow  %d %s", body, quick.StatusCode, answer, slow.StatusCode, same)
				}
				quick.Header.Del("Date")
				slow.Header.Del("Date")
				if !maps.EqualFunc(quick.Header, slow.Header, slices.Equal) {
					t.Errorf("%s:\nquick %v\nslow  %v", body, quick.Header, slow.Header)
				}
			}
		}
	}
}
