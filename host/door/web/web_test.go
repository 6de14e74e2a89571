package web_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/blob"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/door/web/conversations"
	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/handler"
	"github.com/companiond/companiond/host/lately"
	"github.com/companiond/companiond/host/module/files"
	"github.com/companiond/companiond/host/search"
	"github.com/companiond/companiond/host/waittest"
)

type fixture struct {
	house *doortest.House
	http.Handler
}

func newDoor(t *testing.T, companions func() []web.Companion) fixture {
	t.Helper()
	return newDoorOf(t, doortest.NewHouse(t, "main", "side"), companions)
}

func newDoorOf(t *testing.T, house *doortest.House, companions func() []web.Companion) fixture {
	t.Helper()
	if companions == nil {
		companions = func() []web.Companion { return nil }
	}
	mux := http.NewServeMux()
	err := web.Register(mux, web.Config{Rooms: house, Companions: companions, Usual: func() string { return "" }, Version: web.Version{Version: "v1.2.3", Go: "go1.26", ABI: abi.Version}, Conversations: &conversations.Config{}, Memories: &memories.Config{}, Compressing: new(compress.Service), Search: (*search.Keeper)(nil), Blobs: blob.New(blob.MaxKept), Handlers: (*handler.Stage)(nil), Files: (*files.Store)(nil), Log: lately.New()})
	if err != nil {
		t.Fatal(err)
	}
	return fixture{house, guard.Mux(mux)}
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

// newest gives the newest entry of a kind in the room main.
func (f fixture) newest(t *testing.T, kind entry.Kind) entry.Entry {
	t.Helper()
	for _, e := range slices.Backward(f.house.Get("main").Journal()) {
		if e.Kind == kind {
			return e
		}
	}
	t.Fatalf("no %s is written down", kind)
	return entry.Entry{}
}

func TestTalk(t *testing.T) {
	f := newDoor(t, nil)
	exactly(t, f.ask("GET", says, ""), 200, `{"messages":[],"head":0}`)
	exactly(t, f.ask("GET", "/v1/rooms/main/entries", ""), 200, `{"entries":[],"head":0}`)
	said := func(body string) (seq uint64) {
		t.Helper()
		w := f.ask("POST", says, body)
		e := f.newest(t, entry.KindSaid)
		exactly(t, w, 201, fmt.Sprintf(`{"seq":%d,"id":%q}`, e.Seq, e.ID))
		return e.Seq
	}
	const first = `{"from":"mika","text":"こんばんは","id":"m-1"}`
	one := said(first)
	if again := said(first); again != one {
		t.Errorf("sent twice it is at %d and at %d", one, again)
	}
	if d := decode[guard.Details](t, f.ask("POST", says, `{"from":"mika","text":"again","id":"m-1"}`), 409); !strings.HasPrefix(d.Detail, "id: ") {
		t.Errorf("another text with the same id: %+v", d)
	}
	said(`{"from":"ken","text":"<b>hi</b>","to":["aya"]}`)
	said(`{"from":"ken","text":"to nobody","to":null}`)
	w := f.ask("POST", stops, `{"from":"mika"}`)
	head := f.newest(t, entry.KindStop).Seq
	exactly(t, w, 200, fmt.Sprintf(`{"seq":%d}`, head))

	got := decode[struct {
		Messages []abi.Message
		Head     uint64
	}](t, f.ask("GET", says, ""), 200)
	if len(got.Messages) != 3 || got.Head != head || got.Messages[1].Text != "<b>hi</b>" || got.Messages[1].To[0] != "aya" || got.Messages[0].From != "mika" || got.Messages[0].Seq != one {
		t.Errorf("%+v", got)
	}
	if w := f.ask("GET", says, ""); strings.Contains(w.Body.String(), "null") || !strings.Contains(w.Body.String(), `"to":[]`) {
		t.Errorf("null in %s", w.Body)
	}
	page := decode[struct {
		Entries []entry.Entry
		Head    uint64
	}](t, f.ask("GET", "/v1/rooms/main/entries?since=1&limit=2", ""), 200)
	if len(page.Entries) != 2 || page.Entries[0].Seq != 2 || page.Entries[1].Seq != 3 || page.Head != head {
		t.Errorf("%+v", page)
	}
	var b entry.Said
	if err := json.Unmarshal(f.house.Get("main").Journal()[one-1].Body, &b); err != nil || b.By != abi.KindHuman {
		t.Errorf("over HTTP a human speaks: %+v %v", b, err)
	}
}

func TestStopNeedsNoBody(t *testing.T) {
	f := newDoor(t, nil)
	for _, body := range []string{"", `{}`} {
		w := f.ask("POST", stops, body)
		exactly(t, w, 200, fmt.Sprintf(`{"seq":%d}`, f.newest(t, entry.KindStop).Seq))
	}
	all := f.house.Get("main").Happened()
	if len(all) != 2 {
		t.Errorf("%d entries", len(all))
	}
	for _, e := range all {
		if e.Kind != entry.KindStop || string(e.Body) != `{"from":"guest"}` {
			t.Errorf("%s %s", e.Kind, e.Body)
		}
	}
}

func TestWhy(t *testing.T) {
	f := newDoor(t, nil)
	main := f.house.Get("main")
	main.Live("aya") // who listens
	said := decode[struct{ Seq uint64 }](t, f.ask("POST", says, `{"from":"mika","text":"anybody?"}`), 201).Seq
	path := fmt.Sprintf("/v1/rooms/main/entries/%d/why", said)
	waittest.Until(t, "a decision", func() bool { return f.ask("GET", path, "").Code != 404 })
	want, err := main.Why(t.Context(), said)
	if err != nil {
		t.Fatal(err)
	}
	w := f.ask("GET", path, "")
	got := decode[struct {
		Seq, Decided uint64
		Text         string
		About        abi.Message
		Decision     entry.Decision
	}](t, w, 200)
	if got.Seq != said || got.Decided != f.newest(t, entry.KindDecision).Seq || got.Text != want.Text || got.About.Seq != said || got.Decision.Outcome != entry.OutcomeSilence {
		t.Errorf("%s", w.Body)
	}
	if r := got.Decision.Ranking; len(r) != 1 || r[0].Who != "aya" {
		t.Errorf("%s", w.Body)
	}
	// A decision that ranks nobody has a list all the same.
	e := main.Append(entry.KindDecision, entry.Decision{Outcome: entry.OutcomeSilence, Reason: "nobody wanted to speak"})
	if w := f.ask("GET", fmt.Sprintf("/v1/rooms/main/entries/%d/why", e.Seq), ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"ranking":[]`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestRooms(t *testing.T) {
	f := newDoor(t, nil)
	exactly(t, f.ask("GET", "/v1/rooms/side", ""), 200,
		`{"name":"side","head":0,"last":0,"state":"resting","policy":"vote","closing":"none","turns":0,"max_turns":24,"members":[],"counts":{}}`)
	exactly(t, f.ask("GET", "/v1/rooms", ""), 200, `{"rooms":[`+
		`{"name":"main","head":0,"last":0,"state":"resting","policy":"vote","closing":"none","turns":0,"max_turns":24,"members":[],"counts":{}},`+
		`{"name":"side","head":0,"last":0,"state":"resting","policy":"vote","closing":"none","turns":0,"max_turns":24,"members":[],"counts":{}}]}`)
}

func TestCompanions(t *testing.T) {
	exactly(t, newDoor(t, nil).ask("GET", "/v1/companions", ""), 200, `[]`)
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
		{"unknown room, at a glance", "GET", "/v1/rooms/attic", "", nil, 404, "not_found", nil, "attic"},
		{"unknown room, closing", "DELETE", "/v1/rooms/attic", "", nil, 404, "not_found", nil, "attic"},
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
		{"unknown source", "POST", say, `{"from":"mika","text":"hi","source":"twitch"}`, nil, 400, "invalid", []string{"body.source"}, `source: "twitch" is unknown; it is "chat", or left out`},
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
			d := decode[guard.Details](t, w, tc.status)
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
			if all := f.house.Get("main").Happened(); len(all) != 0 {
				t.Errorf("recorded: %v", all)
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
			d := decode[guard.Details](t, w, tc.status)
			if d.Detail != tc.detail || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%v: %s", tc.err, w.Body)
			}
		}
	}
}

// The cause of a fault goes to the guard's log, never to the client.
func TestFaultsAreLogged(t *testing.T) {
	f := newDoor(t, nil)
	f.house.Get("main").Trouble(errors.New("sql: /var/lib/secret"))
	var log bytes.Buffer
	g, err := guard.New(guard.Config{}, slog.New(slog.NewTextHandler(&log, nil)))
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

// description is what is looked at of the API's.
type description struct {
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
}

func TestOpenAPI(t *testing.T) {
	doc := decode[description](t, asPlainJSON(newDoor(t, nil).ask("GET", "/openapi.json", "")), http.StatusOK)
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
			if want := map[string]int{"perceive": 4, "chat": 3}[op.OperationID]; len(op.Responses) != max(2, want) {
				t.Errorf("%s %s: %d answers", method, path, len(op.Responses))
			}
		}
	}
	slices.Sort(got)
	want := []string{
		"DELETE /v1/characters/{file} delete-character",
		"DELETE /v1/companions/{id}/memories/{memory} erase-memory",
		"DELETE /v1/rooms/{room} close-room",
		"GET /v1/blobs/{hash} get-blob",
		"GET /v1/character-samples character-samples",
		"GET /v1/characters list-characters",
		"GET /v1/characters/{file} get-character",
		"GET /v1/companions list-companions",
		"GET /v1/companions/{id} get-companion",
		"GET /v1/companions/{id}/card get-card",
		"GET /v1/companions/{id}/memories list-memories",
		"GET /v1/companions/{id}/memories/{memory} get-memory",
		"GET /v1/conversations list-conversations",
		"GET /v1/conversations/feed follow-conversations",
		"GET /v1/conversations/{id} get-conversation",
		"GET /v1/conversations/{id}/messages list-conversation-messages",
		"GET /v1/forget list-orders",
		"GET /v1/forget/{order} get-order",
		"GET /v1/handlers list-handlers",
		"GET /v1/logs read-logs",
		"GET /v1/rooms list-rooms",
		"GET /v1/rooms/{room} get-room",
		"GET /v1/rooms/{room}/branches list-branches",
		"GET /v1/rooms/{room}/compressions list-compressions",
		"GET /v1/rooms/{room}/compressions/{proposal} get-compression",
		"GET /v1/rooms/{room}/diff diff-branches",
		"GET /v1/rooms/{room}/entries list-entries",
		"GET /v1/rooms/{room}/entries/{seq}/prompts prompts",
		"GET /v1/rooms/{room}/entries/{seq}/why why",
		"GET /v1/rooms/{room}/messages list-messages",
		"GET /v1/rooms/{room}/search search-room",
		"GET /v1/rooms/{room}/turns read-turns",
		"GET /v1/schemas/companion.json get-card-schema",
		"GET /v1/search search",
		"GET /v1/version version",
		"PATCH /v1/companions/{id}/memories/{memory} edit-memory",
		"POST /v1/characters/{file}/check check-character",
		"POST /v1/chat chat",
		"POST /v1/chat/end end-chat",
		"POST /v1/chat/start start-chat",
		"POST /v1/companions/{id}/memories add-memory",
		"POST /v1/companions/{id}/perceptions perceive",
		"POST /v1/conversations/{id}/messages say-in-conversation",
		"POST /v1/conversations/{id}/stop stop-conversation",
		"POST /v1/forget forget",
		"POST /v1/handlers/{handler}/actions/{action} act",
		"POST /v1/rooms open-room",
		"POST /v1/rooms/{room}/compressions compress",
		"POST /v1/rooms/{room}/compressions/{proposal}/approve approve-compression",
		"POST /v1/rooms/{room}/compressions/{proposal}/deny deny-compression",
		"POST /v1/rooms/{room}/compressions/{proposal}/drafts draft-compression",
		"POST /v1/rooms/{room}/compressions/{proposal}/extract extract-compression",
		"POST /v1/rooms/{room}/compressions/{proposal}/revert revert-compression",
		"POST /v1/rooms/{room}/forks fork",
		"POST /v1/rooms/{room}/messages say",
		"POST /v1/rooms/{room}/mute mute",
		"POST /v1/rooms/{room}/stop stop",
		"PUT /v1/characters/{file} save-character",
	}
	if !slices.Equal(got, want) {
		t.Errorf("operations\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOpenAPISchemas(t *testing.T) {
	w := newDoor(t, nil).ask("GET", "/openapi.json", "")
	text := w.Body.String()
	doc := decode[description](t, asPlainJSON(w), http.StatusOK)
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
	if strings.Contains(text, "ErrorModel") {
		t.Error("the document refers to huma's errors")
	}
	refs := regexp.MustCompile(`#/components/schemas/(\w+)`)
	for _, m := range refs.FindAllStringSubmatch(text, -1) {
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

// asPlainJSON lets decode read an OpenAPI document.
func asPlainJSON(w *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	w.Header().Set("Content-Type", "application/json")
	return w
}
