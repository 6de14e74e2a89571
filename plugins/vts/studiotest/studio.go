// Package studiotest stands in for VTube Studio in tests: it answers the requests of the public API that plugins of
// this house use, refuses what VTube Studio refuses with the same numbers, and lets a test do what a person does in its
// window. A client that others wrote takes it for the real one.
//
// It shows no model, and knows no more of the API than is asked of it here. It imports nothing of the plugin.
package studiotest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// Model is a model that can be loaded.
type Model struct {
	ID, Name    string
	Hotkeys     []Hotkey
	Expressions []string // files
}

// Hotkey is one of a model.
type Hotkey struct{ ID, Name, Type, File string }

// Asked is a request that came.
type Asked struct {
	At   time.Time
	Kind string
	Data json.RawMessage
	Err  int // that it was refused with, -1 for none
}

// Injected is a value that a parameter was given.
type Injected struct {
	At    time.Time
	ID    string
	Value float64
}

// State is what a test may look at, in [Studio.Look] and [Studio.Until].
type State struct {
	Asked     []Asked
	Injected  []Injected
	Triggered []string        // names of hotkeys
	Active    map[string]bool // expressions, by file
	Moves     []json.RawMessage
	Sessions  int // that are authenticated
	Popups    int // how often a person was asked
}

// Count says how often something was asked, and not refused.
func (s *State) Count(kind string) (n int) {
	for _, a := range s.Asked {
		if a.Kind == kind && a.Err < 0 {
			n++
		}
	}
	return n
}

// Studio stands in for VTube Studio. Make one with New.
type Studio struct {
	mu      sync.Mutex
	turned  *sync.Cond
	state   State
	sits    map[*session]bool
	tokens  map[string]string // the plugin's name, by token
	made    int               // tokens
	answer  Answer
	pending *asking
	model   *Model
	params  map[string]*param
	pressed map[string]time.Time // hotkeys, by id
	gone    bool
	mute    bool
	dials   int
	serving *http.Server
	pipes   *pipes
}

// Answer is how a person answers who is asked whether a plugin may come in.
type Answer int

// Answers.
const (
	Allow Answer = iota
	Deny
	Later // when Decide is called
)

type asking struct {
	s    *session
	id   string
	name string
}

type param struct {
	id             string
	by             string // the plugin that made it; empty for one of VTube Studio's own
	min, max, rest float64
	value          float64
	at             time.Time
	owner          *session
}

// New makes one with a model's worth of parameters and no model. It ends with the test.
func New(t testing.TB) *Studio {
	s := &Studio{
		sits: map[*session]bool{}, tokens: map[string]string{}, params: map[string]*param{}, pressed: map[string]time.Time{},
		pipes: &pipes{conns: make(chan net.Conn), ended: make(chan struct{})},
		state: State{Active: map[string]bool{}},
	}
	s.turned = sync.NewCond(&s.mu)
	for _, id := range []string{"FaceAngleX", "MouthOpen", "MouthSmile", "VoiceVolume", "VoiceVolumePlusMouthOpen"} {
		s.params[id] = &param{id: id, max: 1}
	}
	s.serving = &http.Server{Handler: s}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.serving.Serve(s.pipes)
	}()
	t.Cleanup(func() {
		_ = s.serving.Close()
		s.Drop()
		<-done
	})
	return s
}

// Dial connects to it with no network, which works in a bubble of synctest.
func (s *Studio) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	gone := s.gone
	s.dials++
	s.mu.Unlock()
	if gone {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	here, there := net.Pipe()
	select {
	case s.pipes.conns <- there:
		return here, nil
	case <-s.pipes.ended:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pipes is a listener of what Dial makes.
type pipes struct {
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.ended) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "studiotest"} }

// session is a connection.
type session struct {
	ws      *websocket.Conn
	writing sync.Mutex
	plugin  string // once it is authenticated
	events  map[string]bool
}

// ServeHTTP takes a connection.
func (s *Studio) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	x := &session{ws: ws, events: map[string]bool{}}
	s.with(func() { s.sits[x] = true })
	defer func() {
		_ = ws.Close()
		s.with(func() { s.leave(x) })
	}()
	for {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			return
		}
		s.take(x, frame)
	}
}

// leave forgets a session. The lock is held.
func (s *Studio) leave(x *session) {
	delete(s.sits, x)
	if s.pending != nil && s.pending.s == x {
		s.pending = nil
	}
	for _, p := range s.params {
		if p.owner == x {
			p.owner = nil
		}
	}
	s.count()
}

// count says how many are authenticated. The lock is held.
func (s *Studio) count() {
	s.state.Sessions = 0
	for x := range s.sits {
		if x.plugin != "" {
			s.state.Sessions++
		}
	}
}

// with does something under the lock, and wakes those who wait for it.
func (s *Studio) with(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	s.turned.Broadcast()
}

type envelope struct {
	APIName     string          `json:"apiName"`
	APIVersion  string          `json:"apiVersion"`
	Timestamp   int64           `json:"timestamp"`
	RequestID   string          `json:"requestID"`
	MessageType string          `json:"messageType"`
	Data        json.RawMessage `json:"data"`
}

// refused is an error of the API.
type refused struct {
	ID      int    `json:"errorID"`
	Message string `json:"message"`
}

func (r *refused) Error() string { return r.Message }

func refuse(id int, message string) error { return &refused{id, message} }

// errLater says that the answer comes later.
var errLater = errors.New("later")

// take answers a frame.
func (s *Studio) take(x *session, frame []byte) {
	var e envelope
	var data any
	err := json.Unmarshal(frame, &e)
	s.with(func() {
		if err != nil {
			err = refuse(2, "JSON Invalid")
		} else {
			data, err = s.request(x, e)
		}
		a := Asked{time.Now(), e.MessageType, e.Data, -1}
		if r := new(refused); errors.As(err, &r) {
			a.Err = r.ID
		}
		s.state.Asked = append(s.state.Asked, a)
		s.count()
	})
	if errors.Is(err, errLater) || s.muted() {
		return
	}
	x.answer(e, data, err)
}

// answer writes what comes of a request.
func (x *session) answer(e envelope, data any, err error) {
	kind := strings.TrimSuffix(e.MessageType, "Request") + "Response"
	if r := new(refused); errors.As(err, &r) {
		kind, data = "APIError", r
	}
	x.write(kind, e.RequestID, data)
}

func (x *session) write(kind, id string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	frame, _ := json.Marshal(envelope{"VTubeStudioPublicAPI", "1.0", time.Now().UnixMilli(), id, kind, b})
	x.writing.Lock()
	defer x.writing.Unlock()
	_ = x.ws.WriteMessage(websocket.TextMessage, frame) // the reader sees that it is gone
}
