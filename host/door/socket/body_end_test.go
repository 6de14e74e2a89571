package socket_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// troubled is the home of everybody, which is told results as the test wishes.
type troubled struct {
	rooms.Room
	done func(ctx context.Context) error
}

// homeless is a house whose companions live in another room than it knows.
type homeless struct {
	*doortest.House
	home func(*doortest.House) rooms.Room
}

func (h homeless) Home(context.Context, string) (rooms.Room, error) { return h.home(h.House), nil }

func (r troubled) Done(ctx context.Context, _, _ string, _ abi.Result, _ json.RawMessage) error {
	return r.done(ctx)
}

// A room that cannot take a result says so, and one that hangs holds the client
// up for ten seconds; nothing of the inside is told.
func TestRoomThatCannotTakeAResult(t *testing.T) {
	hang := func(ctx context.Context) error {
		<-ctx.Done()
		return abi.Wrap(abi.CodeTimeout, ctx.Err(), "the room did not answer in time")
	}
	for _, tc := range []struct {
		done func(context.Context) error
		want string
		took time.Duration
	}{
		{func(context.Context) error { return abi.Errorf(abi.CodeUnavailable, "the disk is full") }, `{"error":{"code":"unavailable","message":"the disk is full","retry":true},"id":"a"}`, 0},
		{func(context.Context) error { return errors.New("secret") }, `{"error":{"code":"internal","message":"internal error"},"id":"a"}`, 0},
		{hang, `{"error":{"code":"timeout","message":"the room did not answer in time","retry":true},"id":"a"}`, 10 * time.Second},
	} {
		onBodies(t, func(c *socket.Config) {
			c.Rooms = homeless{c.Rooms.(*doortest.House), func(h *doortest.House) rooms.Room { return troubled{h.Get("main"), tc.done} }}
		}, func(s *bodies) {
			c := s.body("nikoni", "", "")
			start := time.Now()
			s.send(c, `{"id":"a","ok":true}`)
			s.want(c, tc.want)
			if took := time.Since(start); took != tc.took {
				s.Errorf("after %v", took)
			}
			s.send(c, `{"id":"a","ok":true}`) // and the end does not wait for the answer
			synctest.Wait()
			start = time.Now()
			_ = s.feed.Close(context.Background())
			if took := time.Since(start); took > 2*time.Second {
				s.Errorf("the end took %v", took)
			}
		})
	}
}

// More messages than 64 a second wait in the client's own connection: the room
// is not asked about them any faster.
func TestMessagesArePaced(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c, other := s.body("nikoni", "", ""), s.body("nikoni", "", "")
		start := time.Now()
		go func() {
			for range 256 {
				if c.WriteMessage(websocket.TextMessage, []byte(`{"id":"a","ok":true}`)) != nil {
					return
				}
			}
		}()
		for i := range 256 {
			s.frame(c)
			if took := time.Since(start); took != time.Duration(i/64)*time.Second {
				s.Fatalf("answer %d after %v", i, took)
			}
		}
		s.act("nikoni", "move", `{}`)
		s.frame(other)
		if took := time.Since(start); took != 3*time.Second {
			s.Errorf("another body waited: %v", took)
		}
		d := websocket.Dialer{NetDialContext: s.pipe.Dial, WriteBufferSize: 128 << 10} // one frame a message
		big, _, err := d.Dial("ws://localhost/v1/actions?companion=nikoni", nil)
		if err != nil {
			s.Fatal(err)
		}
		go func() { _ = big.WriteMessage(websocket.TextMessage, make([]byte, 65<<10)) }()
		if code := ended(big); code != socket.CloseTooBig {
			s.Errorf("a message of 65 KiB: code %d", code)
		}
	})
}

// A client that is paced for longer than it may be silent is not taken for dead:
// its pongs are not read either, but its frames show that it lives.
func TestPacedIsNotSilent(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "", "")
		c.SetPingHandler(func(string) error { return nil })
		const n = 64 * 100 // for 100 s
		go func() {
			for range n {
				if c.WriteMessage(websocket.TextMessage, []byte(`{"id":"a","ok":true}`)) != nil {
					return
				}
			}
		}()
		for range n {
			s.frame(c)
		}
	})
}

// A body that reads nothing costs the room and the other bodies nothing, and is
// a body no longer.
func TestSlowBodyHarmsNobody(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		stalled, well := s.body("nikoni", "", ""), s.body("nikoni", "", "")
		start := time.Now()
		synctest.Wait()
		var all []uint64
		for i := range 1000 { // more than a room lets a companion do in a second
			a := entry.Action{ID: fmt.Sprint("a", i), Who: "nikoni", Action: "move", Parameters: json.RawMessage(`{}`)}
			all = append(all, s.room.Append(entry.KindAction, a).Seq)
		}
		for _, seq := range all {
			if f := s.frame(well); !strings.HasPrefix(f, fmt.Sprintf(`{"seq":%d,`, seq)) {
				s.Fatalf("%s, want %d", f, seq)
			}
		}
		if took := time.Since(start); took != 0 {
			s.Errorf("the room or the other body waited %v", took)
		}
		for s.room.Bodies("nikoni") == 2 {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(start); took < 5*time.Second || took > 5200*time.Millisecond {
			s.Errorf("dropped after %v", took)
		}
		_ = stalled.Close()
	})
}

// A body that sends and does not read what it is answered holds up itself.
func TestBodyThatDoesNotReadItsAnswers(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "", "")
		start := time.Now()
		for {
			if c.WriteMessage(websocket.TextMessage, []byte(`rubbish`)) != nil {
				break
			}
		}
		if took := time.Since(start); took < 5*time.Second || took > 7*time.Second {
			s.Errorf("dropped after %v", took)
		}
		synctest.Wait()
		if s.room.Bodies("nikoni") != 0 {
			s.Error("it is still there")
		}
	})
}

// Nor does one that reads neither answers nor frames live any longer.
func TestBodyThatReadsNothingAtAll(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "", "")
		start := time.Now()
		s.send(c, `rubbish`)
		s.act("nikoni", "move", `{}`)
		for s.room.Bodies("nikoni") == 1 {
			s.act("nikoni", "move", `{}`)
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(start); took < 5*time.Second || took > 6*time.Second {
			s.Errorf("dropped after %v", took)
		}
	})
}

func TestBodiesAreToldOfTheEnd(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		s.set(func() { s.sessions["s"] = "nikoni of " })
		house, reference := s.body("nikoni", "", ""), s.dial("/", "")
		s.send(reference, `{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"s"}}`)
		s.frame(reference)
		if n := s.room.Bodies("nikoni"); n != 2 {
			s.Errorf("%d bodies", n)
		}
		mute := s.body("nikoni", "", "")
		mute.SetCloseHandler(func(int, string) error { return nil }) // does not answer
		start := time.Now()
		go func() { _ = s.feed.Close(context.Background()) }()
		for _, c := range []*websocket.Conn{house, reference} {
			if code := ended(c); code != socket.CloseGoingAway {
				s.Errorf("code %d", code)
			}
		}
		if _, _, err := mute.ReadMessage(); !websocket.IsCloseError(err, socket.CloseGoingAway) {
			s.Error(err)
		}
		synctest.Wait()
		if n := s.room.Bodies("nikoni"); n != 0 || time.Since(start) != 0 {
			s.Errorf("%d bodies after %v", n, time.Since(start))
		}
		played := s.act("nikoni", "move", `{}`)
		s.send(mute, `{"id":"`+played.ID+`","ok":true}`)
		synctest.Wait()
		if played.Delivered != 0 || len(results(s.room)) != 0 {
			s.Error("one that was told of the end was heard")
		}
	})
}

// An entry that cannot be read ends the connection instead of being left out.
func TestBodyOfARoomThatFails(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "", "")
		s.room.Corrupt()
		if code := ended(c); code != socket.CloseInternal {
			s.Errorf("code %d", code)
		}
	})
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "", "")
		s.room.Trouble(abi.Errorf(abi.CodeUnavailable, "the disk is full"))
		if code := ended(c); code != socket.CloseTryLater {
			s.Errorf("code %d", code)
		}
		s.room.Trouble(nil)
	})
}
