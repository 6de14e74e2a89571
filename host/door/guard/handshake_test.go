package guard

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Only a WebSocket handshake may bring its token as a subprotocol. A request
// that merely looks like one goes on to a door that expects the token in its
// header, finds none, and would take its holder for a guest.
func TestTokenOfAHandshakeOnly(t *testing.T) {
	type pair = [2]string
	upgrade, connection, protocol := pair{"Upgrade", "websocket"}, pair{"Connection", "keep-alive, Upgrade"}, pair{"Sec-WebSocket-Protocol", "companiond.v1, bearer." + secret}
	for _, c := range []struct {
		name, method string
		header       []pair
		want         int
	}{
		{"a handshake", "GET", []pair{upgrade, connection, protocol}, 200},
		{"in other letters", "GET", []pair{{"Upgrade", "WebSocket"}, {"Connection", "upgrade"}, protocol}, 200},
		{"in two lines", "GET", []pair{upgrade, {"Connection", "keep-alive"}, {"Connection", "Upgrade"}, protocol}, 200},
		{"no Connection", "GET", []pair{upgrade, protocol}, 401},
		{"another Connection", "GET", []pair{upgrade, {"Connection", "keep-alive"}, protocol}, 401},
		{"a broken Connection", "GET", []pair{upgrade, {"Connection", "x y, Upgrade"}, protocol}, 401},
		{"no Upgrade", "GET", []pair{connection, protocol}, 401},
		{"another Upgrade", "GET", []pair{{"Upgrade", "h2c"}, connection, protocol}, 401},
		{"a POST", "POST", []pair{upgrade, connection, protocol}, 401},
	} {
		var log bytes.Buffer
		r := httptest.NewRequest(c.method, "/mcp", nil)
		r.Host = "localhost"
		for _, h := range c.header {
			r.Header.Add(h[0], h[1])
		}
		w := httptest.NewRecorder()
		callers(t, Config{TokensOnly: true}, &log).ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
}

// A second token is not a second try, and the header counts before the
// subprotocol.
func TestTwoTokens(t *testing.T) {
	for name, headers := range map[string][]string{
		"two headers":           {"Bearer " + secret, "Bearer " + secret},
		"a good and a bad one":  {"Bearer " + secret, "Bearer x"},
		"a bad and a good one":  {"Bearer x", "Bearer " + secret},
		"nothing behind Bearer": {"Bearer"},
		"an empty one":          {""},
	} {
		var log bytes.Buffer
		r := httptest.NewRequest(http.MethodGet, "/v1/rooms", nil)
		r.Host = "localhost"
		r.Header["Authorization"] = headers
		w := httptest.NewRecorder()
		callers(t, Config{}, &log).ServeHTTP(w, r)
		if w.Code != 401 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/v1/rooms/main/feed", nil)
	r.Host = "localhost"
	for k, v := range map[string]string{"Upgrade": "websocket", "Connection": "Upgrade", "Authorization": "Bearer x", "Sec-WebSocket-Protocol": "bearer." + secret} {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	callers(t, Config{}, &bytes.Buffer{}).ServeHTTP(w, r)
	if w.Code != 401 {
		t.Errorf("a wrong header beside a good subprotocol: %s", fmt.Sprint(w.Code, w.Body))
	}
}
