package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/logtest"
)

func newGuard(t *testing.T, cfg guard.Config, next http.Handler) (http.Handler, *logtest.Log) {
	t.Helper()
	l := &logtest.Log{}
	g, err := guard.New(cfg, l.Logger())
	if err != nil {
		t.Fatal(err)
	}
	return g.Handler(next), l
}

// echo answers with the body it was given.
func echo(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }

func request(method, target, body string, header ...string) *http.Request {
	var b io.Reader
	if body != "" {
		b = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, b)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func details(t *testing.T, w *httptest.ResponseRecorder) guard.Details {
	t.Helper()
	if ct := w.Header().Get("Content-Type"); ct != "application/problem+json" {
		t.Fatalf("content type %q, body %q", ct, w.Body)
	}
	var d guard.Details
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if d.Status != w.Code || d.Title != http.StatusText(w.Code) || d.Type != "about:blank" || d.Detail == "" {
		t.Fatalf("status %d, details %+v", w.Code, d)
	}
	return d
}

func TestHost(t *testing.T) {
	loopback := guard.Config{Listen: "127.0.0.1:3000"}
	named := guard.Config{Listen: "0.0.0.0:3000", Hosts: []string{"Companion.lan", "stage.lan:8080", "fd00::7"}}
	for _, tc := range []struct {
		cfg  guard.Config
		host string
		want int
	}{
		{loopback, "localhost", 200},
		{loopback, "localhost:3000", 200},
		{loopback, "LOCALHOST:9", 200},
		{loopback, "localhost.:3000", 200},
		{loopback, "127.0.0.1:3000", 200},
		{loopback, "[::1]:3000", 200},
		{loopback, "[::1]", 200},
		{loopback, "evil.example", 403},
		{loopback, "evil.example:3000", 403},
		{loopback, "localhost.evil.example", 403},
		{loopback, "127.0.0.1.evil.example:3000", 403},
		{loopback, "127.0.0.1@evil.example", 403},
		{loopback, "companion.lan", 403},
		{loopback, "192.168.1.5:3000", 403},
		{loopback, "", 403},
		{loopback, "::1", 403}, // not a Host: brackets are missing
		{named, "companion.lan", 200},
		{named, "companion.lan:1234", 200},
		{named, "[fd00::7]:3000", 200},
		{named, "stage.lan:8080", 200},
		{named, "stage.lan:8081", 403},
		{named, "stage.lan", 403},
		{named, "0.0.0.0:3000", 403},
		{guard.Config{Listen: "box.lan:3000"}, "box.lan:3000", 200},
		{guard.Config{Listen: ":3000"}, "box.lan:3000", 403},
	} {
		h, _ := newGuard(t, tc.cfg, http.HandlerFunc(echo))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request("GET", "/", "", "Host", tc.host))
		if w.Code != tc.want {
			t.Errorf("Host %q: %d, want %d", tc.host, w.Code, tc.want)
			continue
		}
		if tc.want == 403 && details(t, w).Code != abi.CodeDenied {
			t.Errorf("Host %q: %s", tc.host, w.Body)
		}
	}
}

// A daemon that listens everywhere is reached by its address, which cannot be
// rebound: it is one only if the connection came in there.
func TestHostIsTheAddressTheConnectionCameInAt(t *testing.T) {
	h, _ := newGuard(t, guard.Config{Listen: "0.0.0.0:3000"}, http.HandlerFunc(echo))
	for _, tc := range []struct {
		host, local string
		want        int
	}{
		{"192.168.1.5:3000", "192.168.1.5:3000", 200},
		{"192.168.1.5", "[::ffff:192.168.1.5]:3000", 200},
		{"[fd00::5]:3000", "[fd00::5]:3000", 200},
		{"192.168.1.6:3000", "192.168.1.5:3000", 403},
		{"evil.example", "192.168.1.5:3000", 403},
	} {
		r := request("GET", "/", "", "Host", tc.host)
		local, err := net.ResolveTCPAddr("tcp", tc.local)
		if err != nil {
			t.Fatal(err)
		}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(local)))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.want {
			t.Errorf("Host %q at %s: %d, want %d", tc.host, tc.local, w.Code, tc.want)
		}
	}
}

func TestOriginOfRequests(t *testing.T) {
	cfg := guard.Config{Origins: []string{"http://localhost:5173", "https://stage.example"}}
	withNull := guard.Config{Origins: []string{"null"}}
	for _, tc := range []struct {
		name   string
		cfg    guard.Config
		method string
		header []string
		want   int
	}{
		{"no origin", cfg, "POST", nil, 200},
		{"own origin", cfg, "POST", []string{"Origin", "http://localhost:3000"}, 200},
		{"listed", cfg, "POST", []string{"Origin", "http://localhost:5173"}, 200},
		{"listed, by a new browser", cfg, "POST", []string{"Origin", "https://stage.example", "Sec-Fetch-Site", "cross-site"}, 200},
		{"other port", cfg, "POST", []string{"Origin", "http://localhost:5174"}, 403},
		{"other port, by a new browser", cfg, "POST", []string{"Origin", "http://localhost:5174", "Sec-Fetch-Site", "same-site"}, 403},
		{"evil", cfg, "POST", []string{"Origin", "http://evil.example"}, 403},
		{"evil, says same-origin is not", cfg, "POST", []string{"Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		{"evil delete", cfg, "DELETE", []string{"Origin", "http://evil.example"}, 403},
		{"null", cfg, "POST", []string{"Origin", "null"}, 403},
		{"null listed", withNull, "POST", []string{"Origin", "null"}, 200},
		{"listed as a prefix", cfg, "POST", []string{"Origin", "https://stage.example.evil.example"}, 403},
		{"two origins", cfg, "POST", []string{"Origin", "http://evil.example", "Origin", "http://localhost:5173"}, 403},
		{"evil may navigate", cfg, "GET", []string{"Origin", "http://evil.example"}, 200},
	} {
		h, _ := newGuard(t, tc.cfg, http.HandlerFunc(echo))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(tc.method, "/v1/x", "", append(tc.header, "Host", "localhost:3000")...))
		if w.Code != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, w.Code, tc.want)
		}
		if w.Code == 403 {
			details(t, w)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: sniffing is allowed", tc.name)
		}
	}
}

func TestOriginOfWebSockets(t *testing.T) {
	g, err := guard.New(guard.Config{Origins: []string{"http://localhost:5173", "file://"}, Hosts: []string{"companion.lan"}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		host   string
		origin []string
		want   bool
	}{
		{"localhost:3000", nil, true},
		{"localhost:3000", []string{"http://localhost:3000"}, true},
		{"localhost:3000", []string{"https://localhost:3000"}, true}, // behind a TLS proxy
		{"127.0.0.1:3000", []string{"http://127.0.0.1:3000"}, true},
		{"[::1]:3000", []string{"http://[::1]:3000"}, true},
		{"companion.lan", []string{"http://companion.lan"}, true},
		{"localhost:3000", []string{"http://localhost:5173"}, true},
		{"localhost:3000", []string{"file://"}, true},
		{"localhost:3000", []string{"null"}, false},
		{"localhost:3000", []string{"http://localhost:5174"}, false},
		{"localhost:3000", []string{"http://localhost"}, false},
		{"localhost:3000", []string{"http://127.0.0.1:3000"}, false},
		{"localhost:3000", []string{"http://evil.example"}, false},
		{"evil.example", []string{"http://evil.example"}, false}, // rebound
		{"localhost:3000", []string{"http://user@localhost:3000"}, false},
		{"localhost:3000", []string{"ftp://localhost:3000"}, false},
		{"localhost:3000", []string{"http://localhost:3000/"}, false},
		{"localhost:3000", []string{""}, false},
		{"localhost:3000", []string{"http://localhost:3000", "http://evil.example"}, false},
	} {
		r := request("GET", "/v1/rooms/main/feed", "", "Host", tc.host)
		for _, o := range tc.origin {
			r.Header.Add("Origin", o)
		}
		if got := g.CheckOrigin(r); got != tc.want {
			t.Errorf("Host %s, Origin %q: %v, want %v", tc.host, tc.origin, got, tc.want)
		}
	}
}

func TestCORS(t *testing.T) {
	h, _ := newGuard(t, guard.Config{Origins: []string{"http://localhost:5173"}}, http.HandlerFunc(echo))
	ask := func(method string, header ...string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(method, "/v1/rooms", "", append(header, "Host", "localhost:3000")...))
		return w
	}
	w := ask("OPTIONS", "Origin", "http://localhost:5173", "Access-Control-Request-Method", "POST", "Access-Control-Request-Private-Network", "true")
	for k, want := range map[string]string{
		"Access-Control-Allow-Origin": "http://localhost:5173", "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
		"Vary": "Origin", "Access-Control-Allow-Private-Network": "true", "Access-Control-Allow-Credentials": "",
	} {
		if got := w.Header().Get(k); got != want {
			t.Errorf("preflight: %s is %q, want %q", k, got, want)
		}
	}
	if w.Code != 204 || !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "mcp-session-id") {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
	if w := ask("GET", "Origin", "http://localhost:5173"); w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "http://localhost:5173" || w.Header().Get("Access-Control-Expose-Headers") == "" {
		t.Errorf("listed: %d %v", w.Code, w.Header())
	}
	for _, w := range []*httptest.ResponseRecorder{ask("OPTIONS", "Origin", "http://evil.example", "Access-Control-Request-Method", "POST"), ask("GET", "Origin", "http://evil.example"), ask("GET")} {
		if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("Vary") != "Origin" {
			t.Errorf("not listed: %v", w.Header())
		}
	}
	if w := ask("OPTIONS", "Origin", "http://evil.example", "Access-Control-Request-Method", "POST"); w.Code != 403 {
		t.Errorf("preflight from elsewhere: %d", w.Code)
	}
}

// A page that is turned away says which key would let it in and what to write; since its
// browser shows nobody what it says, the log says it as well, of each page once.
func TestForeignPagesAreToldTheKey(t *testing.T) {
	var log bytes.Buffer
	g, err := guard.New(guard.Config{Origins: []string{"https://stage.example"}}, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	h := g.Handler(http.HandlerFunc(echo))
	preflight := []string{"Access-Control-Request-Method", "POST"}
	for _, c := range []struct {
		method, origin string
		more           []string
		want           string
	}{
		{"POST", "http://localhost:5173", nil, `origin: door.origins does not list "http://localhost:5173"; to let this page in write origins = ["http://localhost:5173"] under [door] in companiond.toml`},
		{"OPTIONS", "http://localhost:5173", preflight, `write origins = ["http://localhost:5173"] under [door]`},
		{"POST", "null", nil, `a page that was opened from a file says "null", which every such page says; serve it over http:// and list that in door.origins`},
		{"OPTIONS", "file://", preflight, `serve it over http:// and list that in door.origins`},
		{"POST", "HTTP://A.example/x", nil, `"HTTP://A.example/x" is none that door.origins of companiond.toml can list`},
		{"POST", "", []string{"Sec-Fetch-Site", "cross-site"}, "without saying which; list the site in door.origins"},
	} {
		header := append([]string{"Host", "localhost:3000"}, c.more...)
		if c.origin != "" {
			header = append(header, "Origin", c.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(c.method, "/v1/rooms", "", header...))
		var d guard.Details
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Code != 403 || d.Code != abi.CodeDenied || !strings.Contains(d.Detail, c.want) {
			t.Errorf("%s from %s: %d %s", c.method, c.origin, w.Code, w.Body)
		}
	}
	if got := strings.Count(log.String(), "level=WARN"); got != 4 || strings.Count(log.String(), "origin=http://localhost:5173") != 1 || !strings.Contains(log.String(), "door.origins does not list") {
		t.Errorf("%d warnings:\n%s", got, log.String())
	}
	log.Reset()
	for i := range 100 {
		h.ServeHTTP(httptest.NewRecorder(), request("GET", "/v1/rooms", "", "Host", "localhost:3000", "Origin", fmt.Sprintf("http://evil%d.example", i)))
	}
	for _, own := range []string{"http://localhost:3000", "https://stage.example"} {
		h.ServeHTTP(httptest.NewRecorder(), request("POST", "/v1/rooms", "", "Host", "localhost:3000", "Origin", own))
	}
	if got := strings.Count(log.String(), "level=WARN"); got != 12 || strings.Contains(log.String(), "stage") {
		t.Errorf("%d warnings:\n%s", got, log.String())
	}
}

func TestConfigThatCannotMatchIsRefused(t *testing.T) {
	for _, cfg := range []guard.Config{
		{Hosts: []string{"http://companion.lan"}}, {Hosts: []string{"*.lan"}}, {Hosts: []string{""}}, {Hosts: []string{"a b"}},
		{Origins: []string{"*"}}, {Origins: []string{"localhost:5173"}}, {Origins: []string{"http://localhost:5173/"}},
		{Origins: []string{"http://*.example"}}, {Origins: []string{"HTTP://localhost"}}, {Origins: []string{"http://Stage.example"}},
		{Origins: []string{"http://u@h"}}, {Origins: []string{""}},
	} {
		if _, err := guard.New(cfg, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%+v: accepted", cfg)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	var got *http.Request
	h, _ := newGuard(t, guard.Config{MaxBody: 10, MaxBodyAt: map[string]int64{"/mcp": 20, "/mcp/small/": 2}}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		echo(w, r)
	}))
	for _, tc := range []struct {
		path  string
		size  int
		known bool
		want  int
	}{
		{"/v1/x", 10, true, 200}, {"/v1/x", 10, false, 200}, {"/v1/x", 11, true, 413}, {"/v1/x", 11, false, 413},
		{"/mcp", 20, true, 200}, {"/mcp/y", 20, false, 200}, {"/mcp", 21, false, 413}, {"/mcpx", 11, true, 413},
		{"/mcp/small/x", 3, true, 413}, {"/mcp/smaller", 20, true, 200},
	} {
		body := strings.Repeat("x", tc.size)
		r := request("POST", tc.path, body, "Host", "localhost")
		if !tc.known {
			r.ContentLength = -1
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.want {
			t.Errorf("%+v: %d", tc, w.Code)
			continue
		}
		if tc.want == 413 {
			if d := details(t, w); d.Code != abi.CodeTooLarge || w.Header().Get("Connection") != "close" {
				t.Errorf("%+v: %+v %v", tc, d, w.Header())
			}
			continue
		}
		if w.Body.String() != body || got.ContentLength != int64(tc.size) {
			t.Errorf("%+v: the door saw %d bytes of %d", tc, w.Body.Len(), got.ContentLength)
		}
	}
}

func TestRate(t *testing.T) {
	limited := 0
	h, _ := newGuard(t, guard.Config{Rate: 0.5, Burst: 3, RateAddresses: 2, Limited: func() { limited++ }}, http.HandlerFunc(echo))
	ask := func(addr string) *httptest.ResponseRecorder {
		r := request("GET", "/", "", "Host", "localhost")
		r.RemoteAddr = addr
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for i := range 3 {
		if w := ask("10.0.0.1:1"); w.Code != 200 {
			t.Fatalf("request %d: %d", i, w.Code)
		}
	}
	w := ask("10.0.0.1:2") // another port is the same address
	if d := details(t, w); w.Code != 429 || d.Code != abi.CodeExhausted || !d.Retry || w.Header().Get("Retry-After") != "2" {
		t.Fatalf("%d %+v Retry-After %q", w.Code, d, w.Header().Get("Retry-After"))
	}
	if w := ask("10.0.0.2:1"); w.Code != 200 {
		t.Fatalf("another address: %d", w.Code)
	}
	if w := ask("[::ffff:10.0.0.1]:1"); w.Code != 429 {
		t.Fatalf("the same address in IPv6: %d", w.Code)
	}
	ask("10.0.0.3:1") // the one unseen for longest, .2, is forgotten
	if w := ask("10.0.0.1:3"); w.Code != 429 {
		t.Fatalf("a busy address was forgotten: %d", w.Code)
	}
	if limited != 3 {
		t.Errorf("%d requests were told of", limited)
	}
	free, _ := newGuard(t, guard.Config{Rate: -1, Burst: 1}, http.HandlerFunc(echo))
	for range 2000 {
		w := httptest.NewRecorder()
		free.ServeHTTP(w, request("GET", "/", "", "Host", "localhost"))
		if w.Code != 200 {
			t.Fatalf("no limit: %d", w.Code)
		}
	}
}

func TestPanic(t *testing.T) {
	h, l := newGuard(t, guard.Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			_, _ = w.Write([]byte("some"))
		}
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}
		panic("secret inside")
	}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request("GET", "/now?token=hidden", "", "Host", "localhost"))
	if d := details(t, w); w.Code != 500 || d.Code != abi.CodeInternal || d.Detail != "internal error" {
		t.Errorf("%d %+v", w.Code, d)
	}
	if out := l.String(); !strings.Contains(out, "secret inside") || !strings.Contains(out, "guard_test.go") || strings.Contains(out, "hidden") {
		t.Errorf("log: %s", out)
	}
	for _, path := range []string{"/late", "/abort"} {
		func() {
			defer func() {
				if v := recover(); v != http.ErrAbortHandler {
					t.Errorf("%s: recovered %v", path, v)
				}
			}()
			h.ServeHTTP(httptest.NewRecorder(), request("GET", path, "", "Host", "localhost"))
			t.Errorf("%s: the connection was kept", path)
		}()
	}
}

func TestAccessLog(t *testing.T) {
	h, l := newGuard(t, guard.Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			guard.Problem(w, r, abi.Wrap(abi.CodeInternal, errors.New("disk on fire"), "write failed"))
			return
		}
		http.NewResponseController(w).Flush()
		_, _ = w.Write([]byte("hello"))
		if r.URL.Path == "/stream" {
			guard.Note(w, errors.New("disk is full"))
		}
	}))
	h.ServeHTTP(httptest.NewRecorder(), request("GET", "/v1/rooms?token=hidden", "", "Host", "localhost", "Authorization", "Bearer hidden"))
	for _, want := range []string{"level=DEBUG", "method=GET", "path=/v1/rooms", "status=200", "bytes=5", "took=", "remote="} {
		if !strings.Contains(l.String(), want) {
			t.Errorf("%s is missing in %s", want, l)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request("POST", "/v1/x", `{"text":"hidden"}`, "Host", "localhost"))
	if out := l.String(); !strings.Contains(out, "level=ERROR") || !strings.Contains(out, "disk on fire") || strings.Contains(out, "hidden") {
		t.Errorf("log: %s", out)
	}
	if strings.Contains(w.Body.String(), "fire") || strings.Contains(w.Body.String(), "write failed") {
		t.Errorf("the client saw %s", w.Body)
	}
	if h.ServeHTTP(httptest.NewRecorder(), request("GET", "/stream", "", "Host", "localhost")); !strings.Contains(l.String(), `level=ERROR msg=request method=GET path=/stream status=200`) || !strings.Contains(l.String(), `error="disk is full"`) {
		t.Errorf("a fault of ours in the middle of a stream: %s", l)
	}
}

// What ends because the client is gone is no fault of the house, whoever found out and
// called it an internal error.
func TestAClientThatIsGoneIsNoFault(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		level  string
	}{
		{context.Canceled, 503, "DEBUG"},
		{abi.AsError(context.Canceled), 503, "DEBUG"},
		{fmt.Errorf("read room: %w", abi.AsError(fmt.Errorf("query: %w", context.Canceled))), 503, "DEBUG"},
		{abi.AsError(context.DeadlineExceeded), 500, "ERROR"}, // the house was too slow
		{abi.Wrap(abi.CodeDenied, context.Canceled, "no"), 403, "DEBUG"},
		{abi.AsError(errors.New("disk on fire")), 500, "ERROR"},
	} {
		h, l := newGuard(t, guard.Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { guard.Problem(w, r, c.err) }))
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, request("GET", "/", "", "Host", "localhost")); w.Code != c.status || !strings.Contains(l.String(), "level="+c.level) || strings.Count(l.String(), "level=") != 1 {
			t.Errorf("%v: %d, log %s", c.err, w.Code, l)
		}
	}
}

// statuses counts what a server is told.
type statuses struct {
	http.ResponseWriter
	all []int
}

func (s *statuses) WriteHeader(status int) { s.all = append(s.all, status) }

// A second status, of which a server would complain in the log, is not handed on.
func TestOneStatus(t *testing.T) {
	for want, tell := range map[string][]int{"[200]": {200, 499}, "[103 200]": {103, 200, 500}, "[404]": {404, 404}, "[]": {0, 500}} {
		h, _ := newGuard(t, guard.Config{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for _, status := range tell {
				if status == 0 {
					_, _ = w.Write([]byte("hello"))
					continue
				}
				w.WriteHeader(status)
			}
		}))
		s := &statuses{ResponseWriter: httptest.NewRecorder()}
		if h.ServeHTTP(s, request("GET", "/", "", "Host", "localhost")); fmt.Sprint(s.all) != want {
			t.Errorf("%v: %v, want %s", tell, s.all, want)
		}
	}
}

func TestProblemTable(t *testing.T) {
	for _, tc := range []struct {
		err    error
		status int
		code   abi.Code
		retry  bool
	}{
		{abi.Errorf(abi.CodeInvalid, "x"), 400, abi.CodeInvalid, false},
		{abi.Errorf(abi.CodeUnknownOp, "x"), 400, abi.CodeUnknownOp, false},
		{abi.Errorf(abi.CodeDenied, "x"), 403, abi.CodeDenied, false},
		{fmt.Errorf("around: %w", abi.Errorf(abi.CodeNotFound, "x")), 404, abi.CodeNotFound, false},
		{abi.Errorf(abi.CodeConflict, "x"), 409, abi.CodeConflict, false},
		{abi.Errorf(abi.CodeStale, "x"), 409, abi.CodeStale, false},
		{abi.Errorf(abi.CodeTooLarge, "x"), 413, abi.CodeTooLarge, false},
		{abi.Errorf(abi.CodeExhausted, "x"), 429, abi.CodeExhausted, true},
		{abi.Errorf(abi.CodeInternal, "path /secret"), 500, abi.CodeInternal, false},
		{errors.New("path /secret"), 500, abi.CodeInternal, false},
		{&abi.Error{Code: "made up", Message: "path /secret"}, 500, abi.CodeInternal, false},
		{abi.Errorf(abi.CodeUnavailable, "x"), 503, abi.CodeUnavailable, true},
		{context.Canceled, 503, abi.CodeUnavailable, true},
		{abi.Errorf(abi.CodeTimeout, "x"), 504, abi.CodeTimeout, true},
		{fmt.Errorf("wait: %w", context.DeadlineExceeded), 504, abi.CodeTimeout, true},
		{&guard.Details{Type: "about:blank", Status: 400, Title: "Bad Request", Detail: "x", Code: abi.CodeInvalid}, 400, abi.CodeInvalid, false},
	} {
		w := httptest.NewRecorder()
		guard.Problem(w, request("GET", "/", ""), tc.err)
		d := details(t, w)
		if w.Code != tc.status || d.Code != tc.code || d.Retry != tc.retry || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: %d %s", tc.err, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	guard.Problem(w, request("HEAD", "/", ""), abi.Errorf(abi.CodeNotFound, "x"))
	if w.Code != 404 || w.Body.Len() != 0 {
		t.Errorf("HEAD: %d %q", w.Code, w.Body)
	}
	if guard.Status("") != 200 {
		t.Error("no error is not 200")
	}
}

// soon is a refusal that knows when to come again.
type soon struct{ after time.Duration }

func (soon) Error() string               { return "soon" }
func (s soon) RetryAfter() time.Duration { return s.after }

// TestRetryAfter is told where it is known, rounded up, and never made up.
func TestRetryAfter(t *testing.T) {
	known := abi.Wrap(abi.CodeExhausted, soon{2500 * time.Millisecond}, "full")
	for want, err := range map[string]error{"": abi.Errorf(abi.CodeUnavailable, "x"), "3": fmt.Errorf("around: %w", known)} {
		w := httptest.NewRecorder()
		guard.Problem(w, request("GET", "/", ""), err)
		if got := w.Header().Get("Retry-After"); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	if got := guard.RetryAfter(guard.DetailsOf(known)); got != "3" {
		t.Errorf("of what is handed on: %q", got)
	}
}

func TestMux(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/rooms/{room}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.PathValue("room")) })
	mux.HandleFunc("GET /dir/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "dir") })
	h := guard.Mux(mux)
	ask := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(method, path, ""))
		return w
	}
	if w := ask("GET", "/v1/rooms/main"); w.Code != 200 || w.Body.String() != "main" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask("GET", "/nothing"); w.Code != 404 || details(t, w).Code != abi.CodeNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask("DELETE", "/v1/rooms/main"); w.Code != 405 || details(t, w).Code != abi.CodeInvalid || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
	if w := ask("GET", "/dir"); w.Code/100 != 3 || w.Header().Get("Location") != "/dir/" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
