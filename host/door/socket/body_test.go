package socket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/entry"
)

// The table says what a body is shown of what happens in a room, and how. Words come
// from segments or from a message said at once, never from both.
func TestWhatABodySees(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "&since=0", "")
		moved := s.played("nikoni", s.act("nikoni", "move", `{"x":1,"y":0,"z":2}`))
		s.room.Append(entry.KindAction, entry.Action{ID: "a2", Who: "aya", Action: "move", Parameters: json.RawMessage(`{}`)})
		hey := s.room.Append(entry.KindSegment, entry.Segment{Grant: "g", Who: "nikoni", N: 1, Text: "やあ、"})
		s.room.Append(entry.KindSegment, entry.Segment{Grant: "h", Who: "aya", N: 1, Text: "no"})
		fine := s.room.Append(entry.KindSegment, entry.Segment{Grant: "g", Who: "nikoni", N: 2, Text: "元気？"})
		both := line("nikoni", "やあ、元気？")
		both.Segments, both.Grant, both.Played = 2, "g", true
		whole := s.room.Append(entry.KindSaid, both)
		hi := s.room.Append(entry.KindSaid, line("nikoni", `"hi"`))
		nod := line("nikoni", "うん")
		nod.Kind = abi.KindBackchannel
		nods := s.room.Append(entry.KindSaid, nod)
		human := line("nikoni", "an impostor's")
		human.By = abi.KindHuman
		s.room.Append(entry.KindSaid, human)
		s.room.Append(entry.KindSaid, line("aya", "another's"))
		s.room.Append(entry.KindStop, entry.Stop{From: "nikoni"})
		looks := s.room.Append(entry.KindAction, entry.Action{ID: "a12", Who: "nikoni", Action: "look", Parameters: json.RawMessage(`{}`)})
		s.room.Append(entry.KindHeard, entry.Heard{Line: "h", Who: "aya", End: entry.EndSaid})
		cut := s.room.Append(entry.KindHeard, entry.Heard{Line: "g", Who: "nikoni", End: entry.EndCut, Text: "やあ、", Why: "taro spoke over it"})
		s.want(c,
			is(moved, `"action":"move","parameters":{"x":1,"y":0,"z":2},"perception":"vision"`),
			is(hey, `"action":"speak","parameters":{"message":"やあ、"},"kind":"speech","line":"g","part":1`),
			is(fine, `"action":"speak","parameters":{"message":"元気？"},"kind":"speech","line":"g","part":2`),
			fmt.Sprintf(`{"seq":%d,"at":"2000-01-01T00:00:00.002Z","companion":"nikoni","line":"g","parts":2,"last":true}`, whole.Seq),
			is(hi, `"action":"speak","parameters":{"message":"\"hi\""},"kind":"speech","line":"`+hi.ID+`","part":1,"last":true`),
			is(nods, `"action":"speak","parameters":{"message":"うん"},"kind":"speech"`),
			is(looks, `"action":"look","parameters":{}`),
			fmt.Sprintf(`{"seq":%d,"at":"2000-01-01T00:00:00.002Z","companion":"nikoni","line":"g","end":"cut","reason":"taro spoke over it"}`, cut.Seq),
		)
		s.quiet(c)
	})
}

// A microphone whose connection is gone hears nobody any more.
func TestAMicrophoneThatGoes(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		for _, told := range []bool{false, true} { // that it has ended
			c := s.body("nikoni", "&playback=1", "")
			s.send(c, `{"speaking":true,"from":"taro"}`)
			if told {
				s.send(c, `{"speaking":false,"from":"taro"}`)
			}
			synctest.Wait()
			_ = c.Close()
			synctest.Wait()
			var heard []bool
			es, _, err := s.room.Entries(s.Context(), 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range es {
				if e.Kind == entry.KindSpeaking {
					b, err := entry.Decode[entry.Speaking](e)
					if err != nil || b.From != "taro" {
						t.Fatalf("%+v, %v", b, err)
					}
					heard = append(heard, b.On)
				}
			}
			if n := len(heard); n < 2 || n%2 != 0 || !heard[n-2] || heard[n-1] {
				t.Errorf("told %v: %v", told, heard)
			}
		}
	})
}

// A line that began without a body is over, for a body that comes, as soon as it is written:
// nobody waits until it has played the rest.
func TestALineThatNoBodySays(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "&playback=1", "")
		for broken, want := range map[string]string{"": `"end":"said","reason":"no body was there as it began"`, "the model broke off": `"end":"failed","reason":"the model broke off"`} {
			b := line("nikoni", "やあ、元気？")
			b.Segments, b.Grant, b.Broken = 2, "g", broken
			e := s.room.Append(entry.KindSaid, b)
			s.want(c, fmt.Sprintf(`{"seq":%d,"at":"2000-01-01T00:00:00Z","companion":"nikoni","line":"g","parts":2,"last":true,%s}`, e.Seq, want))
		}
		b := line("nikoni", "やあ、元気？") // how all of it was said comes behind its pieces
		b.Segments, b.Grant, b.Played, b.Parameters = 2, "g", true, json.RawMessage(`{"message":"やあ、元気？","emotion":"joy"}`)
		e := s.room.Append(entry.KindSaid, b)
		s.want(c, fmt.Sprintf(`{"seq":%d,"at":"2000-01-01T00:00:00Z","companion":"nikoni","line":"g","parts":2,"last":true,"parameters":%s}`, e.Seq, b.Parameters))
		s.quiet(c)
	})
}

// A line that a body was shown ends there also when the companion's file is gone by then.
func TestALineEndsWithoutItsFile(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "&since=0", "")
		s.room.Append(entry.KindSegment, entry.Segment{Grant: "g", Who: "nikoni", N: 1, Text: "やあ、"})
		s.frame(c)
		s.set(func() { s.mute["nikoni"] = true })
		s.room.Append(entry.KindHeard, entry.Heard{Line: "other", Who: "nikoni", End: entry.EndSaid, Why: "played"})
		end := s.room.Append(entry.KindHeard, entry.Heard{Line: "g", Who: "nikoni", End: entry.EndSaid, Why: "played"})
		s.want(c, fmt.Sprintf(`{"seq":%d,"at":"2000-01-01T00:00:00Z","companion":"nikoni","line":"g","end":"said","reason":"played"}`, end.Seq))
		s.quiet(c)
	})
}

// A word about a line that has ended is passed over, for the two cross on the way; one
// about a line that the body was never shown is a mistake.
func TestAWordTooLate(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "&since=0&playback=1", "")
		hi := line("nikoni", "hi")
		hi.Grant = "g1"
		s.room.Append(entry.KindSaid, hi)
		s.frame(c)
		for _, word := range []string{`1`, `"done"`, `"failed"`} {
			s.send(c, `{"line":"g1","played":`+word+`}`)
		}
		s.send(c, `{"line":"g2","played":"done"}`)
		s.want(c, `{"error":{"code":"not_found","message":"line: \"g2\" is not heard now","field":"line"},"id":"g2"}`)
		s.send(c, `{"line":"g1","played":0}`)
		s.want(c, `{"error":{"code":"invalid","message":"played: 0 is neither the number of a part, \"done\" nor \"failed\"","field":"played"},"id":"g1"}`)
		s.quiet(c)
	})
}

// A companion whose card has no action speak says nothing to its body, but to one that
// plays lines, which the room waits for; it counts what the card has now.
func TestCompanionThatDoesNotSpeak(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c, player := s.body("nikoni", "", ""), s.body("nikoni", "&playback=1", "")
		s.set(func() { s.mute["nikoni"] = true })
		one := s.room.Append(entry.KindSaid, line("nikoni", "one"))
		s.want(player, is(one, `"action":"speak","parameters":{"message":"one"},"kind":"speech","line":"`+one.ID+`","part":1,"last":true`))
		s.room.Append(entry.KindSegment, entry.Segment{Who: "nikoni", N: 1, Text: "two"})
		s.want(c, is(s.moves("nikoni"), `"action":"move","parameters":{},"perception":"vision"`))
		s.set(func() { s.mute["nikoni"] = false })
		three := s.room.Append(entry.KindSaid, line("nikoni", "three"))
		s.want(c, is(three, `"action":"speak","parameters":{"message":"three"},"kind":"speech","line":"`+three.ID+`","part":1,"last":true`))
	})
}

func TestBodyStartsWhereAsked(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		var acts []entry.Entry
		for range 3 {
			acts = append(acts, s.moves("nikoni"))
		}
		kais := s.moves("kai")
		since := func(e entry.Entry) string { return fmt.Sprintf("&since=%d", e.Seq) }
		fresh, some, end := s.body("nikoni", "", ""), s.body("nikoni", since(acts[0]), ""), s.body("nikoni", since(acts[2])+"&room=main", "")
		kai := s.body("kai", "&since=0", "")
		acts = append(acts, s.moves("nikoni"))
		for _, tc := range []struct {
			c    *websocket.Conn
			acts []entry.Entry
		}{{fresh, acts[3:]}, {some, acts[1:]}, {end, acts[3:]}, {kai, []entry.Entry{kais}}} {
			for _, e := range tc.acts {
				if f := s.frame(tc.c); !strings.HasPrefix(f, fmt.Sprintf(`{"seq":%d,"id":%q,`, e.Seq, idOf(e))) {
					s.Errorf("%s, want %d", f, e.Seq)
				}
			}
			s.quiet(tc.c)
		}
	})
}

// A body needs the scope act, and no other; one that can be refused is refused in
// the handshake, and leaves no body behind.
func TestBodyHandshakes(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		beyond := s.moves("nikoni").Seq + 100 // bodies come and go, which are entries
		for _, tc := range []struct {
			path, who string
			status    int
			says      string
		}{
			{"?companion=nikoni", "", 101, ""},
			{"?companion=nikoni", "mika act", 101, ""},
			{"?companion=nikoni", "mika read,talk,admin", 403, `the token of mika has not the scope \"act\"`},
			{"?companion=ghost", "mika read", 403, "scope"}, // tells nothing of companions
			{"", "", 400, "query.companion: must not be empty"},
			{"?companion=a%2Fb", "", 400, "query.companion: "},
			{"?companion=ghost", "", 404, `companion: \"ghost\" lives in no room`},
			{"?companion=nikoni&room=attic", "", 404, `room: there is no \"attic\"`},
			{"?companion=nikoni&room=side", "", 404, `query.companion: \"nikoni\" is not in room side`},
			{"?companion=nikoni&room=", "", 404, `room: there is no \"\"`},
			{"?companion=nikoni&since=x", "", 400, "query.since: "},
			{fmt.Sprintf("?companion=nikoni&since=%d", beyond), "", 409, fmt.Sprintf("query.since: %d is beyond", beyond)},
		} {
			c, answer, _ := s.try("/v1/actions"+tc.path, tc.who)
			if answer == nil || answer.StatusCode != tc.status {
				s.Errorf("%q as %q: %v", tc.path, tc.who, answer)
			} else if c == nil {
				var b [1024]byte
				n, _ := answer.Body.Read(b[:])
				if !strings.Contains(string(b[:n]), tc.says) {
					s.Errorf("%q as %q: %s", tc.path, tc.who, b[:n])
				}
			}
			if c != nil {
				_ = c.Close()
			}
			synctest.Wait()
			if n := s.room.Bodies("nikoni"); n != 0 {
				s.Fatalf("%q as %q: %d bodies are left", tc.path, tc.who, n)
			}
		}
	})
}

// No page of another site, and no request that is no handshake, counts as a
// body, not even for a moment.
func TestWhatIsNoHandshakeIsNoBody(t *testing.T) {
	house := doortest.NewHouse(t, "main")
	house.Get("main").Live("nikoni")
	feed := socket.New(socket.Config{Rooms: house})
	mux := http.NewServeMux()
	feed.Register(mux)
	for _, tc := range []struct {
		method, origin string
		status         int
	}{{"GET", "http://evil.example", 403}, {"GET", "null", 403}, {"GET", "", 400}, {"POST", "", 405}} {
		r := httptest.NewRequest(tc.method, "/v1/actions?companion=nikoni", nil)
		if tc.origin != "" {
			r.Header.Set("Origin", tc.origin)
		}
		w := httptest.NewRecorder()
		guard.Mux(mux).ServeHTTP(w, r)
		if w.Code != tc.status || house.Get("main").Bodies("nikoni") != 0 {
			t.Errorf("%+v: %d %s", tc, w.Code, w.Body)
		}
	}
}

// A body is there from the moment it is told that it is connected until it is
// gone, however it goes; one that is turned away never was.
func TestEmbodiedWhileConnected(t *testing.T) {
	onBodies(t, func(c *socket.Config) { c.MaxClients = 3 }, func(s *bodies) {
		count := func(when string, want int) {
			s.Helper()
			if n := s.room.Bodies("nikoni"); n != want {
				s.Errorf("%s: %d bodies, want %d", when, n, want)
			}
		}
		polite := s.body("nikoni", "", "")
		count("one", 1)
		killed := s.body("nikoni", "", "")
		count("two", 2)
		deaf := s.body("nikoni", "", "")
		count("three", 3)
		if again := s.refused("/v1/actions?companion=nikoni", "", 429); again != "60" {
			s.Errorf("one too many: again after %q s", again)
		}
		count("one too many", 3)

		go ended(polite) // reads the answer to its goodbye
		_ = polite.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
		synctest.Wait()
		count("after a goodbye", 2)
		s.kill(killed)
		synctest.Wait()
		count("after a crash", 1)
		deaf.SetPingHandler(func(string) error { return nil }) // its machine is off
		start := time.Now()
		if ended(deaf); time.Since(start) != time.Minute {
			s.Errorf("dropped after %v", time.Since(start))
		}
		synctest.Wait()
		count("after silence", 0)
	})
}

// A result reaches the companion under the name of whose body it is, whatever
// the message claims; the first of several counts.
func TestResultsReachTheCompanion(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		if p := s.act("nikoni", "move", `{"x":1}`); p.Delivered != 0 {
			s.Errorf("nobody is connected, and yet: %+v", p)
		}
		face, voice, kai := s.body("nikoni", "", "mika act"), s.body("nikoni", "", ""), s.body("kai", "", "")
		for i, tc := range []struct {
			by     *websocket.Conn
			answer string
			want   abi.Result
		}{
			{face, `"ok":true`, abi.Result{OK: true, By: "mika"}},
			{face, `"ok":false,"reason":"壁がある","by":"taro","who":"aya","action":"fly"`, abi.Result{Reason: "壁がある", By: "mika"}},
			{voice, `"ok":true,"reason":"slowly"`, abi.Result{OK: true, Reason: "slowly"}},
		} {
			played := s.act("nikoni", "move", `{"x":1}`)
			if played.Delivered != 2 {
				s.Errorf("%+v", played)
			}
			for _, c := range []*websocket.Conn{face, voice} {
				if f := s.frame(c); !strings.Contains(f, `"id":"`+played.ID+`"`) {
					s.Errorf("the id of the frame is not the one that was told, %s: %s", played.ID, f)
				}
			}
			answer := `{"id":"` + played.ID + `",` + tc.answer + `}`
			s.send(kai, answer)
			s.want(kai, s.refusal("kai", played.ID))
			s.send(tc.by, answer)
			synctest.Wait()
			s.send(voice, answer)
			s.want(voice, s.refusal("nikoni", played.ID))
			tc.want.ID, tc.want.Action = played.ID, "move"
			all := results(s.room)
			if len(all) != i+1 || all[i] != (entry.Done{Who: "nikoni", Result: tc.want}) {
				s.Errorf("results: %+v, want %+v", all, tc.want)
			}
		}
		s.kill(face)
		s.kill(voice)
		synctest.Wait()
		if p := s.act("nikoni", "move", `{}`); p.Delivered != 0 {
			s.Errorf("all are gone, and yet: %+v", p)
		}
	})
}

// Anything else that a body sends is answered with what is wrong with it, and it goes
// on.
func TestBadMessagesOfABody(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "", "")
		long := strings.Repeat("x", 129)
		const (
			may      = `a body sends {\"id\":\"...\",\"ok\":true} of an action, {\"line\":\"...\",\"played\":1} or {\"line\":\"...\",\"seconds\":1.5} of a line, or {\"speaking\":true,\"from\":\"...\"}"}}`
			noObject = `{"error":{"code":"invalid","message":"message: is no JSON object; ` + may
			nothing  = `{"error":{"code":"invalid","message":"message: tells nothing; ` + may
		)
		for _, tc := range []struct{ message, want string }{
			{``, noObject},
			{`hello`, noObject},
			{`[]`, noObject},
			{`{"id":"a","ok":true}{`, noObject},
			{`{}`, nothing},
			{`null`, nothing},
			{`{"foo":1}`, nothing},
			{`{"ok":true}`, `{"error":{"code":"invalid","message":"id: is missing; it is the id of an action","field":"id"}}`},
			{`{"line":"x"}`, `{"error":{"code":"invalid","message":"played: is missing; it is the number of a part, \"done\" or \"failed\"; a line that is only measured has \"seconds\"","field":"played"},"id":"x"}`},
			{`{"line":5,"played":-1}`, `{"error":{"code":"invalid","message":"line: is a JSON number, must be a string","field":"line"}}`},
			{`{"line":"x","played":-1}`, `{"error":{"code":"invalid","message":"played: -1 is neither the number of a part, \"done\" nor \"failed\"","field":"played"},"id":"x"}`},
			{`{"line":"x","played":{}}`, `{"error":{"code":"invalid","message":"played: {} is neither the number of a part, \"done\" nor \"failed\"","field":"played"},"id":"x"}`},
			{`{"line":"x","played":"failed","reason":1}`, `{"error":{"code":"invalid","message":"reason: is a JSON number, must be a string","field":"reason"},"id":"x"}`},
			{`{"line":"x","seconds":"3"}`, `{"error":{"code":"invalid","message":"seconds: is a JSON string, must be a number","field":"seconds"},"id":"x"}`},
			{`{"line":"x","part":"1","seconds":3}`, `{"error":{"code":"invalid","message":"part: is a JSON string, must be a whole number","field":"part"},"id":"x"}`},
			{`{"line":"` + long + `","played":1}`, `{"error":{"code":"invalid","message":"line: 129 bytes, must be 1..128; it is that of the frame","field":"line"}}`},
			{`{"played":1}`, `{"error":{"code":"invalid","message":"line: is missing; it is that of the frame","field":"line"}}`},
			{`{"speaking":"yes","from":"taro"}`, `{"error":{"code":"invalid","message":"speaking: is a JSON string, must be true or false","field":"speaking"}}`},
			{`{"speaking":true,"from":7}`, `{"error":{"code":"invalid","message":"from: is a JSON number, must be a string","field":"from"}}`},
			{`{"id":7,"ok":true}`, `{"error":{"code":"invalid","message":"id: is a JSON number, must be a string","field":"id"}}`},
			{`{"id":"","ok":true}`, `{"error":{"code":"invalid","message":"id: 0 bytes, must be 1..128","field":"id"}}`},
			{`{"id":"` + long + `","ok":true}`, `{"error":{"code":"invalid","message":"id: 129 bytes, must be 1..128","field":"id"}}`},
			{`{"id":"a"}`, `{"error":{"code":"invalid","message":"ok: is missing; it is true or false","field":"ok"},"id":"a"}`},
			{`{"id":"a","ok":"yes"}`, `{"error":{"code":"invalid","message":"ok: is a JSON string, must be true or false","field":"ok"},"id":"a"}`},
			{`{"id":"a","ok":true,"reason":{}}`, `{"error":{"code":"invalid","message":"reason: is a JSON object, must be a string","field":"reason"},"id":"a"}`},
			{`{"id":"a","ok":true}`, s.refusal("nikoni", "a")},
			{`{"jsonrpc":"2.0","method":"subscribe","params":{"sessionId":"s"}}`, nothing},
		} {
			s.send(c, tc.message)
			s.want(c, tc.want)
		}
		if len(results(s.room)) != 0 {
			s.Error("something counted")
		}
		played := s.act("nikoni", "move", `{}`)
		s.frame(c)
		if err := c.WriteMessage(websocket.BinaryMessage, []byte(`{"id":"`+played.ID+`","ok":true}`)); err != nil {
			s.Fatal(err)
		}
		s.quiet(c)
		if len(results(s.room)) != 1 {
			s.Error("a result in a binary frame is lost")
		}
	})
}

// Results of words are taken, and the room is not asked.
func TestResultsOfWordsAreIgnored(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "", "")
		s.room.Append(entry.KindSaid, line("nikoni", "hi"))
		s.room.Append(entry.KindSegment, entry.Segment{Who: "nikoni", N: 1, Text: "ho"})
		var said [2]struct{ ID string }
		for i := range said { // both first: the pipe holds nothing, and who writes into it reads nothing meanwhile
			if err := json.Unmarshal([]byte(s.frame(c)), &said[i]); err != nil {
				s.Fatal(err)
			}
		}
		for _, f := range said {
			for range 2 {
				s.send(c, `{"id":"`+f.ID+`","ok":false,"reason":"hoarse"}`)
			}
		}
		s.quiet(c)
		if len(results(s.room)) != 0 {
			s.Error("words are no action")
		}
	})
}

// Only the newest lines are known by their ids: a body that never stops costs a
// bounded memory.
func TestOldWordsAreForgotten(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "", "")
		var ids []string
		for range 257 {
			ids = append(ids, s.room.Append(entry.KindSaid, line("nikoni", "hi")).ID)
			s.frame(c)
		}
		s.send(c, `{"id":"`+ids[1]+`","ok":true}`)
		s.send(c, `{"id":"`+ids[0]+`","ok":true}`)
		s.want(c, s.refusal("nikoni", ids[0]))
	})
}
