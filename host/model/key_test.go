package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/logtest"
)

const secret = "sk-secret/with+all=9"

// hides demands that nothing that comes out of a call has the key, however it is written: not the
// answer, not the error nor what caused it, not the log, not what was heard.
func hides(t *testing.T, log *logtest.Log, a Answer, heard string, err error) {
	t.Helper()
	answer, marshalErr := json.Marshal(struct {
		Text, JSON, Stop string
		Calls            []string
	}{a.Text, string(a.JSON), a.Stop, callTexts(a.Calls)})
	if marshalErr != nil {
		t.Fatal(marshalErr)
	}
	all := []string{string(answer), heard, log.String()}
	for e := err; e != nil; e = errors.Unwrap(e) {
		all = append(all, e.Error(), fmt.Sprintf("%+v", e))
	}
	for _, out := range all {
		for _, k := range []string{secret, strings.ToLower(secret), "sk-secret%2Fwith%2Ball%3D9", "sk-secret/with"} {
			if strings.Contains(out, k) {
				t.Errorf("the key is in %s", out)
			}
		}
	}
}

func callTexts(all []ToolCall) (out []string) {
	for _, c := range all {
		out = append(out, c.ID+c.Name+string(c.Arguments))
	}
	return out
}

// A server that echoes the key wherever it can does not get it into anything we say.
func TestKeyIsHidden(t *testing.T) {
	echo := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			key := strings.TrimPrefix(r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"), "Bearer ")
			if key != secret {
				t.Errorf("the key that came is %q", key)
			}
			w.Header().Set("Retry-After-Ms", "1")
			w.Header().Set("Location", "http://"+key+".example/"+key)
			status(code, strings.ReplaceAll(body, "KEY", key))(w, r)
		}
	}
	text := func(s string) string { return "data: " + textChunk(s) + "\n\n" }
	for name, c := range map[string]http.HandlerFunc{
		"refusal":            echo(401, `{"error":{"message":"Incorrect API key: KEY","code":"KEY","param":"KEY"}}`),
		"refusal as text":    echo(400, `no such key: KEY`),
		"refusal in a list":  echo(422, `{"detail":[{"input":"KEY"}]}`),
		"refusal, long":      echo(400, strings.Repeat("x", 300-18)+"KEY"),
		"error, long":        echo(200, `data: {"error":{"message":"`+strings.Repeat("x", 300-18)+`KEY"}}`+"\n\n"),
		"failure":            echo(500, `KEY`),
		"rate":               echo(429, `{"error":"KEY"}`),
		"redirect":           echo(302, ``),
		"no JSON":            echo(200, `{KEY`),
		"error in a stream":  echo(200, `data: {"error":{"message":"KEY"}}`+"\n\n"),
		"text":               echo(200, text("I am KEY!")+"data: [DONE]\n\n"),
		"text in pieces":     echo(200, text("I am sk-secr")+text("et/with+al")+text("l=9!")+"data: [DONE]\n\n"),
		"text around":        echo(200, text("sk-secr<think>a</think>")+text("et/with+all=9")+"data: [DONE]\n\n"),
		"text, cut":          echo(200, text("KE")+text("KEY")),
		"calls":              echo(200, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"id":"KEY","function":{"name":"KEY","arguments":"{\"a\":\"KEY\"}"}}]}}]}`+"\n\ndata: [DONE]\n\n"),
		"a structured thing": echo(200, text(`{"state":"KEY"}`)+"data: [DONE]\n\n"),
		"a page":             echo(200, `<p>KEY</p>`),
		"Claude's error":     echo(200, `data: {"type":"error","error":{"type":"api_error","message":"KEY"}}`+"\n\n"),
		"Claude's text":      echo(200, `{"type":"message","content":[{"type":"text","text":"KEY"},{"type":"tool_use","id":"KEY","name":"a","input":{"a":"KEY"}}],"stop_reason":"end_turn"}`),
	} {
		for _, api := range []string{OpenAI, Anthropic} {
			for _, req := range []Request{ask(), voteRequest()} {
				f := newFake(t, c)
				log := &logtest.Log{}
				client := f.client(api, func(c *Config) {
					c.Key = func() (string, error) { return secret, nil }
					c.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
					c.Retries = 1
				})
				var heard strings.Builder
				a, err := client.Generate(t.Context(), req, func(d string) error { heard.WriteString(d); return nil })
				t.Run(fmt.Sprintf("%s, %s, structured %v", name, api, req.Schema != nil), func(t *testing.T) { hides(t, log, a, heard.String(), err) })
			}
		}
	}
}

// A server that speaks no HTTP is quoted by net/http, the key with it.
func TestKeyIsHiddenWhereThereIsNoHTTP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 4096)
			_, _ = c.Read(buf)
			fmt.Fprintf(c, "HTTX %s\r\n\r\n", secret)
			c.Close()
		}
	}()
	log := &logtest.Log{}
	client := New(Config{Name: "main", API: OpenAI, URL: "http://" + l.Addr().String(), Model: "x", Timeout: time.Minute, Parallel: 1,
		Key: func() (string, error) { return secret, nil }, Log: slog.New(slog.NewTextHandler(log, nil)),
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	a, err := client.Generate(t.Context(), ask(), nil)
	if err == nil || !strings.Contains(err.Error(), "***") {
		t.Errorf("%v", err)
	}
	hides(t, log, a, "", err)
}

// A redirect is followed nowhere, so the key goes nowhere.
func TestKeyStaysWithItsHost(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was asked, with %v", r.Header)
	}))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		f := newFake(t, status(code, "", "Location", other.URL+"/v1/chat/completions"))
		_, err := f.client(OpenAI, func(c *Config) { c.Key = func() (string, error) { return secret, nil } }).Generate(t.Context(), ask(), nil)
		wantErr(t, err, abi.CodeInvalid, "url: the endpoint sends on to "+other.URL)
		f.last(1)
	}
}

// The key is read when it is used: a new one needs no restart.
func TestKeyIsReadAtEachUse(t *testing.T) {
	n := 0
	f := newFake(t, status(500, ""), says("x"))
	client := f.client(OpenAI, func(c *Config) {
		c.Key = func() (string, error) { n++; return fmt.Sprintf("key-number-%d", n), nil }
	})
	if _, _, err := generate(t, client, ask()); err != nil {
		t.Fatal(err)
	}
	if got := f.last(2).header.Get("Authorization"); got != "Bearer key-number-2" {
		t.Errorf("asked with %q", got)
	}
}

func TestKeyThatCannotBeUsed(t *testing.T) {
	f := newFake(t, says("x"))
	for _, c := range []struct {
		key  string
		err  error
		code abi.Code
		want string
	}{
		{"", errors.New("the file is not there"), abi.CodeUnavailable, "the key cannot be read: the file is not there"},
		{"two\nlines-of-key", nil, abi.CodeInvalid, "the key has a character"},
	} {
		_, err := f.client(OpenAI, func(conf *Config) { conf.Key = func() (string, error) { return c.key, c.err } }).Generate(context.Background(), ask(), nil)
		wantErr(t, err, c.code, c.want)
		if strings.Contains(err.Error(), "lines-of-key") {
			t.Error(err)
		}
	}
	if len(f.requests()) != 0 {
		t.Error("it was asked")
	}
}

// A model that does not answer is told of once for each reason, also where it is the key's
// file, and so is that it answers again. One that was asked in vain by a caller who went
// away is not.
func TestTroubleIsToldOnce(t *testing.T) {
	told := new(logtest.Log)
	f := newFake(t, status(500, "oh"), status(500, "oh"), status(401, "no"), greets(OpenAI), status(500, "oh"))
	missing := false
	client := f.client(OpenAI, func(c *Config) {
		c.Log, c.Retries = told.Logger(), 0
		c.Key = func() (string, error) {
			if missing {
				return "", errors.New("open nofile: no such file")
			}
			return secret, nil
		}
	})
	for i, c := range []struct{ warned, again int }{{1, 0}, {1, 0}, {2, 0}, {2, 1}, {3, 1}} {
		_, _, _ = generate(t, client, ask())
		if warned, again := told.Count("the model does not answer"), told.Count("the model answers again"); warned != c.warned || again != c.again {
			t.Errorf("request %d: told %d and %d times: %s", i+1, warned, again, told)
		}
	}
	missing = true
	_, _, _ = generate(t, client, ask())
	if told.Count("no such file") != 1 || strings.Contains(told.String(), secret) {
		t.Errorf("told %s", told)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := told.String()
	_, _ = client.Generate(ctx, ask(), nil)
	if told.String() != before {
		t.Errorf("told %s", strings.TrimPrefix(told.String(), before))
	}
}

// A model whose answer is of no use does answer, and the log says what it was asked for.
func TestAnAnswerOfNoUseIsNoTrouble(t *testing.T) {
	told := new(logtest.Log)
	f := newFake(t, greets(OpenAI), greets(OpenAI), greets(OpenAI), greets(OpenAI), greets(OpenAI))
	client := f.client(OpenAI, func(c *Config) { c.Log, c.Retries = told.Logger(), 0 })
	req := ask()
	req.Schema, req.SchemaName = json.RawMessage(`{"type":"object"}`), "verified"
	for range 2 {
		if _, err := client.Generate(t.Context(), req, nil); err == nil {
			t.Fatal("a greeting is an object")
		}
		_, _, _ = generate(t, client, ask())
	}
	if told.Count("an answer of the model cannot be used") != 1 || told.Count("asked_for=verified") != 1 || told.Count("does not answer") > 0 || told.Count("answers again") > 0 {
		t.Errorf("told %s", told)
	}
}
