package socket_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// overTCP is a feed on real connections, with buffers of the system between, which are small here.
func overTCP(t *testing.T, cfg socket.Config) (room *doortest.Room, feed *socket.Feed, dial func(path string) *websocket.Conn) {
	house := doortest.NewHouse(t, "main")
	cfg.Rooms, cfg.Waiting = house, func(string, uint64) bool { return false }
	feed = socket.New(cfg)
	mux := http.NewServeMux()
	feed.Register(mux)
	srv := httptest.NewUnstartedServer(feed.Relay(mux))
	srv.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(32 << 10)
		return ctx
	}
	srv.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
		defer cancel()
		if err := feed.Close(ctx); err != nil {
			t.Error(err)
		}
		srv.Close()
	})
	d := websocket.Dialer{NetDial: func(network, addr string) (net.Conn, error) {
		c, err := net.Dial(network, addr)
		if err == nil {
			_ = c.(*net.TCPConn).SetReadBuffer(32 << 10)
		}
		return c, err
	}}
	return house.Get("main"), feed, func(path string) *websocket.Conn {
		t.Helper()
		c, _, err := d.Dial(strings.Replace(srv.URL, "http", "ws", 1)+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

// long is a message that fills buffers.
func long(n int) entry.Said {
	return entry.Said{From: "aya", By: abi.KindCompanion, Text: fmt.Sprint(n, " ", strings.Repeat("x", abi.MaxText-10)), Kind: abi.KindTurn}
}

// Clients that stop reading are dropped when the system holds no more for them, and the others,
// who have had everything until then, go on.
func TestStalledClientsOverTCP(t *testing.T) {
	room, feed, dial := overTCP(t, socket.Config{WriteTimeout: 300 * time.Millisecond})
	const well, stalled = 3, 2
	for range stalled {
		dial("/")
	}
	var all sync.WaitGroup
	taken := make(chan struct{}, well)
	for range well {
		c := dial("/")
		all.Go(func() {
			for n := 0; ; n++ {
				var got struct{ Message struct{ Message string } }
				if err := c.ReadJSON(&got); err != nil {
					if !websocket.IsCloseError(err, socket.CloseGoingAway) {
						t.Error(err)
					}
					return
				}
				if !strings.HasPrefix(got.Message.Message, fmt.Sprint(n, " ")) {
					t.Errorf("%.20q in place %d", got.Message.Message, n)
					return
				}
				taken <- struct{}{}
			}
		})
	}
	for n := range 60 { // more than the buffers hold
		if n == 50 {
			waittest.Until(t, "who does not read is dropped", func() bool { return feed.Clients() == well })
		}
		room.Append(entry.KindSaid, long(n))
		for range well {
			<-taken // what is well has everything before there is more
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
	defer cancel()
	if err := feed.Close(ctx); err != nil {
		t.Error(err)
	}
	all.Wait()
}

// What a client is answered, pings and what happens in the room come as whole frames, each once, and
// the room's in order, also where a frame goes out in parts.
func TestAnswersAndNewsKeepApart(t *testing.T) {
	room, _, dial := overTCP(t, socket.Config{Ping: 5 * time.Millisecond, WriteTimeout: waittest.Long, LagTimeout: waittest.Long, PongWait: waittest.Long})
	const clients, messages, calls = 4, 60, 30
	var all sync.WaitGroup
	ready := make(chan struct{})
	for i := range clients {
		c := dial("/")
		pings := 0
		pong := c.PingHandler()
		c.SetPingHandler(func(data string) error { pings++; return pong(data) })
		all.Go(func() {
			for id := range calls {
				if err := c.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"dance"}`, id)); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			if i%2 == 0 {
				<-ready // much waits for it
			}
			for news, answers := 0, 0; news < messages || answers < calls; {
				_, frame, err := c.ReadMessage()
				if err != nil {
					t.Errorf("client %d, behind %d messages and %d answers: %v", i, news, answers, err)
					return
				}
				switch text := string(frame); {
				case strings.HasPrefix(text, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":`, answers)) && json.Valid(frame):
					answers++
				case strings.HasPrefix(text, fmt.Sprintf(`{"type":"newMessage","message":{"from":"aya","message":"%d `, news)) && strings.HasSuffix(text, `Z"}`):
					news++
				default:
					t.Errorf("client %d, behind %d messages and %d answers: %.80q", i, news, answers, frame)
					return
				}
			}
			if pings == 0 {
				t.Error("no ping came between")
			}
		})
	}
	for n := range messages {
		room.Append(entry.KindSaid, long(n))
	}
	close(ready)
	all.Wait()
}

// Clients come and go, one follows the journal for them, and none once nobody is left.
func TestRoomIsFollowedOnce(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(1) // and whose room it is
		var cs []*websocket.Conn
		for range 20 {
			cs = append(cs, s.dial(""))
		}
		synctest.Wait()
		if s.room.Followers() != 1 {
			s.Errorf("%d follow the room", s.room.Followers())
		}
		for i := range 10 {
			s.room.Chat(3)
			for _, c := range cs {
				next(s, c)
				next(s, c)
				if e := next(s, c); e.Seq != s.head() {
					s.Fatalf("entry %d, want %d", e.Seq, s.head())
				}
			}
			_ = cs[0].Close()
			cs = append(cs[1:], s.dial(fmt.Sprintf("?since=%d", s.head())))
			synctest.Wait()
			if s.room.Followers() != 1 || s.feed.Clients() != 20 {
				s.Errorf("round %d: %d follow the room for %d clients", i, s.room.Followers(), s.feed.Clients())
			}
		}
		for _, c := range cs {
			_ = c.Close()
		}
		synctest.Wait()
		if s.room.Followers() != 0 {
			s.Errorf("%d follow a room that nobody looks at", s.room.Followers())
		}
	})
}

// Trouble with the journal ends who followed the room, and not who comes after it.
func TestRoomAfterTrouble(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		a, b := s.dial(""), s.dial("")
		synctest.Wait()
		s.room.Trouble(errors.New("bug"))
		for _, c := range []*websocket.Conn{a, b} {
			if code, n := ends(c); code != socket.CloseInternal || n != 0 {
				s.Errorf("code %d after %d", code, n)
			}
		}
		s.room.Trouble(nil)
		c := s.dial("")
		synctest.Wait()
		s.room.Chat(1)
		for seq := uint64(1); seq <= s.head(); seq++ {
			if e := next(s, c); e.Seq != seq {
				s.Errorf("%+v", e)
			}
		}
		_ = c.Close()
	})
}

// faulty is a room that a bug has come into.
type faulty struct{ rooms.Room }

func (faulty) Follow(context.Context, uint64, func([]entry.Entry) error) error { panic("a bug") }

// faultyRooms is a house with such a room.
type faultyRooms struct{ rooms.Directory }

func (f faultyRooms) Room(ctx context.Context, name string) (rooms.Room, error) {
	talk, err := f.Directory.Room(ctx, name)
	if err == nil && name == "main" {
		talk = faulty{talk}
	}
	return talk, err
}

// A panic while a room is followed, in no handler's goroutine, ends the room's clients and not the
// daemon: they are told so, and the log where it was.
func TestRoomThatPanics(t *testing.T) {
	var log bytes.Buffer
	cfg := socket.Config{Log: slog.New(slog.NewTextHandler(&log, nil))}
	onStageOf(t, cfg, func(h *doortest.House) rooms.Directory { return faultyRooms{h} }, func(s *stage) {
		for range 2 {
			start := time.Now()
			if code, n := ends(s.dial("")); code != socket.CloseInternal || n != 0 || time.Since(start) != 0 {
				s.Errorf("code %d after %d entries and %v", code, n, time.Since(start))
			}
		}
		synctest.Wait()
		if n := strings.Count(log.String(), `level=ERROR msg="panic in the fan-out" room=main panic="a bug" stack=`); n != 2 {
			s.Errorf("%d panics are logged: %s", n, log.String())
		}
	})
}

// So does one in what a client asks for, or in whether somebody is to be told again: it ends that
// client.
func TestClientThatMeetsABug(t *testing.T) {
	var log bytes.Buffer
	bug := func(c *socket.Config) {
		c.Session = func(string, string) (string, error) { panic("a bug of sessions") }
		c.Waiting = func(string, uint64) bool { panic("a bug of readers") }
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	}
	onBodies(t, bug, func(s *bodies) {
		asks := s.dial("/", "")
		s.send(asks, `{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"abc"}}`)
		if code := ended(asks); code != socket.CloseInternal {
			s.Errorf("who asks: code %d", code)
		}
		other := s.dial("/v1/rooms/main/feed", "")
		s.room.Chat(1)
		if code := ended(s.dial("/", "")); code != socket.CloseInternal { // two seconds later
			s.Errorf("who listens: code %d", code)
		}
		s.frame(other)
		_ = other.Close()
		synctest.Wait()
		for _, bug := range []string{"a bug of sessions", "a bug of readers"} {
			if !strings.Contains(log.String(), `reason="panic: `+bug) {
				s.Errorf("%s is not in the log: %s", bug, log.String())
			}
		}
	})
}
