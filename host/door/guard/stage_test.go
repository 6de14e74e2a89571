package guard_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/logtest"
)

// The places on a stage take a token from the URL, and no other place does; nothing behind the guard
// sees it there, and nothing of it is written down.
func TestTokenInTheURL(t *testing.T) {
	const token = "cmp_mikastoken"
	register, err := identity.Parse("tokens", []byte("mika human talk,act sha256:"+identity.Hash(token)))
	if err != nil {
		t.Fatal(err)
	}
	for _, only := range []bool{true, false} {
		var log logtest.Log
		g, err := guard.New(guard.Config{Tokens: register, TokensOnly: only}, log.Logger())
		if err != nil {
			t.Fatal(err)
		}
		who, seen := "", ""
		h := g.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who, seen = identity.Of(r.Context()).Name, r.URL.String()+" "+r.RequestURI
			guard.Problem(w, r, abi.Errorf(abi.CodeInvalid, "query: %s", r.URL.RawQuery))
		}))
		for _, c := range []struct {
			path, authorization string
			who                 string
			status              int
		}{
			{"/aituberkit/aya/ws?token=" + token + "&room=main", "", "mika", 400},
			{"/aituberkit/aya/ws?room=a%20b&token=" + token, "", "mika", 400},
			{"/aituberkit/aya/ws?%74oken=" + token, "", "mika", 400},
			{"/aituberkit/aya/ws?token=cmp_other", "", "", 401},
			{"/aituberkit/aya/ws?token=", "", "", 401},
			{"/aituberkit/aya/ws?token=" + token + "&token=" + token, "", "", 401},
			{"/aituberkit/aya/ws?token=cmp_other", "Bearer " + token, "mika", 400},
			{"/v1/rooms?token=" + token, "", "", 0},
			{"/v1/actions?companion=aya&token=" + token, "", "", 0},
			{"/?token=" + token + "&companion=aya", "", "", 0},
			{"/aituberkit?token=" + token, "", "", 0},
			{"/AITUBERKIT/aya/ws?token=" + token, "", "", 0},
		} {
			r := httptest.NewRequest("GET", "http://localhost"+c.path, nil)
			r.Header.Set("Upgrade", "websocket")
			r.Header.Set("Connection", "upgrade")
			if c.authorization != "" {
				r.Header.Set("Authorization", c.authorization)
			}
			if c.status == 0 { // as without one
				c.status = 400
				if only {
					c.status = 401
				}
			}
			who, seen = "", ""
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status || who != c.who {
				t.Errorf("%s: %d %q, want %d %q", c.path, w.Code, who, c.status, c.who)
			}
			if staged := strings.HasPrefix(r.URL.Path, "/aituberkit/"); staged && strings.Contains(w.Body.String()+seen, "cmp_") || staged && c.who != "" && !strings.Contains(seen, "/aituberkit/aya/ws") {
				t.Errorf("%s is seen: %s %s", c.path, w.Body, seen)
			}
		}
		if strings.Contains(log.String(), "cmp_") || strings.Contains(log.String(), "token=") {
			t.Errorf("it is in the log: %s", log.String())
		}
	}
}
