package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/room"
)

// BenchmarkCall calls what agents call all the time, beside the SDK and through it, with
// a session and without, and no network between: the quick path is there for the
// difference.
func BenchmarkCall(b *testing.B) {
	rules := rulesOf("pool", freePool())
	rules.MaxTurns = 0 // nobody else speaks
	house := doortest.NewHouseOf(b, room.Settings{Name: usualRoom, Companions: []string{"*"}, Rules: rules})
	door := New(Config{Rooms: house, Version: "bench", Cards: noCards, Stopping: context.Background()})
	b.Cleanup(func() { _ = door.Close(context.Background()) })
	post := func(body string, header http.Header) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		r.Header = header
		w := httptest.NewRecorder()
		door.transport.ServeHTTP(w, r)
		return w
	}
	header := func(more ...string) http.Header {
		h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		for i := 0; i < len(more); i += 2 {
			h.Set(more[i], more[i+1])
		}
		return h
	}
	begun := post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`, header())
	session := begun.Header().Get("Mcp-Session-Id")
	for _, tool := range []struct{ name, arguments, want string }{
		{"status", `{}`, `"resource":`}, {"consume", `{"amount":0,"from":"k","message":"うん"}`, `"success":true`},
	} {
		for _, era := range []struct {
			name, meta string
			header     http.Header
		}{
			{sessionEra, "", header("Mcp-Session-Id", session, "Mcp-Protocol-Version", sessionEra)},
			{modernEra, usualMeta, header("Mcp-Protocol-Version", modernEra, "Mcp-Method", "tools/call", "Mcp-Name", tool.name)},
		} {
			for _, way := range []string{"quick", "sdk"} {
				b.Run(tool.name+"/"+era.name+"/"+way, func(b *testing.B) {
					h := era.header.Clone()
					if way == "sdk" {
						h.Set("Accept", "*/*") // which is not a usual one
					}
					body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{` + era.meta + `"name":"` + tool.name + `","arguments":` + tool.arguments + `}}`
					post(body, header("Mcp-Session-Id", session, "Accept", "*/*")) // the SDK has just seen the session
					b.ReportAllocs()
					for b.Loop() {
						if w := post(body, h); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), tool.want) {
							b.Fatal(w.Code, w.Body)
						}
					}
				})
			}
		}
	}
}
