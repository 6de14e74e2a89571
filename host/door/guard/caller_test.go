package guard

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
)

const secret = "cmp_do-not-show-this-anywhere"

// callers answers with who the guard takes the request for.
func callers(t *testing.T, cfg Config, log *bytes.Buffer) http.Handler {
	t.Helper()
	r, err := identity.Parse("tokens", []byte(identity.Holder{
		Name: "mika", Kind: abi.KindHuman, Scopes: []identity.Scope{identity.Read}, Hash: identity.Hash(secret),
	}.Line()))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Tokens = r
	g, err := New(cfg, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	return g.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := identity.Of(r.Context())
		fmt.Fprintf(w, "%s guest=%v", c.Name, c.Guest)
	}))
}

func TestWhoAsks(t *testing.T) {
	type header map[string]string
	ws := func(protocols string) header {
		return header{"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Protocol": protocols}
	}
	for _, c := range []struct {
		name, path   string
		header       header
		guests, only string // the answer where guests are let in, and where they are not
	}{
		{"nothing", "/v1/rooms", nil, "200  guest=true", "401"},
		{"a token", "/v1/rooms", header{"Authorization": "Bearer " + secret}, "200 mika guest=false", "200 mika guest=false"},
		{"another spelling", "/v1/rooms", header{"Authorization": "bearer   " + secret + " "}, "200 mika guest=false", "200 mika guest=false"},
		{"a wrong token", "/v1/rooms", header{"Authorization": "Bearer nonsense"}, "401", "401"},
		{"another scheme", "/v1/rooms", header{"Authorization": "Basic " + secret}, "401", "401"},
		{"a token of a socket", "/", ws("companiond.v1, bearer." + secret), "200 mika guest=false", "200 mika guest=false"},
		{"a wrong one", "/", ws("companiond.v1,bearer.x"), "401", "401"},
		{"a socket without", "/", ws("companiond.v1"), "200  guest=true", "401"},
		{"no socket", "/v1/rooms", header{"Sec-WebSocket-Protocol": "bearer." + secret}, "200  guest=true", "401"},
		{"in the URL", "/v1/rooms?token=" + secret, nil, "200  guest=true", "401"},
		{"the page", "/", nil, "200  guest=true", "200  guest=false"},
		{"the page and a wrong token", "/", header{"Authorization": "Bearer x"}, "401", "401"},
		{"the description", "/openapi.json", nil, "200  guest=true", "200  guest=false"},
	} {
		for only, want := range map[bool]string{false: c.guests, true: c.only} {
			var log bytes.Buffer
			r := httptest.NewRequest("GET", c.path, nil)
			r.Host = "localhost"
			for k, v := range c.header {
				r.Header.Set(k, v)
			}
			w := httptest.NewRecorder()
			callers(t, Config{TokensOnly: only}, &log).ServeHTTP(w, r)
			got := fmt.Sprint(w.Code)
			if w.Code == 200 {
				got += " " + w.Body.String()
			} else if w.Header().Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: no WWW-Authenticate", c.name)
			}
			if got != want {
				t.Errorf("%s, tokens only %v: %s, want %s", c.name, only, got, want)
			}
			if all := log.String() + w.Body.String() + fmt.Sprint(w.Header()); strings.Contains(all, secret) {
				t.Errorf("%s: the token is shown: %s", c.name, all)
			}
		}
	}
}

// In a house without tokens a header meant for somebody else does no harm.
func TestTokensWhereThereAreNone(t *testing.T) {
	g, err := New(Config{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/v1/rooms", nil)
	r.Host = "localhost"
	r.Header.Set("Authorization", "Basic cHJveHk6cHJveHk=")
	w := httptest.NewRecorder()
	g.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !identity.Of(r.Context()).Guest {
			t.Error("no guest")
		}
	})).ServeHTTP(w, r)
	if w.Code != 200 {
		t.Error(w.Code)
	}
}

// This machine is not counted, others are.
func TestRateIsForOthers(t *testing.T) {
	g, err := New(Config{Rate: 0.001, Burst: 1}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h := g.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for addr, want := range map[string]int{"127.0.0.1:9": 200, "127.9.9.9:9": 200, "[::1]:9": 200, "[::ffff:127.0.0.1]:9": 200, "192.0.2.7:9": 429, "[2001:db8::1]:9": 429, "[::2]:9": 429} {
		last := 0
		for range 3 {
			r := httptest.NewRequest("GET", "/", nil)
			r.Host, r.RemoteAddr = "localhost", addr
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			last = w.Code
		}
		if last != want {
			t.Errorf("%s: %d, want %d", addr, last, want)
		}
	}
}
