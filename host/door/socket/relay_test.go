package socket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/socket"
)

// relayStage is the relay of a room in a bubble of fake time.
type relayStage struct {
	*testing.T
	room    *doortest.Room
	pipe    *doortest.Pipe
	waiting atomic.Bool
	ears    atomic.Int64 // clients that take notices
}

func onRelay(t *testing.T, f func(s *relayStage)) {
	synctest.Test(t, func(t *testing.T) {
		house := doortest.NewHouse(t, "main", "side")
		s := &relayStage{T: t, room: house.Get("main"), pipe: doortest.NewPipe()}
		feed := socket.New(socket.Config{Rooms: house, Waiting: func(string, uint64) bool { return s.waiting.Load() }, Listens: s.listens})
		mux := http.NewServeMux()
		feed.Register(mux)
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		defer serve(t, feed, s.pipe, feed.Relay(guard.Mux(mux)))()
		f(s)
	})
}

func (s *relayStage) listens(room, address string) func() {
	if room != "main" || address != "" { // no guard stands before
		s.Errorf("in %q, at %q", room, address)
	}
	s.ears.Add(1)
	return func() { s.ears.Add(-1) }
}

// It is told who takes notices, for as long as they do.
func TestWhoListensToTheRelay(t *testing.T) {
	onRelay(t, func(s *relayStage) {
		heard := func(want int64, what string) {
			s.Helper()
			if synctest.Wait(); s.ears.Load() != want {
				s.Errorf("%s: %d listen", what, s.ears.Load())
			}
		}
		one, _ := s.dial("/", nil)
		_, _ = s.dial("/ws", nil)
		_, _ = s.dial("/v1/rooms/main/feed", nil)
		heard(2, "two are there, and one of the feed")
		_ = one.Close()
		time.Sleep(time.Second)
		heard(1, "one has left")
	})
}

// said lets a line be said and gives its seq, as it is read from JSON.
func (s *relayStage) said() float64 {
	s.room.Chat(1)
	return float64(s.room.Info().Head)
}

func (s *relayStage) dial(path string, h http.Header) (*websocket.Conn, *http.Response) {
	s.Helper()
	d := websocket.Dialer{NetDialContext: s.pipe.Dial}
	conn, answer, err := d.DialContext(s.Context(), "ws://localhost"+path, h)
	if err != nil && answer == nil {
		s.Fatal(err)
	}
	if conn != nil {
		s.Cleanup(func() { _ = conn.Close() })
	}
	return conn, answer
}

func (s *relayStage) next(c *websocket.Conn) map[string]any {
	s.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Hour)) // fake time would go on for ever
	_, frame, err := c.ReadMessage()
	if err != nil {
		s.Fatal(err)
	}
	var n map[string]any
	if err := json.Unmarshal(frame, &n); err != nil {
		s.Fatal(err)
	}
	return n
}

// Clients of chat-relay dial any path and get each message as its server sends it.
func TestRelayOnAnyPath(t *testing.T) {
	onRelay(t, func(s *relayStage) {
		var conns []*websocket.Conn
		for _, path := range []string{"/", "", "/ws", "/mcp", "/a/b?room=main"} {
			c, _ := s.dial(path, nil)
			conns = append(conns, c)
		}
		synctest.Wait()
		s.room.Append("stop", map[string]string{"from": "taro"}) // no message, so no notice
		seq := s.said()
		for _, c := range conns {
			n := s.next(c)
			m := n["message"].(map[string]any)
			if n["type"] != "newMessage" || len(m) != 2 || m["from"] != "aya" || m["message"] != "line 1" {
				s.Errorf("%v", n)
			}
			if n["seq"] != seq || n["room"] != "main" || n["kind"] != "turn" || n["at"] == nil || n["again"] != nil {
				s.Errorf("what is added: %v", n)
			}
		}
	})
}

// The house's own feed is as it was, and a request that is no handshake goes on.
func TestRelayLeavesTheRestAlone(t *testing.T) {
	onRelay(t, func(s *relayStage) {
		c, _ := s.dial("/v1/rooms/main/feed", nil)
		synctest.Wait()
		seq := s.said()
		for n := 1.0; n <= seq; n++ {
			if e := s.next(c); e["seq"] != n || e["kind"] == nil || e["type"] != nil {
				s.Errorf("%v", e)
			}
		}
		client := http.Client{Transport: &http.Transport{DialContext: s.pipe.Dial, DisableKeepAlives: true}}
		res, err := client.Get("http://localhost/")
		if err != nil || res.StatusCode != http.StatusTeapot {
			s.Errorf("%v %v", res, err)
		}
		if res != nil {
			_ = res.Body.Close()
		}
		for path, status := range map[string]int{"/?room=attic": 404, "/?since=9": 409, "/?since=x": 400} {
			if c, res := s.dial(path, nil); c != nil || res.StatusCode != status {
				s.Errorf("%s: %v", path, res)
			}
		}
		if c, res := s.dial("/", http.Header{"Origin": {"http://evil.example"}}); c != nil || res.StatusCode != http.StatusForbidden {
			s.Errorf("a page of another site: %v", res)
		}
	})
}

// A client that was cut off asks for what it missed.
func TestRelaySince(t *testing.T) {
	onRelay(t, func(s *relayStage) {
		first := s.said()
		s.room.Chat(2)
		c, _ := s.dial(fmt.Sprintf("/?since=%v", first), nil)
		for _, seq := range []float64{first + 1, first + 2} {
			if n := s.next(c); n["seq"] != seq {
				s.Errorf("%v, want %v", n, seq)
			}
		}
	})
}

// The server of chat-relay ignores what its clients send.
func TestRelayIgnoresWhatIsSent(t *testing.T) {
	onRelay(t, func(s *relayStage) {
		c, _ := s.dial("/", nil)
		if err := c.WriteMessage(websocket.TextMessage, []byte(`{"hello":1}`)); err != nil {
			s.Fatal(err)
		}
		synctest.Wait()
		seq := s.said()
		if n := s.next(c); n["seq"] != seq {
			s.Errorf("%v", n)
		}
	})
}

// While somebody waits, the newest notice comes again: after 2, 4, 8, 16 and
// then every 30 seconds; a new message starts that anew, and when nobody waits
// there is silence: an agent that was busy when a notice came would sleep for ever.
func TestRelayTellsAgain(t *testing.T) {
	onRelay(t, func(s *relayStage) {
		c, _ := s.dial("/", nil)
		synctest.Wait()
		seq := s.said()
		s.next(c)
		at := time.Now()
		s.waiting.Store(true)
		for _, after := range []time.Duration{2, 6, 14, 30, 60, 90} {
			n := s.next(c)
			if n["again"] != true || n["seq"] != seq || time.Since(at) != after*time.Second {
				s.Fatalf("after %v: %v, want it after %v s", time.Since(at), n, int64(after))
			}
		}
		seq = s.said()
		if n := s.next(c); n["seq"] != seq || n["again"] != nil {
			s.Fatalf("%v", n)
		}
		at = time.Now()
		if n := s.next(c); n["again"] != true || n["seq"] != seq || time.Since(at) != 2*time.Second {
			s.Fatalf("after %v: %v", time.Since(at), n)
		}
		s.waiting.Store(false)
		time.AfterFunc(10*time.Minute, func() { s.room.Chat(1) })
		if n := s.next(c); n["seq"] != seq+1 || n["again"] != nil {
			s.Errorf("told again though nobody waits: %v", n)
		}
	})
}

// A client that connects after something was said, and has not seen it, is told of it.
func TestRelayTellsWhoComesLate(t *testing.T) {
	onRelay(t, func(s *relayStage) {
		seq := s.said()
		s.waiting.Store(true)
		c, _ := s.dial("/", nil)
		if n := s.next(c); n["again"] != true || n["seq"] != seq {
			s.Errorf("%v", n)
		}
	})
}
