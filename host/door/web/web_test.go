package web_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/gate"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
)

type fixture struct {
	house *doortest.House
	http.Handler
}

func newDoor(t *testing.T, companions func() []web.Companion) fixture {
	t.Helper()
	house := doortest.NewHouse("main", "side")
	mux := http.NewServeMux()
	err := web.Register(mux, web.Config{Rooms: house, Usual: "main", Companions: companions, Version: web.Version{Version: "v1.2.3", Go: "go1.26", ABI: abi.Version}})
	if err != nil {
		t.Fatal(err)
	}
	return fixture{house, gate.Mux(mux)}
}

func (f fixture) ask(method, path, body string, header ...string) *httptest.ResponseRecorder {
	var b io.Reader
	if body != "" {
		b = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, path, b)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

func decode[T any](t *testing.T, w *httptest.ResponseRecorder, status int) T {
	t.Helper()
	var v T
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	if ct := w.Header().Get("Content-Type"); status < 300 && ct != "application/json" {
		t.Fatalf("content type %q", ct)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return v
}

func exactly(t *testing.T, w *httptest.ResponseRecorder, status int, want string) {
	t.Helper()
	if got := strings.TrimSpace(w.Body.String()); w.Code != status || got != want {
		t.Errorf("%d %s\nwant %d %s", w.Code, got, status, want)
	}
}

func TestTalk(t *testing.T) {
	f := newDoor(t, nil)
	exactly(t, f.ask("GET", "/v1/rooms/main/messages", ""), 200, `{"messages":[],"head":0}`)
	exactly(t, f.ask("GET", "/v1/rooms/main/entries", ""), 200, `{"entries":[],"head":0}`)
	exactly(t, f.ask("POST", "/v1/rooms/main/messages", `{"from":"mika","text":"こんばんは","id":"m-1"}`), 201, `{"seq":1,"id":"m-1"}`)
	exactly(t, f.ask("POST", "/v1/rooms/main/messages", `{"from":"mika","text":"again","id":"m-1"}`), 201, `{"seq":1,"id":"m-1"}`)
	exactly(t, f.ask("POST", "/v1/rooms/main/messages", `{"from":"ken","text":"<b>hi</b>","to":["aya"]}`), 201, `{"seq":2,"id":"e2"}`)
	exactly(t, f.ask("POST", "/v1/rooms/main/messages", `{"from":"ken","text":"to nobody","to":null}`), 201, `{"seq":3,"id":"e3"}`)
	exactly(t, f.ask("POST", "/v1/rooms/main/stop", `{"from":"mika"}`), 200, `{"seq":4}`)

	got := decode[struct {
		Messages []abi.Message
		Head     uint64
	}](t, f.ask("GET", "/v1/rooms/main/messages", ""), 200)
	if len(got.Messages) != 3 || got.Head != 4 || got.Messages[1].Text != "<b>hi</b>" || got.Messages[1].To[0] != "aya" || got.Messages[0].From != "mika" {
		t.Errorf("%+v", got)
	}
	if w := f.ask("GET", "/v1/rooms/main/messages", ""); strings.Contains(w.Body.String(), "null") || !strings.Contains(w.Body.String(), `"to":[]`) {
		t.Errorf("null in %s", w.Body)
	}
	page := decode[struct {
		Entries []entry.Entry
		Head    uint64
	}](t, f.ask("GET", "/v1/rooms/main/entries?since=1&limit=2", ""), 200)
	if len(page.Entries) != 2 || page.Entries[0].Seq != 2 || page.Entries[1].Seq != 3 || page.Head != 4 {
		t.Errorf("%+v", page)
	}
	var said entry.Said
	if err := json.Unmarshal(f.house.Get("main").Journal()[0].Body, &said); err != nil || said.By != abi.KindHuman {
		t.Errorf("over HTTP a human speaks: %+v %v", said, err)
	}
}

func TestStopNeedsNoBody(t *testing.T) {
	f := newDoor(t, nil)
	exactly(t, f.ask("POST", "/v1/rooms/main/stop", ""), 200, `{"seq":1}`)
	exactly(t, f.ask("POST", "/v1/rooms/main/stop", `{}`), 200, `{"seq":2}`)
	for _, e := range f.house.Get("main").Journal() {
		if string(e.Body) != `{"from":"guest"}` {
			t.Errorf("%s", e.Body)
		}
	}
	if w := f.ask("POST", "/v1/rooms/main/stop", `{"from":"a b"}`); w.Code != 400 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestWhy(t *testing.T) {
	f := newDoor(t, nil)
	f.house.Get("main").Chat(1)
	w := f.ask("GET", "/v1/rooms/main/entries/1/why", "")
	why := decode[map[string]any](t, w, 200)
	if why["text"] != "nobody wanted to speak" || why["seq"] != 1.0 || !strings.Contains(w.Body.String(), `"ranking":[]`) {
		t.Errorf("%s", w.Body)
	}
}

func TestRooms(t *testing.T) {
	f := newDoor(t, nil)
	exactly(t, f.ask("GET", "/v1/rooms", ""), 200, `{"rooms":[`+
		`{"name":"main","head":0,"last":0,"state":"resting","policy":"polite","closing":"none","turns":0,"max_turns":0,"members":[],"counts":{}},`+
		`{"name":"side","head":0,"last":0,"state":"resting","policy":"polite","closing":"none","turns":0,"max_turns":0,"members":[],"counts":{}}]}`)
}

func TestCompanions(t *testing.T) {
	exactly(t, newDoor(t, nil).ask("GET", "/v1/companions", ""), 200, `[]`)
	exactly(t, newDoor(t, func() []web.Companion { return nil }).ask("GET", "/v1/companions", ""), 200, `[]`)
	f := newDoor(t, func() []web.Companion {
		return []web.Companion{{ID: "aya", Name: "Aya", Engine: "wasm", Generation: 2, State: "ready", File: "aya.wasm", Error: "aya.wasm: no export", Faults: 1, MemoryBytes: 65536}}
	})
	exactly(t, f.ask("GET", "/v1/companions", ""), 200,
		`[{"id":"aya","name":"Aya","engine":"wasm","generation":2,"state":"ready","file":"aya.wasm","error":"aya.wasm: no export","faults":1,"memory_bytes":65536}]`)
}

func TestVersion(t *testing.T) {
	exactly(t, newDoor(t, nil).ask("GET", "/v1/version", ""), 200, `{"version":"v1.2.3","go":"go1.26","abi":1}`)
}

// refusals is every way to get a request wrong; each is told with its place.
func TestRefusals(t *testing.T) {
	f := newDoor(t, nil)
	const say = "/v1/rooms/main/messages"
	long := strings.Repeat("x", abi.MaxText+1)
	var crowd []string
	for i := range abi.MaxTo + 1 {
		crowd = append(crowd, fmt.Sprintf(`"p%d"`, i))
	}
	for _, tc := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		code                     abi.Code
		where                    []string // locations
		detail                   string   // is in the detail
	}{
		{"unknown room", "POST", "/v1/rooms/attic/messages", `{"from":"mika","text":"hi"}`, nil, 404, "not_found", nil, "attic"},
		{"unknown room, reading", "GET", "/v1/rooms/attic/messages", "", nil, 404, "not_found", nil, ""},
		{"unknown room, entries", "GET", "/v1/rooms/attic/entries", "", nil, 404, "not_found", nil, ""},
		{"unknown room, why", "GET", "/v1/rooms/attic/entries/1/why", "", nil, 404, "not_found", nil, ""},
		{"unknown room, stop", "POST", "/v1/rooms/attic/stop", "", nil, 404, "not_found", nil, ""},
		{"unknown entry", "GET", "/v1/rooms/main/entries/9/why", "", nil, 404, "not_found", nil, ""},
		{"name of a companion", "POST", say, `{"from":"aya","text":"hi"}`, nil, 403, "denied", nil, "aya"},
		{"not JSON", "POST", say, `{"from":"mika",`, nil, 400, "invalid", []string{"body"}, "body"},
		{"two values", "POST", say, `{"from":"mika","text":"hi"} {}`, nil, 400, "invalid", []string{"body"}, ""},
		{"no body", "POST", say, "", nil, 400, "invalid", nil, "body"},
		{"a list", "POST", say, `[]`, nil, 400, "invalid", []string{"body"}, "object"},
		{"null", "POST", say, `null`, nil, 400, "invalid", []string{"body"}, "object"},
		{"no text", "POST", say, `{"from":"mika"}`, nil, 400, "invalid", []string{"body.text"}, "text: is missing"},
		{"no from", "POST", say, `{"text":"hi"}`, nil, 400, "invalid", []string{"body.from"}, "from: must not be empty"},
		{"nothing", "POST", say, `{}`, nil, 400, "invalid", []string{"body.text"}, "text: is missing"},
		{"wrong type", "POST", say, `{"from":"mika","text":5}`, nil, 400, "invalid", []string{"body.text"}, "text: expected string"},
		{"wrong type in a list", "POST", say, `{"from":"mika","text":"hi","to":["a",1]}`, nil, 400, "invalid", []string{"body.to[1]"}, "to[1]"},
		{"to is a string", "POST", say, `{"from":"mika","text":"hi","to":"aya"}`, nil, 400, "invalid", []string{"body.to"}, "array"},
		{"typing error", "POST", say, `{"from":"mika","txet":"hi"}`, nil, 400, "invalid", []string{"body.text", "body.txet"}, "txet: is not a known field"},
		{"unknown field", "POST", say, `{"from":"mika","text":"hi","by":"companion"}`, nil, 400, "invalid", []string{"body.by"}, "by"},
		{"empty text", "POST", say, `{"from":"mika","text":"  "}`, nil, 400, "invalid", []string{"body.text"}, "text: must not be empty"},
		{"bad name", "POST", say, `{"from":"mi ka","text":"hi"}`, nil, 400, "invalid", []string{"body.from"}, "from"},
		{"two things", "POST", say, `{"from":"","text":"","to":["a","b c"]}`, nil, 400, "invalid", []string{"body.from", "body.text", "body.to[1]"}, "from: must not be empty; text: must not be empty"},
		{"long text", "POST", say, `{"from":"mika","text":"` + long + `"}`, nil, 413, "too_large", []string{"body.text"}, "text"},
		{"too many", "POST", say, `{"from":"mika","text":"hi","to":[` + strings.Join(crowd, ",") + `]}`, nil, 413, "too_large", []string{"body.to"}, "to"},
		{"long id", "POST", say, `{"from":"mika","text":"hi","id":"` + strings.Repeat("i", abi.MaxName+1) + `"}`, nil, 413, "too_large", []string{"body.id"}, "id"},
		{"huge body", "POST", say, `{"from":"mika","text":"` + strings.Repeat("x", 300<<10) + `"}`, nil, 413, "too_large", nil, ""},
		{"plain text", "POST", say, `{"from":"mika","text":"hi"}`, []string{"Content-Type", "text/plain"}, 415, "invalid", nil, "application/json"},
		{"a form", "POST", say, `from=mika&text=hi`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "invalid", nil, "application/json"},
		{"since is no number", "GET", say + "?since=new", "", nil, 400, "invalid", []string{"query.since"}, "since"},
		{"since is negative", "GET", say + "?since=-1", "", nil, 400, "invalid", []string{"query.since"}, "since"},
		{"since beyond what JSON can say", "GET", say + "?since=9007199254740992", "", nil, 400, "invalid", []string{"query.since"}, "since"},
		{"limit 0", "GET", say + "?limit=0", "", nil, 400, "invalid", []string{"query.limit"}, "limit"},
		{"limit 1001", "GET", "/v1/rooms/main/entries?limit=1001", "", nil, 400, "invalid", []string{"query.limit"}, "1000"},
		{"unknown parameter", "GET", say + "?sinse=4", "", nil, 400, "invalid", []string{"query.sinse"}, "sinse"},
		{"seq is no number", "GET", "/v1/rooms/main/entries/last/why", "", nil, 400, "invalid", []string{"path.seq"}, "seq"},
		{"seq 0", "GET", "/v1/rooms/main/entries/0/why", "", nil, 400, "invalid", []string{"path.seq"}, "seq"},
		{"stop with a typing error", "POST", "/v1/rooms/main/stop", `{"form":"mika"}`, nil, 400, "invalid", []string{"body.form"}, "form"},
		{"wrong method", "DELETE", say, "", nil, 405, "invalid", nil, "DELETE"},
		{"unknown path", "GET", "/v1/room", "", nil, 404, "not_found", nil, "/v1/room"},
		{"unknown page", "GET", "/index.php", "", nil, 404, "not_found", nil, ""},
		{"huma's own docs", "GET", "/docs", "", nil, 404, "not_found", nil, ""},
		{"huma's own schemas", "GET", "/schemas/SayBody.json", "", nil, 404, "not_found", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := f.ask(tc.method, tc.path, tc.body, tc.header...)
			d := decode[gate.Details](t, w, tc.status)
			if ct := w.Header().Get("Content-Type"); ct != "application/problem+json" {
				t.Errorf("content type %q", ct)
			}
			var where []string
			for _, e := range d.Errors {
				where = append(where, e.Location)
			}
			slices.Sort(where)
			if d.Code != tc.code || d.Status != tc.status || d.Title != http.StatusText(tc.status) || !slices.Equal(where, tc.where) || !strings.Contains(d.Detail, tc.detail) {
				t.Errorf("%s", w.Body)
			}
			if len(w.Body.String()) > 1000 {
				t.Errorf("an answer of %d bytes: it repeats the request", w.Body.Len())
			}
			if len(f.house.Get("main").Journal()) != 0 {
				t.Error("something was recorded")
			}
		})
	}
}

func TestRoomInTrouble(t *testing.T) {
	for _, tc := range []struct {
		err    error
		status int
		detail string
	}{
		{abi.Errorf(abi.CodeUnavailable, "the disk is full"), 503, "the disk is full"},
		{abi.Errorf(abi.CodeExhausted, "the inbox is full"), 429, "the inbox is full"},
		{errors.New("sql: /var/lib/secret"), 500, "internal error"},
		{abi.Errorf(abi.CodeInternal, "sql: /var/lib/secret"), 500, "internal error"},
	} {
		f := newDoor(t, nil)
		f.house.Get("main").Trouble(tc.err)
		for _, w := range []*httptest.ResponseRecorder{
			f.ask("POST", "/v1/rooms/main/messages", `{"from":"mika","text":"hi"}`), f.ask("POST", "/v1/rooms/main/stop", ""),
			f.ask("GET", "/v1/rooms/main/messages", ""), f.ask("GET", "/v1/rooms/main/entries", ""),
		} {
			d := decode[gate.Details](t, w, tc.status)
			if d.Detail != tc.detail || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%v: %s", tc.err, w.Body)
			}
		}
	}
}

// The cause of a fault goes to the gate's log, never to the client.
func TestFaultsAreLogged(t *testing.T) {
	f := newDoor(t, nil)
	f.house.Get("main").Trouble(errors.New("sql: /var/lib/secret"))
	var log bytes.Buffer
	g, err := gate.New(gate.Config{}, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/v1/rooms/main/messages", strings.NewReader(`{"from":"mika","text":"private words"}`))
	r.Host = "localhost"
	w := httptest.NewRecorder()
	g.Handler(f).ServeHTTP(w, r)
	if w.Code != 500 || !strings.Contains(log.String(), "/var/lib/secret") || strings.Contains(log.String(), "private") {
		t.Errorf("%d, log %s", w.Code, log.String())
	}
}

func TestOpenAPI(t *testing.T) {
	f := newDoor(t, nil)
	w := f.ask("GET", "/openapi.json", "")
	doc := decode[struct {
		OpenAPI string
		Info    struct{ Title, Version string }
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Responses   map[string]struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
		Components struct {
			Schemas map[string]struct {
				AdditionalProperties any
				Properties           map[string]map[string]any
			}
		}
	}](t, asPlainJSON(w), http.StatusOK)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || doc.Info.Title != "companiond" || doc.Info.Version != "v1.2.3" {
		t.Errorf("%+v %+v", doc.OpenAPI, doc.Info)
	}
	var got []string
	for path, ops := range doc.Paths {
		for method, op := range ops {
			got = append(got, strings.ToUpper(method)+" "+path+" "+op.OperationID)
			problem := op.Responses["default"].Content["application/problem+json"].Schema
			if problem["$ref"] != "#/components/schemas/Problem" {
				t.Errorf("%s %s: refusals are %v", method, path, problem)
			}
			if want := map[string]int{"perceive": 4}[op.OperationID]; len(op.Responses) != max(2, want) {
				t.Errorf("%s %s: %d answers", method, path, len(op.Responses))
			}
		}
	}
	slices.Sort(got)
	want := []string{
		"GET /v1/companions list-companions",
		"GET /v1/companions/{id} get-companion",
		"GET /v1/companions/{id}/card get-card",
		"GET /v1/rooms list-rooms",
		"GET /v1/rooms/{room}/entries list-entries",
		"GET /v1/rooms/{room}/entries/{seq}/why why",
		"GET /v1/rooms/{room}/messages list-messages",
		"GET /v1/schemas/companion.json get-card-schema",
		"GET /v1/version version",
		"POST /v1/companions/{id}/perceptions perceive",
		"POST /v1/rooms/{room}/messages say",
		"POST /v1/rooms/{room}/stop stop",
	}
	if !slices.Equal(got, want) {
		t.Errorf("operations\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for name, s := range doc.Components.Schemas {
		if strings.Contains(name, "Error") || strings.HasSuffix(name, "Out") {
			t.Errorf("a schema named %s", name)
		}
		if _, has := s.Properties["$schema"]; has {
			t.Errorf("%s has a $schema", name)
		}
		if closed := s.AdditionalProperties == false; closed != strings.HasSuffix(name, "Body") {
			t.Errorf("%s: additional properties %v", name, s.AdditionalProperties)
		}
		for field, p := range s.Properties {
			if _, list := p["type"].([]any); list && name+"."+field != "SayBody.to" {
				t.Errorf("%s.%s may be null", name, field)
			}
		}
	}
	if strings.Contains(w.Body.String(), "ErrorModel") {
		t.Error("the document refers to huma's errors")
	}
	refs := regexp.MustCompile(`#/components/schemas/(\w+)`)
	for _, m := range refs.FindAllStringSubmatch(w.Body.String(), -1) {
		if _, ok := doc.Components.Schemas[m[1]]; !ok {
			t.Errorf("nothing named %s", m[1])
		}
	}
}

func TestOpenAPIIsTheSameEverywhere(t *testing.T) {
	f := newDoor(t, nil)
	asJSON, asYAML, err := web.OpenAPI(web.Version{Version: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	if w := f.ask("GET", "/openapi.json", ""); w.Body.String() != string(asJSON) || w.Header().Get("Content-Type") != "application/openapi+json" {
		t.Error("the served JSON differs")
	}
	if w := f.ask("GET", "/openapi.yaml", ""); w.Body.String() != string(asYAML) || w.Header().Get("Content-Type") != "application/openapi+yaml" || !strings.Contains(string(asYAML), "openapi: 3.1.0") {
		t.Error("the served YAML differs")
	}
}

func TestPage(t *testing.T) {
	w := newDoor(t, nil).ask("GET", "/", "")
	html := w.Body.String()
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, element := range []string{"script", "style"} {
		_, rest, _ := strings.Cut(html, "<"+element+">")
		inner, _, _ := strings.Cut(rest, "</"+element+">")
		sum := sha256.Sum256([]byte(inner))
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	if n := strings.Count(html, "\n"); n >= 300 {
		t.Errorf("%d lines", n)
	}
	// What would make text into markup, or load something, or be stopped by
	// the policy.
	for _, never := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://", "https://", "src=", " style=", "onclick=\"", "@import", "url("} {
		if strings.Contains(html, never) {
			t.Errorf("the page has %s", never)
		}
	}
}

// What people are to see of a room is shown, whatever its entries are called:
// the page passes over kinds that it does not know, and so would over a new one.
func TestPageKnowsTheEntries(t *testing.T) {
	html := newDoor(t, nil).ask("GET", "/", "").Body.String()
	for _, kind := range []entry.Kind{entry.KindCast, entry.KindSaid, entry.KindRound, entry.KindDecision, entry.KindStop, entry.KindRefused, entry.KindFailed} {
		if !strings.Contains(html, "\n  "+string(kind)+"(e, b) {") {
			t.Errorf("the page does not show %s", kind)
		}
	}
	outcomes := []entry.Outcome{entry.OutcomeSilence, entry.OutcomeClosed, entry.OutcomeCapped, entry.OutcomeStopped, entry.OutcomeSuperseded, entry.OutcomeWaits}
	for _, o := range outcomes {
		if n := strings.Count(html, " "+string(o)+`: "`); n < 2 { // in each language
			t.Errorf("the page has %d words for %s", n, o)
		}
	}
}

// Both languages must have all words, and the script must be one that parses.
func TestPageScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	_, rest, _ := strings.Cut(newDoor(t, nil).ask("GET", "/", "").Body.String(), "<script>")
	script, _, _ := strings.Cut(rest, "</script>")
	file := filepath.Join(t.TempDir(), "page.js")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node, "--check", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	head, _, _ := strings.Cut(script, "const lang =")
	check := head + `
const keys = o => Object.keys(o).flatMap(k => typeof o[k] === "object" ? keys(o[k]).map(x => k + "." + x) : [k]).sort();
if (String(keys(words.en)) !== String(keys(words.ja))) { console.error(keys(words.en) + "\n" + keys(words.ja)); process.exit(1); }`
	if out, err := exec.Command(node, "-e", check).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// asPlainJSON lets decode read an OpenAPI document.
func asPlainJSON(w *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	w.Header().Set("Content-Type", "application/json")
	return w
}
