package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/bench/wire"
	"github.com/companiond/companiond/host/waittest"
)

// relay is a server that answers as a test wants it to.
type relay struct {
	*httptest.Server
	session string                             // named in the answer to initialize
	answer  func(w http.ResponseWriter, r ask) // to tools/call

	mu      sync.Mutex
	ids     map[int64]int
	asks    []ask
	deleted map[string]int
	conns   map[string]bool
}

// ask is a request as the relay saw it.
type ask struct {
	ID     *int64
	Method string
	Params struct {
		ProtocolVersion string
		Name            string
		Arguments       map[string]any
		Meta            map[string]any `json:"_meta"`
	}

	req    *http.Request
	header http.Header
}

func newRelay(t *testing.T, answer func(http.ResponseWriter, ask)) *relay {
	r := &relay{answer: answer, ids: map[int64]int{}, deleted: map[string]int{}, conns: map[string]bool{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.conns[req.RemoteAddr] = true
	if req.Method == http.MethodDelete {
		r.deleted[req.Header.Get("Mcp-Session-Id")]++
		r.mu.Unlock()
		return
	}
	r.mu.Unlock()
	a := ask{req: req, header: req.Header}
	if err := json.NewDecoder(req.Body).Decode(&a); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.asks = append(r.asks, a)
	if a.ID != nil && a.Method == "tools/call" {
		r.ids[*a.ID]++
	}
	n := len(r.asks)
	r.mu.Unlock()
	switch a.Method {
	case "initialize":
		if r.session != "" {
			w.Header().Set("Mcp-Session-Id", fmt.Sprint(r.session, n))
		}
		asJSON(w, `{"result":{"protocolVersion":"2025-06-18","capabilities":{}},"jsonrpc":"2.0","id":0}`)
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
	default:
		r.answer(w, a)
	}
}

func asJSON(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = io.WriteString(w, body)
}

func asStream(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, body)
}

// good answers a call with a result.
func good(result string) func(http.ResponseWriter, ask) {
	return func(w http.ResponseWriter, a ask) {
		asJSON(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, *a.ID, result))
	}
}

const status = `{"content":[{"type":"text","text":"{\"resource\":100}"}],"structuredContent":{"resource":100}}`

// quick measures as briefly as a machine allows that is as busy as this one is now.
func quick(url, tool string) settings {
	length := scaled(120 * time.Millisecond)
	return settings{url: url, tool: tool, conns: 3, length: length, warm: length / 6}
}

func scaled(idle time.Duration) time.Duration {
	return time.Duration(float64(idle) * waittest.Slowness()).Round(10 * time.Millisecond)
}

func mustRun(t *testing.T, s settings) (report, error) {
	t.Helper()
	r, first, err := run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r, first
}

func TestCountsAnswers(t *testing.T) {
	r := newRelay(t, good(status))
	s := quick(r.URL, "status")
	rep, first := mustRun(t, s)
	if first != nil || rep.Errors != 0 || rep.Refused != 0 {
		t.Fatalf("%+v, %v", rep, first)
	}
	if rep.Tool != "status" || rep.Conns != 3 || rep.Seconds != s.length.Seconds() {
		t.Errorf("%+v", rep)
	}
	// Calls made while warming up, and at the end, are not counted.
	if all := len(r.ids); rep.Requests == 0 || rep.Requests >= all {
		t.Errorf("%d of %d counted", rep.Requests, all)
	}
	if want := float64(rep.Requests) / s.length.Seconds(); rep.Rate < want-0.1 || rep.Rate > want+0.1 {
		t.Errorf("rps %v instead of %v", rep.Rate, want)
	}
	if rep.P50 <= 0 || rep.P99 < rep.P50 {
		t.Errorf("p50 %v, p99 %v", rep.P50, rep.P99)
	}
}

// server answers without a network, in the time that a call takes it.
type server time.Duration

func (s server) Ask(_ context.Context, _, send, _ []byte) (wire.Reply, error) {
	var a ask
	if err := json.Unmarshal(send, &a); err != nil {
		return wire.Reply{}, err
	}
	time.Sleep(time.Duration(s))
	w := httptest.NewRecorder()
	good(status)(w, a)
	return wire.Reply{Status: w.Code, Kind: w.Header().Get("Content-Type"), Body: w.Body.Bytes()}, nil
}

func (server) Close() {}

// Calls of 5 ms begin at 0, 5, 10 and so on, those of 200 ms at 0 and 200: one that began
// before the measuring or ended after it does not count.
func TestWhatCounts(t *testing.T) {
	for _, tc := range []struct{ each, from, until, counted int }{
		{5, 150, 200, 10}, {5, 0, 50, 10}, {5, 1, 54, 9}, {200, 0, 350, 1}, {200, 0, 400, 2}, {200, 1, 399, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSession(server(time.Duration(tc.each)*time.Millisecond), &url.URL{Scheme: "http", Host: "localhost"})
			body, err := newCall(settings{tool: "status"})
			if err != nil {
				t.Fatal(err)
			}
			at := func(ms int) time.Time { return time.Now().Add(time.Duration(ms) * time.Millisecond) }
			got := loop(t.Context(), s, body, 1, 1, at(tc.from), at(tc.until))
			if len(got.took) != tc.counted || got.errors != 0 || got.first != nil {
				t.Errorf("%+v: %+v", tc, got)
			}
			for _, took := range got.took {
				if took != time.Duration(tc.each)*time.Millisecond {
					t.Errorf("%+v: a call took %v", tc, took)
				}
			}
		})
	}
}

func TestIDsAreUnique(t *testing.T) {
	r := newRelay(t, good(status))
	mustRun(t, quick(r.URL, "status"))
	for id, n := range r.ids {
		if n != 1 {
			t.Errorf("id %d was used %d times", id, n)
		}
	}
}

func TestKeepsItsConnections(t *testing.T) {
	r := newRelay(t, good(status))
	mustRun(t, quick(r.URL, "status"))
	if n := len(r.conns); n > 3 {
		t.Errorf("%d connections for 3 sessions", n)
	}
}

func TestSessions(t *testing.T) {
	r := newRelay(t, good(status))
	r.session = "s-"
	mustRun(t, quick(r.URL, "status"))
	used := map[string]bool{}
	for _, a := range r.asks {
		if a.header.Get("Accept") != "application/json, text/event-stream" || a.header.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: header %v", a.Method, a.header)
		}
		if a.Method == "initialize" {
			if a.Params.ProtocolVersion != wire.Era || a.header.Get("Mcp-Session-Id") != "" {
				t.Errorf("initialize: %+v", a)
			}
			continue
		}
		if got := a.header.Get("Mcp-Protocol-Version"); got != "2025-06-18" {
			t.Fatalf("%s: version %q instead of the server's", a.Method, got)
		}
		used[a.header.Get("Mcp-Session-Id")] = true
	}
	if len(used) != 3 || used[""] {
		t.Errorf("sessions %v", used)
	}
	for id := range used {
		if r.deleted[id] != 1 {
			t.Errorf("session %s was ended %d times", id, r.deleted[id])
		}
	}
}

func TestWithoutSessions(t *testing.T) {
	r := newRelay(t, good(status))
	mustRun(t, quick(r.URL, "status"))
	if len(r.deleted) != 0 {
		t.Errorf("ended %v", r.deleted)
	}
}

// In the revision without sessions each call says for itself what a session would know.
func TestTheRevisionWithoutSessions(t *testing.T) {
	r := newRelay(t, good(status))
	s := quick(r.URL, "status")
	s.bare = true
	if rep, first := mustRun(t, s); first != nil || rep.Requests == 0 || rep.Era != "2026-07-28" {
		t.Errorf("%+v, %v", rep, first)
	}
	for _, a := range r.asks {
		if a.Method != "tools/call" || a.Params.Meta["io.modelcontextprotocol/protocolVersion"] != "2026-07-28" || a.Params.Meta["io.modelcontextprotocol/clientCapabilities"] == nil {
			t.Fatalf("%+v", a)
		}
		for name, want := range map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "status", "Mcp-Session-Id": ""} {
			if got := a.header.Get(name); got != want {
				t.Fatalf("%s: %q instead of %q", name, got, want)
			}
		}
	}
	if len(r.deleted) != 0 {
		t.Errorf("ended %v", r.deleted)
	}
}

func TestStreams(t *testing.T) {
	for name, form := range map[string]string{
		"plain":        "event: message\ndata: MSG\n\n",
		"no end":       "data: MSG",
		"CRLF":         "event: message\r\nid: 1\r\ndata: MSG\r\n\r\n",
		"primed":       "id: 0\ndata:\n\nid: 1\ndata: MSG\n\n",
		"notification": "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"id\":7}}\n\ndata: MSG\n\n",
		"request":      "data: {\"id\":1,\"method\":\"ping\",\"jsonrpc\":\"2.0\"}\n\n: comment\n\ndata: MSG\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRelay(t, func(w http.ResponseWriter, a ask) {
				asStream(w, strings.ReplaceAll(form, "MSG", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, *a.ID, status)))
			})
			if rep, first := mustRun(t, quick(r.URL, "status")); first != nil || rep.Requests == 0 {
				t.Errorf("%+v, %v", rep, first)
			}
		})
	}
}

// Each of these is an error for every call.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, ask)
		want   string
	}{
		"wrong id":     {func(w http.ResponseWriter, a ask) { *a.ID++; good(status)(w, a) }, "id "},
		"id as a text": {func(w http.ResponseWriter, a ask) { asJSON(w, fmt.Sprintf(`{"id":"%d","result":{}}`, *a.ID)) }, "id "},
		"no id":        {func(w http.ResponseWriter, a ask) { asJSON(w, `{"result":{}}`) }, "id "},
		"too many":     {func(w http.ResponseWriter, a ask) { http.Error(w, "slow down", http.StatusTooManyRequests) }, "429"},
		"fault":        {func(w http.ResponseWriter, a ask) { http.Error(w, "oh", http.StatusInternalServerError) }, "500"},
		"moved":        {func(w http.ResponseWriter, a ask) { http.Redirect(w, a.req, "/else", http.StatusTemporaryRedirect) }, "307"},
		"tool error":   {good(`{"content":[{"type":"text","text":"isError"}],"isError":true}`), "isError"},
		"RPC error":    {func(w http.ResponseWriter, a ask) { asJSON(w, fmt.Sprintf(`{"id":%d,"error":{"code":-32602}}`, *a.ID)) }, "-32602"},
		"no result":    {func(w http.ResponseWriter, a ask) { asJSON(w, fmt.Sprintf(`{"id":%d}`, *a.ID)) }, "no result"},
		"no JSON":      {func(w http.ResponseWriter, a ask) { asJSON(w, `hello`) }, "id "},
		"nothing":      {func(w http.ResponseWriter, a ask) {}, "id "},
		"empty stream": {func(w http.ResponseWriter, a ask) { asStream(w, "data:\n\n") }, "no response"},
		"wrong id in a stream": {func(w http.ResponseWriter, a ask) {
			asStream(w, fmt.Sprintf("data: {\"id\":%d,\"result\":{}}\n\n", *a.ID+3))
		}, "id "},
		"cut off": {func(w http.ResponseWriter, a ask) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRelay(t, c.answer)
			rep, first := mustRun(t, quick(r.URL, "status"))
			if rep.Errors == 0 || rep.Requests != 0 || first == nil || !strings.Contains(first.Error(), c.want) {
				t.Errorf("%+v, %v", rep, first)
			}
		})
	}
}

// isError in the words of an answer is no error, and false is not true.
func TestNoErrors(t *testing.T) {
	for name, result := range map[string]string{
		"said false":   `{"isError":false,"content":[]}`,
		"only in text": `{"content":[{"type":"text","text":"\"isError\":true"}]}`,
		"deeper":       `{"content":[{"isError":true,"error":1}],"structuredContent":{"isError":true}}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRelay(t, good(result))
			if rep, first := mustRun(t, quick(r.URL, "history")); first != nil || rep.Requests == 0 {
				t.Errorf("%+v, %v", rep, first)
			}
		})
	}
}

func TestConsume(t *testing.T) {
	r := newRelay(t, good(`{"content":[],"structuredContent":{"success":false,"resource":0,"message":"Not enough resource."}}`))
	s := quick(r.URL, "consume")
	s.amount = 5
	rep, first := mustRun(t, s)
	if first != nil || rep.Refused != rep.Requests || rep.Refused == 0 {
		t.Errorf("%+v, %v: a refusal is an answer, and is counted", rep, first)
	}
	lines := map[any]bool{}
	for _, a := range r.asks {
		if a.Method != "tools/call" {
			continue
		}
		args := a.Params.Arguments
		if keys := slices.Sorted(maps.Keys(args)); !slices.Equal(keys, []string{"amount", "from", "message"}) || args["amount"] != 5.0 {
			t.Fatalf("arguments %v", args)
		}
		if lines[args["message"]] {
			t.Fatalf("%v was said twice", args["message"])
		}
		lines[args["message"]] = true
	}
}

// A server that never answers does not keep the program.
func TestStopsByItself(t *testing.T) {
	r := newRelay(t, func(_ http.ResponseWriter, a ask) { <-a.req.Context().Done() })
	s := quick(r.URL, "status")
	start := time.Now()
	rep, first := mustRun(t, s)
	if took := time.Since(start); waittest.Late(took, s.warm+s.length+stuck+2*time.Second) {
		t.Errorf("it took %v", took)
	}
	if rep.Requests != 0 || first == nil {
		t.Errorf("%+v, %v", rep, first)
	}
}

func TestCommand(t *testing.T) {
	r := newRelay(t, good(status))
	var out, errOut bytes.Buffer
	code := doMain([]string{"-url", r.URL, "-tool", "history", "-c", "2", "-d", scaled(60 * time.Millisecond).String(), "-warm", "0s"}, &out, &errOut)
	if code != 0 || errOut.Len() != 0 || strings.Count(out.String(), "\n") != 1 {
		t.Fatalf("%d: %s%s", code, out.String(), errOut.String())
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"c", "era", "errors", "p50_ms", "p99_ms", "refused", "requests", "rps", "seconds", "tool"}
	if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, want) || got["tool"] != "history" || got["c"] != 2.0 {
		t.Errorf("%s", out.String())
	}
}

// The line is printed and the command fails, where answers were wrong.
func TestCommandFails(t *testing.T) {
	r := newRelay(t, good(`{"isError":true}`))
	var out, errOut bytes.Buffer
	code := doMain([]string{"-url", r.URL, "-d", "50ms", "-warm", "0s"}, &out, &errOut)
	if code != 1 || !strings.HasPrefix(out.String(), `{"tool":"status"`) || !strings.Contains(errOut.String(), "first error") {
		t.Errorf("%d: %s%s", code, out.String(), errOut.String())
	}
	r.Close()
	out.Reset()
	if code := doMain([]string{"-url", r.URL}, &out, &errOut); code != 1 || out.Len() != 0 || !strings.Contains(errOut.String(), "initialize") {
		t.Errorf("%d: %s%s", code, out.String(), errOut.String())
	}
}

func TestRefusesToStart(t *testing.T) {
	for _, args := range [][]string{
		{"-url", "http://192.0.2.1:3000/mcp"},
		{"-url", "http://0.0.0.0:3000/mcp"},
		{"-url", "http://example.com/mcp"},
		{"-url", "http://localhost.example.com/mcp"},
		{"-url", "http://127.0.0.1@example.com/mcp"},
		{"-url", "https://127.0.0.1/mcp"},
		{"-url", "//127.0.0.1/mcp"},
		{"-url", ":"},
		{"-tool", "say"},
		{"-c", "0"},
		{"-c", "5000"},
		{"-d", "0s"},
		{"-d", "1h"},
		{"-warm", "-1s"},
		{"-what"},
		{"status"},
	} {
		var out, errOut bytes.Buffer
		if code := doMain(args, &out, &errOut); code != 2 || out.Len() != 0 || errOut.Len() == 0 {
			t.Errorf("%v: %d, %s%s", args, code, out.String(), errOut.String())
		}
	}
	for _, good := range []string{"http://127.0.0.1:3000/mcp", "http://127.9.9.9/", "http://[::1]:80/mcp", "http://localhost:3000/mcp"} {
		if err := (settings{url: good, tool: "status", conns: 1, length: 1}).check(0); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

func TestPercentile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1)*time.Millisecond)
	}
	for _, c := range []struct {
		in    []time.Duration
		share float64
		want  float64
	}{
		{nil, 0.5, 0}, {hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100}, {hundred, 0, 1},
		{hundred[:1], 0.99, 1}, {hundred[:2], 0.5, 1}, {hundred[:3], 0.99, 3}, {[]time.Duration{1234567}, 0.5, 1.235},
	} {
		if got := percentile(c.in, c.share); got != c.want {
			t.Errorf("%d values, %v: %v instead of %v", len(c.in), c.share, got, c.want)
		}
	}
}
