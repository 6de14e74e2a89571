package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// Every verb that talks to a daemon finds it in the same places, and shows the
// token of the environment there and nowhere else.
func TestWhereVerbsGo(t *testing.T) {
	t.Chdir(t.TempDir()) // no companiond.toml of the checkout's
	var got []string
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Host+" "+r.Header.Get("Authorization")+" "+r.Method+" "+r.URL.Path)
		_, _ = io.WriteString(w, `{"seq":7,"text":"because"}`)
	})
	server, other := httptest.NewServer(answer), httptest.NewServer(answer)
	defer server.Close()
	defer other.Close()
	at, there := server.Listener.Addr().String(), other.Listener.Addr().String()
	for name, tc := range map[string]struct {
		env  []string
		args string
		want string
	}{
		"door.listen of the environment": {[]string{"COMPANIOND_DOOR_LISTEN=" + at}, "stop", at + "  POST /v1/rooms/main/stop"},
		"with a token":                   {[]string{"COMPANIOND_DOOR_LISTEN=" + at, envToken + "=cmp_x"}, "stop", at + " Bearer cmp_x POST /v1/rooms/main/stop"},
		"the URL of the environment":     {[]string{"COMPANIOND_DOOR_LISTEN=" + there, envURL + "=" + at}, "why 7", at + "  GET /v1/rooms/main/entries/7/why"},
		"-url host:port":                 {[]string{envURL + "=http://" + there, envToken + "=cmp_x"}, "say -url " + at + " hello", at + " Bearer cmp_x POST /v1/rooms/main/messages"},
		"-url with a scheme, a slash":    {nil, "say -room den -url http://" + at + "/ hello", at + "  POST /v1/rooms/den/messages"},
	} {
		got = nil
		var errs bytes.Buffer
		if code := (&term{out: io.Discard, err: &errs, env: tc.env}).do(t.Context(), strings.Fields(tc.args)); code != exitOK {
			t.Errorf("%s: ended with %d: %s", name, code, &errs)
		}
		if len(got) != 1 || got[0] != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	// The configuration's address is used when nothing else names one.
	if err := os.WriteFile(defaultConfig, []byte("[door]\nlisten = \""+at+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got = nil
	if code := (&term{out: io.Discard, err: io.Discard}).do(t.Context(), []string{"stop"}); code != exitOK || len(got) != 1 || !strings.HasPrefix(got[0], at+" ") {
		t.Errorf("door.listen of the file: ended with %d, asked %q", code, got)
	}
}

// Asked for help in any of the usual ways, the program helps.
func TestHelp(t *testing.T) {
	for _, args := range []string{"help", "-h", "--help", "-help"} {
		var out, errs bytes.Buffer
		if code := (&term{out: &out, err: &errs}).do(t.Context(), []string{args}); code != exitOK || !strings.Contains(out.String(), "companiond say") || errs.Len() > 0 {
			t.Errorf("%s: ended with %d: %s%s", args, code, &out, &errs)
		}
	}
}

// - stands for what comes on standard input, as it does for other programs.
func TestSayWhatComesOnStandardInput(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Text string }
		_ = json.NewDecoder(r.Body).Decode(&in) // an empty text is what is told then
		got = in.Text
		_, _ = io.WriteString(w, `{"seq":7}`)
	}))
	defer server.Close()
	env := []string{envURL + "=" + server.URL}
	for in, want := range map[string]string{"こんにちは\n": "こんにちは", "two\nlines\r\n": "two\nlines", "  x": "  x", strings.Repeat("x", abi.MaxText) + "\n": strings.Repeat("x", abi.MaxText)} {
		got = ""
		var errs bytes.Buffer
		if code := (&term{in: strings.NewReader(in), out: io.Discard, err: &errs, env: env}).do(t.Context(), []string{"say", "-"}); code != exitOK || got != want {
			t.Errorf("%.20q: ended with %d, said %.20q: %s", in, code, got, &errs)
		}
	}
	got = ""
	for in, want := range map[string]int{"": exitUsage, " \n": exitUsage, strings.Repeat("x", abi.MaxText+1): exitFailed, "x" + strings.Repeat("\n", 3*abi.MaxText) + "y": exitFailed} {
		if code := (&term{in: strings.NewReader(in), out: io.Discard, err: io.Discard, env: env}).do(t.Context(), []string{"say", "-"}); code != want || got != "" {
			t.Errorf("%.20q: ended with %d, said %.20q", in, code, got)
		}
	}
	if code := (&term{out: io.Discard, err: io.Discard, env: env}).do(t.Context(), []string{"say", "-"}); code != exitUsage || got != "" {
		t.Errorf("without standard input: ended with %d, said %q", code, got)
	}
	if code := (&term{out: io.Discard, err: io.Discard, env: env}).do(t.Context(), []string{"say", "a", "-", "b"}); code != exitOK || got != "a - b" {
		t.Errorf("among words: ended with %d, said %q", code, got)
	}
}

// A journal of which one byte changed is not replayed as if nothing had happened.
func TestReplayOfADamagedJournal(t *testing.T) {
	path := talked(t)
	replayed := func() (int, string) {
		var out, errs bytes.Buffer
		code := (&term{out: &out, err: &errs}).do(t.Context(), []string{"replay", path})
		return code, out.String() + errs.String()
	}
	if code, said := replayed(); code != exitOK || !strings.Contains(said, "no difference") {
		t.Fatalf("a sound journal: %d, %s", code, said)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(b, []byte("line 3 of taro"))
	if i < 0 || bytes.LastIndex(b, []byte("line 3 of taro")) != i {
		t.Fatal("the line is not there once")
	}
	b[i+len("line ")] = '8'
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	code, said := replayed()
	if code != exitFailed || !strings.Contains(said, "main: entry ") || !strings.Contains(said, "does not fit its hash") || strings.Contains(said, "no difference") {
		t.Errorf("a damaged journal: %d, %s", code, said)
	}
}

// talked gives a journal, in one file, of a room in which somebody spoke.
func talked(t *testing.T) (path string) {
	t.Helper()
	dir := t.TempDir()
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(dir, "state", "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	ids := 0
	main := room.New(
		room.Settings{Name: "main", Rules: entry.Rules{Policy: "vote", Seed: "x", Patience: 1000, Floor: 1000, Stale: entry.StaleReask}},
		room.Config{
			Journal: j, Log: slog.New(slog.DiscardHandler), NewID: func() string { ids++; return fmt.Sprint("id", ids) },
			Find: func(string) (room.Companion, bool) { return nil, false },
		}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
	done := make(chan error, 1)
	go func() { done <- main.Run(ctx) }()
	for n := range 5 {
		if _, err := main.Say(ctx, rooms.Utterance{ID: fmt.Sprint("m", n), From: "taro", Text: fmt.Sprintf("line %d of taro", n)}); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(dir, "copy.db")
	if err := j.Backup(ctx, path); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-done
	return path
}

// Another program at the daemon's address is said to be one, with what to type: each verb that finds the
// daemon by itself asks port 3000, where much else listens.
func TestAnotherProgramListens(t *testing.T) {
	t.Chdir(t.TempDir())
	answers := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for what, h := range map[string]http.HandlerFunc{
		"200 OK, text/html":                     answers(200, "text/html; charset=utf-8", "<!doctype html>"),
		"200 OK, text/plain":                    answers(200, "text/plain", "x"),
		"200 OK, application/json":              answers(200, "application/json", `[1]`),
		"404 Not Found, text/plain":             answers(404, "text/plain", "404 page not found"),
		"404 Not Found, application/json":       answers(404, "application/json", `{"detail":"Not Found"}`),
		"401 Unauthorized, text/html":           answers(401, "text/html", "no"),
		"500 Internal Server Error, no content": answers(500, "", ""),
		"not HTTP": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or closing could come before the words
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.2\r\n")
				_ = conn.Close()
			}
		},
	} {
		server := httptest.NewServer(h)
		want := "what listens at " + server.URL + " is no companiond: it answered "
		if what == "not HTTP" {
			want = "what listens at " + server.URL + " is no companiond: it speaks no HTTP"
		}
		for _, args := range []string{"say hello", "say -f hello", "tail", "stop", "why 7", "memory aya", "history show", "history search x", "forget -yes taro", "conversations"} {
			var errs bytes.Buffer
			code := (&term{out: io.Discard, err: &errs, env: []string{"COMPANIOND_DOOR_LISTEN=" + server.Listener.Addr().String()}}).do(t.Context(), strings.Fields(args))
			if code != exitFailed || !strings.Contains(errs.String(), want) || !strings.Contains(errs.String(), "-url ADDRESS, "+envURL+" or listen under [door] in companiond.toml") || strings.Count(errs.String(), "\n") != 1 {
				t.Errorf("%s: %s: ended with %d: %s", what, args, code, &errs)
			}
			if status, _, _ := strings.Cut(what, ","); what != "not HTTP" && !strings.Contains(errs.String(), status) {
				t.Errorf("%s: %s: %s", what, args, &errs)
			}
		}
		server.Close()
	}
}
