package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// The table says what each failure of an endpoint becomes, and how often it is asked.
func TestFailures(t *testing.T) {
	none := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		code   abi.Code
		calls  int
		words  string
	}{
		"400":                 {status(400, `{"error":{"message":"context too long","code":"too_long"}}`), abi.CodeInvalid, 1, "refuses the request (400): context too long (too_long)"},
		"422, FastAPI":        {status(422, `{"detail":[{"loc":["body","messages"],"msg":"Field required"}]}`), abi.CodeInvalid, 1, "Field required"},
		"401":                 {status(401, `{"error":{"message":"Incorrect API key"}}`), abi.CodeDenied, 1, "refuses the key (401): Incorrect API key"},
		"402":                 {status(402, `{"error":"out of credits"}`), abi.CodeDenied, 1, "out of credits"},
		"403":                 {status(403, ``), abi.CodeDenied, 1, "(403)"},
		"404, Ollama":         {status(404, `{"error":{"message":"model \"tiny\" not found, try pulling it first"}}`), abi.CodeInvalid, 1, "try pulling it first"},
		"413":                 {status(413, `too big`), abi.CodeTooLarge, 1, "413"},
		"408":                 {status(408, ``), abi.CodeUnavailable, 3, "failed (408)"},
		"429":                 {status(429, `{"error":{"message":"slow down"}}`, "Retry-After-Ms", "5"), abi.CodeUnavailable, 3, "rate limited, asked to wait 5ms: slow down"},
		"429, no money":       {status(429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`), abi.CodeUnavailable, 1, "insufficient_quota"},
		"500, a page":         {status(500, "<html>\n<b>oops</b>\x00\n"), abi.CodeUnavailable, 3, "failed (500): <html> <b>oops</b>"},
		"503, llama.cpp":      {status(503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`), abi.CodeUnavailable, 3, "Loading model"},
		"529":                 {status(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), abi.CodeUnavailable, 3, "failed (529): Overloaded"},
		"hangs up":            {none, abi.CodeUnavailable, 3, "cannot reach the endpoint"},
		"hangs up at once":    {hangUp(), abi.CodeUnavailable, 3, "EOF"},
		"an empty answer":     {sse(), abi.CodeUnavailable, 3, "without an answer"},
		"breaks off":          {hangUp(`{"choices":[{"index":0,"delta":{"role":"assistant"}}]}`), abi.CodeUnavailable, 3, "broke off within its answer"},
		"ends too early":      {sse(`{"choices":[{"index":0,"delta":{"role":"assistant"}}]}`), abi.CodeUnavailable, 3, "broke off within its answer"},
		"ends within JSON":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "data: {\"choices\":[") }, abi.CodeUnavailable, 3, "broke off within its answer"},
		"no JSON":             {status(200, "{malformed json: <<<chaos>>>"), abi.CodeInvalid, 1, "cannot be read: invalid character"},
		"no JSON in an event": {sse(`{"choices":`), abi.CodeInvalid, 1, "cannot be read"},
		"JSON of other kinds": {sse(`{"choices":"no"}`), abi.CodeInvalid, 1, "cannot be read"},
		"a web page":          {status(200, "<!doctype html><title>Welcome</title>"), abi.CodeInvalid, 1, "is url its base"},
		"a redirect":          {status(307, "", "Location", "https://elsewhere.example/v1?x=1"), abi.CodeInvalid, 1, "url: the endpoint sends on to https://elsewhere.example, "},
		"an error in between": {sse(`{"error":{"message":"out of memory","type":"server_error","code":500}}`), abi.CodeUnavailable, 3, "failed (500): out of memory"},
		"one by its name":     {sse("event: error\ndata: {\"message\":\"no such tool\",\"code\":400}"), abi.CodeInvalid, 1, "(400): no such tool"},
		"old vLLM":            {sse(`{"object":"error","message":"prompt too long","type":"BadRequestError","code":400}`), abi.CodeInvalid, 1, "(400): prompt too long"},
		"another":             {sse("event: error\ndata: {\"error\":{\"message\":\"no such tool\",\"type\":\"invalid_request_error\"}}"), abi.CodeInvalid, 1, "no such tool"},
		"one without code":    {sse(`{"error":"it broke"}`), abi.CodeUnavailable, 3, "failed (502): it broke"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, c.answer)
			client := f.client(OpenAI, nil)
			a, heard, err := generate(t, client, ask())
			wantErr(t, err, c.code, c.words)
			if n := len(f.requests()); n != c.calls || a.Usage.Calls != n || heard != "" {
				t.Errorf("%d requests, %d counted, want %d; heard %q", n, a.Usage.Calls, c.calls, heard)
			}
			if a.Text != "" || a.Usage.In != 0 || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("answer %+v, error %q", a, err)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	f := newFake(t, says("x"))
	client := f.client(OpenAI, func(c *Config) { c.Retries = 0 })
	f.server.Close()
	_, err := client.Generate(t.Context(), ask(), nil)
	wantErr(t, err, abi.CodeUnavailable, "cannot reach the endpoint", "connection refused")
}

// A failure that passes is not seen.
func TestAskedAgain(t *testing.T) {
	f := newFake(t, status(429, "", "Retry-After-Ms", "1"), hangUp(textChunk("")), says("Hello."))
	a, heard, err := generate(t, f.client(OpenAI, nil), ask())
	if err != nil || heard != "Hello." || a.Usage.Calls != 3 {
		t.Errorf("%q, %+v, %v", heard, a, err)
	}
}

// Text that was told is not told twice, and not unsaid.
func TestNeverAgainOnceTold(t *testing.T) {
	f := newFake(t, hangUp(textChunk("Hel")), says("Hello."))
	a, heard, err := generate(t, f.client(OpenAI, nil), ask())
	wantErr(t, err, abi.CodeUnavailable, "broke off within its answer")
	if heard != "Hel" || len(f.requests()) != 1 {
		t.Errorf("heard %q in %d requests", heard, len(f.requests()))
	}
	if a.Usage.Out == 0 || !a.Usage.Estimated {
		t.Errorf("the tokens of the cut answer are not counted: %+v", a.Usage)
	}
}

// Where nobody listens nothing is told, so a cut answer is asked for again.
func TestAgainWhereNobodyListens(t *testing.T) {
	f := newFake(t, hangUp(textChunk("Hel")), says("Hello."))
	a, err := f.client(OpenAI, nil).Generate(t.Context(), ask(), nil)
	if err != nil || a.Text != "Hello." || !a.Usage.Estimated || a.Usage.Calls != 2 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestListenerEndsTheCall(t *testing.T) {
	lost := abi.Errorf(abi.CodeDenied, "the floor is lost")
	gone := make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		stall(textChunk("a"), textChunk("b"))(w, r)
		close(gone)
	})
	var heard []string
	a, err := f.client(OpenAI, nil).Generate(t.Context(), ask(), func(d string) error { heard = append(heard, d); return lost })
	if err != error(lost) || len(heard) != 1 || a.Usage.Calls != 1 {
		t.Errorf("%v, heard %q, %+v", err, heard, a)
	}
	<-gone // the model was cancelled
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake(t, stall(textChunk("a")))
	_, err := f.client(OpenAI, nil).Generate(ctx, ask(), func(string) error { cancel(); return nil })
	wantErr(t, err, abi.CodeUnavailable, "given up")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not say that it was cancelled", err)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	flood := textChunk(strings.Repeat("あ", 10000))
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, "data: "+flood+"\n\n"); err != nil {
				return
			}
		}
	}
	line := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, "data: ", strings.Repeat("x", 1<<16)); err != nil {
				return
			}
		}
	}
	refusal := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		line(w, r)
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		code   abi.Code
	}{"events": {endless, abi.CodeTooLarge}, "one line": {line, abi.CodeTooLarge}, "a refusal": {refusal, abi.CodeInvalid}} {
		f := newFake(t, c.answer)
		_, err := f.client(OpenAI, nil).Generate(t.Context(), ask(), nil)
		wantErr(t, err, c.code)
		if len(f.requests()) != 1 || len(err.Error()) > 500 {
			t.Errorf("%s: %d requests, %.600s", name, len(f.requests()), err)
		}
	}
}

// A connection is used again: what follows the end of a stream is read.
func TestConnectionIsKept(t *testing.T) {
	var from sync.Map
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		from.Store(r.RemoteAddr, true)
		says("Hello.")(w, r)
	})
	client := f.client(OpenAI, nil)
	for range 5 {
		if _, _, err := generate(t, client, ask()); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	from.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("five calls took %d connections", n)
	}
}

// A server that does not close after the end does not hold the caller up.
func TestEndIsTheEnd(t *testing.T) {
	f := newFake(t, stall(textChunk("Hello."), finish("stop"), "[DONE]"))
	begun := time.Now()
	if _, _, err := generate(t, f.client(OpenAI, nil), ask()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Calls leave no goroutine behind, however they end.
func TestNothingIsLeft(t *testing.T) {
	f := newFake(t, says("x"), hangUp(textChunk("x")), status(500, ""), stall())
	client := f.client(OpenAI, func(c *Config) { c.Timeout, c.FirstByte, c.Retries = time.Second, 50*time.Millisecond, 0 })
	before := runtime.NumGoroutine()
	for range 4 {
		_, _ = client.Generate(t.Context(), ask(), nil) // it may fail
	}
	f.server.CloseClientConnections()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if n := runtime.NumGoroutine(); n <= before+2 {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", n, before)
		}
	}
}

// Parallel calls share what was learned, and nothing else.
func TestManyAtOnce(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) { says("Hello.")(w, r) })
	client := f.client(OpenAI, func(c *Config) { c.Parallel = 8 })
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			if a, err := client.Generate(context.Background(), ask(), func(string) error { return nil }); err != nil || a.Text != "Hello." {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
	wg.Wait()
}
