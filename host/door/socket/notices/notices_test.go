package notices_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/socket/notices"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/logtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// most is how many changes wait for a follower.
const most = 8

// talks is conversations that change as a test says. They drop a follower for which too much waits.
type talks struct {
	mu        sync.Mutex
	followers map[chan conversations.Notice]string
	broken    error // of the next Follow
	panics    bool
}

func (s *talks) Project(name string) (conversations.Project, bool) {
	return conversations.Project{Name: name}, name == "home" || name == "office"
}

func (s *talks) Follow(ctx context.Context, project string, fn func(conversations.Notice) error) error {
	waiting := make(chan conversations.Notice, most)
	s.mu.Lock()
	err, panics := s.broken, s.panics
	s.followers[waiting] = project
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.followers, waiting)
	}()
	if panics {
		panic("nobody expected that")
	}
	for err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case n, ok := <-waiting:
			if !ok {
				return abi.Errorf(abi.CodeExhausted, "more than %d changes were not taken", most)
			}
			err = fn(n)
		}
	}
	return err
}

// tell has a conversation of a project change.
func (s *talks) tell(project, id string, members ...string) {
	var n conversations.Notice
	n.ID, n.State, n.Terms.Project, n.Absent = id, conversation.Pending, project, members[1:]
	for _, m := range members {
		n.Members = append(n.Members, conversation.Member{ID: m})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for waiting, of := range s.followers {
		if of != "" && of != project {
			continue
		}
		select {
		case waiting <- n:
		default:
			delete(s.followers, waiting)
			close(waiting)
		}
	}
}

// stage is a door behind an HTTP server on a pipe, in a bubble of fake time.
type stage struct {
	*testing.T
	talks *talks
	door  *notices.Door
	pipe  *doortest.Pipe
	log   *logtest.Log
}

// callers are who is behind a token.
var callers = map[string]identity.Caller{
	"":        {Guest: true, Scopes: []identity.Scope{identity.Read}, Sharer: "local"},
	"mika":    {Name: "mika", Kind: abi.KindHuman, Scopes: []identity.Scope{identity.Read}, Sharer: "mika"},
	"natsumi": {Name: "natsumi", Kind: abi.KindAgent, Scopes: []identity.Scope{identity.Read}, Sharer: "natsumi"},
	"mute":    {Name: "mute", Kind: abi.KindAgent, Scopes: []identity.Scope{identity.Talk}, Sharer: "mute"},
}

// onStage runs a test in a bubble and checks that nothing is left running.
func onStage(t *testing.T, change func(*notices.Config), f func(s *stage)) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{T: t, talks: &talks{followers: map[chan conversations.Notice]string{}}, pipe: doortest.NewPipe(), log: new(logtest.Log)}
		cfg := notices.Config{Conversations: s.talks, Log: s.log.Logger()}
		if change != nil {
			change(&cfg)
		}
		s.door = notices.New(cfg)
		next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "next") })
		srv, served := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			caller := callers[r.Header.Get("Test-Caller")]
			s.door.Beside(next).ServeHTTP(w, r.WithContext(identity.With(r.Context(), caller)))
		})}, make(chan struct{})
		go func() { defer close(served); _ = srv.Serve(s.pipe) }()
		defer func() {
			if err := s.door.Close(t.Context()); err != nil {
				t.Errorf("close: %v", err)
			}
			_ = srv.Close()
			<-served
			if s.following() != 0 || s.door.Clients() != 0 {
				t.Errorf("%d still follow, %d clients are left", s.following(), s.door.Clients())
			}
		}()
		f(s)
	})
}

func (s *stage) following() int {
	s.talks.mu.Lock()
	defer s.talks.mu.Unlock()
	return len(s.talks.followers)
}

// dial connects, as a caller or "", with a query or "", and waits until it is there.
func (s *stage) dial(query, caller string) *websocket.Conn {
	s.Helper()
	d := websocket.Dialer{NetDialContext: s.pipe.Dial}
	c, _, err := d.Dial("ws://localhost"+notices.Path+query, http.Header{"Test-Caller": {caller}})
	if err != nil {
		s.Fatalf("dial %s: %v", query, err)
	}
	synctest.Wait()
	return c
}

// frame reads one frame.
func (s *stage) frame(c *websocket.Conn) string {
	s.Helper()
	_, b, err := c.ReadMessage()
	if err != nil {
		s.Fatalf("read: %v", err)
	}
	return string(b)
}

// ends reads until the connection ends and gives the close code, 0 for an end without a goodbye.
func ends(c *websocket.Conn) int {
	for {
		if _, _, err := c.ReadMessage(); err != nil {
			var closed *websocket.CloseError
			if errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure {
				return closed.Code
			}
			_ = c.Close()
			return 0
		}
	}
}

// TestWhoIsWantedIsTold: each change of the project that was asked for, or of all, in order, with those who are
// not there.
func TestWhoIsWantedIsTold(t *testing.T) {
	onStage(t, nil, func(s *stage) {
		home, all := s.dial("?project=home", ""), s.dial("", "mika")
		s.talks.tell("home", "conv_1", "aya", "natsumi", "bob")
		s.talks.tell("office", "conv_2", "aya")
		s.talks.tell("home", "conv_3", "aya", "bob")
		var n struct {
			Type   string
			ID     string `json:"conversation_id"`
			State  string
			Terms  struct{ Project string }
			Absent []string
		}
		if err := json.Unmarshal([]byte(s.frame(home)), &n); err != nil || fmt.Sprint(n) != "{conversation conv_1 pending {home} [natsumi bob]}" {
			s.Errorf("%+v, %v", n, err)
		}
		if got := s.frame(home); !strings.HasPrefix(got, `{"type":"conversation","conversation_id":"conv_3","terms":{"project":"home"`) || !strings.HasSuffix(got, `"absent":["bob"]}`) {
			s.Error(got)
		}
		for _, id := range []string{"conv_1", "conv_2", "conv_3"} {
			if got := s.frame(all); !strings.Contains(got, `"`+id+`"`) || strings.Contains(got, "absent") != (id != "conv_2") {
				s.Errorf("%s: %s", id, got)
			}
		}
		_, _ = home.Close(), all.Close()
	})
}

// TestAnAgentSeesItsOwn conversations alone.
func TestAnAgentSeesItsOwn(t *testing.T) {
	onStage(t, nil, func(s *stage) {
		c := s.dial("", "natsumi")
		s.talks.tell("home", "conv_1", "aya", "bob")
		s.talks.tell("home", "conv_2", "aya", "natsumi")
		if got := s.frame(c); !strings.Contains(got, `"conv_2"`) {
			s.Error(got)
		}
		_ = c.Close()
	})
}

// TestRefused: what can be is, in the handshake; and all that is no handshake there is somebody else's.
func TestRefused(t *testing.T) {
	onStage(t, func(c *notices.Config) {
		c.CheckOrigin = func(r *http.Request) bool { return r.Header.Get("Origin") != "http://evil.example" }
	}, func(s *stage) {
		ask := func(path string, header ...string) (int, string) {
			r, _ := http.NewRequest(http.MethodGet, "http://localhost"+path, nil)
			for i := 0; i < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
			client := s.pipe.Client()
			defer client.CloseIdleConnections()
			resp, err := client.Do(r)
			if err != nil {
				s.Fatal(err)
			}
			defer resp.Body.Close()
			b, _ := io.ReadAll(resp.Body)
			return resp.StatusCode, string(b)
		}
		shake := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
		for name, tc := range map[string]struct {
			path   string
			header []string
			status int
			says   string
		}{
			"a plain GET":        {notices.Path, nil, 200, "next"},
			"another path":       {"/v1/rooms/main/feed", shake, 200, "next"},
			"a foreign page":     {notices.Path, append(shake, "Origin", "http://evil.example"), 403, "door.origins"},
			"no right to read":   {notices.Path, append(shake, "Test-Caller", "mute"), 403, `the scope \"read\"`},
			"no such project":    {notices.Path + "?project=moon", shake, 404, `query.project: there is no \"moon\"`},
			"a broken handshake": {notices.Path, []string{"Connection", "Upgrade", "Upgrade", "websocket"}, 400, "handshake: "},
		} {
			if status, body := ask(tc.path, tc.header...); status != tc.status || !strings.Contains(body, tc.says) {
				s.Errorf("%s: %d %s", name, status, body)
			}
		}
		if err := s.door.Close(s.Context()); err != nil {
			s.Error(err)
		}
		if status, _ := ask(notices.Path, shake...); status != 503 {
			s.Errorf("a door that is closed answers %d", status)
		}
		if n := s.following(); n != 0 {
			s.Errorf("%d follow", n)
		}
	})
}

// TestTheNoGood are told why they are left.
func TestTheNoGood(t *testing.T) {
	for name, tc := range map[string]struct {
		before, then func(s *stage, c *websocket.Conn)
		code         int
	}{
		"it sends something": {nil, func(s *stage, c *websocket.Conn) {
			if err := c.WriteMessage(websocket.TextMessage, []byte(`{"subscribe":"all"}`)); err != nil {
				s.Error(err)
			}
		}, notices.CloseUnsupported},
		"the daemon stops": {nil, func(s *stage, _ *websocket.Conn) { go func() { _ = s.door.Close(context.Background()) }() }, notices.CloseGoingAway},
		"others come":      {nil, func(s *stage, _ *websocket.Conn) { go ends(s.dial("", "mika")) }, notices.CloseTryLater},
		"it was dropped": {func(s *stage, _ *websocket.Conn) {
			s.talks.broken = fmt.Errorf("followed: %w", abi.Errorf(abi.CodeExhausted, "too much"))
		}, nil, notices.CloseSlow},
		"a fault": {func(s *stage, _ *websocket.Conn) { s.talks.broken = errors.New("disk") }, nil, notices.CloseInternal},
		"a panic": {func(s *stage, _ *websocket.Conn) { s.talks.panics = true }, nil, notices.CloseInternal},
		"too much": {nil, func(_ *stage, c *websocket.Conn) {
			go func() { _ = c.WriteMessage(websocket.TextMessage, make([]byte, 8<<10)) }()
		}, websocket.CloseMessageTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(c *notices.Config) { c.MaxClients = 1 }, func(s *stage) {
				if tc.before != nil {
					tc.before(s, nil)
				}
				c := s.dial("", "")
				if tc.then != nil {
					tc.then(s, c)
				}
				if code := ends(c); code != tc.code {
					s.Errorf("code %d, want %d", code, tc.code)
				}
				synctest.Wait()
				if tc.code == notices.CloseInternal && len(s.log.Warnings("notices of conversations ended"))+s.log.Count("level=ERROR") == 0 {
					s.Error("nobody is told of the fault")
				}
			})
		})
	}
}

// TestWhoDoesNotRead holds up nobody, and goes: with one frame that it does not take, or when more has
// happened than waits for it.
func TestWhoDoesNotRead(t *testing.T) {
	onStage(t, nil, func(s *stage) {
		stuck, reads := s.dial("", ""), s.dial("", "mika")
		start := time.Now()
		for n := range most - 1 {
			s.talks.tell("home", fmt.Sprintf("conv_%d", n), "aya", "bob")
			if got := s.frame(reads); !strings.Contains(got, fmt.Sprintf(`"conv_%d"`, n)) {
				s.Error(got)
			}
		}
		if took := time.Since(start); took != 0 {
			s.Errorf("who reads waited %v for who does not", took)
		}
		time.Sleep(7 * time.Second)
		synctest.Wait()
		if n := s.door.Clients(); n != 1 {
			s.Errorf("%d clients", n)
		}
		_, _ = stuck.Close(), reads.Close()
	})
}

// TestTheSilent are gone when they have not answered pings for so long, and those who answer stay.
func TestTheSilent(t *testing.T) {
	onStage(t, nil, func(s *stage) {
		silent, there := s.dial("", ""), s.dial("", "mika")
		silent.SetPingHandler(func(string) error { return nil })
		go ends(silent)
		go ends(there)
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if n := s.door.Clients(); n != 1 {
			s.Errorf("%d clients", n)
		}
		_ = there.Close()
	})
}
