package socket_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/identity"
)

const reader, talker = "cmp_reader", "cmp_talker" // tokens

// guarded serves a room behind a guard that knows the tokens, and gives where, and the
// seq before the last line.
func guarded(t *testing.T) (url, since string) {
	t.Helper()
	register, err := identity.Parse("tokens", []byte("mika human read sha256:"+identity.Hash(reader)+"\nken human talk sha256:"+identity.Hash(talker)))
	if err != nil {
		t.Fatal(err)
	}
	house := doortest.NewHouse(t, "main")
	house.Get("main").Chat(1)
	g, err := guard.New(guard.Config{Tokens: register, TokensOnly: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	feed := socket.New(socket.Config{Rooms: house, CheckOrigin: g.CheckOrigin})
	mux := http.NewServeMux()
	feed.Register(mux)
	srv := httptest.NewServer(g.Handler(feed.Relay(guard.Mux(mux))))
	t.Cleanup(func() {
		if err := feed.Close(context.Background()); err != nil {
			t.Error(err)
		}
		srv.Close()
	})
	return "ws" + strings.TrimPrefix(srv.URL, "http"), fmt.Sprint(house.Get("main").Info().Head - 1)
}

// A page's socket brings its token as a subprotocol. It is let in by it, and is
// answered with the other one: the token goes nowhere.
func TestTokenAsSubprotocol(t *testing.T) {
	url, since := guarded(t)
	for _, path := range []string{"/v1/rooms/main/feed?since=" + since, "/ws?since=" + since} {
		for _, c := range []struct {
			name      string
			protocols []string
			header    http.Header
			status    int
			answered  string
		}{
			{"beside ours", []string{guard.Subprotocol, "bearer." + reader}, nil, 101, guard.Subprotocol},
			{"before ours", []string{"bearer." + reader, guard.Subprotocol}, nil, 101, guard.Subprotocol},
			{"alone", []string{"bearer." + reader}, nil, 101, ""},
			{"as a header", nil, http.Header{"Authorization": {"Bearer " + reader}}, 101, ""},
			{"a header and ours", []string{guard.Subprotocol}, http.Header{"Authorization": {"Bearer " + reader}}, 101, guard.Subprotocol},
			{"none", []string{guard.Subprotocol}, nil, 401, ""},
			{"a wrong one", []string{guard.Subprotocol, "bearer.x"}, nil, 401, ""},
			{"one that may not read", []string{guard.Subprotocol, "bearer." + talker}, nil, 403, ""},
		} {
			d := websocket.Dialer{Subprotocols: c.protocols}
			conn, answer, err := d.Dial(url+path, c.header)
			if answer == nil {
				t.Fatalf("%s %s: %v", path, c.name, err)
			}
			if answer.StatusCode != c.status {
				t.Errorf("%s %s: %s", path, c.name, answer.Status)
			}
			if got := answer.Header.Get("Sec-Websocket-Protocol"); got != c.answered {
				t.Errorf("%s %s: answered with %q", path, c.name, got)
			}
			for _, v := range answer.Header {
				if strings.Contains(strings.Join(v, " "), "cmp_") {
					t.Errorf("%s %s: the token comes back: %q", path, c.name, v)
				}
			}
			if conn == nil {
				continue
			}
			_, frame, err := conn.ReadMessage()
			if err != nil || !strings.Contains(string(frame), string(abi.KindTurn)) {
				t.Errorf("%s %s: %s %v", path, c.name, frame, err)
			}
			_ = conn.Close()
		}
	}
}
