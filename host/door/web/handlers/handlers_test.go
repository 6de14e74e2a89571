package handlers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/door/web/handlers"
	"github.com/companiond/companiond/host/handler"
	"github.com/companiond/companiond/host/identity"
)

// stage is a lamp, and a handler that is not loaded.
type stage struct {
	asked []string
	fails error
}

func (*stage) List() []handler.Listed {
	set, _ := card.NewAction("lamp.set", "Switches it.", json.RawMessage(`{"type":"object","properties":{"on":{"type":"boolean"}}}`))
	off, _ := card.NewAction("lamp.off", "", nil)
	return []handler.Listed{{Name: "desk", Module: "lamp", Companions: []string{"aya"}, Actions: []card.Action{set, off}}, {Name: "gone", Module: "gone", Why: "its module is not loaded"}}
}

func (s *stage) Act(_ context.Context, by, handler, action string, parameters json.RawMessage) (string, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s %s %s %s", by, handler, action, parameters))
	return "the lamp is on", s.fails
}

// newDoor is the door before a stage, with tokens of mika, who may all of it, looker, who may read, and bot, an agent.
func newDoor(t *testing.T, s *stage) func(token, address, method, path, body string) (int, string) {
	t.Helper()
	var rows string
	for name, rest := range map[string]string{"mika": "human read,act", "looker": "human read", "bot": "agent read,talk,act,admin"} {
		rows += fmt.Sprintf("%s %s sha256:%s\n", name, rest, identity.Hash(name+"'s"))
	}
	register, err := identity.Parse("tokens", []byte(rows))
	if err != nil {
		t.Fatal(err)
	}
	g, err := guard.New(guard.Config{Tokens: register, Rate: -1}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	cfg := web.Config{Rooms: doortest.NewHouse(t, "main"), Companions: func() []web.Companion { return nil }, Usual: func() string { return "" }}
	if s != nil {
		cfg.Handlers = s
	}
	if err := web.Register(mux, cfg); err != nil {
		t.Fatal(err)
	}
	door := g.Handler(guard.Mux(mux))
	return func(token, address, method, path, body string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		if r.Host, r.RemoteAddr = "127.0.0.1:7777", address; body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		door.ServeHTTP(w, r)
		return w.Code, strings.TrimSpace(w.Body.String())
	}
}

const here, lamp = "127.0.0.1:4000", "/v1/handlers/desk/actions/lamp.set"

// TestList: whoever may read sees what there is.
func TestList(t *testing.T) {
	ask := newDoor(t, new(stage))
	status, got := ask("looker's", here, "GET", "/v1/handlers", "")
	const want = `{"handlers":[{"name":"desk","module":"lamp","error":"","companions":["aya"],"actions":[` +
		`{"name":"lamp.set","description":"Switches it.","schema":{"type":"object","properties":{"on":{"type":"boolean"}}}},{"name":"lamp.off","description":""}]},` +
		`{"name":"gone","module":"gone","error":"its module is not loaded","companions":[],"actions":[]}]}`
	if status != 200 || got != want {
		t.Errorf("%d\n%s\nwant\n%s", status, got, want)
	}
	if status, got := newDoor(t, nil)("", here, "GET", "/v1/handlers", ""); status != 404 {
		t.Errorf("%d %s", status, got)
	}
}

// TestAct: the stage is asked for what a person wants, as it came, by the person's own name.
func TestAct(t *testing.T) {
	s := new(stage)
	ask := newDoor(t, s)
	for _, c := range []struct{ token, path, body, want string }{
		{"mika's", lamp, `{"on": true, "n": 12345678901234567890}`, `mika desk lamp.set {"on": true, "n": 12345678901234567890}`},
		{"", lamp, `{"on":false,"on":true}`, `guest desk lamp.set {"on":false,"on":true}`},
		{"", "/v1/handlers/a%20b/actions/lamp.off", ``, "guest a b lamp.off "},
	} {
		status, got := ask(c.token, here, "POST", c.path, c.body)
		if status != 200 || got != `{"message":"the lamp is on"}` || s.asked[len(s.asked)-1] != c.want {
			t.Errorf("%d %s %q", status, got, s.asked)
		}
	}
}

// TestRefused: only a person with the scope act is heard, and whoever is refused is told why and where.
func TestRefused(t *testing.T) {
	s := new(stage)
	ask := newDoor(t, s)
	for _, c := range []struct {
		token, address, body string
		status               int
		want                 string
	}{
		{"bot's", here, `{}`, 403, "a person has a handler do something, and the token of bot is none of a person"},
		{"looker's", here, `{}`, 403, `the token of looker has not the scope \"act\"`},
		{"", "203.0.113.7:4000", `{}`, 403, "companiond token NAME -kind human"},
		{"mika's", here, `[]`, 400, `"location":"body"`},
		{"mika's", here, `{`, 400, `"code":"invalid"`},
	} {
		if status, got := ask(c.token, c.address, "POST", lamp, c.body); status != c.status || !strings.Contains(got, c.want) || len(s.asked) != 0 {
			t.Errorf("%s %s: %d %s %q", c.token, c.body, status, got, s.asked)
		}
	}
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{abi.Field("parameters.on", abi.CodeInvalid, "is a string"), 400, `"errors":[{"location":"body.on","message":"is a string"}]`},
		{abi.Field("parameters", abi.CodeInvalid, "is a list"), 400, `"errors":[{"location":"body","message":"is a list"}]`},
		{abi.Field("handler", abi.CodeNotFound, "there is no x"), 404, `"errors":[{"location":"path.handler","message":"there is no x"}]`},
		{abi.Field("action", abi.CodeNotFound, "has no x"), 404, `"errors":[{"location":"path.action","message":"has no x"}]`},
		{abi.Errorf(abi.CodeUnavailable, "the lamp is broken"), 503, `"detail":"the lamp is broken"`},
	} {
		s.fails = c.err
		if status, got := ask("mika's", here, "POST", lamp, `{}`); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%v: %d %s", c.err, status, got)
		}
	}
}

var _ handlers.Stage = (*stage)(nil)
