package socket_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
	"github.com/companiond/companiond/host/rooms"
)

// bodies is the door with nikoni, who lives in main, and kai, who lives in side,
// in a bubble of fake time.
type bodies struct {
	*testing.T
	house *doortest.House
	room  *doortest.Room // main
	feed  *socket.Feed
	pipe  *doortest.Pipe

	mu       sync.Mutex
	mute     map[string]bool   // companions whose card has no action speak
	sessions map[string]string // id: companion and caller, "nikoni of mika"
	waiting  bool
}

// as is a caller by the header that names it and its scopes, "mika read,act".
const as = "X-Test-As"

// onBodies runs a test and checks that nobody is left. change may be nil.
func onBodies(t *testing.T, change func(*socket.Config), f func(s *bodies)) {
	synctest.Test(t, func(t *testing.T) {
		house := doortest.NewHouseOf(t, doortest.Settings("main", "aya", "nikoni"), doortest.Settings("side", "kai"))
		s := &bodies{T: t, house: house, pipe: doortest.NewPipe(), mute: map[string]bool{}, sessions: map[string]string{}}
		s.room = s.house.Get("main")
		s.room.Live("aya", "nikoni", "kai")
		cfg := socket.Config{Rooms: s.house, Session: s.session, Speaks: s.speaks, Waiting: s.waits, Usual: func() string { return "nikoni" }}
		if change != nil {
			change(&cfg)
		}
		s.feed = socket.New(cfg)
		mux := http.NewServeMux()
		s.feed.Register(mux)
		defer func() {
			for _, r := range []*doortest.Room{s.room, s.house.Get("side")} { // those who follow are counted in the whole house
				if r.Followers()+r.Bodies("nikoni")+r.Bodies("kai") != 0 {
					t.Errorf("%s: %d still follow, nikoni has %d bodies, kai %d", r.Name(), r.Followers(), r.Bodies("nikoni"), r.Bodies("kai"))
				}
			}
		}()
		defer serve(t, s.feed, s.pipe, identify(s.feed.Relay(guard.Mux(mux))))()
		f(s)
	})
}

// identify stands for the guard.
func identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, scopes, named := strings.Cut(r.Header.Get(as), " ")
		caller := identity.Guest(nil)
		if named {
			caller = identity.Caller{Name: name, Kind: abi.KindHuman}
			for _, scope := range strings.Split(scopes, ",") {
				caller.Scopes = append(caller.Scopes, identity.Scope(scope))
			}
		}
		caller.Sharer = name
		next.ServeHTTP(w, r.WithContext(identity.With(r.Context(), caller)))
	})
}

func (s *bodies) session(id, caller string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	companion, owner, found := strings.Cut(s.sessions[id], " of ")
	switch {
	case !found:
		return "", abi.Errorf(abi.CodeNotFound, "session: there is no such session")
	case owner != caller:
		return "", abi.Errorf(abi.CodeDenied, "session: is another caller's")
	}
	return companion, nil
}

func (s *bodies) speaks(companion string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.mute[companion]
}

func (s *bodies) waits(string, uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting
}

// set changes what the test's house says.
func (s *bodies) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// body connects one; query may be empty.
func (s *bodies) body(companion, query, who string) *websocket.Conn {
	s.Helper()
	return s.dial("/v1/actions?companion="+companion+query, who)
}

func (s *bodies) dial(path, who string) *websocket.Conn {
	s.Helper()
	c, _, err := s.try(path, who)
	if err != nil {
		s.Fatalf("dial %s: %v", path, err)
	}
	s.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *bodies) try(path, who string) (*websocket.Conn, *http.Response, error) {
	d := websocket.Dialer{NetDialContext: s.pipe.Dial}
	return d.Dial("ws://localhost"+path, http.Header{as: {who}})
}

// refused gives after how many seconds a client is to come again.
func (s *bodies) refused(path, who string, status int) (after string) {
	s.Helper()
	_, answer, err := s.try(path, who)
	if err == nil || answer.StatusCode != status {
		s.Fatalf("%s: %v %v, want %d", path, answer, err, status)
	}
	return answer.Header.Get("Retry-After")
}

// frame reads one frame as it is.
func (s *bodies) frame(c *websocket.Conn) string {
	s.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Hour)) // fake time would go on for ever
	kind, frame, err := c.ReadMessage()
	if err != nil || kind != websocket.TextMessage {
		s.Fatalf("read: kind %d, %v", kind, err)
	}
	return string(frame)
}

// quiet checks that nothing more comes.
func (s *bodies) quiet(c *websocket.Conn) {
	s.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	if _, frame, err := c.ReadMessage(); err == nil {
		s.Errorf("there is more: %s", frame)
	}
}

func (s *bodies) send(c *websocket.Conn, text string) {
	s.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		s.Fatal(err)
	}
}

// want reads frames and compares them.
func (s *bodies) want(c *websocket.Conn, frames ...string) {
	s.Helper()
	for _, want := range frames {
		if got := s.frame(c); got != want {
			s.Errorf("frame\n got %s\nwant %s", got, want)
		}
	}
}

// act lets somebody do something, as an MCP agent or a module would.
func (s *bodies) act(who, action, parameters string) abi.ActionPlayed {
	s.Helper()
	played, err := s.home(who).
		Act(context.Background(), who, rooms.Player{}, abi.ActionAsk{Action: action, Parameters: json.RawMessage(parameters), Perception: "vision"})
	if err != nil {
		s.Fatal(err)
	}
	return played
}

// home is the room in which a companion lives.
func (s *bodies) home(who string) *doortest.Room {
	return s.house.Get(map[string]string{"nikoni": "main", "kai": "side"}[who])
}

// moves is act, and gives the entry.
func (s *bodies) moves(who string) entry.Entry {
	s.Helper()
	return s.played(who, s.act(who, "move", `{}`))
}

// played gives the entry of an action.
func (s *bodies) played(who string, p abi.ActionPlayed) entry.Entry {
	s.Helper()
	for _, e := range s.home(who).Journal() {
		if e.Kind == entry.KindAction && actionOf(e).ID == p.ID {
			return e
		}
	}
	s.Fatalf("the action %s of %s is not written down", p.ID, who)
	return entry.Entry{}
}

func actionOf(e entry.Entry) (a entry.Action) {
	_ = json.Unmarshal(e.Body, &a) // the tests compare
	return a
}

// idOf gives the id by which a body names what it sees of an entry.
func idOf(e entry.Entry) string {
	if e.Kind == entry.KindAction {
		return actionOf(e).ID
	}
	return e.ID
}

// is gives a frame of GET /v1/actions, which is about an entry and goes on with rest.
func is(e entry.Entry, rest string) string {
	at, _ := json.Marshal(e.At)
	return fmt.Sprintf(`{"seq":%d,"id":%q,"at":%s,"companion":"nikoni",%s}`, e.Seq, idOf(e), at, rest)
}

// reference gives a frame as the AI Companion Protocol has them, which is about an entry.
func reference(e entry.Entry, action, parameters string) string {
	return fmt.Sprintf(`{"action":%q,"parameters":%s,"id":%q,"seq":%d}`, action, parameters, idOf(e), e.Seq)
}

// refusal gives the frame for a result that nobody waits for, in the room's words.
func (s *bodies) refusal(who, id string) string {
	s.Helper()
	err := s.home(who).Done(context.Background(), who, "", abi.Result{ID: id}, nil)
	if abi.CodeOf(err) != abi.CodeNotFound {
		s.Fatalf("a result of %q is %v", id, err)
	}
	frame, _ := json.Marshal(map[string]any{"error": abi.AsError(err), "id": id})
	return string(frame)
}

// results gives what was told of actions, in order.
func results(r *doortest.Room) (all []entry.Done) {
	for _, e := range r.Journal() {
		var d entry.Done
		if e.Kind == entry.KindResult && json.Unmarshal(e.Body, &d) == nil {
			all = append(all, d)
		}
	}
	return all
}

// line is what a companion says at once.
func line(who, text string) entry.Said {
	return entry.Said{From: who, By: abi.KindCompanion, Text: text, Kind: abi.KindTurn}
}

// kill ends a connection without a goodbye.
func (s *bodies) kill(c *websocket.Conn) { _ = c.NetConn().Close() }

// ended reads until the connection ends, and gives the close code, 0 for none.
func ended(c *websocket.Conn) int {
	_ = c.SetReadDeadline(time.Time{})
	for {
		_, _, err := c.ReadMessage()
		if err == nil {
			continue
		}
		_ = c.Close()
		var ce *websocket.CloseError
		if errors.As(err, &ce) && ce.Code != websocket.CloseAbnormalClosure {
			return ce.Code
		}
		return 0
	}
}
