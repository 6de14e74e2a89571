package files_test

import (
	"context"
	"encoding/json"
	"fmt"
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
	"github.com/companiond/companiond/host/door/web"
	door "github.com/companiond/companiond/host/door/web/files"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/files"
	"github.com/companiond/companiond/host/module/prompt"
	"github.com/companiond/companiond/host/module/script"
)

const (
	here, elsewhere = "127.0.0.1:4000", "203.0.113.7:4000"
	good, better    = `{"name": "Mio"}`, `{"name": "Mio", "language": "ja"}`
	mio             = "/v1/characters/mio.json"
)

// house is the door before a folder with mio, with tokens of mika, who looks after it, and bot and looker, who do not, or with none.
type house struct {
	dir  string
	door http.Handler
}

func newHouse(t *testing.T, tokens bool) *house {
	t.Helper()
	var register *identity.Register
	if tokens {
		var rows string
		for name, rest := range map[string]string{"mika": "human read,talk,act,admin", "looker": "human read,talk,act", "bot": "agent read,talk,act"} {
			rows += fmt.Sprintf("%s %s sha256:%s\n", name, rest, identity.Hash(name+"'s"))
		}
		var err error
		if register, err = identity.Parse("tokens", []byte(rows)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := guard.New(guard.Config{Tokens: register, Rate: -1, Origins: []string{"null", "http://localhost:5173"}, MaxBodyAt: map[string]int64{"/v1/characters": door.MaxBody}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h := &house{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(h.dir, "mio.json"), []byte(good), 0o644); err != nil {
		t.Fatal(err)
	}
	store := files.New(files.Config{Dir: h.dir, Engines: []module.Engine{prompt.New(prompt.Config{}), &script.Engine{}}})
	mux := http.NewServeMux()
	err = web.Register(mux, web.Config{Rooms: doortest.NewHouse(t, "main"), Companions: func() []web.Companion { return nil }, Usual: func() string { return "" }, Files: store})
	if err != nil {
		t.Fatal(err)
	}
	h.door = g.Handler(guard.Mux(mux))
	return h
}

// ask asks; headers are names and values by turns.
func (h *house) ask(from, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if r.Host, r.RemoteAddr = "127.0.0.1:7777", from; body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.door.ServeHTTP(w, r)
	return w
}

func (h *house) now(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, "mio.json"))
	if err != nil {
		return "-"
	}
	return string(text)
}

func body(text string) string {
	b, _ := json.Marshal(map[string]string{"text": text})
	return string(b)
}

// requests are one of each operation that is for makers; each would succeed for one.
func requests() map[string][]string {
	tag := `"` + identity.Hash(good) + `"` // SHA-256 in hex
	return map[string][]string{
		"list": {"GET", "/v1/characters", ""}, "read": {"GET", mio, ""}, "check": {"POST", mio + "/check", body(better)}, "samples": {"GET", "/v1/character-samples?name=momo", ""},
		"save": {"PUT", mio, body(better), "If-Match", tag}, "make": {"PUT", "/v1/characters/momo.json", body(good), "If-None-Match", "*"}, "delete": {"DELETE", mio, "", "If-Match", tag},
	}
}

// TestWho: only whoever looks after the house changes it: with a token, its holder with admin; without any in the house, the
// person at the machine, whose browser is on the house's own page.
func TestWho(t *testing.T) {
	for _, c := range []struct {
		name    string
		tokens  bool
		from    string
		headers []string
		may     bool
		why     string
	}{
		{"a guest here", false, here, nil, true, ""},
		{"a guest on the page", false, here, []string{"Origin", "http://127.0.0.1:7777", "Sec-Fetch-Site", "same-origin"}, true, ""},
		{"a guest elsewhere", false, elsewhere, nil, false, "calls from elsewhere"},
		{"a guest behind a proxy", false, here, []string{"X-Forwarded-For", "203.0.113.7"}, false, "calls from elsewhere"},
		{"a guest on another site", false, here, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, false, "origin"},
		{"a guest on no site", false, here, []string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}, false, "origin"},
		{"a guest on a listed site", false, here, []string{"Origin", "http://localhost:5173", "Sec-Fetch-Site", "cross-site"}, false, "origin"},
		{"a guest among tokens", true, here, nil, false, "-scope read,talk,act,admin"},
		{"mika", true, elsewhere, []string{"Authorization", "Bearer mika's"}, true, ""},
		{"mika on a listed site", true, elsewhere, []string{"Authorization", "Bearer mika's", "Origin", "http://localhost:5173"}, true, ""},
		{"looker", true, here, []string{"Authorization", "Bearer looker's"}, false, `scope \"admin\"`},
		{"bot", true, here, []string{"Authorization", "Bearer bot's"}, false, `scope \"admin\"`},
	} {
		for what, r := range requests() {
			h := newHouse(t, c.tokens)
			w := h.ask(c.from, r[0], r[1], r[2], append(r[3:], c.headers...)...)
			if c.may && w.Code >= 300 {
				t.Errorf("%s, %s: %d %s", c.name, what, w.Code, w.Body)
			}
			if c.may {
				continue
			}
			entries, _ := os.ReadDir(h.dir)
			if w.Code != 403 || !strings.Contains(w.Body.String(), c.why) || w.Header().Get("ETag") != "" || h.now(t) != good || len(entries) != 1 {
				t.Errorf("%s, %s: %d %s; there is %s", c.name, what, w.Code, w.Body, h.now(t))
			}
		}
	}
}

// TestEdit: a maker lists, reads, checks, saves, and finds what was before.
func TestEdit(t *testing.T) {
	h := newHouse(t, false)
	w := h.ask(here, "GET", "/v1/characters", "")
	if !strings.Contains(w.Body.String(), `"file":"mio.json","id":"mio","kind":"card","bytes":15,`) || strings.Contains(w.Body.String(), "read_only") {
		t.Error(w.Body)
	}
	w = h.ask(here, "GET", mio, "")
	tag := w.Header().Get("ETag")
	if !strings.Contains(w.Body.String(), `"text":"{\"name\": \"Mio\"}"`) || len(tag) != 66 {
		t.Fatalf("%s %s", tag, w.Body)
	}
	if w = h.ask(here, "POST", mio+"/check", body(better)); w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"problems":[]}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	const wrong = "{\n  \"name\": 3\n}"
	if w = h.ask(here, "POST", mio+"/check", body(wrong)); w.Code != 200 || !strings.Contains(w.Body.String(), `{"problems":[{"line":2,"path":"name","text":`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w = h.ask(here, "PUT", mio, body(wrong), "If-Match", tag); w.Code != 400 || !strings.Contains(w.Body.String(), `"location":"body.text:2 name"`) || h.now(t) != good {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = h.ask(here, "PUT", mio, body(better), "If-Match", tag)
	next := w.Header().Get("ETag")
	if w.Code != 200 || h.now(t) != better || next == tag || !strings.Contains(w.Body.String(), strings.Trim(next, `"`)) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w = h.ask(here, "GET", mio+"?before=true", ""); w.Code != 200 || w.Header().Get("ETag") != tag {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w = h.ask(here, "DELETE", mio, "", "If-Match", next); w.Code != 204 || h.now(t) != "-" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w = h.ask(here, "GET", "/v1/characters", ""); !strings.Contains(w.Body.String(), `"deleted":true,"before":true`) {
		t.Error(w.Body)
	}
}

// TestRefused: what cannot be done is refused with its place, and changes nothing.
func TestRefused(t *testing.T) {
	h := newHouse(t, false)
	tag, stale := `"`+identity.Hash(good)+`"`, `"`+identity.Hash(better)+`"`
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		{"PUT", mio, body(better), nil, 400, `"location":"header.If-Match"`},
		{"PUT", mio, body(better), []string{"If-Match", "*"}, 400, `"location":"header.If-Match"`},
		{"PUT", mio, body(better), []string{"If-Match", tag + ", " + stale}, 400, `"location":"header.If-Match"`},
		{"PUT", mio, body(better), []string{"If-Match", "W/" + tag}, 400, `"location":"header.If-Match"`},
		{"PUT", mio, body(better), []string{"If-Match", tag, "If-None-Match", "*"}, 400, `"location":"header.If-Match"`},
		{"PUT", mio, body(better), []string{"If-Match", stale}, 412, `"code":"conflict"`},
		{"PUT", mio, body(better), []string{"If-None-Match", "*"}, 412, "is there already"},
		{"PUT", "/v1/characters/gone.json", body(better), []string{"If-Match", tag}, 412, "is not there any more"},
		{"PUT", mio, body(strings.Repeat("x", files.Max+1)), []string{"If-Match", tag}, 413, "at most"},
		{"PUT", "/v1/characters/mio.talk.txt", body("name: X\n[*]\ngreet: hi\n"), []string{"If-None-Match", "*"}, 400, "mio.json is of the same character"},
		{"PUT", "/v1/characters/..%2Fmio.json", body(better), []string{"If-None-Match", "*"}, 400, `"location":"path.file"`},
		{"PUT", "/v1/characters/%2e%2e%2f%2e%2e%2fetc%2fx.json", body(better), []string{"If-None-Match", "*"}, 400, `"location":"path.file"`},
		{"GET", "/v1/characters/companiond.toml", "", nil, 400, `"location":"path.file"`},
		{"GET", "/v1/characters/gone.json", "", nil, 404, `"code":"not_found"`},
		{"DELETE", mio, "", nil, 400, `"location":"header.If-Match"`},
		{"DELETE", mio, "", []string{"If-Match", stale}, 412, `"code":"conflict"`},
		{"GET", "/v1/character-samples?name=..", "", nil, 400, `"location":"query.name"`},
	} {
		w := h.ask(here, c.method, c.path, c.body, c.headers...)
		if entries, _ := os.ReadDir(h.dir); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) || h.now(t) != good || len(entries) != 1 {
			t.Errorf("%s %s %.40s %q: %d %s", c.method, c.path, c.body, c.headers, w.Code, w.Body)
		}
	}
}

// TestSamples: what a new character begins with is given for each kind.
func TestSamples(t *testing.T) {
	h := newHouse(t, true)
	var out struct {
		Samples []struct{ File, Kind, Text string }
	}
	w := h.ask(here, "GET", "/v1/character-samples?name=momo&language=ja", "", "Authorization", "Bearer mika's")
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || len(out.Samples) != 3 || out.Samples[1].File != "momo.json" || !strings.Contains(out.Samples[1].Text, "お茶") {
		t.Errorf("%v %s", err, w.Body)
	}
}

// failing is a folder that may only be read.
type failing struct{ door.Store }

func (failing) List() ([]files.File, error, error) {
	return nil, abi.Errorf(abi.CodeDenied, "the daemon may only read it"), nil
}

func (failing) Save(context.Context, string, string, string) (string, error) {
	return "", abi.Errorf(abi.CodeDenied, "the daemon may only read it")
}

// TestReadOnly: why nothing can be saved is told before somebody tries, and then.
func TestReadOnly(t *testing.T) {
	g, err := guard.New(guard.Config{Rate: -1}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	if err := web.Register(mux, web.Config{Rooms: doortest.NewHouse(t, "main"), Companions: func() []web.Companion { return nil }, Usual: func() string { return "" }, Files: failing{}}); err != nil {
		t.Fatal(err)
	}
	h := &house{dir: t.TempDir(), door: g.Handler(guard.Mux(mux))}
	if w := h.ask(here, "GET", "/v1/characters", ""); strings.TrimSpace(w.Body.String()) != `{"files":[],"read_only":"the daemon may only read it"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := h.ask(here, "PUT", mio, body(good), "If-None-Match", "*"); w.Code != 403 || !strings.Contains(w.Body.String(), `"code":"denied"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
