package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
)

// opened is the answer of POST /init.
type opened struct {
	Result struct{ SessionID string }
	Error  struct{ Message string }
}

// initSession opens a session of the AI Companion Protocol; with a refusal it is "".
func (h *home) initSession(query string) (session, refusal string) {
	h.t.Helper()
	_, answer := h.ask("POST", "/init"+query, `{"jsonrpc":"2.0","method":"agent.init"}`)
	var o opened
	if err := json.Unmarshal([]byte(answer), &o); err != nil {
		h.t.Fatalf("%s: %v", answer, err)
	}
	return o.Result.SessionID, o.Error.Message
}

// TestWhoIsMeant: whoever names no companion means the room's, at every door the same,
// and never one that lives in no room, however early in the alphabet.
func TestWhoIsMeant(t *testing.T) {
	sample, err := os.ReadFile("../characters/nikoni.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ toml, want, refusal string }{
		{"", "aya", ""},
		{"[room.main]\ncompanion = \"kyoko\"\n", "kyoko", ""},
		{"[room.main]\ncompanions = [\"kyoko\", \"nikoni\"]\n", "kyoko", ""},
		{"[room.main]\ncompanions = [\"nikoni\", \"kyoko\"]\n", "nikoni", ""},
		{"[room.main]\ncompanions = [\"kyoko\", \"nikoni\"]\ncompanion = \"nikoni\"\n", "nikoni", ""},
		{"[room.main]\ncompanions = [\"nobody\"]\n[room.attic]\ncompanions = [\"kyoko\"]\n", "kyoko", ""},
		{"[room.main]\ncompanions = [\"nikoni\"]\n[room.annex]\ncompanions = [\"kyoko\"]\n", "nikoni", ""}, // main comes first
		{"[room.lobby]\ncompanions = [\"nikoni\"]\n[room.attic]\ncompanions = [\"kyoko\"]\n", "kyoko", ""},
		{"[room.main]\ncompanion = \"natsumi\"\n", "", "companion: natsumi, whom the configuration means by whoever names nobody, has no file here; name one in the URL: /init?companion=ID, /perception/ID"},
		{"[room.main]\ncompanions = []\n", "", "companion: nobody who has a card lives in a room; name one in the URL: /init?companion=ID, /perception/ID"},
	} {
		h := newHome(t)
		for _, id := range []string{"aya", "kyoko", "nikoni"} {
			h.save(id+".json", []byte(strings.Replace(string(sample), "ニコニ立体ちゃん", id, 1)))
		}
		h.open(c.toml)
		session, refusal := h.initSession("")
		if refusal != c.refusal || (session == "") != (c.want == "") {
			t.Errorf("%s/init: %q, refused %q, want %q", c.toml, session, refusal, c.refusal)
		}
		agent := doortest.NewByHand(t, h.url+"/mcp")
		_, spec := agent.Post(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"spec://main"}}`)
		_, played := agent.Post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"action-play","arguments":{"actionName":"move","parameters":{"x":1,"y":0,"z":2}}}}`)
		if c.want == "" {
			if !strings.Contains(spec, `"error"`) || !strings.Contains(played, `"isError":true`) {
				t.Errorf("%s%s\n%s", c.toml, spec, played)
			}
			continue
		}
		if !strings.Contains(spec, fmt.Sprintf(`\"name\": \"%s\"`, c.want)) {
			t.Errorf("%sspec://main is not the card of %s: %.300s", c.toml, c.want, spec)
		}
		room := "main"
		if strings.Contains(c.toml, "attic") {
			room = "attic"
		}
		if acts := ofKind[entry.Action](h, room, entry.KindAction); len(acts) != 1 || acts[0].Who != c.want {
			t.Errorf("%saction-play: %+v %s", c.toml, acts, played)
		}
		// The session is with the same one.
		bySession := doortest.NewByHand(t, h.url+"/mcp/"+session)
		if _, body := bySession.Post(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"spec://main"}}`); !strings.Contains(body, fmt.Sprintf(`\"name\": \"%s\"`, c.want)) {
			t.Errorf("%s/mcp/{session} is not %s's: %.300s", c.toml, c.want, body)
		}
		h.stop()
	}
}

// TestOpenedRoomsHaveNoCompanion: nobody who names no companion asks such a room, and
// the door says so, and does not offer the key.
func TestOpenedRoomsHaveNoCompanion(t *testing.T) {
	h := openNikoni(t, "")
	status, answer := h.ask("POST", "/v1/rooms", `{"name":"stage","companion":"nikoni"}`)
	if status != 400 || !strings.Contains(answer, `"location":"body.companion","message":"is for rooms of the configuration`) {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := h.ask("GET", "/openapi.json", ""); status != 200 || strings.Contains(answer, "Who is meant where a client") {
		t.Errorf("%d: the key is offered", status)
	}
}
