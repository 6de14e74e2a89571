package overlay_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/overlay"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/logtest"
)

const secret = "cmp_never-to-be-seen-in-a-log"

// stage is the door behind a guard, in a house with rooms and one token's holder.
type stage struct {
	t     *testing.T
	h     http.Handler
	house *doortest.House
	log   *logtest.Log
}

func newStage(t *testing.T, sheet string, scopes ...identity.Scope) *stage {
	t.Helper()
	s := &stage{t: t, house: doortest.NewHouse(t, "main", "部屋"), log: &logtest.Log{}}
	mux := http.NewServeMux()
	lives := func(id string) bool { return id == "aya" }
	if err := overlay.Register(mux, overlay.Config{Rooms: s.house, Lives: lives, Sheet: sheet}); err != nil {
		t.Fatal(err)
	}
	var cfg guard.Config
	if len(scopes) > 0 {
		tokens, err := identity.Parse("tokens", []byte(identity.Holder{Name: "obs", Kind: abi.KindHuman, Scopes: scopes, Hash: identity.Hash(secret)}.Line()))
		if err != nil {
			t.Fatal(err)
		}
		cfg.Tokens, cfg.TokensOnly = tokens, true
	}
	g, err := guard.New(cfg, slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	s.h = g.Handler(guard.Mux(mux))
	return s
}

func (s *stage) get(path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Host = "localhost"
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	return w
}

// The page runs its own script and no other, loads nothing from elsewhere, stands in no
// frame, is kept nowhere and tells nobody its address, which may have a token.
func TestThePageIsShut(t *testing.T) {
	s := newStage(t, "")
	w := s.get("/overlay/main")
	page := w.Body.String()
	_, rest, _ := strings.Cut(page, "<script>")
	script, _, _ := strings.Cut(rest, "</script>")
	sum := sha256.Sum256([]byte(script))
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		"Content-Security-Policy": "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; style-src 'unsafe-inline' data:; " +
			"connect-src 'self'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	if w.Code != 200 || strings.Count(page, "<script") != 1 || !strings.Contains(script, "\nconnect();") || !strings.Contains(page, "background: transparent") {
		t.Errorf("%d %s", w.Code, page)
	}
	for _, way := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "http://", "https://"} {
		if strings.Contains(page, way) {
			t.Errorf("the page has %s, by which a text could become more than one", way)
		}
	}
}

// A room, and a companion, must be there; names of any script are names.
func TestWhoIsShown(t *testing.T) {
	s := newStage(t, "")
	s.house.Get("main").Live("kyoko")
	for path, want := range map[string]string{
		"/overlay/main":               "200",
		"/overlay/%E9%83%A8%E5%B1%8B": "200",
		"/overlay/main/aya":           "200", // of the house, whether loaded or not
		"/overlay/main/kyoko":         "200", // a member
		"/overlay/mian":               `404 {"type":"about:blank","title":"Not Found","status":404,"detail":"room`,
		"/overlay/main/ayaa":          `404 {"type":"about:blank","title":"Not Found","status":404,"detail":"companion: nobody is called \"ayaa\" here; GET /v1/companions lists who is","code":"not_found"`,
		"/overlay/main/%3Cscript%3Ealert(1)%3C%2Fscript%3E": `404 {"type":"about:blank","title":"Not Found","status":404,"detail":"companion: nobody is called \"\u003cscript\u003e`,
		"/overlay/main/":      "404",
		"/overlay/":           "404",
		"/overlay/main/aya/x": "404",
	} {
		w := s.get(path)
		if got := fmt.Sprint(w.Code, " ", w.Body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
}

// A browser gets the page, which says what is not there and waits for it; the status says so, too, and
// whoever may not read gets none.
func TestAPageThatWaits(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	s := newStage(t, "")
	there := s.get("/overlay/main", "Accept", browser)
	for path, want := range map[string]int{"/overlay/main": 200, "/overlay/mian": 404, "/overlay/mian/aya": 404, "/overlay/main/ayaa": 404} {
		w := s.get(path, "Accept", browser)
		if w.Code != want || w.Body.String() != there.Body.String() {
			t.Errorf("%s: %d %.200s", path, w.Code, w.Body)
		}
		for name, values := range there.Header() {
			if got := w.Header().Get(name); got != values[0] {
				t.Errorf("%s: %s: %s, want %s", path, name, got, values[0])
			}
		}
	}
	if log := s.log.String(); !strings.Contains(log, "path=/overlay/mian status=404") || strings.Count(log, "code=not_found") != 3 {
		t.Errorf("%s", log)
	}
	if w := s.get("/overlay/mian", "Accept", "application/json, */*"); w.Code != 404 || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("for a program: %d %s", w.Code, w.Body)
	}
	for path, want := range map[string]int{"/overlay/mian": 401, "/overlay/mian?token=" + secret: 403} {
		if w := newStage(t, "", identity.Talk).get(path, "Accept", browser); w.Code != want || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s without the scope read: %d %s", path, w.Code, w.Body)
		}
	}
}

// The user's sheet is read whenever it is asked for, and what is wrong with it is told.
func TestTheSheet(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "overlay.css")
	s := newStage(t, file)
	if w := s.get("/overlay/style.css"); w.Code != 503 || !strings.Contains(w.Body.String(), `"detail":"door.overlay_css: stat `) {
		t.Errorf("missing: %d %s", w.Code, w.Body)
	}
	for _, sheet := range []string{"#said { color: red }", "/* 赤 */", ""} {
		if err := os.WriteFile(file, []byte(sheet), 0o600); err != nil {
			t.Fatal(err)
		}
		if w := s.get("/overlay/style.css"); w.Code != 200 || w.Body.String() != sheet || w.Header().Get("Content-Type") != "text/css; charset=utf-8" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%q: %d %s %v", sheet, w.Code, w.Body, w.Header())
		}
	}
	for content, want := range map[string]string{strings.Repeat("a", overlay.MaxSheet+1): "has more than 1048576 bytes", "\xff": "is not UTF-8"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := overlay.ReadSheet(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := overlay.ReadSheet(dir); err == nil || !strings.HasSuffix(err.Error(), "is not a file") {
		t.Error(err)
	}
	if w := newStage(t, "").get("/overlay/style.css"); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("none: %d %s", w.Code, w.Body)
	}
}

// Where tokens are asked for, one in the address is taken, at this door alone; and it is in
// no log and no answer.
func TestATokenInTheAddress(t *testing.T) {
	s := newStage(t, "", identity.Read)
	for path, want := range map[string]int{
		"/overlay/main":                                      401,
		"/overlay/main?token=cmp_wrong":                      401,
		"/overlay/main?token=" + secret:                      200,
		"/overlay/main?token=" + secret + "&token=" + secret: 401,
		"/overlay/style.css?token=" + secret:                 200,
		"/overlay/nowhere?token=" + secret:                   404,
		"/v1/rooms?token=" + secret:                          401,
		"/overlay?token=" + secret:                           401,
	} {
		w := s.get(path)
		if w.Code != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if told, _ := io.ReadAll(w.Body); strings.Contains(string(told), secret) {
			t.Errorf("%s: the answer has the token: %s", path, told)
		}
	}
	if w := s.get("/overlay/main", "Authorization", "Bearer "+secret); w.Code != 200 {
		t.Error(w.Code)
	}
	w := s.get("/overlay/main?token="+secret, "Connection", "upgrade", "Upgrade", "websocket")
	if w.Code != 401 {
		t.Errorf("a WebSocket with the token in its address: %d", w.Code)
	}
	if log := s.log.String(); strings.Contains(log, secret) || !strings.Contains(log, "path=/overlay/main status=200") {
		t.Errorf("%s", log)
	}
	if w := newStage(t, "", identity.Talk).get("/overlay/main?token=" + secret); w.Code != 403 {
		t.Errorf("without the scope read: %d", w.Code)
	}
}
