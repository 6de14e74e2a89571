package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/entry"

	"github.com/companiond/companiond/host/waittest"
)

// openArcade starts a daemon with a character in Wasm that plays what games offer.
func openArcade(t *testing.T) (h *home, url string) {
	t.Helper()
	h = newHome(t)
	h.drop(build(t, "./testdata/player", "player", ""), "player.wasm")
	h.open("[modules]\ngrant = [\"action.emit\"]\n[room.main]\npatience = \"10s\"\n")
	h.until("the player is there", func() bool { return h.companion("player").State == "ready" })
	return h, "ws" + strings.TrimPrefix(h.url, "http") + "/neuro/player"
}

// TestGameInWasm: a game and a character in Wasm, over all that stands between them.
func TestGameInWasm(t *testing.T) {
	waittest.WithoutRaces(t)
	h, url := openArcade(t)
	conn, _, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	says := func(command, data string) {
		t.Helper()
		if data != "" {
			data = `,"data":` + data
		}
		if err := conn.WriteMessage(websocket.TextMessage, []byte(fmt.Sprintf(`{"command":%q,"game":"Tic Tac Toe"%s}`, command, data))); err != nil {
			t.Fatal(err)
		}
	}
	action := func(data string) string {
		t.Helper()
		var f struct {
			Command string
			Data    struct{ ID, Name, Data string }
		}
		if err := conn.ReadJSON(&f); err != nil || f.Command != "action" || f.Data.Data != data {
			t.Fatalf("%+v, %v; want %s", f, err, data)
		}
		return f.Data.ID
	}
	says("startup", "")
	if _, frame, err := conn.ReadMessage(); err != nil || !strings.Contains(string(frame), `"characterId":"player","displayName":"Player"`) {
		t.Fatalf("%s, %v", frame, err)
	}
	says("actions/register", `{"actions":[{"name":"play","description":"Place O","schema":{"type":"object","properties":{"cell":{"enum":["a1","b2"]}},"required":["cell"]}}]}`)
	says("context", `{"message":"You are O","silent":true}`)
	says("actions/force", `{"state":"## Board","query":"Your turn.","ephemeral_context":true,"priority":"critical","action_names":["play"]}`)
	id := action(`{"cell":"a1"}`)
	says("action/result", fmt.Sprintf(`{"id":%q,"success":false,"message":"a1 is taken"}`, id))
	id = action(`{"cell":"b2"}`)
	says("action/result", fmt.Sprintf(`{"id":%q,"success":true}`, id))
	says("context", `{"message":"You won","silent":false}`)
	h.until("she says what the game told", func() bool {
		for _, m := range h.messages("main") {
			if m.Text == "You won. I know 1 more." {
				return true
			}
		}
		return false
	})
	done := ofKind[entry.Done](h, "main", entry.KindResult)
	if len(done) != 2 || done[0].OK || done[0].Reason != "a1 is taken" || !done[1].OK {
		t.Errorf("results: %+v", done)
	}
	offered := ofKind[entry.Offered](h, "main", entry.KindOffered)
	if len(offered) == 0 || offered[0].By != "Tic Tac Toe" || offered[0].Who != "player" || len(offered[0].Actions) != 1 {
		t.Errorf("offered: %+v", offered)
	}
	h.replay("main")
}

// checkout runs a script with the checkout of an SDK that the environment names, and gives what it
// says, an event a line.
func checkout(t *testing.T, env string, command ...string) (events []map[string]any) {
	t.Helper()
	if os.Getenv(env) == "" {
		t.Skipf("no %s: see docs/compatibility.md", env)
	}
	var out, wrong bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &wrong
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.Bytes(), wrong.Bytes())
	}
	for line := range strings.Lines(out.String()) {
		t.Log(strings.TrimSpace(line))
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err == nil {
			events = append(events, e)
		}
	}
	return events
}

// TestNeuroTypeScript runs the TypeScript SDK of the checkout that COMPANIOND_NEURO_TS names.
func TestNeuroTypeScript(t *testing.T) {
	waittest.WithoutRaces(t)
	h, url := openArcade(t)
	events := checkout(t, "COMPANIOND_NEURO_TS", "node", "--experimental-websocket", "testdata/stage/neuro.mjs", os.Getenv("COMPANIOND_NEURO_TS"), url)
	if len(events) != 4 {
		t.Fatalf("%d events", len(events))
	}
	if all := fmt.Sprint(events[2]["frames"]); strings.Contains(all, "binary") || strings.Count(all, "action") != 3 || strings.Contains(all, "reregister") {
		t.Errorf("frames: %s", all)
	}
	h.replay("main")
}

// TestNeuroPython runs the Python library of the checkouts that COMPANIOND_NEURO_PYTHON names,
// Neuro-API and LibComponent, with a colon between them.
func TestNeuroPython(t *testing.T) {
	waittest.WithoutRaces(t)
	api, component, _ := strings.Cut(os.Getenv("COMPANIOND_NEURO_PYTHON"), ":")
	h, url := openArcade(t)
	python := "python3"
	if p := os.Getenv("COMPANIOND_PYTHON"); p != "" {
		python = p
	}
	events := checkout(t, "COMPANIOND_NEURO_PYTHON", python, "testdata/stage/neuro.py", api, component, url)
	if len(events) != 2 {
		t.Fatalf("%d events", len(events))
	}
	h.replay("main")
}
