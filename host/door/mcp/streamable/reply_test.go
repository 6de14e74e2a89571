package streamable

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAnswerIn(t *testing.T) {
	for _, tc := range []struct {
		event string
		want  string
	}{
		{eventHead + `{"jsonrpc":"2.0","id":1,"result":{}}` + eventTail, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{eventHead + `{"jsonrpc":"2.0","id":"a\"b","error":{"code":1}}` + eventTail, `{"jsonrpc":"2.0","id":"a\"b","error":{"code":1}}`},
		{eventHead + `{"jsonrpc":"2.0","id":-1.5e3,"result":{}}` + eventTail, `{"jsonrpc":"2.0","id":-1.5e3,"result":{}}`},
		{eventHead + `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 600) + `","result":{}}` + eventTail, ""},
		{eventHead + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + eventTail, ""},
		{eventHead + `{"jsonrpc":"2.0","id":"\",\"result\":","method":"ping"}` + eventTail, ""},
		{eventHead + `{"jsonrpc":"2.0","id":"open`, ""},
		{eventHead + `{"jsonrpc":"2.0","method":"x","params":{"id":1,"result":{}}}` + eventTail, ""},
		{eventHead + `{"jsonrpc":"2.0","id":1,"result":{}}`, ""},
		{eventHead + "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\ndata: 2" + eventTail, ""},
		{"id: 1\n" + eventHead + `{"jsonrpc":"2.0","id":1,"result":{}}` + eventTail, ""},
		{": ok\n\n", ""},
		{"", ""},
	} {
		if got := string(answerIn([]byte(tc.event))); got != tc.want {
			t.Errorf("%q: %q", tc.event, got)
		}
	}
}

// Whatever looks like a response is one.
func FuzzAnswerIn(f *testing.F) {
	f.Add(`1`, `"result":{}`)
	f.Add(`"a\\\"b"`, `"error":{}`)
	f.Add(`"x"`, `"method":"ping"`)
	f.Add(`"\",\"result\":"`, `"method":"m"`)
	f.Fuzz(func(t *testing.T, id, rest string) {
		body := `{"jsonrpc":"2.0","id":` + id + `,` + rest + `}`
		var m map[string]json.RawMessage
		if json.Unmarshal([]byte(body), &m) != nil || strings.ContainsAny(body, "\n\r") {
			return // the SDK writes JSON on one line
		}
		var scalar any
		if json.Unmarshal([]byte(id), &scalar) != nil || scalar == nil {
			return
		}
		got := answerIn([]byte(eventHead + body + eventTail))
		if got != nil && (string(got) != body || m["result"] == nil && m["error"] == nil) {
			t.Errorf("%s: %s", body, got)
		}
	})
}

func TestReply(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":1,"result":{}}`
	event := eventHead + answer + eventTail
	for _, tc := range []struct {
		name, ct string
		status   int
		writes   []string
		wantCT   string
		want     string
		length   string
	}{
		{"an answer", "text/event-stream", 0, []string{event}, "application/json", answer, "36"},
		{"a batch", "text/event-stream", 0, []string{event, event}, "text/event-stream", event + event, ""},
		{"a report first", "text/event-stream", 0, []string{": ok\n\n", event}, "text/event-stream", ": ok\n\n" + event, ""},
		{"nothing", "text/event-stream", 0, nil, "text/event-stream", "", "0"},
		{"an error", "text/plain", 400, []string{"no", "!"}, "text/plain", "no!", "3"},
		{"accepted", "", 202, nil, "", "", "0"},
		{"deleted", "", 204, nil, "", "", ""},
	} {
		w := httptest.NewRecorder()
		before := 0
		r := newReply(w, time.Second, func() {})
		r.before = func(http.Header) { before++ }
		if tc.ct != "" {
			r.Header().Set("Content-Type", tc.ct)
		}
		if tc.status != 0 {
			r.WriteHeader(tc.status)
			r.WriteHeader(500) // the first counts
		}
		for _, b := range tc.writes {
			if n, err := r.Write([]byte(b)); n != len(b) || err != nil {
				t.Errorf("%s: %d %v", tc.name, n, err)
			}
			if err := http.NewResponseController(r).Flush(); err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
		}
		r.finish(false)
		r.abort()
		if want := max(tc.status, 0); want != 0 && w.Code != want || want == 0 && w.Code != 200 {
			t.Errorf("%s: %d", tc.name, w.Code)
		}
		if w.Body.String() != tc.want || w.Header().Get("Content-Type") != tc.wantCT || w.Header().Get("Content-Length") != tc.length || before != 1 {
			t.Errorf("%s: %q %v, told %d times", tc.name, w.Body, w.Header(), before)
		}
	}
}

// broken is a client that has gone away.
type broken struct{ *httptest.ResponseRecorder }

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestReplyToNobody(t *testing.T) {
	ended := make(chan struct{})
	r := newReply(broken{httptest.NewRecorder()}, time.Second, func() { close(ended) })
	r.Header().Set("Content-Type", "text/event-stream")
	if _, err := r.Write([]byte(": ok\n\n")); err != nil {
		t.Error(err) // not known yet
	}
	<-ended
	if _, err := r.Write([]byte("more")); err == nil || err.Error() != "gone" {
		t.Errorf("%v", err)
	}
	r.finish(false)
}

// A panic half way sends no half answer; the guard answers then.
func TestReplyAborted(t *testing.T) {
	w := httptest.NewRecorder()
	r := newReply(w, time.Second, func() {})
	r.WriteHeader(400)
	_, _ = r.Write([]byte("half"))
	r.abort()
	if w.Body.Len() != 0 || w.Result().Header.Get("Content-Length") != "" {
		t.Errorf("%q", w.Body)
	}
}

// stuck is a client that takes nothing until it is let.
type stuck struct {
	*httptest.ResponseRecorder
	let chan struct{}
}

func (s stuck) Write(b []byte) (int, error) { <-s.let; return len(b), nil }

// What waits for a client is bounded, however large one event is.
func TestReplyBehind(t *testing.T) {
	let, ended := make(chan struct{}), make(chan struct{})
	r := newReply(stuck{httptest.NewRecorder(), let}, time.Hour, func() { close(ended) })
	r.Header().Set("Content-Type", "text/event-stream")
	event, taken := []byte(strings.Repeat("x", maxQueue/4)), 0
	var err error
	for ; err == nil && taken < 100; taken++ {
		_, err = r.Write(event)
	}
	<-ended
	if !errors.Is(err, errBehind) || taken < 5 || taken > 12 {
		t.Errorf("%d were taken: %v", taken, err)
	}
	close(let)
	r.finish(false)
}
