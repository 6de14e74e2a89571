// Package notices tells over a WebSocket how conversations of agents begin and end, and which of
// those who were invited are not there: for whoever starts agents when they are wanted.
//
// GET /v1/conversations/feed?project=NAME, as the handshake of a WebSocket, sends each change of
// state of a conversation of that project, or of all without one, as a text frame of JSON:
//
//	{"type":"conversation","conversation_id":"conv_...","state":"pending","terms":{...},
//	 "members":[...],"turns":0,...,"absent":["natsumi"]}
//
// It is the conversation as GET /v1/conversations/{id} has it; absent are those who were invited and
// have no session, and is left out where there are none. Frames begin with what happens after the
// handshake, so that a client connects first, and then asks for
// /v1/conversations?state=pending. An agent's token is sent those that the agent is in
// alone. The client sends pongs and a close frame; anything else is answered with
// [CloseUnsupported].
//
// # Slow clients
//
// A client holds up nobody: whoever follows conversations has a bounded number of changes waiting for
// it. One that lets them become more is told [CloseSlow], and one that does not take a frame within
// WriteTimeout just ends. Where MaxClients are connected, the one that was heard of longest ago makes
// room for the next, first of the caller that has the most, and is told [CloseTryLater].
// Each may come back, and asks then for what it has missed.
//
// The package decides nothing of a conversation's life and starts no agent.
package notices

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/places"
	"github.com/companiond/companiond/host/door/socket/plain"
	"github.com/companiond/companiond/host/identity"
)

// Path is where the handshakes go.
const Path = "/v1/conversations/feed"

// The close codes, which are those of the feeds of rooms.
const (
	CloseGoingAway   = websocket.CloseGoingAway       // 1001: the daemon stops
	CloseUnsupported = websocket.CloseUnsupportedData // 1003: the client sent something
	CloseInternal    = websocket.CloseInternalServerErr
	CloseTryLater    = websocket.CloseTryAgainLater // 1013: others need the place
	CloseSlow        = 4008                         // more has happened than the client takes
)

// Conversations are what the door needs of them. *conversations.Conversations implements it.
type Conversations interface {
	Project(name string) (p conversations.Project, ok bool)
	Follow(ctx context.Context, project string, fn func(conversations.Notice) error) error
}

var _ Conversations = (*conversations.Conversations)(nil)

// Config is the door's settings.
type Config struct {
	// Conversations must be set.
	Conversations Conversations
	// CheckOrigin is the guard's. Nil lets no request with an Origin pass.
	CheckOrigin func(*http.Request) bool
	// Log takes what goes wrong. Nil means nothing is logged.
	Log *slog.Logger
	// MaxClients bounds how many clients there are at once. Zero means 1024.
	MaxClients int
	// WriteTimeout is how long a client may take for one frame. Zero means 5 s.
	WriteTimeout time.Duration
	// Ping is how often a client is pinged, PongWait how long it may be silent. Zero means 27 s
	// and 60 s.
	Ping, PongWait time.Duration
}

// goodbye bounds the close handshake, and shortly that of a client whose place is taken; readLimit is
// what a client may send at once.
const (
	goodbye   = time.Second
	shortly   = 100 * time.Millisecond
	readLimit = 4 << 10
)

// Door serves the clients. Each has four goroutines. All are gone when [Door.Close] returns nil.
type Door struct {
	cfg      Config
	upgrader websocket.Upgrader
	places   *places.House
	ctx      context.Context // ends when the door closes
	end      context.CancelCauseFunc

	clients places.Entrance
}

// New makes a door.
func New(c Config) *Door {
	if c.CheckOrigin == nil {
		c.CheckOrigin = func(r *http.Request) bool { return r.Header.Get("Origin") == "" }
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.MaxClients = cmp.Or(c.MaxClients, 1024)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 5*time.Second)
	c.Ping = cmp.Or(c.Ping, 27*time.Second)
	c.PongWait = cmp.Or(c.PongWait, 60*time.Second)
	d := &Door{cfg: c}
	d.places = places.New(places.Config{What: "WebSockets of conversations", Total: c.MaxClients, Again: c.PongWait})
	d.ctx, d.end = context.WithCancelCause(context.Background())
	d.upgrader = websocket.Upgrader{
		HandshakeTimeout: c.WriteTimeout, ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10, WriteBufferPool: &sync.Pool{},
		CheckOrigin: c.CheckOrigin, Subprotocols: []string{guard.Subprotocol}, // the token beside it is not to be echoed
		Error: func(w http.ResponseWriter, r *http.Request, status int, reason error) {
			code := abi.CodeInvalid
			if status >= http.StatusInternalServerError {
				code = abi.CodeInternal
			}
			guard.ProblemStatus(w, r, status, abi.Errorf(code, "handshake: %v", reason))
		},
	}
	return d
}

// Beside serves handshakes at [Path], and leaves all else to next: what a client without WebSockets
// gets there included.
func (d *Door) Beside(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != Path || !websocket.IsWebSocketUpgrade(r) {
			next.ServeHTTP(w, r)
			return
		}
		if err := d.handshake(w, r); err != nil {
			guard.Problem(w, r, err)
		}
	})
}

// Clients tells how many clients are connected.
func (d *Door) Clients() int {
	return d.clients.In()
}

// Close says goodbye to every client with [CloseGoingAway] and returns when all are gone, or with
// ctx's error when ctx ends first. Afterwards handshakes are refused.
func (d *Door) Close(ctx context.Context) error {
	d.clients.Shut()
	d.end(errGoingAway)
	return d.clients.Empty(ctx)
}

// handshake refuses what can be refused, the page of another site first, and then serves the client
// until it or the daemon goes.
func (d *Door) handshake(w http.ResponseWriter, r *http.Request) error {
	if !d.cfg.CheckOrigin(r) {
		return guard.ForeignOrigin(r)
	}
	caller := identity.Of(r.Context())
	if err := caller.May(identity.Read); err != nil {
		return err
	}
	project := r.URL.Query().Get("project")
	if _, ok := d.cfg.Conversations.Project(project); project != "" && !ok {
		return abi.Field("query.project", abi.CodeNotFound, "there is no %.64q", project)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	place, err := d.clients.Enter(func() (*places.Place, error) { return d.places.Take(caller.Sharer, func() { cancel(errOthers) }) })
	if err != nil {
		return err
	}
	defer d.clients.Leave(place)
	defer context.AfterFunc(d.ctx, func() { cancel(context.Cause(d.ctx)) })()
	c := &client{cfg: d.cfg, place: place, project: project, ready: make(chan struct{}), log: d.cfg.Log.With("remote", r.RemoteAddr)}
	if !caller.Guest && caller.Kind != abi.KindHuman {
		c.agent = caller.Name
	}
	over := make(chan struct{})
	go func() { // before the handshake is answered: what happens then is not missed
		defer close(over)
		cancel(c.follow(ctx, d.cfg.Conversations))
	}()
	defer func() { cancel(nil); <-over }()
	if c.conn, err = d.upgrader.Upgrade(plain.Hijack(w, &c.out), r, nil); err != nil {
		return nil // upgrader.Error has answered
	}
	c.serve(ctx, cancel)
	return nil
}

var (
	errGoingAway = errors.New("going away")
	errMessage   = errors.New("client sent something")
	errGone      = errors.New("client is gone")
	errOthers    = errors.New("others need the place")
)

// frame is a notice on the wire.
type frame struct {
	Type string `json:"type"`
	conversations.Notice
}

func encode(n conversations.Notice) ([]byte, error) {
	b, err := json.Marshal(frame{"conversation", n})
	return plain.Text(b), err
}
