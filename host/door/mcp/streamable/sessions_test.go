package streamable

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/places"
	"github.com/companiond/companiond/host/waittest"
)

// Where the house is full, the session that was idle for longest goes; who asks for it
// is told as the protocol has it.
func TestTheIdlestSessionGoes(t *testing.T) {
	s := newStage(t, Config{MaxSessions: 3})
	c := http.DefaultClient
	var ids []string
	for range 3 {
		ids = append(ids, initialize(t, c, s.url))
	}
	call := func(id string) (int, string) {
		t.Helper()
		resp, body := whole(t, c, request(t, "POST", s.url, toolCall(eraOf(id), "echo", "x"), in(id, "tools/call", "echo")...))
		return resp.StatusCode, body
	}
	if status, body := call(ids[0]); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	ids = append(ids, initialize(t, c, s.url))
	status, body := call(ids[1])
	if status != 404 || !strings.HasPrefix(body, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"session: `) {
		t.Errorf("the idlest: %d %s", status, body)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if resp, body := whole(t, c, request(t, method, s.url, "", in(ids[1], "", "")...)); resp.StatusCode != 404 || !strings.Contains(body, "-32001") {
			t.Errorf("%s of the idlest: %d %s", method, resp.StatusCode, body)
		}
	}
	for _, id := range []string{ids[0], ids[2], ids[3], ""} { // the others go on, and who needs no session
		if status, body := call(id); status != 200 {
			t.Errorf("%q: %d %s", id, status, body)
		}
	}
	if resp, _ := whole(t, c, request(t, "DELETE", s.url, "", in(ids[2], "", "")...)); resp.StatusCode != 204 {
		t.Errorf("delete: %d", resp.StatusCode)
	}
	initialize(t, c, s.url) // there is a place
	if status, body := call(ids[0]); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if n := s.tr.sessions.count(); n != 3 {
		t.Errorf("%d sessions", n)
	}
	shut(t, s.tr)
	if n := s.tr.sessions.count(); n != 0 {
		t.Errorf("%d sessions after the end", n)
	}
}

// Who begins many sessions makes room for them among its own.
func TestSessionsAreShared(t *testing.T) {
	s := newStage(t, Config{MaxSessions: 8, Sharer: func(r *http.Request) string { return r.Header.Get("X-Who") }})
	c := http.DefaultClient
	mine := initialize(t, c, s.url, "X-Who", "aya")
	var last string
	for range 256 {
		last = initialize(t, c, s.url, "X-Who", "bob")
	}
	for who, id := range map[string]string{"aya": mine, "bob": last, "a third": initialize(t, c, s.url, "X-Who", "a third")} {
		if resp, body := whole(t, c, request(t, "POST", s.url, toolCall(sessionEra, "echo", "x"), append(in(id, "", ""), "X-Who", who)...)); resp.StatusCode != 200 {
			t.Errorf("%s: %d %s", who, resp.StatusCode, body)
		}
	}
	shut(t, s.tr)
}

// A session in which a call runs stays. Where all are such, who comes is told to come
// back soon.
func TestBusySessionsStay(t *testing.T) {
	s := newStage(t, Config{MaxSessions: 4}) // of which one caller holds three
	running := make(chan struct{})
	sdk.AddTool(s.server, &sdk.Tool{Name: "busy"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ said) (*sdk.CallToolResult, any, error) {
		running <- struct{}{}
		<-ctx.Done()
		return result(), nil, nil
	})
	c := http.DefaultClient
	var answers []<-chan string
	for range 4 {
		id := initialize(t, c, s.url)
		answers = append(answers, asked(t, request(t, "POST", s.url, toolCall(sessionEra, "busy", ""), in(id, "", "")...)))
		<-running
	}
	resp, body := whole(t, c, request(t, "POST", s.url, initBody()))
	if after := resp.Header.Get("Retry-After"); resp.StatusCode/100 == 2 || after != "1" || resp.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, "sessions") {
		t.Errorf("%d, retry after %q: %s", resp.StatusCode, after, body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = s.tr.Close(ctx)
	for _, answer := range answers {
		<-answer
	}
}

// A stream keeps its session for a while, and for longer where something is called;
// then clients that only listen make room.
func TestListenersMakeRoom(t *testing.T) {
	const limit = 8 // of which one caller holds six
	inBubble(t, Config{MaxSessions: limit, MaxStreams: limit}, func(t *testing.T, tr *Transport, c *http.Client) {
		var ids []string
		var streams []<-chan string
		for range limit {
			id := initialize(t, c, bubbleURL)
			ids = append(ids, id)
			if len(ids) <= 6 {
				streams = append(streams, events(do(t, c, request(t, "GET", bubbleURL, "", in(id, "", "")...)).Body))
			}
		}
		call := func(id string) int {
			resp, _ := whole(t, c, request(t, "POST", bubbleURL, toolCall(sessionEra, "echo", "x"), in(id, "", "")...))
			return resp.StatusCode
		}
		for range 5 { // those that do not listen make room for each other
			initialize(t, c, bubbleURL)
		}
		time.Sleep(50 * time.Second)
		if got := call(ids[0]); got != 200 {
			t.Fatalf("a listener that calls: %d", got)
		}
		time.Sleep(20 * time.Second)
		for range limit { // idle for longer than those that came last, but not than ...
			initialize(t, c, bubbleURL)
		}
		for n, id := range ids[:6] {
			if want := map[bool]int{true: 200, false: 404}[n == 0]; call(id) != want {
				t.Errorf("listener %d: not %d", n, want)
			}
			if n == 0 {
				continue
			}
			for range streams[n] { // it has ended
			}
		}
		if n := tr.sessions.count(); n != limit {
			t.Errorf("%d sessions", n)
		}
		synctest.Wait()
		if n := tr.streams.Taken(); n != 1 {
			t.Errorf("%d streams", n)
		}
	})
}

// Whoever ends a session does not wait for its calls: they end.
func TestDeleteEndsCalls(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, tr *Transport, c *http.Client) {
		id := initialize(t, c, bubbleURL)
		get := events(do(t, c, request(t, "GET", bubbleURL, "", in(id, "", "")...)).Body)
		answer := make(chan string, 1)
		go func() {
			resp, err := c.Do(request(t, "POST", bubbleURL, toolCall(sessionEra, "wait", ""), in(id, "", "")...))
			if err != nil {
				answer <- err.Error()
				return
			}
			defer resp.Body.Close()
			b, _ := io.ReadAll(resp.Body)
			answer <- fmt.Sprint(resp.StatusCode, " ", string(b))
		}()
		synctest.Wait()
		begun := time.Now()
		if resp, body := whole(t, c, request(t, "DELETE", bubbleURL, "", in(id, "", "")...)); resp.StatusCode != 204 || time.Since(begun) > 0 {
			t.Errorf("%d %s after %v", resp.StatusCode, body, time.Since(begun))
		}
		if got := <-answer; !strings.Contains(got, "its client has ended it") {
			t.Errorf("the call was answered %s", got)
		}
		for range get { // the stream has ended
		}
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if resp, body := whole(t, c, request(t, method, bubbleURL, toolCall(sessionEra, "echo", "x"), in(id, "", "")...)); resp.StatusCode != 404 {
				t.Errorf("%s then: %d %s", method, resp.StatusCode, body)
			}
		}
		if n := tr.sessions.house.Taken(); n != 0 {
			t.Errorf("%d places are taken", n)
		}
	})
}

// Clients that come and vanish keep nobody out: one that comes in between is served,
// call after call.
func TestVanishingClients(t *testing.T) {
	const vanish, rounds = 5000, 100
	s := newStage(t, Config{})
	s.tr.cfg.Owner = func(*http.Request) string { return "" }
	var wg sync.WaitGroup
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer c.CloseIdleConnections()
	for range 4 {
		wg.Go(func() {
			for range vanish / 4 {
				resp, err := c.Do(request(t, "POST", s.url, initBody()))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
	for range rounds {
		id := initialize(t, http.DefaultClient, s.url)
		for range 3 {
			if resp, body := whole(t, http.DefaultClient, request(t, "POST", s.url, toolCall(sessionEra, "echo", "x"), in(id, "", "")...)); resp.StatusCode != 200 {
				t.Errorf("%d %s", resp.StatusCode, body)
			}
		}
	}
	wg.Wait()
	waittest.Until(t, "the end of those that were let go", func() bool {
		n := 0
		for range s.server.Sessions() {
			n++
		}
		return n <= 256
	})
	shut(t, s.tr)
}

func eraOf(id string) string {
	if id != "" {
		return sessionEra
	}
	return modernEra
}

// Who comes at once does not get past the bound: others are let go, or it waits.
func TestSessionCapHoldsAgainstARush(t *testing.T) {
	const limit = 5
	var dropped atomic.Int32
	s := newStage(t, Config{MaxSessions: limit, Dropped: func(string) { dropped.Add(1) }})
	var in atomic.Int32
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
			case 503, 429:
				if after := resp.Header.Get("Retry-After"); after != "1" {
					t.Errorf("retry after %q", after)
				}
			default:
				t.Errorf("%d", resp.StatusCode)
			}
			if n := s.tr.sessions.house.Taken(); n > limit {
				t.Errorf("%d sessions", n)
			}
		})
	}
	wg.Wait()
	if in.Load() < limit || dropped.Load() != in.Load()-limit || s.tr.Sessions() != limit {
		t.Errorf("%d in, %d told of as let go, %d are there", in.Load(), dropped.Load(), s.tr.Sessions())
	}
	waittest.Until(t, "the end of those that were let go", func() bool { return s.tr.sessions.count() == limit })
	shut(t, s.tr)
}

// What begins no session takes no room.
func TestWhatIsNoInitializeTakesNoRoom(t *testing.T) {
	s := newStage(t, Config{MaxSessions: 1})
	for range 3 {
		for _, body := range []string{message(sessionEra, "ping", nil), toolCall(sessionEra, "echo", "x"), `{`, `[]`, ``} {
			resp, _ := whole(t, http.DefaultClient, request(t, "POST", s.url, body))
			if resp.StatusCode == 503 {
				t.Errorf("%s: %d", body, resp.StatusCode)
			}
		}
	}
	initialize(t, http.DefaultClient, s.url)
	shut(t, s.tr)
}

// However initialize is written, a session that begins has a place; and nobody makes room
// for what begins none.
func TestEverySessionHasAPlace(t *testing.T) {
	s := newStage(t, Config{MaxSessions: 4})
	first := initialize(t, http.DefaultClient, s.url)
	body := initBody()
	for _, odd := range []string{
		strings.Replace(body, "initialize", `init\u0069alize`, 1), "[" + body + "]", body + " x", body + body, `{"method":"ping",` + body[1:], `{"x":1,` + body[1:],
		strings.Replace(body, `"method"`, `"m\u0065thod"`, 1), strings.Replace(body, `"capabilities":{}`, `"capabilities":{"experimental":{"x":`+strings.Repeat("[", 70)+strings.Repeat("]", 70)+`}}`, 1),
	} {
		whole(t, http.DefaultClient, request(t, "POST", s.url, odd))
		live, taken := 0, s.tr.sessions.house.Taken()
		waittest.Until(t, "as many sessions as places", func() bool {
			live = 0
			for range s.server.Sessions() {
				live++
			}
			return live <= taken && live <= 4
		})
	}
	for range 4 {
		initialize(t, http.DefaultClient, s.url)
	}
	resp, _ := whole(t, http.DefaultClient, request(t, "POST", s.url, toolCall(sessionEra, "echo", "x"), in(first, "", "")...))
	if resp.StatusCode != 404 {
		t.Errorf("%d", resp.StatusCode)
	}
	last := initialize(t, http.DefaultClient, s.url)
	for range 8 {
		for _, none := range []string{message(sessionEra, "ping", nil), message(sessionEra, "server/discover", nil), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, toolCall(sessionEra, "echo", "x")} {
			whole(t, http.DefaultClient, request(t, "POST", s.url, none))
		}
	}
	if resp, _ := whole(t, http.DefaultClient, request(t, "POST", s.url, toolCall(sessionEra, "echo", "x"), in(last, "", "")...)); resp.StatusCode != 200 {
		t.Errorf("somebody made room: %d", resp.StatusCode)
	}
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
	s := newSessions(stageServer(), places.New(places.Config{Total: 1}), time.Minute, t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.keep(context.Background(), "gone", time.Millisecond) }()
	select {
	case <-done:
	case <-time.After(waittest.Long):
		t.Error("it goes on")
	}
}

// A session that its client ends is gone also where the SDK refuses to end it: none is
// left over that has no place.
func TestDeleteThatTheSDKRefuses(t *testing.T) {
	s := newStage(t, Config{MaxSessions: 2})
	for range 3 {
		id := initialize(t, http.DefaultClient, s.url)
		resp, body := whole(t, http.DefaultClient, request(t, "DELETE", s.url, "", headerSession, id, headerVersion, "1999-01-01"))
		told(t, "delete", resp, body, 400, -32600, "Mcp-Protocol-Version: must be one of")
	}
	if n := s.tr.sessions.house.Taken(); n != 0 {
		t.Errorf("%d places are taken", n)
	}
	waittest.Until(t, "the end of the sessions", func() bool {
		for range s.server.Sessions() {
			return false
		}
		return true
	})
	shut(t, s.tr)
}
