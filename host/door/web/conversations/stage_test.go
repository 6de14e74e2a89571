package conversations_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	talks "github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/door/web/conversations"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/turn"
)

// tokens are mika's, who is human, those of the agents worker-a and worker-b, and of one who
// may only look.
const tokens = "mika human read,talk sha256:%m\nworker-a agent read,talk sha256:%a\nworker-b agent read,talk sha256:%b\nlooker human read sha256:%l"

// stage is the door with rooms behind it. Two agents are of the project site; one is of no
// project; taro and mika are humans of it.
type stage struct {
	*testing.T
	*registry.Registry
	http.Handler
	talks *talks.Conversations
	here  bool               // the agents are
	stop  context.CancelFunc // the daemon
	web   web.Config
}

// in plays a test on a stage whose time passes only while everybody waits.
func in(t *testing.T, play func(s *stage), change ...func(*conversations.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, change...)
		play(s)
	})
}

func newStage(t *testing.T, change ...func(*conversations.Config)) *stage {
	s := &stage{T: t, here: true}
	var ids atomic.Int64
	var err error
	s.Registry, err = registry.New(registry.Config{
		Room: room.Config{
			Journal: memory.New(), NewID: func() string { return fmt.Sprintf("id%d", ids.Add(1)) }, Log: slog.New(slog.DiscardHandler),
			Here: func(string, string) bool { return s.here }, Conversed: func(room string, now conversation.Conversation, entries []entry.Entry) {
				s.talks.Wrote(room, now, entries)
			}, Find: func(string) (room.Companion, bool) { return nil, false },
		},
		Rooms: []room.Settings{{Name: "main", Rules: entry.Rules{Policy: "vote", Seed: "x", Patience: 1000, Floor: 10_000, Stale: entry.StaleReask}}}, Usual: "main", MaxRooms: 3,
		Talks: entry.Rules{Policy: turn.ConversationPolicy, Patience: 1000, Floor: 10_000, Stale: entry.StaleAccept},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.talks = s.converse()
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = s.Registry.Run(ctx) }) // it ends when ctx does
	stopping, stop := context.WithCancel(context.Background())
	s.stop = stop
	t.Cleanup(func() {
		stop()
		cancel()
		run.Wait()
	})
	s.SetCast(ctx, nil)
	if err := s.talks.Load(ctx); err != nil {
		t.Fatal(err)
	}
	cfg := conversations.Config{Conversations: s.talks, Rooms: s.Registry, Agent: agent, MaxWaiting: 4, Stopping: stopping}
	for _, f := range change {
		f(&cfg)
	}
	s.web = web.Config{Rooms: s.Registry, Companions: func() []web.Companion { return nil }, Usual: func() string { return "" }, Conversations: &cfg}
	s.Handler = s.door(s.web)
	return s
}

func (s *stage) door(c web.Config) http.Handler {
	hashes := strings.NewReplacer("%m", identity.Hash("mika's"), "%a", identity.Hash("a's"), "%b", identity.Hash("b's"), "%l", identity.Hash("looker's"))
	register, err := identity.Parse("tokens", []byte(hashes.Replace(tokens)))
	if err != nil {
		s.Fatal(err)
	}
	g, err := guard.New(guard.Config{Tokens: register, Rate: -1}, slog.New(slog.DiscardHandler))
	if err != nil {
		s.Fatal(err)
	}
	mux := http.NewServeMux()
	if err := web.Register(mux, c); err != nil {
		s.Fatal(err)
	}
	return g.Handler(guard.Mux(mux))
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	text   string
	// The fields of all answers.
	ID       string `json:"conversation_id"`
	Status   any
	Project  string
	AgentID  string `json:"agent_id"`
	Ending   *conversation.Ending
	Seq      uint64
	Message  string `json:"message_id"`
	Answered bool
	Messages []abi.Message
	Next     string
	Head     uint64
	State    string
	Turns    int

	Conversations []talks.View

	Code   string
	Detail string
	Errors []guard.Field
}

// request makes one; options are "token=..." and "Header: value".
func (s *stage) request(ctx context.Context, method, path, body string, options ...string) *http.Request {
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(ctx, method, path, in)
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:4000"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, o := range options {
		if token, ok := strings.CutPrefix(o, "token="); ok {
			r.Header.Set("Authorization", "Bearer "+token)
		} else if name, value, ok := strings.Cut(o, ": "); ok {
			r.Header.Set(name, value)
		}
	}
	return r
}

func (s *stage) ask(method, path, body string, options ...string) (a answer) {
	s.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, s.request(s.Context(), method, path, body, options...))
	a = answer{status: w.Code, header: w.Header(), text: w.Body.String()}
	if strings.Contains(w.Header().Get("Content-Type"), "json") {
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			s.Errorf("%s: %v", a.text, err)
		}
	}
	return a
}

// later is ask in the background, which is answered sooner or later.
func (s *stage) later(method, path, body string, options ...string) <-chan answer {
	got := make(chan answer, 1)
	go func() { got <- s.ask(method, path, body, options...) }()
	synctest.Wait()
	return got
}

// starts opens taro's chat with worker-a.
func (s *stage) starts() (id string) {
	s.Helper()
	a := s.ask("POST", "/v1/chat/start", `{"project":"site","agent_id":"worker-a","from":"taro","purpose":"the door"}`)
	if a.status != 201 || a.Status != "pending" || a.AgentID != "worker-a" || a.Project != "site" {
		s.Fatalf("%d %s", a.status, a.text)
	}
	return a.ID
}

// between opens a conversation of the two agents.
func (s *stage) between() (id string) {
	s.Helper()
	v, err := s.talks.Start(s.Context(), talks.Member{Project: "site", Agent: "worker-a"}, talks.Ask{Targets: []string{"worker-b"}, Purpose: "to decide"})
	if err != nil {
		s.Fatal(err)
	}
	return v.ID
}

func (s *stage) says(id, who, text string) {
	s.Helper()
	talk, err := s.Room(s.Context(), id)
	if err == nil {
		_, err = talk.Say(s.Context(), rooms.Utterance{From: who, By: abi.KindAgent, Text: text, Member: true})
	}
	if err != nil {
		s.Fatal(err)
	}
}

// words gives what was said in a conversation.
func (s *stage) words(id string) string {
	s.Helper()
	var all []string
	for _, m := range s.ask("GET", "/v1/conversations/"+id+"/messages", "").Messages {
		all = append(all, m.From+": "+m.Text)
	}
	return strings.Join(all, "|")
}

// agents are those of the house; taro and mika are human.
var agents = map[string]talks.Agent{
	"worker-a": {ID: "worker-a", Name: "Analysis Worker"}, "worker-b": {ID: "worker-b"}, "loner": {ID: "loner"}, "taro": {ID: "taro", Human: true}, "mika": {ID: "mika", Human: true},
}

func agent(id string) (talks.Agent, bool) { a, ok := agents[id]; return a, ok }

// converse makes the conversations of a house on its rooms.
func (s *stage) converse() *talks.Conversations {
	var ids atomic.Int64
	return talks.New(talks.Config{
		Rooms: s.Registry, Halls: s.Registry, Projects: []talks.Project{{Name: "site", Agents: []string{"worker-a", "worker-b", "taro", "mika"}}}, Agent: agent,
		Here: func(talks.Member) bool { return s.here }, NewID: func() string { return fmt.Sprintf("%032x", ids.Add(1)) }, Log: slog.New(slog.DiscardHandler),
	})
}
