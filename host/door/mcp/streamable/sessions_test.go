package streamable

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/waittest"
)

func TestSessionCap(t *testing.T) {
	s := newStage(t, Config{MaxSessions: 3})
	c := http.DefaultClient
	var ids []string
	for range 3 {
		ids = append(ids, initialize(t, c, s.url))
	}
	resp, body := whole(t, c, request(t, "POST", s.url, initBody()))
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "30" || resp.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, "3 sessions are open") {
		t.Errorf("%d %v %s", resp.StatusCode, resp.Header, body)
	}
	if resp, _ := whole(t, c, request(t, "POST", s.url, initBody(), headerSession, "made-up")); resp.StatusCode != 404 {
		t.Errorf("with an unknown session: %d", resp.StatusCode)
	}
	for _, id := range append(ids, "") { // those that are open go on, and who needs no session
		resp, body := whole(t, c, request(t, "POST", s.url, toolCall(eraOf(id), "echo", "x"), in(id, "tools/call", "echo")...))
		if resp.StatusCode != 200 {
			t.Errorf("%q: %d %s", id, resp.StatusCode, body)
		}
	}
	if resp, _ := whole(t, c, request(t, "DELETE", s.url, "", in(ids[1], "", "")...)); resp.StatusCode != 204 {
		t.Errorf("delete: %d", resp.StatusCode)
	}
	initialize(t, c, s.url)
	if n := s.tr.sessions.count(); n != 3 {
		t.Errorf("%d sessions", n)
	}
	shut(t, s.tr)
	if n := s.tr.sessions.count(); n != 0 {
		t.Errorf("%d sessions after the end", n)
	}
}

func eraOf(id string) string {
	if id != "" {
		return sessionEra
	}
	return modernEra
}

// Who comes at once does not get in at once, past the cap.
func TestSessionCapHoldsAgainstARush(t *testing.T) {
	const limit = 5
	s := newStage(t, Config{MaxSessions: limit})
	var in, out atomic.Int32
	var wg sync.WaitGroup
	for range 40 {
		r := request(t, "POST", s.url, initBody())
		wg.Go(func() {
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, resp.Body)
			switch resp.StatusCode {
			case 200:
				in.Add(1)
			case 503:
				out.Add(1)
			default:
				t.Errorf("%d", resp.StatusCode)
			}
		})
	}
	wg.Wait()
	if in.Load() != limit || out.Load() != 40-limit || s.tr.sessions.count() != limit {
		t.Errorf("%d in, %d out, %d sessions", in.Load(), out.Load(), s.tr.sessions.count())
	}
	shut(t, s.tr)
}

// What begins no session takes no room.
func TestWhatIsNoInitializeTakesNoRoom(t *testing.T) {
	s := newStage(t, Config{MaxSessions: 1})
	for range 3 {
		for _, body := range []string{rpc(sessionEra, "ping", nil), toolCall(sessionEra, "echo", "x"), `{`, `[]`, ``} {
			resp, _ := whole(t, http.DefaultClient, request(t, "POST", s.url, body))
			if resp.StatusCode == 503 {
				t.Errorf("%s: %d", body, resp.StatusCode)
			}
		}
	}
	initialize(t, http.DefaultClient, s.url)
	shut(t, s.tr)
}

// A session is its beginner's, whoever learns its id.
func TestSessionsHaveOwners(t *testing.T) {
	s := newStage(t, Config{Owner: func(r *http.Request) string { return r.Header.Get("X-Who") }})
	c := http.DefaultClient
	id := initialize(t, c, s.url, "X-Who", "aya")
	for _, tc := range []struct {
		who, method, body string
		want              int
	}{
		{"aya", "POST", toolCall(sessionEra, "echo", "x"), 200},
		{"bob", "POST", toolCall(sessionEra, "echo", "x"), 403},
		{"", "POST", toolCall(sessionEra, "echo", "x"), 403},
		{"bob", "GET", "", 403},
		{"bob", "DELETE", "", 403},
		{"aya", "DELETE", "", 204},
		{"bob", "POST", toolCall(sessionEra, "echo", "x"), 404},
	} {
		want := tc.want
		if tc.who == "bob" && want == 404 {
			s.tr.sessions.count() // sweeps: until then he is told that it was not his
		}
		resp, body := whole(t, c, request(t, tc.method, s.url, tc.body, append(in(id, "", ""), "X-Who", tc.who)...))
		if resp.StatusCode != want {
			t.Errorf("%q %s: %d, want %d: %s", tc.who, tc.method, resp.StatusCode, want, body)
		}
	}
	shut(t, s.tr)
}

// inBubble runs a test in fake time, with a server that is reached without
// sockets.
func inBubble(t *testing.T, cfg Config, test func(t *testing.T, tr *Transport, c *http.Client)) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(stageServer(), cfg)
		p := doortest.NewPipe()
		srv := guard.Server(tr, slog.New(slog.DiscardHandler))
		var served sync.WaitGroup
		served.Go(func() { _ = srv.Serve(p) })
		test(t, tr, p.Client())
		shut(t, tr)
		_ = srv.Close()
		served.Wait()
		synctest.Wait()
	})
}

const bubbleURL = "http://localhost/mcp"

func TestSilentSessionsEnd(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, tr *Transport, c *http.Client) {
		id := initialize(t, c, bubbleURL)
		for range 3 { // every request begins the time anew
			time.Sleep(9 * time.Minute)
			resp, body := whole(t, c, request(t, "POST", bubbleURL, toolCall(sessionEra, "echo", "x"), in(id, "", "")...))
			if resp.StatusCode != 200 {
				t.Fatalf("%d %s", resp.StatusCode, body)
			}
		}
		time.Sleep(10*time.Minute + time.Second)
		if n := tr.sessions.count(); n != 0 {
			t.Errorf("%d sessions", n)
		}
		if resp, _ := whole(t, c, request(t, "POST", bubbleURL, toolCall(sessionEra, "echo", "x"), in(id, "", "")...)); resp.StatusCode != 404 {
			t.Errorf("%d", resp.StatusCode)
		}
	})
}

// A client that only listens is asked whether it still does, and keeps its
// session by answering. One that does not answer loses it.
func TestListenersKeepTheirSession(t *testing.T) {
	for _, answers := range []bool{true, false} {
		inBubble(t, Config{SessionTimeout: 3 * time.Minute}, func(t *testing.T, tr *Transport, c *http.Client) {
			id := initialize(t, c, bubbleURL)
			get := do(t, c, request(t, "GET", bubbleURL, "", in(id, "", "")...))
			asked := make(chan struct{})
			go func() {
				defer close(asked)
				for e := range events(get.Body) {
					if !strings.Contains(e, `"method":"ping"`) || !answers {
						continue
					}
					_, number, _ := strings.Cut(e, `"id":`)
					number, _, _ = strings.Cut(number, ",")
					r := request(t, "POST", bubbleURL, `{"jsonrpc":"2.0","id":`+number+`,"result":{}}`, in(id, "", "")...)
					resp, err := c.Do(r)
					if err != nil || resp.StatusCode != 202 {
						t.Errorf("pong: %v %v", resp, err)
						return
					}
					_ = resp.Body.Close()
				}
			}()
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if n := tr.sessions.count(); (n == 1) != answers {
				t.Errorf("answers: %v, sessions: %d", answers, n)
			}
			_ = get.Body.Close()
			<-asked
		})
	}
}

func TestKeepEndsWithItsSession(t *testing.T) {
	s := newSessions(stageServer(), 1)
	done := make(chan struct{})
	go func() { defer close(done); s.keep(context.Background(), "gone", time.Millisecond) }()
	select {
	case <-done:
	case <-time.After(waittest.Long):
		t.Error("it goes on")
	}
}
