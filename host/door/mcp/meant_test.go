package mcp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/identity"
)

// What the URL names is meant by this client, and by no other: in both eras, by the
// companion's id and by a session with it.
func TestTheURLNamesTheCompanion(t *testing.T) {
	for _, era := range []string{sessionEra, modernEra} {
		t.Run(era, func(t *testing.T) {
			s := openShelf(t, false)
			for _, id := range []string{"aya", "kyoko", "アヤ"} {
				s.save(id, spec("card of "+id, waveAction))
			}
			base := s.url
			for _, c := range []struct{ path, want string }{
				{"", "aya"}, {"/kyoko", "kyoko"}, {"/aya", "aya"}, {"/%E3%82%A2%E3%83%A4", "アヤ"}, {"/session-of--with-kyoko", "kyoko"}, {"", "aya"},
			} {
				before := len(s.played())
				s.url = base + c.path
				a, _ := s.connect(era)
				if got, err := a.spec("spec://main"); err != nil || got != spec("card of "+c.want, waveAction) {
					t.Errorf("%q: %q %v", c.path, got, err)
				}
				wave := map[string]any{"actionName": "wave", "parameters": map[string]any{"hand": "left"}}
				if got, failed := a.call(playTool, wave); failed {
					t.Errorf("%q: %v", c.path, got)
				}
				wave["companion"] = "aya" // who is named in the call is meant
				if got, failed := a.call(playTool, wave); failed {
					t.Errorf("%q: %v", c.path, got)
				}
				if acts := s.played()[before:]; len(acts) != 2 || acts[0].Who != c.want || acts[1].Who != "aya" {
					t.Errorf("%q: %+v", c.path, acts)
				}
			}
		})
	}
}

// A URL that names nobody is refused before a session begins, with what to do; and the
// door's own header is nothing that a client may send.
func TestURLsThatNameNobody(t *testing.T) {
	s := openShelf(t, false)
	s.save("aya", spec("Aya", waveAction))
	s.save("kyoko", spec("Kyoko", waveAction))
	const begin = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	post := func(path, want string, status int) {
		t.Helper()
		c := doortest.ByHand{T: t, URL: s.url + path, Header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}}
		if res, body := c.Post(begin); res.StatusCode != status || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
	post("/aya", `"serverInfo"`, 200)
	post("/nobody", `companion: \"nobody\" is nobody`, 404)
	post("/session-of-mika-with-aya", "session: was opened by somebody else", 403)
	s.from(holder("mika", identity.Read, identity.Act))
	post("/session-of-mika-with-aya", `"serverInfo"`, 200)

	for path, want := range map[string]string{"": "Aya", "/kyoko": "Kyoko"} {
		c := doortest.NewByHand(t, s.url+path)
		c.Header.Set(companionKey, map[string]string{"": "kyoko", "/kyoko": "aya"}[path])
		if _, body := c.Post(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"spec://main"}}`); !strings.Contains(body, fmt.Sprintf(`\"name\":  \"%s\"`, want)) {
			t.Errorf("%q: %s", path, body)
		}
	}
}
