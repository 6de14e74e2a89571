package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/stream"
)

// post sends to a server that answers so, and gives what came.
func post(t *testing.T, firstByte time.Duration, answer http.HandlerFunc) (got []string, err error) {
	t.Helper()
	server := httptest.NewServer(answer)
	defer server.Close()
	e := Endpoint{HTTP: server.Client(), URL: server.URL, FirstByte: firstByte, Sign: func(h http.Header, key string) { h.Set("Key", key) }}
	err = e.Post(t.Context(), "secret-key", []byte(`{"a":1}`), func(ev stream.Event) (bool, error) {
		got = append(got, string(ev.Data))
		return string(ev.Data) == stream.Done, nil
	})
	return got, err
}

// write answers with a status and a text.
func write(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

func TestPost(t *testing.T) {
	got, err := post(t, 0, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "data: "+string(body)+r.Header.Get("Key")+"\n\ndata: [DONE]\n\ndata: more\n\n")
	})
	if strings.Join(got, " ") != `{"a":1}secret-key [DONE]` || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if got, err := post(t, 0, write(200, "data: x\n\n")); len(got) != 1 || err != io.EOF { //nolint:errorlint // as the doc says
		t.Errorf("%q %v", got, err)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name      string
		firstByte time.Duration
		answer    http.HandlerFunc
		code      abi.Code
		again     bool
		status    int
		said      string // in lower case
		words     string
	}{
		{"nothing", 0, write(200, ""), abi.CodeUnavailable, true, 0, "", "closed the connection without an answer"},
		{"a page", 0, write(200, "<html>"), abi.CodeInvalid, false, 0, "", "is none of this API"},
		{"huge", 0, write(200, strings.Repeat("x", maxAnswer+1)), abi.CodeTooLarge, false, 0, "", "larger than 4 MiB"},
		{"late", 10 * time.Millisecond, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, abi.CodeTimeout, true, 0, "", "sent nothing within 10ms"},
		{"refused", 0, write(400, `{"error":{"message":"No secret-key Here","code":"c1"}}`), abi.CodeInvalid, false, 400, "no *** here (c1)", "(400): No *** Here (c1)"},
		{"busy", 0, write(503, `{"detail":"later"}`), abi.CodeUnavailable, true, 503, "later", "failed (503): later"},
		{"spent", 0, write(429, `{"error":{"message":"pay","code":"insufficient_quota"}}`), abi.CodeUnavailable, false, 429, "pay (insufficient_quota)", "rate limited"},
		{"elsewhere", 0, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://other.example/v1?k=secret-key", http.StatusFound)
		},
			abi.CodeInvalid, false, 302, "", "sends on to https://other.example,"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := c.answer
			if c.name == "late" {
				answer = func(w http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body); c.answer(w, r) } // or the server does not see it go
			}
			_, err := post(t, c.firstByte, answer)
			var f *Failure
			if !errors.As(err, &f) || f.Coded.Code != c.code || f.Again != c.again || f.Status != c.status || !strings.Contains(f.Said, c.said) || !strings.Contains(f.Coded.Message, c.words) {
				t.Errorf("%+v", err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the key is in %v", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := Endpoint{HTTP: http.DefaultClient, URL: "http://127.0.0.1:1", Sign: func(http.Header, string) {}}
	if err := e.Post(ctx, "", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// Each shape of a refusal says what is wrong.
func TestComplaint(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"no","code":"c","param":"p"}}`: "no (c) (p)", `{"error":{"message":"no c","code":"c"}}`: "no c",
		`{"error":"no"}`: "no", `{"error":null,"message":"no"}`: "no", `{"detail":"no"}`: "no", `{"detail":[{"msg":"no"}]}`: `[{"msg":"no"}]`, "no": "no", `{"x":1}`: `{"x":1}`,
	} {
		if got := complaint([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestReadable(t *testing.T) {
	for in, want := range map[string]string{"a\n\x00 b": "a b", "\xff": "?", strings.Repeat("あ", 200): strings.Repeat("あ", 100) + "..."} {
		if got := Readable(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header, value string
		want          time.Duration
	}{
		{"Retry-After", "3", 3 * time.Second},
		{"Retry-After", " 0.5 ", 500 * time.Millisecond},
		{"Retry-After", "Sat, 21 Nov 2026 10:00:07 GMT", 7 * time.Second},
		{"Retry-After", "Saturday, 21-Nov-26 10:00:07 GMT", 7 * time.Second},
		{"Retry-After", "Sat, 21 Nov 2026 09:00:00 GMT", 0},
		{"Retry-After", "soon", 0}, {"Retry-After", "", 0}, {"Retry-After", "-3", 0}, {"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", time.Hour}, {"Retry-After", "Inf", time.Hour},
		{"Retry-After", "3599", 3599 * time.Second}, {"Retry-After", "3601", time.Hour}, {"Retry-After", "1e400", time.Hour}, {"Retry-After", "-1e400", 0}, {"Retry-After", "-inf", 0},
		{"Retry-After", "Fri, 01 Jan 2100 00:00:00 GMT", time.Hour}, {"Retry-After", "Mon, 01 Jan 0001 00:00:00 GMT", 0}, {"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", time.Hour},
		{"Retry-After-Ms", "1e400", time.Hour}, {"Retry-After-Ms", "-1e400", 0},
		{"Retry-After-Ms", "20", 20 * time.Millisecond},
	} {
		h := http.Header{}
		h.Set(c.header, c.value)
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%s: %q is %v, want %v", c.header, c.value, got, c.want)
		}
	}
}

func TestStatusOf(t *testing.T) {
	for kind, want := range map[string]int{
		"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
		"timeout_error": 408, "request_too_large": 413, "rate_limit_error": 429, "overloaded_error": 529, "api_error": 0, "": 0,
	} {
		if got, known := statuses[kind]; got != want || known != (want != 0) {
			t.Errorf("%s: %d", kind, got)
		}
	}
}
