package socket_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
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

// referenceClient is a body written from the AI Companion Protocol's shapes alone: it subscribes to
// its session and does what {"action","parameters"} tells it. It knows nothing
// of what this house adds.
type referenceClient struct {
	conn *websocket.Conn
	pos  [3]float64
	said []string
}

// subscribe says which session it belongs to.
func (r *referenceClient) subscribe(session string) error {
	return r.conn.WriteJSON(map[string]any{"jsonrpc": "2.0", "method": "subscribe", "params": map[string]any{"sessionId": session}})
}

// play takes one frame and does what it says.
func (r *referenceClient) play() error {
	_ = r.conn.SetReadDeadline(time.Now().Add(time.Hour))
	_, frame, err := r.conn.ReadMessage()
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(frame), `{"action":`) {
		return fmt.Errorf("no action comes first: %s", frame)
	}
	var f struct {
		Action     string          `json:"action"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if err := json.Unmarshal(frame, &f); err != nil {
		return err
	}
	switch f.Action {
	case "move":
		var to struct{ X, Y, Z float64 }
		if err := json.Unmarshal(f.Parameters, &to); err != nil {
			return err
		}
		r.pos = [3]float64{to.X, to.Y, to.Z}
	case "speak":
		var words struct{ Message string }
		if err := json.Unmarshal(f.Parameters, &words); err != nil {
			return err
		}
		r.said = append(r.said, words.Message)
	default:
		return fmt.Errorf("unknown action %q", f.Action)
	}
	return nil
}

// A client of the AI Companion Protocol, unmodified, plays a companion's actions.
func TestReferenceClient(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		s.set(func() { s.sessions["abc"] = "nikoni of " })
		for _, path := range []string{"/", "/ws"} {
			r := &referenceClient{conn: s.dial(path, "")}
			if err := r.subscribe("abc"); err != nil {
				s.Fatal(err)
			}
			synctest.Wait()
			if n := s.room.Bodies("nikoni"); n != 1 {
				s.Errorf("%d bodies", n)
			}
			s.room.Append(entry.KindSaid, entry.Said{From: "mika", By: abi.KindHuman, Text: "こっちに来て", Kind: abi.KindTurn})
			s.act("nikoni", "move", `{"x":1,"y":0,"z":2.5}`)
			s.room.Append(entry.KindSegment, entry.Segment{Who: "nikoni", N: 1, Text: "はい、"})
			s.room.Append(entry.KindSegment, entry.Segment{Who: "nikoni", N: 2, Text: "今行くね。"})
			said := line("nikoni", "はい、今行くね。")
			said.Segments = 2
			s.room.Append(entry.KindSaid, said)
			s.room.Append(entry.KindSaid, line("aya", "いってらっしゃい"))
			s.room.Append(entry.KindSaid, line("nikoni", "着いた！"))
			for range 4 {
				if err := r.play(); err != nil {
					s.Fatal(err)
				}
			}
			s.quiet(r.conn)
			if r.pos != [3]float64{1, 0, 2.5} || strings.Join(r.said, "|") != "はい、|今行くね。|着いた！" {
				s.Errorf("%+v", r)
			}
			s.kill(r.conn)
			synctest.Wait()
			if n := s.room.Bodies("nikoni"); n != 0 {
				s.Errorf("%d bodies", n)
			}
		}
	})
}

// The frames as they are, an answer only to who asks for one, and results as at
// the other socket.
func TestReferenceFrames(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		s.set(func() { s.sessions["abc"] = "nikoni of mika" })
		c := s.dial("/", "mika read,act")
		synctest.Wait()
		s.room.Append(entry.KindSaid, line("aya", "before"))
		if f := s.frame(c); !strings.HasPrefix(f, `{"type":"newMessage",`) {
			s.Error(f)
		}
		s.send(c, `{"jsonrpc":"2.0","id":"x1","method":"subscribe","params":{"sessionId":"abc"}}`)
		s.want(c, `{"jsonrpc":"2.0","id":"x1","result":{}}`)
		s.set(func() { s.waiting = true }) // nor is it told again of the message before
		s.room.Append(entry.KindSaid, line("aya", "after"))
		done := make(chan [2]entry.Entry, 1)
		time.AfterFunc(time.Minute, func() {
			moved := s.played("nikoni", s.act("nikoni", "move", `{"x":1}`))
			done <- [2]entry.Entry{moved, s.room.Append(entry.KindSaid, line("nikoni", "hi"))}
		})
		frames := []string{s.frame(c), s.frame(c)}
		all := <-done
		moved, hi := all[0], all[1]
		if frames[0] != reference(moved, "move", `{"x":1}`) || frames[1] != reference(hi, "speak", `{"message":"hi"}`) {
			s.Errorf("%q", frames)
		}
		s.send(c, `{"id":"`+idOf(moved)+`","ok":false,"reason":"stuck"}`)
		s.send(c, `{"id":"`+idOf(hi)+`","ok":true}`)
		s.send(c, `{"id":"act-9","ok":true}`)
		s.want(c, s.refusal("nikoni", "act-9"))
		s.send(c, `rubbish`)
		s.want(c, `{"error":{"code":"invalid","message":"message: is no JSON object; a body sends {\"id\":\"...\",\"ok\":true} of an action, {\"line\":\"...\",\"played\":1} or {\"line\":\"...\",\"seconds\":1.5} of a line, or {\"speaking\":true,\"from\":\"...\"}"}}`)
		want := entry.Done{Who: "nikoni", Result: abi.Result{ID: idOf(moved), Action: "move", Reason: "stuck", By: "mika"}}
		if all := results(s.room); len(all) != 1 || all[0] != want {
			s.Errorf("%+v", all)
		}
		s.quiet(c)
	})
}

// Each way to subscribe has its own frames, and who sends an id is answered before them: the
// newest subscription counts.
func TestReferenceShapes(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		s.set(func() { s.sessions["abc"] = "nikoni of " })
		const subscribes = `{"jsonrpc":"2.0",%s"method":%q,"params":{"sessionId":"abc"}}`
		const move = `{"x":1,"y":0,"z":2.5}`
		c := s.dial("/", "")
		for _, tc := range []struct{ id, method string }{
			{`"id":1,`, "subscribe.request"}, {"", "subscribe"}, {"", "subscribe.request"}, {`"id":"b",`, "subscribe"},
		} {
			s.send(c, fmt.Sprintf(subscribes, tc.id, tc.method))
			if tc.id != "" {
				s.want(c, `{"jsonrpc":"2.0",`+tc.id+`"result":{}}`)
			}
			synctest.Wait()
			moved := s.act("nikoni", "move", move)
			said := s.room.Append(entry.KindSaid, line("nikoni", "着いた！"))
			s.act("kai", "move", `{}`)
			s.room.Append(entry.KindHeard, entry.Heard{Who: "nikoni", Line: "g", End: entry.EndSaid}) // for other bodies
			if tc.method == "subscribe" {
				s.want(c, reference(s.played("nikoni", moved), "move", move))
				s.want(c, reference(said, "speak", `{"message":"着いた！"}`))
			} else {
				s.want(c, `{"jsonrpc":"2.0","method":"action.execute","params":{"action":"move","parameters":`+move+`}}`)
				s.want(c, `{"jsonrpc":"2.0","method":"action.execute","params":{"action":"speak","parameters":{"message":"着いた！"}}}`)
			}
			if n := s.room.Bodies("nikoni"); n != 1 {
				s.Errorf("%d bodies", n)
			}
		}
		s.send(c, `{"jsonrpc":"2.0","method":"subscribe.request","params":{"sessionId":"x"}}`)
		s.want(c, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"session: there is no such session","data":{"code":"not_found"}}}`)
		s.quiet(c)
	})
}

// The first clients had no session and said nothing: their URL says whose frames they
// want. Whoever does not say it is chat-relay's, and is told of no action.
func TestBodiesWithoutASession(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		relay, named, usual, other := s.dial("/", ""), s.dial("/?companion=nikoni", ""), s.dial("/ws?companion=", ""), s.dial("/?companion=kai", "")
		synctest.Wait()
		if n, k := s.room.Bodies("nikoni"), s.house.Get("side").Bodies("kai"); n != 2 || k != 1 {
			s.Errorf("nikoni has %d bodies, kai %d", n, k)
		}
		before := s.act("nikoni", "move", `{"x":1}`)
		moved := s.played("nikoni", before)
		for _, c := range []*websocket.Conn{named, usual} {
			s.want(c, reference(moved, "move", `{"x":1}`))
		}
		s.send(named, `{"id":"`+idOf(moved)+`","ok":true}`)
		synctest.Wait()
		if all := results(s.room); len(all) != 1 || !all[0].OK {
			s.Errorf("%+v", all)
		}
		for _, c := range []*websocket.Conn{relay, named, usual, other} {
			s.quiet(c)
		}
		again := s.dial(fmt.Sprint("/?companion=nikoni&since=", moved.Seq-1), "")
		s.want(again, reference(moved, "move", `{"x":1}`))
		for _, tc := range []struct {
			query, who string
			status     int
			detail     string
		}{
			{"?companion=ghost", "", 404, `companion: \"ghost\" lives in no room`},
			{"?companion=kai&room=main", "", 404, `query.companion: \"kai\" is not in room main`},
			{"?companion=a%20b", "", 400, "query.companion: "},
			{"?companion=nikoni", "mika read,talk", 403, `the token of mika has not the scope \"act\"`},
		} {
			if status, detail := s.turnedAway("/"+tc.query, tc.who); status != tc.status || !strings.Contains(detail, tc.detail) {
				s.Errorf("%s: %d %s", tc.query, status, detail)
			}
		}
	})
	nobody := func(c *socket.Config) { c.Usual = func() string { return "" } }
	onBodies(t, nobody, func(s *bodies) {
		if status, detail := s.turnedAway("/?companion=", ""); status != 404 || !strings.Contains(detail, "query.companion: nobody who has a card lives in a room; name one") {
			s.Errorf("%d %s", status, detail)
		}
	})
}

// turnedAway gives how a handshake is refused.
func (s *bodies) turnedAway(path, who string) (status int, answer string) {
	s.Helper()
	_, res, err := s.try(path, who)
	if err == nil || res == nil {
		s.Fatalf("dial %s: %v", path, err)
	}
	var b [1024]byte
	n, _ := res.Body.Read(b[:]) // as much as gorilla keeps
	return res.StatusCode, string(b[:n])
}

// A session's id is not enough to take a companion's actions: it has to be the
// caller's own, and the caller has to be allowed to act.
func TestSessionIsNotTheOnlySecret(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		s.set(func() {
			s.sessions["mikas"], s.sessions["guests"], s.sessions["lost"] = "nikoni of mika", "nikoni of ", "ghost of "
		})
		_, homeless := s.house.Home(context.Background(), "ghost")
		const refused = `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":%q,"data":{"code":%q}}}`
		for _, tc := range []struct{ who, session, message, code string }{
			{"mika read,act", "mikas", "", ""},
			{"", "guests", "", ""},
			{"taro read,act", "mikas", "session: is another caller's", "denied"},
			{"", "mikas", "session: is another caller's", "denied"},
			{"mika read,act", "guests", "session: is another caller's", "denied"},
			{"mika read,talk", "mikas", `the token of mika has not the scope "act"`, "denied"},
			{"mika read,talk", "unknown", `the token of mika has not the scope "act"`, "denied"}, // tells nothing of sessions
			{"mika read,act", "unknown", "session: there is no such session", "not_found"},
			{"", "lost", abi.AsError(homeless).Message, "not_found"},
		} {
			c := s.dial("/", tc.who)
			s.send(c, `{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"`+tc.session+`"}}`)
			want, bodies := fmt.Sprintf(refused, tc.message, tc.code), 0
			if tc.code == "" {
				want, bodies = `{"jsonrpc":"2.0","id":1,"result":{}}`, 1
			}
			s.want(c, want)
			s.act("nikoni", "move", `{}`)
			if n := s.room.Bodies("nikoni"); n != bodies {
				s.Errorf("%s with %s: %d bodies", tc.who, tc.session, n)
			}
			if bodies == 1 {
				s.frame(c)
			}
			s.quiet(c)
			s.kill(c)
			synctest.Wait()
		}
	})
}

// Calls that are none are told so; a message that is no call is ignored, as chat-relay's server
// does, until there is a subscription.
func TestReferenceMistakes(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		s.set(func() { s.sessions["abc"] = "nikoni of " })
		c := s.dial("/", "")
		for _, ignored := range []string{
			``, `hello`, `{}`, `[1]`, `{"id":"a","ok":true}`, `{"jsonrpc":"1.0","id":1,"method":"subscribe"}`,
			`{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","method":"hello"}`, `{"jsonrpc":"2.0","id":null,"method":"hello"}`,
			`[{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"abc"}}]`,
		} {
			s.send(c, ignored)
		}
		long := strings.Repeat("x", 255)
		const invalid = `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q,"data":{"code":%q}}}`
		mistakes := []struct{ message, want string }{
			{`{"jsonrpc":"2.0","id":1.5,"method":"hello"}`, fmt.Sprintf(invalid, "1.5", -32601, `method: there are only subscribe and subscribe.request here, not "hello"`, "unknown_op")},
			{`{"jsonrpc":"2.0","id":-1,"method":"subscribe"}`, fmt.Sprintf(invalid, "-1", -32602, "params.sessionId: is missing; open a session with POST /init, or connect to /?companion=ID and subscribe to nothing", "invalid")},
			{`{"jsonrpc":"2.0","id":"a","method":"subscribe","params":{"sessionId":""}}`, fmt.Sprintf(invalid, `"a"`, -32602, "params.sessionId: is missing; open a session with POST /init, or connect to /?companion=ID and subscribe to nothing", "invalid")},
			{`{"jsonrpc":"2.0","id":1,"method":"subscribe","params":[1]}`, fmt.Sprintf(invalid, "1", -32602, "params.sessionId: must be a string in an object", "invalid")},
			{`{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":7}}`, fmt.Sprintf(invalid, "1", -32602, "params.sessionId: must be a string in an object", "invalid")},
			{`{"jsonrpc":"2.0","id":{},"method":"subscribe","params":{"sessionId":"abc"}}`, fmt.Sprintf(invalid, "null", -32600, "id: is neither a string nor a number", "invalid")},
			{`{"jsonrpc":"2.0","id":"` + long + `","method":"subscribe","params":{"sessionId":"abc"}}`, fmt.Sprintf(invalid, "null", -32600, "id: 257 bytes, at most 256", "invalid")},
			{`{"jsonrpc":"2.0","method":"subscribe","params":{"sessionId":"x"}}`, fmt.Sprintf(invalid, "null", -32000, "session: there is no such session", "not_found")},
		}
		for _, tc := range mistakes {
			s.send(c, tc.message)
			s.want(c, tc.want)
		}
		s.room.Chat(1) // and it is still chat-relay's
		if f := s.frame(c); !strings.HasPrefix(f, `{"type":"newMessage",`) {
			s.Error(f)
		}
		s.send(c, `{"jsonrpc":"2.0","id":null,"method":"subscribe","params":{"sessionId":"abc"}}`)
		for _, tc := range mistakes { // a body makes the same
			s.send(c, tc.message)
			s.want(c, tc.want)
		}
		s.want(c, reference(s.moves("nikoni"), "move", `{}`))
	})
}

// A fault inside is not told.
func TestSessionsThatFail(t *testing.T) {
	fail := func(c *socket.Config) {
		c.Session = func(string, string) (string, error) { return "", errors.New("secret") }
	}
	onBodies(t, fail, func(s *bodies) {
		c := s.dial("/", "")
		s.send(c, `{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"abc"}}`)
		s.want(c, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error","data":{"code":"internal"}}}`)
	})
	unreadable := func(c *socket.Config) {
		c.Rooms = homeless{c.Rooms.(*doortest.House), func(h *doortest.House) rooms.Room { return unread{h.Get("side")} }}
	}
	onBodies(t, unreadable, func(s *bodies) {
		s.set(func() { s.sessions["k"] = "kai of " })
		c := s.dial("/", "")
		s.send(c, `{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"k"}}`)
		s.want(c, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"the disk is full","data":{"code":"unavailable"}}}`)
	})
}

// unread is a room that cannot be read, while all others can.
type unread struct{ rooms.Room }

func (unread) Entries(context.Context, uint64, int) ([]entry.Entry, uint64, error) {
	return nil, 0, abi.Errorf(abi.CodeUnavailable, "the disk is full")
}

// A subscription is about the companion's own room, whatever room the socket was
// about, and shows what comes after it, or after since in that room's own URL.
func TestSubscriptionsStart(t *testing.T) {
	for _, tc := range []struct {
		room    string // that the socket is about
		since   int    // which action the client saw last; 0: nothing, -1: it does not say
		session string
		acts    []int // that it is shown, from 1
	}{
		{"main", -1, "n", []int{5}}, {"main", -1, "k", []int{5}}, {"side", -1, "n", []int{5}},
		{"main", 1, "n", []int{2, 3, 4, 5}}, {"main", 1, "k", []int{5}},
		{"side", 0, "k", []int{1, 2, 3, 4, 5}}, {"side", 2, "n", []int{5}},
	} {
		onBodies(t, nil, func(s *bodies) {
			s.set(func() { s.sessions["n"], s.sessions["k"] = "nikoni of ", "kai of " })
			acts := map[string][]entry.Entry{}
			act := func() {
				acts["main"], acts["side"] = append(acts["main"], s.moves("nikoni")), append(acts["side"], s.moves("kai"))
			}
			act()
			act()
			act()
			query := url.Values{}
			if tc.room != "main" {
				query.Set("room", tc.room)
			}
			if tc.since >= 0 {
				seqs := append([]entry.Entry{{}}, acts[tc.room]...)
				query.Set("since", fmt.Sprint(seqs[tc.since].Seq))
			}
			c := s.dial("/?"+query.Encode(), "")
			act()
			synctest.Wait()
			s.send(c, `{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"`+tc.session+`"}}`)
			s.want(c, `{"jsonrpc":"2.0","id":1,"result":{}}`)
			act()
			for _, n := range tc.acts {
				s.want(c, reference(acts[map[string]string{"n": "main", "k": "side"}[tc.session]][n-1], "move", `{}`))
			}
			s.quiet(c)
		})
	}
}

// The newest subscription counts. To subscribe again shows nothing twice, and
// leaves nothing out.
func TestSubscribingAgain(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		s.set(func() { s.sessions["n"], s.sessions["k"] = "nikoni of ", "kai of " })
		side := s.house.Get("side")
		c := s.dial("/?since=0", "")
		subscribe := func(session string, nikonis, kais int) {
			s.Helper()
			s.send(c, `{"jsonrpc":"2.0","id":"`+session+`","method":"subscribe","params":{"sessionId":"`+session+`"}}`)
			s.want(c, `{"jsonrpc":"2.0","id":"`+session+`","result":{}}`)
			synctest.Wait()
			if n, k := s.room.Bodies("nikoni"), side.Bodies("kai"); n != nikonis || k != kais || s.room.Followers() != 1 {
				s.Errorf("nikoni has %d bodies, kai %d; %d follow a room", n, k, s.room.Followers())
			}
		}
		subscribe("n", 1, 0)
		s.want(c, reference(s.moves("nikoni"), "move", `{}`))
		subscribe("n", 1, 0)
		s.want(c, reference(s.moves("nikoni"), "move", `{}`))
		s.moves("kai")
		subscribe("k", 0, 1)
		nikonis, kais := s.moves("nikoni"), s.moves("kai")
		s.want(c, reference(kais, "move", `{}`))
		s.send(c, `{"id":"`+idOf(nikonis)+`","ok":true}`) // it is kai's body now
		s.want(c, s.refusal("kai", idOf(nikonis)))
		s.send(c, `{"id":"`+idOf(kais)+`","ok":true}`)
		s.send(c, `{"jsonrpc":"2.0","id":9,"method":"subscribe","params":{"sessionId":"x"}}`)
		s.want(c, `{"jsonrpc":"2.0","id":9,"error":{"code":-32000,"message":"session: there is no such session","data":{"code":"not_found"}}}`)
		if len(results(side)) != 1 || len(results(s.room)) != 0 {
			s.Errorf("%v %v", results(side), results(s.room))
		}
		s.quiet(c)
	})
}

// Actions that a body had not been sent yet when it subscribed again come afterwards.
func TestSubscribingAgainWithFramesOnTheWay(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		s.set(func() { s.sessions["n"] = "nikoni of " })
		c := s.dial("/", "")
		const subscribe = `{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"n"}}`
		s.send(c, subscribe)
		s.frame(c)
		var all, want []string
		for range 5 {
			want = append(want, reference(s.moves("nikoni"), "move", `{}`))
		}
		s.send(c, subscribe)
		synctest.Wait()
		for range 6 {
			if f := s.frame(c); !strings.HasPrefix(f, `{"jsonrpc"`) {
				all = append(all, f)
			}
		}
		if !slices.Equal(all, want) {
			s.Errorf("%q\nwant %q", all, want)
		}
	})
}

// How far a client was behind in one room says nothing of the next.
func TestSlowInOneRoomIsNotSlowInAnother(t *testing.T) {
	slow := func(c *socket.Config) { c.MaxLag, c.LagTimeout = 1, 2*time.Second }
	onBodies(t, slow, func(s *bodies) {
		s.set(func() { s.sessions["n"], s.sessions["k"] = "nikoni of ", "kai of " })
		c := s.dial("/", "")
		s.send(c, `{"jsonrpc":"2.0","method":"subscribe","params":{"sessionId":"n"}}`)
		synctest.Wait()
		s.act("nikoni", "move", `{}`)
		s.frame(c)
		time.Sleep(time.Second)
		for range 10 {
			s.act("nikoni", "move", `{}`)
		}
		s.frame(c)
		synctest.Wait() // it is found behind, and has two seconds
		s.send(c, `{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"k"}}`)
		for !strings.HasPrefix(s.frame(c), `{"jsonrpc"`) {
		}
		time.Sleep(3 * time.Second)
		for range 2 {
			s.act("kai", "move", `{}`)
			s.frame(c)
		}
	})
}

// Many subscriptions at once, unread, are taken one after another.
func TestManySubscriptionsAtOnce(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		s.set(func() { s.sessions["n"], s.sessions["k"] = "nikoni of ", "kai of " })
		c := s.dial("/", "")
		go func() {
			for i := range 100 {
				message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"subscribe","params":{"sessionId":"%c"}}`, i, "nk"[i%2])
				if c.WriteMessage(websocket.TextMessage, []byte(message)) != nil {
					return
				}
			}
		}()
		for i := range 100 {
			s.want(c, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
		}
		s.act("kai", "move", `{}`)
		s.frame(c)
	})
}

// A client that may not read gets no socket of chat-relay's, and so no subscription.
func TestReferenceNeedsRead(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		if c, answer, _ := s.try("/", "mika act"); c != nil || answer.StatusCode != http.StatusForbidden {
			s.Errorf("%v", answer)
		}
	})
}
