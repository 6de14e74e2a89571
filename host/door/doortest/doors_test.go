package doortest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/door/socket/follow"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// front is the doors as the daemon mounts them, on a real socket.
type front struct {
	addr  string
	house *doortest.House
	feed  *socket.Feed
	log   logtest.Log
}

// open serves doors that wait for a request for so long.
func open(t *testing.T, cfg guard.Config, patience time.Duration) *front {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &front{addr: ln.Addr().String(), house: doortest.NewHouse(t, "main")}
	log := f.log.Logger()
	cfg.Listen, cfg.BodyTimeout = f.addr, patience
	g, err := guard.New(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	if err := web.Register(mux, web.Config{Rooms: f.house}); err != nil {
		t.Fatal(err)
	}
	f.feed = socket.New(socket.Config{Rooms: f.house, CheckOrigin: g.CheckOrigin, Log: log})
	f.feed.Register(mux)
	srv := guard.Server(g.Handler(guard.Mux(mux)), log)
	srv.ReadHeaderTimeout = patience
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
		defer cancel()
		if err := f.feed.Close(ctx); err != nil {
			t.Errorf("close the feed: %v", err)
		}
		if err := srv.Shutdown(ctx); err != nil {
			t.Errorf("shut the server down: %v", err)
		}
		<-served
	})
	return f
}

// raw sends bytes as they are and reads one answer; held says that the server
// still kept the connection open patience later.
func (f *front) raw(t *testing.T, patience time.Duration, text string) (answer *http.Response, body string, held bool) {
	t.Helper()
	c, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Logf("write: %v", err) // refused before all was sent
	}
	br := bufio.NewReader(c)
	answer, err = http.ReadResponse(br, nil)
	var ne net.Error
	if err != nil {
		return nil, "", errors.As(err, &ne) && ne.Timeout()
	}
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return answer, "", true
	}
	b, _ := io.ReadAll(answer.Body)
	if !answer.Close {
		return answer, string(b), true // keep-alive
	}
	_, err = br.ReadByte()
	return answer, string(b), errors.As(err, &ne) && ne.Timeout()
}

const handshake = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

func post(path, headers, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", path, headers, len(body), body)
}

// The table of attacks and mistakes, against everything that is mounted.
func TestDoorsHold(t *testing.T) {
	site := guard.Config{Origins: []string{"http://localhost:5173"}}
	f, impatient := open(t, site, waittest.Long), open(t, site, 300*time.Millisecond)
	const say, feed = "/v1/rooms/main/messages", "/v1/rooms/main/feed"
	const asJSON = "Host: localhost\r\nContent-Type: application/json\r\n"
	const hi = `{"from":"mika","text":"hi"}`
	for _, tc := range []struct {
		name, request string
		status        int // 0: closed without an answer
		code          abi.Code
	}{
		{"evil Host, page", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "denied"},
		{"evil Host, API", "GET /v1/rooms HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "denied"},
		{"evil Host, document", "GET /openapi.json HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "denied"},
		{"evil Host, nowhere", "GET /nowhere HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "denied"},
		{"evil Host, say", post(say, "Host: evil.example\r\nContent-Type: application/json\r\n", hi), 403, "denied"},
		{"evil Host, feed", "GET " + feed + " HTTP/1.1\r\nHost: evil.example\r\n" + handshake + "\r\n", 403, "denied"},
		{"rebound Host, feed", "GET " + feed + " HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n" + handshake + "\r\n", 403, "denied"},
		{"evil Host, preflight", "OPTIONS " + say + " HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://localhost:5173\r\nAccess-Control-Request-Method: POST\r\n\r\n", 403, "denied"},
		{"absolute URL with an evil host", "GET http://evil.example/v1/rooms HTTP/1.1\r\nHost: localhost\r\n\r\n", 403, "denied"},
		{"no Host", "GET /v1/rooms HTTP/1.0\r\n\r\n", 403, "denied"},
		{"two Hosts", "GET /v1/rooms HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400, ""},

		{"evil Origin, say", post(say, asJSON+"Origin: http://evil.example\r\n", hi), 403, "denied"},
		{"evil Origin, say as text", post(say, "Host: localhost\r\nContent-Type: text/plain\r\nOrigin: http://evil.example\r\n", hi), 403, "denied"},
		{"evil Origin, stop", post("/v1/rooms/main/stop", "Host: localhost\r\nOrigin: http://evil.example\r\n", ""), 403, "denied"},
		{"null Origin, say", post(say, asJSON+"Origin: null\r\n", hi), 403, "denied"},
		{"other localhost port", post(say, asJSON+"Origin: http://localhost:9999\r\n", hi), 403, "denied"},
		{"cross-site by fetch metadata", post(say, asJSON+"Sec-Fetch-Site: cross-site\r\n", hi), 403, "denied"},
		{"cross-site WebSocket", "GET " + feed + " HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n" + handshake + "\r\n", 403, "denied"},
		{"null WebSocket", "GET " + feed + " HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n" + handshake + "\r\n", 403, "denied"},
		{"file WebSocket", "GET " + feed + " HTTP/1.1\r\nHost: localhost\r\nOrigin: file://\r\n" + handshake + "\r\n", 403, "denied"},
		{"own WebSocket", "GET " + feed + " HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n" + handshake + "\r\n", 101, ""},
		{"listed WebSocket", "GET " + feed + " HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:5173\r\n" + handshake + "\r\n", 101, ""},
		{"native WebSocket", "GET " + feed + " HTTP/1.1\r\nHost: localhost\r\n" + handshake + "\r\n", 101, ""},

		{"preflight, listed", "OPTIONS " + say + " HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:5173\r\nAccess-Control-Request-Method: POST\r\n\r\n", 204, ""},
		{"preflight, evil", "OPTIONS " + say + " HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n", 403, "denied"},
		{"bare OPTIONS", "OPTIONS " + say + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "invalid"},

		{"slow header", "GET / HTTP/1.1\r\nHost: loc", 0, ""},
		{"nothing at all", "", 0, ""},
		{"huge header", "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", 431, ""},
		{"slow body, say", "POST " + say + " HTTP/1.1\r\n" + asJSON + "Content-Length: 27\r\n\r\n{", 408, "timeout"},
		{"slow body, nowhere", "POST /nowhere HTTP/1.1\r\n" + asJSON + "Content-Length: 27\r\n\r\n{", 408, "timeout"},
		{"body to a GET that never comes", "GET / HTTP/1.1\r\n" + asJSON + "Content-Length: 27\r\n\r\n", 408, "timeout"},
		{"oversized body, told", "POST " + say + " HTTP/1.1\r\n" + asJSON + "Content-Length: 99999999\r\n\r\n", 413, "too_large"},
		{"oversized body, chunked", "POST " + say + " HTTP/1.1\r\n" + asJSON + "Transfer-Encoding: chunked\r\n\r\n200000\r\n" + strings.Repeat(" ", 0x200000) + "\r\n0\r\n\r\n", 413, "too_large"},
		{"smuggling", "POST " + say + " HTTP/1.1\r\n" + asJSON + "Content-Length: 5\r\nContent-Length: 50\r\n\r\n", 400, ""},

		{"text/plain", post(say, "Host: localhost\r\nContent-Type: text/plain\r\n", hi), 415, "invalid"},
		{"bad JSON", post(say, asJSON, `{"from":`), 400, "invalid"},
		{"unknown field", post(say, asJSON, `{"from":"mika","text":"hi","x":1}`), 400, "invalid"},
		{"unknown room", post("/v1/rooms/attic/messages", asJSON, hi), 404, "not_found"},
		{"unknown room, feed", "GET /v1/rooms/attic/feed HTTP/1.1\r\nHost: localhost\r\n" + handshake + "\r\n", 404, "not_found"},
		{"a companion's name", post(say, asJSON, `{"from":"aya","text":"hi"}`), 403, "denied"},
		{"room with a slash", "GET /v1/rooms/a%2Fb/messages HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "not_found"},
		{"climbing", "GET /v1/rooms/%2e%2e/messages HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "not_found"},
		{"CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", 403, "denied"},
		{"all is well", post(say, asJSON, hi), 201, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			at := f
			if tc.status == 0 || tc.status == http.StatusRequestTimeout {
				at = impatient
			}
			answer, body, held := at.raw(t, waittest.Long, strings.Replace(tc.request, "HTTP/1.1\r\n", "HTTP/1.1\r\nX-Test: 1\r\n", 1))
			switch {
			case tc.status == 0 && (answer != nil || held):
				t.Fatalf("answered %v, or held: %v", answer, held)
			case tc.status == 0:
				return
			case answer == nil:
				t.Fatalf("no answer, held: %v", held)
			case answer.StatusCode != tc.status:
				t.Fatalf("status %d: %s", answer.StatusCode, body)
			case tc.status == 408 || tc.status == 413:
				if held || !answer.Close {
					t.Errorf("the connection was held: %v, close: %v", held, answer.Close)
				}
			}
			if tc.code != "" {
				var d guard.Details
				if err := json.Unmarshal([]byte(body), &d); err != nil || d.Code != tc.code || answer.Header.Get("Content-Type") != "application/problem+json" {
					t.Errorf("%s %s", answer.Header, body)
				}
			}
			if answer.Header.Get("Access-Control-Allow-Origin") == "*" {
				t.Error("everybody may read this")
			}
		})
	}
	if all := append(impatient.house.Get("main").Happened(), f.house.Get("main").Happened()...); len(all) != 1 || all[0].Kind != entry.KindSaid {
		t.Errorf("%v, one message was allowed", all)
	}
}

// One door shows a message that another took, and a tool can follow it.
func TestSaidHereHeardThere(t *testing.T) {
	f := open(t, guard.Config{}, waittest.Long)
	c := follow.Client{URL: "http://" + f.addr}
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
	defer cancel()
	f.house.Get("main").Chat(3)
	since := f.house.Get("main").Info().Head
	heard := make(chan abi.Message, 10)
	done := make(chan error, 1)
	following, stop := context.WithCancel(ctx)
	go func() {
		done <- c.Follow(following, "main", since, func(e entry.Entry) error {
			if m, ok := e.Message(); ok {
				heard <- m
			}
			return nil
		})
	}()
	for i := range 3 {
		text := fmt.Sprintf("秘密の言葉 %d", i)
		body, _ := json.Marshal(map[string]any{"from": "mika", "text": text})
		resp, err := http.Post("http://"+f.addr+"/v1/rooms/main/messages", "application/json", strings.NewReader(string(body)))
		if err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatalf("%v %v", resp, err)
		}
		var said struct{ Seq uint64 }
		if err := json.NewDecoder(resp.Body).Decode(&said); err != nil || said.Seq <= since {
			t.Errorf("said at %d: %v", said.Seq, err)
		}
		_ = resp.Body.Close()
		if m := <-heard; m.Text != text || m.From != "mika" || m.Seq != said.Seq {
			t.Errorf("%+v, said at %d", m, said.Seq)
		}
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if strings.Contains(f.log.String(), "秘密") || strings.Contains(f.log.String(), "mika") {
		t.Errorf("words in the log: %s", &f.log)
	}
}

// A client that never reads and never closes does not keep the daemon alive
// and is found out while the room goes on.
func TestStalledClientOverTCP(t *testing.T) {
	const tries, usual = 3, 3 * time.Second
	for n := 1; ; n++ { // a room that waits for its client is late each time
		took := besideStalled(t)
		if !waittest.Late(took, usual) {
			return
		}
		if n == tries {
			t.Fatalf("in each of %d tries the room was late, the last time it took %v", n, took)
		}
		t.Logf("the room took %v, try again", took)
	}
}

// besideStalled gives how long a room takes to say 16 MB while a client does not
// read them, and waits until that client was found out.
func besideStalled(t *testing.T) (took time.Duration) {
	t.Helper()
	f := open(t, guard.Config{}, waittest.Long)
	main := f.house.Get("main")
	c, _, err := websocket.DefaultDialer.Dial("ws://"+f.addr+"/v1/rooms/main/feed?since=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	big := entry.Said{From: "aya", By: abi.KindCompanion, Text: strings.Repeat("x", abi.MaxText), Kind: abi.KindTurn}
	start := time.Now()
	for range 1000 { // 16 MB, more than the sockets hold
		main.Append(entry.KindSaid, big)
	}
	took = time.Since(start)
	if _, err := main.Say(t.Context(), rooms.Utterance{From: "mika", Text: "who reads this?"}); err != nil {
		t.Error(err)
	}
	waittest.Until(t, "the client is gone", func() bool { return f.feed.Clients() == 0 })
	if !strings.Contains(f.log.String(), "too far behind") {
		t.Errorf("log: %s", &f.log)
	}
	return took
}

func TestPipe(t *testing.T) {
	p := doortest.NewPipe()
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(p) }()
	resp, err := p.Client().Get("http://localhost/")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(resp.Body); string(b) != "hello" {
		t.Errorf("%q", b)
	}
	_ = resp.Body.Close()
	_ = srv.Close()
	<-served
	if _, err := p.Dial(context.Background(), "", ""); !errors.Is(err, net.ErrClosed) {
		t.Errorf("dial after the end: %v", err)
	}
	if p.Addr().String() != "pipe" || p.Addr().Network() != "pipe" {
		t.Error("the pipe has another name")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := doortest.NewPipe().Dial(ctx, "", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("dial with nobody there: %v", err)
	}
}
