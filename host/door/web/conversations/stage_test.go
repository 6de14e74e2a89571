package conversations_test

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
	talks *fake
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
	s := &stage{T: t, talks: &fake{followers: map[chan talks.Notice]bool{}, agents: map[string]talks.Agent{
		"worker-a": {ID: "worker-a", Name: "Analysis Worker"}, "worker-b": {ID: "worker-b"}, "loner": {ID: "loner"}, "taro": {ID: "taro", Human: true}, "mika": {ID: "mika", Human: true},
	}}}
	var ids atomic.Int64
	var err error
	s.Registry, err = registry.New(registry.Config{
		Room: room.Config{
			Journal: memory.New(), NewID: func() string { return fmt.Sprintf("id%d", ids.Add(1)) }, Log: slog.New(slog.DiscardHandler),
			Here: func(string, string) bool { return true }, Conversed: s.talks.wrote, Find: func(string) (room.Companion, bool) { return nil, false },
		},
		Rooms: []room.Settings{{Name: "main", Rules: entry.Rules{Policy: "vote", Seed: "x", Patience: 1000, Floor: 10_000, Stale: entry.StaleReask}}}, Usual: "main", MaxRooms: 3,
		Talks: entry.Rules{Policy: turn.ConversationPolicy, Patience: 1000, Floor: 10_000, Stale: entry.StaleAccept},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.talks.Registry = s.Registry
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
	cfg := conversations.Config{Conversations: s.talks, Rooms: s.Registry, Agent: s.talks.agent, MaxWaiting: 4, Stopping: stopping}
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
		_, err = talk.Say(s.Context(), rooms.Utterance{From: who, By: abi.KindAgent, Text: text})
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

// fake is conversations as far as the door calls them, each in its room.
type fake struct {
	*registry.Registry
	agents map[string]talks.Agent

	mu        sync.Mutex
	ids       []string // oldest first
	followers map[chan talks.Notice]bool
	absent    []string // of the next notice
}

var _ conversations.Conversations = (*fake)(nil)

func (f *fake) agent(id string) (talks.Agent, bool) { a, ok := f.agents[id]; return a, ok }

func (f *fake) Project(name string) (talks.Project, bool) {
	return talks.Project{Name: "site", Agents: []string{"worker-a", "worker-b", "taro"}}, name == "site"
}

func (f *fake) ProjectOf(agent string) (string, error) {
	switch _, known := f.agents[agent]; {
	case !known:
		return "", conversation.Refuse(conversation.AgentNotFound, agent)
	case agent == "loner":
		return "", conversation.Refuse(conversation.Invalid, "project: loner is in none")
	}
	return "site", nil
}

func (f *fake) Start(ctx context.Context, m talks.Member, a talks.Ask) (talks.View, error) {
	target := a.Targets[0]
	if _, known := f.agents[m.Agent]; !known {
		return talks.View{}, conversation.Refuse(conversation.AgentNotFound, m.Agent)
	}
	p, _ := f.Project(m.Project)
	switch _, known := f.agents[target]; {
	case target == m.Agent:
		return talks.View{}, conversation.Refuse(conversation.WithSelf, "")
	case !known:
		return talks.View{}, conversation.Refuse(conversation.AgentNotFound, target)
	case !slices.Contains(p.Agents, target):
		return talks.View{}, conversation.Refuse(conversation.NotInProject, target)
	}
	t := conversation.Terms{Project: m.Project, Purpose: a.Purpose, MaxTurns: 4, Pending: conversation.UsualPending.Milliseconds(), Idle: conversation.UsualIdle.Milliseconds(), Members: []string{m.Agent, target}}
	if f.agents[m.Agent].Human {
		t.Humans, t.MaxTurns = []string{m.Agent}, 0
	}
	f.mu.Lock()
	id := fmt.Sprintf("conv_%032d", len(f.ids)+1)
	f.mu.Unlock()
	now, err := f.Convene(ctx, rooms.Convening{Name: id, Key: strings.Join(t.Members, "\n"), Terms: t})
	if err != nil {
		return talks.View{}, err
	}
	f.mu.Lock()
	f.ids = append(f.ids, id)
	f.mu.Unlock()
	v := talks.View{ID: id, Conversation: now}
	if a.Text != "" {
		said, err := f.Say(ctx, m, talks.Words{Conversation: id, Text: a.Text, MessageID: a.MessageID})
		return said.View, err
	}
	return v, nil
}

func (f *fake) Get(ctx context.Context, id string) (talks.View, error) {
	f.mu.Lock()
	known := slices.Contains(f.ids, id)
	f.mu.Unlock()
	if !known {
		return talks.View{}, conversation.Refuse(conversation.NotFound, id)
	}
	talk, err := f.Room(ctx, id)
	if err != nil {
		return talks.View{}, err
	}
	return talks.View{ID: id, Conversation: *talk.Info().Conversation}, nil
}

func (f *fake) Say(ctx context.Context, m talks.Member, w talks.Words) (talks.Said, error) {
	v, err := f.Get(ctx, w.Conversation)
	if err != nil {
		return talks.Said{}, err
	}
	if v.Member(m.Agent) == nil {
		return talks.Said{}, conversation.Refuse(conversation.NotParticipant, "")
	}
	by := abi.KindAgent
	if f.agents[m.Agent].Human {
		by = abi.KindHuman
	}
	talk, err := f.Room(ctx, v.ID)
	if err != nil {
		return talks.Said{}, err
	}
	msg, err := talk.Say(ctx, rooms.Utterance{ID: w.MessageID, From: m.Agent, By: by, Text: w.Text})
	return talks.Said{View: v, Message: msg}, err
}

func (f *fake) converse(ctx context.Context, id string, in conversation.Input) (talks.View, error) {
	v, err := f.Get(ctx, id)
	if err != nil {
		return v, err
	}
	talk, err := f.Room(ctx, id)
	if err != nil {
		return v, err
	}
	v.Conversation, err = talk.Converse(ctx, in)
	return v, err
}

func (f *fake) End(ctx context.Context, m talks.Member, id, final string) (talks.View, error) {
	if final != "" {
		if _, err := f.Say(ctx, m, talks.Words{Conversation: id, Text: final}); err != nil {
			return talks.View{}, err
		}
	}
	return f.converse(ctx, id, conversation.Input{Kind: conversation.End, Who: m.Agent})
}

func (f *fake) Stop(ctx context.Context, human, id string) (talks.View, error) {
	if !f.agents[human].Human {
		return talks.View{}, conversation.Refuse(conversation.NotParticipant, human)
	}
	return f.converse(ctx, id, conversation.Input{Kind: conversation.Stop, Who: human})
}

func (f *fake) History(ctx context.Context, id string, since uint64, limit int) ([]abi.Message, uint64, error) {
	talk, err := f.Room(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	return talk.Messages(ctx, since, limit)
}

func (f *fake) List(ctx context.Context, want talks.Filter) (all []talks.View, err error) {
	f.mu.Lock()
	ids := slices.Clone(f.ids)
	f.mu.Unlock()
	if want.Before != "" {
		at := slices.Index(ids, want.Before)
		if at < 0 {
			return nil, conversation.Refuse(conversation.NotFound, want.Before)
		}
		ids = ids[:at]
	}
	for _, id := range slices.Backward(ids) {
		v, err := f.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if (want.Agent == "" || v.Member(want.Agent) != nil) && (want.State == "" || v.State == want.State) && len(all) < want.Limit {
			all = append(all, v)
		}
	}
	return all, nil
}

// wrote tells followers what is in the journal.
func (f *fake) wrote(id string, now conversation.Conversation, entries []entry.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.ContainsFunc(entries, func(e entry.Entry) bool { return e.Kind == entry.KindLifecycle }) {
		return
	}
	for to := range f.followers {
		to <- talks.Notice{View: talks.View{ID: id, Conversation: now}, Absent: f.absent}
	}
}

func (f *fake) Follow(ctx context.Context, _ string, fn func(talks.Notice) error) error {
	notices := make(chan talks.Notice, 100)
	f.mu.Lock()
	f.followers[notices] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.followers, notices)
		f.mu.Unlock()
	}()
	for {
		select {
		case n := <-notices:
			if err := fn(n); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *fake) following() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.followers)
}
