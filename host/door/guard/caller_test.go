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
	return guarding(t, cfg, log, func(w http.ResponseWriter, r *http.Request) {
		c := identity.Of(r.Context())
		fmt.Fprintf(w, "%s guest=%v", c.Name, c.Guest)
	})
}

// guarding has a house with one token's holder behind the guard.
func guarding(t *testing.T, cfg Config, log *bytes.Buffer, next http.HandlerFunc) http.Handler {
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
	return g.Handler(next)
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

// TestWhoSharesWithWhom: a token's holder shares with itself wherever it is, a guest with its
// address, all of a /64 with each other; and this machine's other addresses are others.
func TestWhoSharesWithWhom(t *testing.T) {
	for _, c := range []struct{ remote, token, want string }{
		{"127.0.0.1:4000", "", "address 127.0.0.1"},
		{"127.0.0.1:4001", "", "address 127.0.0.1"},
		{"127.0.0.2:4000", "", "address 127.0.0.2"},
		{"[::ffff:192.0.2.7]:1", "", "address 192.0.2.7"},
		{"[2001:db8::1]:1", "", "address 2001:db8::/64"},
		{"[2001:db8::2]:1", "", "address 2001:db8::/64"},
		{"127.0.0.1:4000", secret, "token mika"},
		{"192.0.2.7:4000", secret, "token mika"},
	} {
		var got string
		h := guarding(t, Config{}, &bytes.Buffer{}, func(_ http.ResponseWriter, r *http.Request) { got = identity.Of(r.Context()).Sharer })
		r := httptest.NewRequest("GET", "http://localhost/v1/rooms", nil)
		r.RemoteAddr = c.remote
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("%s with the token %q shares as %q, want %q", c.remote, c.token, got, c.want)
		}
	}
}

// A token in the URL counts where nothing else can be set, and nowhere else.
func TestTokensInTheURL(t *testing.T) {
	var log bytes.Buffer
	h := callers(t, Config{TokensOnly: true}, &log)
	for _, c := range []struct {
		method, url string
		want        int
	}{
		{"GET", "/overlay/main?token=" + secret, 200},
		{"HEAD", "/overlay/main/aya?preview&token=" + secret, 200},
		{"POST", "/overlay/main?token=" + secret, 401},
		{"GET", "/overlay/main?token=" + secret + "x", 401},
		{"GET", "/overlay/main?token=", 401},
		{"GET", "/overlay/main?token=" + secret + "&token=" + secret, 401},
		{"GET", "/overlays?token=" + secret, 401},
		{"GET", "/v1/rooms?token=" + secret, 401},
		{"GET", "/v1/rooms/main/feed?token=" + secret, 401},
		{"GET", "/?token=" + secret, 200}, // the page, which needs none
	} {
		r := httptest.NewRequest(c.method, "http://localhost"+c.url, nil)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s %s: %d %s", c.method, c.url, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), secret) {
			t.Errorf("%s", w.Body)
		}
	}
	if strings.Contains(log.String(), secret) {
		t.Errorf("%s", log.String())
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

// Where somebody calls from is one place for all names of this machine, whoever calls.
func TestWhereACallerIs(t *testing.T) {
	g, err := New(Config{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]string{
		"127.0.0.1:9": identity.Local, "[::1]:9": identity.Local, "[::ffff:127.0.0.1]:9": identity.Local, "127.0.0.2:9": identity.Local,
		"192.0.2.7:9": "192.0.2.7", "192.0.2.7:10": "192.0.2.7", "[2001:db8::1]:9": "2001:db8::/64", "pipe": "pipe",
	} {
		got := ""
		h := g.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = identity.Of(r.Context()).Address }))
		r := httptest.NewRequest("GET", "/", nil)
		r.Host, r.RemoteAddr = "localhost", addr
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
		for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP"} { // a proxy says for whom it asks
			r.Header.Set(name, "127.0.0.1")
			if h.ServeHTTP(httptest.NewRecorder(), r); got == identity.Local {
				t.Errorf("%s with %s is %q", addr, name, got)
			}
			r.Header.Del(name)
		}
	}
}
