package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// asked is one request that a fake endpoint got.
type asked struct {
	path   string
	header http.Header
	raw    string
	body   map[string]any
}

// get finds a value in the body: "messages.0.content".
func (a asked) get(path string) any {
	var v any = a.body
	for step := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// fake is an endpoint. Each request is answered by the next of its answers, the last one for ever.
type fake struct {
	t       *testing.T
	server  *httptest.Server
	mu      sync.Mutex
	answers []http.HandlerFunc
	got     []asked
}

func newFake(t *testing.T, answers ...http.HandlerFunc) *fake {
	f := &fake{t: t, answers: answers}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	a := asked{path: r.Method + " " + r.URL.Path, header: r.Header, raw: string(raw)}
	if err := json.Unmarshal(raw, &a.body); err != nil {
		f.t.Errorf("the request is no JSON: %v\n%s", err, raw)
	}
	f.mu.Lock()
	f.got = append(f.got, a)
	answer := f.answers[0]
	if len(f.answers) > 1 {
		f.answers = f.answers[1:]
	}
	f.mu.Unlock()
	answer(w, r)
}

func (f *fake) requests() []asked {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]asked(nil), f.got...)
}

// last gives the newest request; n of them must have come.
func (f *fake) last(n int) asked {
	f.t.Helper()
	got := f.requests()
	if len(got) != n {
		f.t.Fatalf("%d requests came, want %d", len(got), n)
	}
	return got[n-1]
}

// client makes a client of the fake endpoint. change may be nil.
func (f *fake) client(api string, change func(*Config)) Client {
	f.t.Helper()
	c := Config{Name: "main", API: api, URL: f.server.URL, Model: "tiny", HTTP: f.server.Client(),
		Timeout: time.Minute, Retries: 2, Parallel: 4, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&c)
	}
	client := New(c)
	client.(*endpoint).pause = func(int, time.Duration) time.Duration { return time.Millisecond } // see time_test.go
	return client
}

// sse streams events, each of which is the data of one, or "name: data" lines when it has a newline.
func sse(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			send(w, e)
		}
	}
}

func send(w http.ResponseWriter, e string) {
	if !strings.Contains(e, "\n") {
		e = "data: " + e
	}
	fmt.Fprint(w, e+"\n\n")
	w.(http.Flusher).Flush()
}

// status refuses.
func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// hangUp cuts the connection after some events.
func hangUp(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sse(events...)(w, r)
		panic(http.ErrAbortHandler)
	}
}

// stall sends events and then nothing until the client is gone.
func stall(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sse(events...)(w, r)
		<-r.Context().Done()
	}
}

func jsonString(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// textChunk is a piece of text as OpenAI streams it, finish how it says why it ends.
func textChunk(text string) string {
	return `{"id":"x","object":"chat.completion.chunk","created":1,"model":"tiny","choices":[{"index":0,"delta":{"content":` + jsonString(text) + `},"finish_reason":null}]}`
}

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func usageChunk(in, out, cached int) string {
	return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":%d}}}`, in, out, cached)
}

// says answers a whole text.
func says(text string) http.HandlerFunc {
	return sse(textChunk(text), finish("stop"), usageChunk(10, 2, 0), "[DONE]")
}

// ask is a request that says hello.
func ask() Request { return Request{Messages: []Message{{Role: RoleUser, Text: "hello"}}} }

// generate asks and gives what was heard.
func generate(t *testing.T, c Client, req Request) (Answer, string, error) {
	t.Helper()
	var heard strings.Builder
	a, err := c.Generate(t.Context(), req, func(d string) error { heard.WriteString(d); return nil })
	if err == nil && req.Schema == nil && heard.String() != a.Text {
		t.Errorf("heard %q, the answer is %q", heard.String(), a.Text)
	}
	return a, heard.String(), err
}

// wantErr demands an error of a code with words.
func wantErr(t *testing.T, err error, code abi.Code, words ...string) {
	t.Helper()
	var coded *abi.Error
	if !errors.As(err, &coded) {
		t.Fatalf("%v is no *abi.Error", err)
	}
	if coded.Code != code {
		t.Errorf("the code of %q is %s, want %s", err, coded.Code, code)
	}
	if want := code == abi.CodeUnavailable || code == abi.CodeTimeout; coded.Retry != want {
		t.Errorf("%q: retry is %v", err, coded.Retry)
	}
	for _, w := range append(words, "model main: ") {
		if !strings.Contains(coded.Message, w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

// tripper is an endpoint within a bubble of fake time, where there are no sockets.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	return f(r)
}

// respond makes an answer of a tripper. An error ends the body in place of io.EOF.
func respond(r *http.Request, code int, body io.Reader, header ...string) *http.Response {
	resp := &http.Response{StatusCode: code, Status: http.StatusText(code), Header: http.Header{}, Request: r, Body: io.NopCloser(body)}
	for i := 0; i+1 < len(header); i += 2 {
		resp.Header.Set(header[i], header[i+1])
	}
	return resp
}

// drip is a body that gives one event after the other, each after a pause, for ever. It ends with the
// request's context, as a connection does.
type drip struct {
	ctx   context.Context
	event string
	every time.Duration
}

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-time.After(d.every):
		return copy(p, d.event), nil
	}
}

func bubbleClient(t *testing.T, trip tripper, change func(*Config)) Client {
	t.Helper()
	c := Config{Name: "main", API: OpenAI, URL: "http://model.test/v1", Model: "tiny", HTTP: &http.Client{Transport: trip},
		Timeout: time.Minute, Retries: 2, Parallel: 4, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&c)
	}
	return New(c)
}

// fuzzClient is a client whose endpoint always sends body.
func fuzzClient(t *testing.T, api string, body []byte) Client {
	trip := tripper(func(r *http.Request) (*http.Response, error) {
		return respond(r, 200, strings.NewReader(string(body))), nil
	})
	return bubbleClient(t, trip, func(c *Config) { c.API, c.URL, c.Retries = api, "http://model.test", 0 })
}
