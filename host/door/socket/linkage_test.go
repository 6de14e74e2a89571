package socket_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/speech"
	"github.com/companiond/companiond/host/waittest"
)

// onLinkage runs a test with aya and nikoni, who live in main and speak when they are spoken
// to; people may cut them off behind a sentence.
func onLinkage(t *testing.T, change func(*socket.Config), f func(s *bodies)) {
	t.Helper()
	onLinkageThat(t, entry.InterruptSentence, change, f)
}

// onLinkageThat is onLinkage in a room where people who speak over a line end it like this.
func onLinkageThat(t *testing.T, how entry.Interrupt, change func(*socket.Config), f func(s *bodies)) {
	synctest.Test(t, func(t *testing.T) {
		settings := doortest.Settings("main", "aya", "nikoni", "kai")
		settings.Rules.Interrupt, settings.Rules.Interrupters = how, []string{"*"}
		house := doortest.NewHouseOf(t, settings, doortest.Settings("side"))
		s := &bodies{T: t, house: house, pipe: doortest.NewPipe()}
		s.room = house.Get("main")
		for _, id := range []string{"aya", "nikoni", "kai"} {
			s.room.Play(id, &doortest.Actor{
				Vote: func(scene abi.Scene) abi.Vote {
					if scene.Turns < 3 && !strings.HasPrefix(scene.Message.Text, "Hush") {
						return abi.Vote{State: abi.Speak, Importance: 5}
					}
					return abi.Vote{State: abi.Listen}
				},
				Speak: func(_ context.Context, scene abi.Scene) abi.Line {
					return abi.Line{Text: fmt.Sprintf("I am %s, and I have a lot to say today. This is the second of my sentences, a long one. And this is the third.", id)}
				},
			})
		}
		cfg := socket.Config{Rooms: house, Speaks: func(string) bool { return false }, Usual: func() string { return "nikoni" }}
		if change != nil {
			change(&cfg)
		}
		s.feed = socket.New(cfg)
		mux := http.NewServeMux()
		s.feed.Register(mux)
		defer func() {
			if n := s.room.Followers() + s.room.Bodies("aya") + s.room.Bodies("nikoni") + s.room.Bodies("kai"); n != 0 {
				t.Errorf("%d are left", n)
			}
		}()
		defer serve(t, s.feed, s.pipe, identify(s.feed.Relay(guard.Mux(mux))))()
		f(s)
	})
}

// sound is a sentence that somebody speaks.
type sound struct {
	who, text string
	from, to  time.Time
}

// player is AITuberKit as far as it is heard: each sentence is a sound, one after the other, of
// which it tells.
type player struct {
	*testing.T
	who    string
	conn   *websocket.Conn
	writes chan struct{} // holds a token while something is sent

	mu     sync.Mutex
	sounds []sound
	frames []string      // types and texts, as they came
	mute   bool          // it tells nothing of what it speaks
	slow   time.Duration // until a sentence is a sound
	quiet  int           // sentences that a person silences by hand as they begin, of which it tells nothing
	quick  bool          // it takes half as long as estimated
	todo   chan linked
	gone   chan struct{} // closed when the connection is
}

// linked is a frame of version 2.
type linked struct {
	Type      string
	RequestID string
	Payload   struct{ Text, Emotion, Message, Role string }
}

// play connects a player, which says hello.
func (s *bodies) play(who, query, as string) *player {
	s.Helper()
	p := &player{T: s.T, who: who, conn: s.dial("/aituberkit/"+who+"/ws"+query, as), writes: make(chan struct{}, 1), todo: make(chan linked, 1000), gone: make(chan struct{})}
	if ready := s.frame(p.conn); !strings.Contains(ready, `"type":"session.ready"`) {
		s.Fatal(ready)
	}
	p.send("session.hello", "msg_h", `"capabilities":["character.response.done"]`)
	go p.read()
	go p.speak()
	synctest.Wait()
	return p
}

// send sends a frame with an id, or about a request.
func (p *player) send(kind, id, payload string) {
	p.writes <- struct{}{}
	defer func() { <-p.writes }()
	_ = p.conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"version":"2","id":%q,"type":%q,"sessionId":"s","requestId":%q,"payload":{%s}}`, id, kind, id, payload))
}

func (p *player) read() {
	_ = p.conn.SetReadDeadline(time.Time{})
	defer close(p.todo)
	defer close(p.gone)
	for {
		_, raw, err := p.conn.ReadMessage()
		if err != nil {
			return
		}
		var f linked
		if err := json.Unmarshal(raw, &f); err != nil {
			p.Errorf("%s: %v", raw, err)
		}
		p.mu.Lock()
		p.frames = append(p.frames, strings.TrimSpace(f.Type+" "+f.Payload.Text+f.Payload.Message))
		p.mu.Unlock()
		p.todo <- f
	}
}

func (p *player) speak() {
	for f := range p.todo {
		switch {
		case f.Type == "chat.delta":
			p.tell("character.speech.start", f.RequestID)
			from, long := time.Now().Add(p.slow), speech.Estimate(f.Payload.Text)*11/10
			if p.quick {
				long = speech.Estimate(f.Payload.Text) / 2
			}
			if p.quiet > 0 {
				p.quiet--
				continue
			}
			select {
			case <-p.gone:
				return
			case <-time.After(p.slow + long):
			}
			p.mu.Lock()
			p.sounds = append(p.sounds, sound{p.who, f.Payload.Text, from, time.Now()})
			p.mu.Unlock()
			p.tell("character.speech.done", f.RequestID)
		case f.Type == "chat.done":
			p.tell("character.response.done", f.RequestID)
		}
	}
}

func (p *player) tell(kind, request string) {
	p.mu.Lock()
	mute := p.mute
	p.mu.Unlock()
	if !mute {
		p.send(kind, request, "")
	}
}

// came gives the frames since it was asked last.
func (p *player) came() string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	all := strings.Join(p.frames, "|")
	p.frames = nil
	return all
}

// apart checks that no two sounds of several players are heard at a time, and gives all.
func apart(t *testing.T, players ...*player) (all []sound) {
	t.Helper()
	for _, p := range players {
		p.mu.Lock()
		all = append(all, p.sounds...)
		p.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b sound) int { return a.from.Compare(b.from) })
	for i, s := range all[1:] {
		if s.from.Before(all[i].to) {
			t.Errorf("%s says %q while %s says %q", s.who, s.text, all[i].who, all[i].text)
		}
	}
	return all
}

// Three companions on three connections talk in turn, and none begins before another's voice
// has ended. What nobody of a connection asked for is told there as well.
func TestFrontsTalkInTurn(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		aya, nikoni := s.play("aya", "?from=taro", ""), s.play("nikoni", "", "mika talk,act")
		kai := s.play("kai", "?room=main", "")
		aya.send("chat.message", "msg_1", `"text":"Hello, all of you!"`)
		time.Sleep(3 * time.Minute)
		all := apart(t, aya, nikoni, kai)
		if len(all) != 9 || all[0].who == all[3].who || all[3].who == all[6].who {
			t.Fatalf("%+v", all)
		}
		if f := aya.came(); !strings.HasPrefix(f, "ack|chat.start|chat.delta I am aya,") || strings.Count(f, "chat.done") != 1 {
			t.Error(f)
		}
		if f := nikoni.came(); !strings.HasPrefix(f, "chat.start|chat.delta I am nikoni,") || strings.Count(f, "chat.done") != 1 {
			t.Error(f)
		}
		for _, e := range s.room.Journal() {
			if h, err := entry.Decode[entry.Heard](e); e.Kind == entry.KindHeard && (err != nil || h.End != entry.EndSaid || h.Why != "played") {
				t.Errorf("%+v %v", h, err)
			}
		}
		if m, _, err := s.room.Messages(s.Context(), 0, 1); err != nil || m[0].From != "taro" || !slices.Equal(m[0].To, []string{"aya"}) {
			t.Errorf("%+v %v", m, err)
		}
	})
}

// A person who speaks over a line ends it behind the sentence that sounds: no more of it was
// there to be spoken.
func TestAPersonInterruptsAFront(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		aya := s.play("aya", "?from=taro", "")
		aya.send("chat.message", "msg_1", `"text":"Hello, aya!"`)
		time.Sleep(time.Second) // in its first sentence
		aya.send("chat.message", "msg_2", `"text":"Hush, aya!"`)
		time.Sleep(5 * time.Second)
		f := aya.came()
		if strings.Count(f, "second") != 0 && !strings.Contains(f, "chat.done|chat.start") {
			t.Error(f)
		}
		first := strings.SplitAfter(f, "chat.done")[0]
		if strings.Count(first, "chat.delta") != 1 {
			t.Errorf("more than a sentence of a line that was cut off: %s", f)
		}
		var cut bool
		for _, e := range s.room.Journal() {
			if h, err := entry.Decode[entry.Heard](e); e.Kind == entry.KindHeard && err == nil {
				cut = cut || h.End == entry.EndCut
			}
		}
		if !cut {
			t.Error("no line was cut off")
		}
		time.Sleep(time.Minute)
		apart(t, aya)
	})
}

// cancel is a STOP: the line ends at once, the room rests, and the front hangs nowhere.
func TestAFrontCancels(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		aya := s.play("aya", "", "")
		aya.send("chat.message", "msg_1", `"text":"Hello, aya!"`)
		time.Sleep(time.Second)
		aya.came()
		aya.send("control.cancel", "msg_1", "")
		if f := aya.came(); f != "ack|chat.done" {
			t.Error(f)
		}
		time.Sleep(time.Minute)
		if f := aya.came(); f != "" || s.room.Info().State != "stopped" {
			t.Errorf("%q, %s", f, s.room.Info().State)
		}
		aya.send("ping", "msg_3", "")
		aya.send("control.cancel", "msg_1", "") // long over
		if f := aya.came(); f != "pong|ack|chat.done" {
			t.Error(f)
		}
	})
}

// A message that nobody answers ends as well.
func TestNobodyAnswersAFront(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		s.room.Leave("aya")
		s.room.Play("aya", &doortest.Actor{Vote: func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Listen} }})
		s.room.Leave("nikoni")
		aya := s.play("aya", "", "")
		aya.send("chat.message", "msg_1", `"text":"Is anybody there?"`)
		time.Sleep(3 * time.Minute)
		if f := aya.came(); !strings.HasPrefix(f, "ack|chat.") || strings.Count(f, "|") != 1 {
			t.Error(f)
		}
	})
}

// A front that says that it tells what it has spoken, and tells nothing, holds nobody up for long.
// Nobody knows whether it spoke: the room passes the floor on, and what it was not sent by then is not
// sent over the next one. After two lines like that it gets all of each, by how long that takes.
func TestAMuteFront(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		aya, nikoni := s.play("aya", "?from=taro", ""), s.play("nikoni", "", "")
		aya.mute = true
		for n := range 4 {
			aya.send("chat.message", fmt.Sprint("msg_", n), `"text":"Hello, aya!"`)
			time.Sleep(5 * time.Minute)
			want := 1
			if n >= 2 {
				want = 3
			}
			if f := aya.came(); strings.Count(f, "chat.delta") != want || strings.Count(f, "chat.done") != 1 {
				t.Errorf("line %d: %s", n, f)
			}
			if f := nikoni.came(); strings.Count(f, "chat.delta") != 3 {
				t.Errorf("after line %d: %s", n, f)
			}
		}
		apart(t, aya, nikoni)
	})
}

// TestHelloComesFirst: a page that says hello and something more at once is by then a body that plays, for what it says as for what
// is answered: else a line would be over when its length is, while it sounds.
func TestHelloComesFirst(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		for seen := uint64(0); seen < 500; {
			c := s.dial("/aituberkit/aya/ws?from=taro", "")
			s.frame(c) // session.ready
			go ended(c)
			for _, frame := range []string{`"id":"msg_h","type":"session.hello","payload":{"capabilities":["character.response.done"]}`, fmt.Sprintf(`"id":"msg_%d","type":"chat.message","payload":{"text":"Hello, aya!"}`, seen)} {
				if err := c.WriteMessage(websocket.TextMessage, []byte(`{"version":"2",`+frame+`}`)); err != nil {
					s.Fatal(err)
				}
			}
			synctest.Wait()
			plays := false
			for _, e := range s.room.Journal() {
				if b, err := entry.Decode[entry.Bodies](e); e.Kind == entry.KindBody && err == nil {
					plays = len(b.Joined) > 0 && b.Joined[0].Plays
				} else if m, ok := e.Message(); ok && e.Seq > seen && m.From == "aya" && !plays {
					s.Errorf("entry %d is said while the page is no body that plays", e.Seq)
				}
			}
			s.kill(c)
			time.Sleep(10 * time.Minute)
			seen = uint64(len(s.room.Journal()))
		}
	})
}

// The older wire, as text and as binary frames; and a front that comes in the middle of a line,
// or goes there.
func TestLegacyFront(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		c := s.dial("/aituberkit/aya/ws", "")
		s.frame(c) // session.ready
		if err := c.WriteMessage(websocket.BinaryMessage, []byte(`{"content":"Hello, aya!","type":"chat"}`)); err != nil {
			t.Fatal(err)
		}
		s.want(c,
			`{"text":"","role":"assistant","emotion":"neutral","type":"start"}`,
			`{"text":"I am aya, and I have a lot to say today.","role":"assistant","emotion":"neutral","type":""}`,
		)
		late := s.dial("/aituberkit/aya/ws", "")
		s.frame(late)
		s.want(c,
			`{"text":" This is the second of my sentences, a long one.","role":"assistant","emotion":"neutral","type":""}`,
			`{"text":" And this is the third.","role":"assistant","emotion":"neutral","type":""}`,
			`{"text":"","role":"assistant","emotion":"neutral","type":"end"}`,
		)
		s.kill(c)
		time.Sleep(time.Minute)
		s.quiet(late) // nikoni's turn, and no more of aya's
	})
}

// Who says what a front says: a guest by the name that it gives, a token's holder by the
// token's.
func TestWhoAFrontIs(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		for _, c := range []struct{ query, as, want, from string }{
			{"", "", "ack", "guest"},
			{"?from=taro", "", "ack", "taro"},
			{"", "mika talk,act", "ack", "mika"},
			{"", "mika act", `the token of mika has not the scope "talk"`, ""},
			{"?from=aya", "", "aya", ""}, // who lives here
		} {
			p := s.play("nikoni", c.query, c.as)
			p.send("chat.message", "msg_"+p.who, `"text":"Hush!"`)
			f := p.came()
			if !strings.Contains(f, c.want) || (c.from == "") != strings.HasPrefix(f, "chat.error") {
				t.Errorf("%+v: %s", c, f)
			}
			if all := s.people(); c.from != "" && all[len(all)-1] != c.from || slices.Contains(all, "aya") {
				t.Errorf("%+v: %q", c, all)
			}
			_ = p.conn.Close()
			synctest.Wait()
			time.Sleep(time.Minute)
		}
		for _, c := range []struct {
			path, as string
			status   int
		}{
			{"/aituberkit/aya/ws", "mika talk,read", 403}, {"/aituberkit/ghost/ws", "", 404}, {"/aituberkit/aya/ws?from=a%2Fb", "", 400}, {"/aituberkit/aya/ws?from=mika", "taro act,talk", 403},
			{"/aituberkit/aya/ws?room=attic", "", 404}, {"/aituberkit/aya/ws?since=x", "", 400}, {"/aituberkit/aya", "", 404}, {"/aituberkit/aya/ws?from=companiond", "", 403},
		} {
			s.refused(c.path, c.as, c.status)
		}
	})
}

// An agent's token may move a body, and says nothing as a person and stops nobody; a page of
// another site is told what to write to be let in, and a token in the URL is enough.
func TestAgentsAndPagesAtAFront(t *testing.T) {
	register, err := identity.Parse("tokens", []byte("bot agent talk,act,read sha256:"+identity.Hash("cmp_bot")+"\nmika human talk,act sha256:"+identity.Hash("cmp_mika")))
	if err != nil {
		t.Fatal(err)
	}
	house := doortest.NewHouse(t, "main")
	house.Get("main").Live("aya")
	g, err := guard.New(guard.Config{Tokens: register, TokensOnly: true, Origins: []string{"http://localhost:3000"}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	feed := socket.New(socket.Config{Rooms: house, CheckOrigin: g.CheckOrigin})
	mux := http.NewServeMux()
	feed.Register(mux)
	srv := httptest.NewServer(g.Handler(feed.Relay(guard.Mux(mux))))
	defer srv.Close()
	defer func() { _ = feed.Close(context.Background()) }()
	for _, c := range []struct {
		query, origin string
		status        int
		says          string
	}{
		{"", "", 401, "write it behind the address"},
		{"?token=cmp_x", "", 401, "is not one of this house"},
		{"?token=cmp_mika", "http://localhost:3001", 403, `write origins = [\"http://localhost:3001\"] under [door]`},
		{"?token=cmp_mika&from=taro", "", 403, "query.from: this token is mika's"},
		{"?token=cmp_mika", "http://localhost:3000", 101, "ack"},
		{"?token=cmp_bot", "", 101, "bot is an agent"},
	} {
		conn, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http")+"/aituberkit/aya/ws"+c.query, http.Header{"Origin": strings.Fields(c.origin)})
		if res == nil || res.StatusCode != c.status {
			t.Errorf("%+v: %v %v", c, res, err)
			continue
		}
		if conn == nil {
			if b, _ := io.ReadAll(res.Body); !strings.Contains(string(b), c.says) || strings.Contains(string(b), "cmp_") {
				t.Errorf("%+v: %s", c, b)
			}
			continue
		}
		for _, message := range []string{`"type":"chat.message","payload":{"text":"hi"}`, `"type":"control.cancel"`} {
			if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"version":"2","id":"a",`+message+`}`)); err != nil {
				t.Fatal(err)
			}
		}
		_ = conn.SetReadDeadline(time.Now().Add(waittest.Long))
		for n, says := 0, "session.ready"; n < 3; n++ { // which comes first, however soon somebody says something
			_, f, err := conn.ReadMessage()
			if err == nil && n > 0 && strings.Contains(string(f), "chat.done") { // it may come between two answers
				n--
			} else if err != nil || !strings.Contains(string(f), says) {
				t.Fatalf("%+v: %s %v", c, f, err)
			}
			says = c.says
		}
		_ = conn.Close()
	}
	for _, e := range house.Get("main").Journal() {
		if b, err := entry.Decode[entry.Stop](e); e.Kind == entry.KindStop && (err != nil || b.From != "mika") || strings.Contains(string(e.Body), "cmp_") {
			t.Errorf("%s %v", e.Body, err)
		}
	}
}

// Images are perceived, by those who perceive them.
func TestImagesOfAFront(t *testing.T) {
	const picture = `"data:image/png;base64,iVBORw0KGgo="`
	var seen []string
	refusal := error(nil)
	see := func(c *socket.Config) {
		c.See = func(_ context.Context, companion, image, from string) error {
			seen = append(seen, companion+" "+image+" "+from)
			return refusal
		}
	}
	onLinkage(t, see, func(s *bodies) {
		aya := s.play("aya", "", "")
		aya.send("chat.message", "msg_1", `"text":"Hush! Look!","image":`+picture)
		if f := aya.came(); !strings.HasPrefix(f, "ack") {
			t.Error(f)
		}
		time.Sleep(5 * time.Minute)
		aya.came()
		aya.send("chat.message", "msg_2", `"image":`+picture)
		if f := aya.came(); f != "ack|chat.done" {
			t.Error(f)
		}
		refusal = abi.Field("image", abi.CodeTooLarge, "9 MiB, at most 8")
		aya.send("chat.message", "msg_3", `"text":"Look!","image":`+picture)
		if f := aya.came(); f != "chat.error image: 9 MiB, at most 8" {
			t.Error(f)
		}
		if want := `aya data:image/png;base64,iVBORw0KGgo= guest`; len(seen) != 3 || seen[0] != want || len(s.people()) != 1 {
			t.Errorf("%q", seen)
		}
	})
	onLinkage(t, nil, func(s *bodies) {
		aya := s.play("aya", "", "")
		aya.send("chat.message", "msg_1", `"text":"Look!","image":`+picture)
		if f := aya.came(); !strings.HasPrefix(f, "chat.error image: images are perceived in the room where aya lives") || len(s.people()) != 0 {
			t.Error(f)
		}
	})
}

// people gives who said something of all that no companion said.
func (s *bodies) people() (from []string) {
	for _, e := range s.room.Journal() {
		if b, err := entry.Decode[entry.Said](e); e.Kind == entry.KindSaid && err == nil && b.By != abi.KindCompanion {
			from = append(from, b.From)
		}
	}
	return from
}

// A hostile front costs itself: what it sends too much of is too much, and the others go on.
func TestHostileFronts(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		good := s.play("nikoni", "", "")
		bad := s.play("aya", "", "")
		for _, rubbish := range []string{"", "{", "null", "[[[[", `{"version":"2"}`, strings.Repeat("[", 100_000), "\xff\xfe", `{"version":"2","id":"a","type":"chat.message","payload":{"text":"` + strings.Repeat("x", 20_000) + `"}}`} {
			if err := bad.conn.WriteMessage(websocket.TextMessage, []byte(rubbish)); err != nil {
				t.Fatal(err)
			}
		}
		if f := bad.came(); strings.Count(f, "chat.error") != 8 {
			t.Errorf("%d: %s", strings.Count(f, "chat.error"), f)
		}
		for i := range 200 { // a flood
			bad.send("ping", fmt.Sprintf("p%d", i), "")
		}
		good.send("chat.message", "msg_1", `"text":"Hush, nikoni!"`)
		if f := good.came(); !strings.HasPrefix(f, "ack") {
			t.Error(f)
		}
		big := s.dial("/aituberkit/aya/ws", "")
		s.frame(big)
		image := func(size int) string {
			return `{"version":"2","id":"i","type":"chat.message","payload":{"image":"` + strings.Repeat("A", size) + `"}}`
		}
		s.send(big, image(15<<20))
		if f := s.frame(big); !strings.Contains(f, `"field":"image"`) {
			t.Error(f)
		}
		go func() { _ = big.WriteMessage(websocket.TextMessage, []byte(image(17<<20))) }()
		if code := ended(big); code != socket.CloseTooBig {
			t.Errorf("closed with %d", code)
		}
	})
}
