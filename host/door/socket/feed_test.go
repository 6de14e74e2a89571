package socket_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a feed behind an HTTP server on a pipe, in a bubble of fake time.
type stage struct {
	*testing.T
	house *doortest.House
	room  *doortest.Room
	feed  *socket.Feed
	pipe  *doortest.Pipe
}

// onStage runs a test in a bubble. It checks that nothing is left running.
func onStage(t *testing.T, cfg socket.Config, f func(s *stage)) {
	onStageOf(t, cfg, func(h *doortest.House) rooms.Directory { return h }, f)
}

// onStageOf is onStage before what rooms makes of the house.
func onStageOf(t *testing.T, cfg socket.Config, rooms func(*doortest.House) rooms.Directory, f func(s *stage)) {
	synctest.Test(t, func(t *testing.T) {
		house := doortest.NewHouse(t, "main")
		cfg.Rooms = rooms(house)
		s := &stage{T: t, house: house, room: house.Get("main"), feed: socket.New(cfg), pipe: doortest.NewPipe()}
		mux := http.NewServeMux()
		s.feed.Register(mux)
		defer func() {
			if s.room.Followers() != 0 || s.feed.Clients() != 0 {
				t.Errorf("%d still follow the room, %d clients are left", s.room.Followers(), s.feed.Clients())
			}
		}()
		defer serve(t, s.feed, s.pipe, guard.Mux(mux))()
		f(s)
	})
}

// serve answers on a pipe until the end, which closes the feed first.
func serve(t *testing.T, feed *socket.Feed, pipe *doortest.Pipe, h http.Handler) (end func()) {
	srv, served := &http.Server{Handler: h}, make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(pipe) }()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := feed.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		_ = srv.Close()
		<-served
	}
}

// head is the seq of the newest entry.
func (s *stage) head() uint64 { return uint64(len(s.room.Journal())) }

// dial connects; query is "?since=0" or "".
func (s *stage) dial(query string) *websocket.Conn {
	s.Helper()
	d := websocket.Dialer{NetDialContext: s.pipe.Dial}
	c, _, err := d.Dial("ws://localhost/v1/rooms/main/feed"+query, nil)
	if err != nil {
		s.Fatalf("dial %s: %v", query, err)
	}
	return c
}

// next reads one entry.
func next(t testing.TB, c *websocket.Conn) entry.Entry {
	t.Helper()
	kind, frame, err := c.ReadMessage()
	if err != nil || kind != websocket.TextMessage {
		t.Fatalf("read: kind %d, %v", kind, err)
	}
	var e entry.Entry
	if err := json.Unmarshal(frame, &e); err != nil {
		t.Fatalf("%v: %s", err, frame)
	}
	return e
}

// ends reads until the connection ends and gives the close code, 0 for an end
// without a goodbye, and how many entries came before.
func ends(c *websocket.Conn) (code, entries int) {
	for {
		_, _, err := c.ReadMessage()
		if err == nil {
			entries++
			continue
		}
		_ = c.Close()
		var ce *websocket.CloseError
		if errors.As(err, &ce) && ce.Code != websocket.CloseAbnormalClosure {
			return ce.Code, entries
		}
		return 0, entries
	}
}

func TestFeedStartsWhereAsked(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(5)
		head := s.head()
		all, some, fresh := s.dial("?since=0"), s.dial("?since=3"), s.dial("")
		end := s.dial(fmt.Sprintf("?since=%d", head))
		synctest.Wait()
		last := s.room.Append(entry.KindStop, entry.Stop{From: "mika"}).Seq
		for _, tc := range []struct {
			c     *websocket.Conn
			first uint64
		}{{all, 1}, {some, 4}, {fresh, head + 1}, {end, head + 1}} {
			for seq := tc.first; seq <= last; seq++ {
				if e := next(s, tc.c); e.Seq != seq {
					s.Fatalf("entry %d, want %d", e.Seq, seq)
				} else if want := s.room.Journal()[seq-1]; e.ID != want.ID || !e.At.Equal(want.At) || string(e.Body) != string(want.Body) || e.Kind != want.Kind || e.Epoch != want.Epoch {
					s.Errorf("entry %+v, want %+v", e, want)
				}
			}
			_ = tc.c.Close()
		}
	})
}

func TestHandshakeRefusals(t *testing.T) {
	house := doortest.NewHouse(t, "main")
	main := house.Get("main")
	main.Chat(3)
	feed := socket.New(socket.Config{Rooms: house})
	mux := http.NewServeMux()
	feed.Register(mux)
	upgrade := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
	for _, tc := range []struct {
		method, path, origin string
		plain                bool
		status               int
		code                 abi.Code
		trouble              error
	}{
		{"GET", "/v1/rooms/attic/feed", "", false, 404, abi.CodeNotFound, nil},
		{"GET", "/v1/rooms/main/feed?since=x", "", false, 400, abi.CodeInvalid, nil},
		{"GET", "/v1/rooms/main/feed?since=-1", "", false, 400, abi.CodeInvalid, nil},
		{"GET", "/v1/rooms/main/feed?since=", "", false, 400, abi.CodeInvalid, nil},
		{"GET", "/v1/rooms/main/feed?since=9007199254740992", "", false, 400, abi.CodeInvalid, nil},
		{"GET", "/v1/rooms/main/feed?since=9007199254740991", "", false, 409, abi.CodeConflict, nil},
		{"GET", fmt.Sprintf("/v1/rooms/main/feed?since=%d", main.Info().Head+1), "", false, 409, abi.CodeConflict, nil},
		{"GET", "/v1/rooms/main/feed", "", false, 503, abi.CodeUnavailable, abi.Errorf(abi.CodeUnavailable, "the disk is full")},
		{"GET", "/v1/rooms/main/feed", "http://evil.example", false, 403, abi.CodeDenied, nil},
		{"GET", "/v1/rooms/attic/feed", "http://evil.example", false, 403, abi.CodeDenied, nil}, // tells nothing of rooms
		{"GET", "/v1/rooms/main/feed", "null", false, 403, abi.CodeDenied, nil},
		{"GET", "/v1/rooms/main/feed", "", true, 400, abi.CodeInvalid, nil},
		{"POST", "/v1/rooms/main/feed", "", true, 405, abi.CodeInvalid, nil},
	} {
		r := httptest.NewRequest(tc.method, tc.path, nil)
		if tc.origin != "" {
			r.Header.Set("Origin", tc.origin)
		}
		if !tc.plain {
			for k, v := range upgrade {
				r.Header.Set(k, v)
			}
		}
		w := httptest.NewRecorder()
		main.Trouble(tc.trouble)
		guard.Mux(mux).ServeHTTP(w, r)
		main.Trouble(nil)
		var d guard.Details
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Code != tc.status || d.Code != tc.code {
			t.Errorf("%+v: %d %s", tc, w.Code, w.Body)
		}
	}
	if feed.Clients() != 0 {
		t.Errorf("%d clients", feed.Clients())
	}
}

func TestClientsArePingedAndMayBeIdle(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(1)
		c, want := s.dial(""), s.head()+1
		start := time.Now()
		var pings []time.Duration
		answer := c.PingHandler()
		c.SetPingHandler(func(data string) error {
			pings = append(pings, time.Since(start))
			return answer(data)
		})
		go func() {
			time.Sleep(time.Hour)
			s.room.Chat(1)
		}()
		if e := next(s, c); e.Seq != want || time.Since(start) != time.Hour {
			s.Errorf("entry %d after %v", e.Seq, time.Since(start))
		}
		if len(pings) != 133 || pings[0] != 27*time.Second || pings[1] != 54*time.Second {
			s.Errorf("%d pings, at %v ...", len(pings), pings[:min(3, len(pings))])
		}
		_ = c.Close()
	})
}

func TestClientThatNeverAnswersPingsIsDropped(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		c := s.dial("")
		c.SetPingHandler(func(string) error { return nil })
		start := time.Now()
		if code, _ := ends(c); code != 0 || time.Since(start) != 60*time.Second {
			s.Errorf("code %d after %v", code, time.Since(start))
		}
	})
}

// A client that reads nothing costs nobody anything but itself.
func TestStalledClientIsDroppedAndHarmsNobody(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		stalled, well := s.dial(""), s.dial("")
		start := time.Now()
		synctest.Wait()
		s.room.Chat(1000)
		if _, err := s.room.Say(s.Context(), rooms.Utterance{From: "mika", Text: "who reads this?"}); err != nil {
			s.Error(err)
		}
		if time.Since(start) != 0 {
			s.Errorf("the room waited %v", time.Since(start))
		}
		for seq, head := uint64(1), s.head(); seq <= head; seq++ {
			if e := next(s, well); e.Seq != seq {
				s.Fatalf("entry %d, want %d", e.Seq, seq)
			}
		}
		if time.Since(start) != 0 {
			s.Errorf("the other client waited %v", time.Since(start))
		}
		for s.feed.Clients() == 2 {
			time.Sleep(100 * time.Millisecond)
		}
		// 5 s for the frame; nothing more can be written, so nobody waits for a goodbye.
		if took := time.Since(start); took < 5*time.Second || took > 5*time.Second+200*time.Millisecond {
			s.Errorf("dropped after %v", took)
		}
		if code, n := ends(stalled); code != 0 || n != 0 {
			s.Errorf("code %d after %d entries", code, n)
		}
		_ = well.Close()
	})
}

// A client that does read, but slower than the room talks, is told.
func TestSlowClientIsClosedWith4008(t *testing.T) {
	why := make(chan string, 2)
	onStage(t, socket.Config{Dropped: func(reason string) { why <- reason }}, func(s *stage) {
		c, well := s.dial(""), s.dial("")
		talk, quiet := context.WithCancel(context.Background())
		var busy sync.WaitGroup
		busy.Go(func() {
			for talk.Err() == nil {
				s.room.Chat(100)
				time.Sleep(time.Second)
			}
		})
		busy.Go(func() {
			for talk.Err() == nil {
				next(s, well)
			}
		})
		start := time.Now()
		read := 0
		for {
			_, _, err := c.ReadMessage()
			if err != nil {
				if !websocket.IsCloseError(err, socket.CloseSlow) {
					s.Errorf("ended with %v", err)
				}
				break
			}
			read++
			time.Sleep(time.Second)
		}
		// Live at the first entry, more than 256 behind after 3 s, late after 30 s more.
		if took := time.Since(start); took < 32*time.Second || took > 36*time.Second || read > 40 {
			s.Errorf("closed after %v and %d entries", took, read)
		}
		quiet()
		s.room.Chat(1)
		busy.Wait()
		if reason := <-why; reason != "slow" || len(why) > 0 {
			s.Errorf("dropped for %q, and %d more", reason, len(why))
		}
		_, _ = c.Close(), well.Close()
	})
}

// Reading an old room over a thin line is not being slow, however long it
// takes, nor is a burst that is made up for.
func TestCatchingUpIsNotBeingSlow(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(2000)
		s.room.Wake() // else whoever looks at it reads 2000 entries each time
		c, old := s.dial("?since=0"), s.head()
		start := time.Now()
		for seq := uint64(1); seq <= old; seq++ {
			if e := next(s, c); e.Seq != seq {
				s.Fatalf("entry %d, want %d", e.Seq, seq)
			}
			time.Sleep(3 * time.Second)
		}
		if time.Since(start) < time.Hour {
			s.Error("that was not slow")
		}
		for burst := range uint64(5) { // up to 300 behind, for 25 s
			s.room.Chat(400)
			for i := range uint64(400) {
				if i < 100 {
					time.Sleep(250 * time.Millisecond)
				}
				if e := next(s, c); e.Seq != old+burst*400+i+1 {
					s.Fatalf("entry %d", e.Seq)
				}
			}
		}
		_ = c.Close()
	})
}

func TestFeedTakesNoMessages(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		for _, tc := range []struct {
			kind int
			size int
			want int
		}{
			{websocket.TextMessage, 2, socket.CloseUnsupported},
			{websocket.BinaryMessage, 60 << 10, socket.CloseUnsupported},
			{websocket.TextMessage, 65 << 10, socket.CloseTooBig},
		} {
			d := websocket.Dialer{NetDialContext: s.pipe.Dial, WriteBufferSize: 128 << 10} // one frame a message
			c, _, err := d.Dial("ws://localhost/v1/rooms/main/feed", nil)
			if err != nil {
				s.Fatal(err)
			}
			go func() { _ = c.WriteMessage(tc.kind, make([]byte, tc.size)) }()
			if code, _ := ends(c); code != tc.want {
				s.Errorf("%d bytes: code %d, want %d", tc.size, code, tc.want)
			}
			synctest.Wait()
		}
	})
}

// A microphone may be connected to the feed: what is wrong with its message is answered,
// and anything else is told what the feed takes.
func TestFeedSaysWhatItTakes(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		c := s.dial("")
		send := func(message string) {
			if err := c.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
				s.Fatal(err)
			}
		}
		send(`{"speaking":"yes","from":"taro"}`)
		const wrong = `{"error":{"code":"invalid","message":"speaking: is a JSON string, must be true or false","field":"speaking"}}`
		if _, got, err := c.ReadMessage(); err != nil || string(got) != wrong {
			s.Errorf("%s, %v", got, err)
		}
		send(`hello`)
		_, _, err := c.ReadMessage()
		var ce *websocket.CloseError
		if !errors.As(err, &ce) || ce.Code != socket.CloseUnsupported || ce.Text != `the feed takes {"speaking":true,"from":"..."} and nothing else` {
			s.Error(err)
		}
		_ = c.Close()
	})
}

func TestRoomThatFails(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want int
	}{
		{abi.Errorf(abi.CodeUnavailable, "the disk is full"), socket.CloseTryLater},
		{errors.New("bug"), socket.CloseInternal},
	} {
		onStage(t, socket.Config{}, func(s *stage) {
			s.room.Chat(1)
			c := s.dial("")
			synctest.Wait()
			s.room.Chat(1)
			synctest.Wait()
			go func() { time.Sleep(time.Second); s.room.Trouble(tc.err) }()
			if code, n := ends(c); code != tc.want || n != 1 {
				s.Errorf("%v: code %d after %d entries", tc.err, code, n)
			}
			s.room.Trouble(nil)
		})
	}
}

// broken is a house in whose rooms the newest entry is read as it was not written.
type broken struct{ *doortest.House }

func (b broken) Room(ctx context.Context, name string) (rooms.Room, error) {
	talk, err := b.House.Room(ctx, name)
	return brokenTalk{talk}, err
}

type brokenTalk struct{ rooms.Room }

func (b brokenTalk) Follow(ctx context.Context, since uint64, fn func([]entry.Entry) error) error {
	head := b.Info().Head
	return b.Room.Follow(ctx, since, func(es []entry.Entry) error {
		if last := &es[len(es)-1]; last.Seq == head {
			last.Body = json.RawMessage(`{`)
		}
		return fn(es)
	})
}

func TestEntryThatCannotBeEncoded(t *testing.T) {
	asBroken := func(h *doortest.House) rooms.Directory { return broken{h} }
	onStageOf(t, socket.Config{}, asBroken, func(s *stage) {
		s.room.Chat(3)
		if code, n := ends(s.dial("?since=0")); code != socket.CloseUnreadable || n != int(s.head())-1 {
			s.Errorf("code %d after %d entries", code, n)
		}
	})
}
