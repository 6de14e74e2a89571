// Package socket is the WebSocket door: what happens in a room, as it happens,
// and what companions do, for their bodies.
//
// GET /v1/rooms/{room}/feed?since=N sends each entry of the room's journal with
// seq > N as one text frame of JSON, in order, none missing and none twice.
// Without since it starts with what happens from now on. A client that was cut
// off connects again with the seq it saw last and misses nothing.
//
// A client sends pongs, a close frame, and {"speaking":true,"from":"taro"} or false, as a
// microphone of the room; anything else is answered with [CloseUnsupported].
//
// # Bodies
//
// GET /v1/actions?companion=ID&room=NAME&since=N is for what plays a companion's
// actions, and needs the scope act. Without room it is the companion's
// own room; with room and without companion it is for all companions that are in the room, or
// come: each frame says whose it is, and one who answers names an id or a line that it was told of.
// since is the feed's. A frame is one thing the companion does:
//
//	{"seq":7,"id":"a1","at":"2026-11-21T10:00:00Z","companion":"nikoni",
//	 "action":"move","parameters":{"x":1,"y":0,"z":2},"perception":"vision"}
//
// perception is the title of what led to it, when something did. Words are the
// action speak with {"message":"..."} and "kind":"speech", unless the
// companion's card has no such action. A line that is said piece by piece is a
// frame a piece, with "part":1, 2, ...; one that is said at once has no part.
//
// The client may tell what became of an action, which the companion hears of:
// {"id":"a1","ok":true}, or {"id":"a1","ok":false,"reason":"..."}.
// Where there are several bodies the first counts. For words the answer is taken
// and ignored. A message that comes to nothing is answered with
// {"error":{"code":"not_found","message":"..."},"id":"a1"}, without the id if it
// had none that can be one; where a field of it is at fault, the error has "field".
// It may lend the companion actions besides those of its card, for as long as it is connected:
// {"offer":[{"name":"wave","description":"...","schema":{...}}]}, and {"withdraw":["wave"]}; docs/WIRES.md.
// More than 64 messages a second are read that much later. While it is connected, and
// from before the handshake is answered, a body counts as one to which actions are
// delivered.
//
// A client of the AI Companion Protocol connects to any path, as those of chat-relay
// do, and sends
//
//	{"jsonrpc":"2.0","method":"subscribe","params":{"sessionId":"..."}}
//
// From then on, and after {"jsonrpc":"2.0","id":1,"result":{}} if it sent an id,
// it gets {"action":"move","parameters":{...},"id":"a1","seq":7} and may answer as
// above. Who sends subscribe.request instead gets what the reference server sent at last,
// {"jsonrpc":"2.0","method":"action.execute","params":{"action":"move","parameters":{...}}}.
// It starts with what comes after its subscription, or after since if its
// URL has one and names the companion's room. A subscription to another session
// takes the place of the first. A refusal is an error of JSON-RPC, whose
// data.code is the daemon's. The session has to be the caller's own, and the
// scope act is needed besides, for an id may be seen by others. Who connects with
// ?companion=ID, or with ?companion= for the usual one, gets the first kind of frames
// without a session, as it was before there were any. docs/WIRES.md has all of these wires.
//
// GET /aituberkit/{companion}/ws?room=NAME&from=NAME is the same for AITuberKit's external linkage, whose frames are
// those of package aituberkit: a face and a voice that also says what a person types there. It needs the
// scope act, and talk for that; the person is the token's holder, or for a guest what from says, else guest.
// One message may have 16 MiB, of which four are read at a time, of all clients.
//
// # Slow clients
//
// A client has no queue. What is new is encoded once and goes out to all who have caught up, and
// waits for nobody. Who does not take it is pulled along by a goroutine of its own, from the journal at
// the client's own pace, so a client that reads a million old entries over a
// thin line is fine, holds one batch in memory, and the room does not notice.
// Two things are too slow. A frame that is not taken within WriteTimeout: then
// nothing more can be written and the connection just ends. And, for a client
// that had caught up, to be found more than MaxLag entries behind and to get the
// entry that was newest then more than LagTimeout later: that is told with
// [CloseSlow]. Either way the client may come back with since.
//
// # Too many clients
//
// All clients of a caller share an address with its other programs, so none is refused for
// their number. Where MaxClients are connected, the one that was heard of longest ago makes
// room for the next, first of the caller that has the most: it is told [CloseTryLater] and
// may come back with since. A body is never sent away. Where there is nobody to send away, or
// one caller has three quarters of all places for bodies already, the handshake is refused
// with Retry-After.
//
// The package changes nothing in a room but to pass on what bodies, fronts and microphones tell, and to
// say which bodies are there. What they are to the daemon is package session's, and how their wires look
// that of its codecs. It alone knows gorilla/websocket.
package socket

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/places"
	"github.com/companiond/companiond/host/door/socket/fanout"
	"github.com/companiond/companiond/host/door/socket/mouth"
	"github.com/companiond/companiond/host/door/socket/neuro"
	"github.com/companiond/companiond/host/door/socket/plain"
	"github.com/companiond/companiond/host/door/socket/unread"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// The close codes of the door. After all but CloseUnsupported a client may
// connect again; all refusals that can be known before (no such room, a since
// that cannot be) are HTTP answers to the handshake instead.
const (
	CloseGoingAway   = websocket.CloseGoingAway       // 1001: the daemon stops
	CloseUnsupported = websocket.CloseUnsupportedData // 1003: the client of a feed sent what it does not take
	CloseTooBig      = websocket.CloseMessageTooBig   // 1009: the client sent more than 64 KiB
	CloseInternal    = websocket.CloseInternalServerErr
	CloseTryLater    = websocket.CloseTryAgainLater // 1013: others need the place, or the room cannot be read now
	CloseSlow        = 4008                         // the client reads more slowly than the room talks
	CloseUnreadable  = unread.CloseCode             // the next entry cannot be read, nor will it: the reason says which, and where to go on
)

// Config is the door's settings.
type Config struct {
	// Rooms finds rooms. It must be set.
	Rooms rooms.Directory
	// CheckOrigin is the guard's. Nil lets no request with an Origin pass.
	CheckOrigin func(*http.Request) bool
	// Session finds the companion of a session of the AI Companion Protocol, for the caller that
	// opened it: a token's holder by name, a guest by "". It may take a companion's id for
	// a session with it. It must be set.
	Session func(id, caller string) (companion string, err error)
	// Usual is the companion that is meant by whoever names none, "" for nobody. It must be
	// set.
	Usual func() string
	// Speaks says whether a companion's words are shown to its bodies: its card
	// has an action "speak", or it has no card. It is asked for each line, and must be
	// set. A body that says it plays lines is shown them in any case.
	Speaks func(companion string) bool
	// See lets a companion perceive an image, a data: URL, of whoever sends it; an error names
	// the field image. Nil: none does.
	See func(ctx context.Context, companion, image, from string) error
	// Sound gives the bytes of a sound that a module made, by its hash. Nil: pages are silent.
	Sound func(hash string) ([]byte, error)
	// Lives says whether an id is a companion's of the house, loaded or not: nobody else has a
	// face, or plays a game. Nil: any may be.
	Lives func(companion string) bool
	// NameKey gives a secret key of the house that is the same after a restart, by which the
	// ids of messages are made of who said them. Nil: one that is made now.
	NameKey func(ctx context.Context) ([]byte, error)
	// Games is what games stand on.
	Games neuro.Config
	// Waiting says whether an agent in a room has not seen everything, for the
	// relay, which then tells it again. It must be set.
	Waiting func(room string, told uint64) bool
	// Listens is told that a client of the relay is connected, and from where, and that it
	// has left. Nil means that nobody wants to know.
	Listens func(room, address string) (leave func())
	// Dropped is told why a client was dropped: "slow", "place" or "internal". Nil: nobody is.
	Dropped func(reason string)
	// Log takes what goes wrong. Nil means nothing is logged.
	Log *slog.Logger
	// MaxClients bounds how many clients there are at once, bodies among them. Zero means
	// 1024.
	MaxClients int
	// WriteTimeout is how long a client may take for one frame. Zero means 5 s.
	WriteTimeout time.Duration
	// MaxLag is how many entries a client may always be behind, LagTimeout how
	// late one that had caught up may get an entry when it is further behind.
	// Zero means 256 and 30 s.
	MaxLag     uint64
	LagTimeout time.Duration
	// Ping is how often a client is pinged, PongWait how long it may be silent.
	// Zero means 27 s and 60 s.
	Ping     time.Duration
	PongWait time.Duration
}

// goodbye bounds the close handshake, and shortly that of a client whose place is taken, for
// those may be many; readLimit is what a client may send at once.
const (
	goodbye   = time.Second
	shortly   = 100 * time.Millisecond
	readLimit = 64 << 10
)

func (c Config) withDefaults() Config {
	if c.CheckOrigin == nil {
		c.CheckOrigin = func(r *http.Request) bool { return r.Header.Get("Origin") == "" }
	}
	if c.Listens == nil {
		c.Listens = func(string, string) func() { return func() {} }
	}
	if c.Dropped == nil {
		c.Dropped = func(string) {}
	}
	if c.NameKey == nil {
		key := []byte(rand.Text())
		c.NameKey = func(context.Context) ([]byte, error) { return key, nil }
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Games.Log = cmp.Or(c.Games.Log, c.Log)
	c.MaxClients = cmp.Or(c.MaxClients, 1024)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 5*time.Second)
	c.MaxLag = cmp.Or(c.MaxLag, 256)
	c.LagTimeout = cmp.Or(c.LagTimeout, 30*time.Second)
	c.Ping = cmp.Or(c.Ping, 27*time.Second)
	c.PongWait = cmp.Or(c.PongWait, 60*time.Second)
	return c
}

// Feed serves the feed of all rooms and the bodies of all companions. It has
// one goroutine for each room that has clients; each client has four at most. All are gone when
// [Feed.Close] returns nil.
type Feed struct {
	cfg      Config
	rooms    fanout.Hub
	upgrader websocket.Upgrader
	ctx      context.Context // ends when the feed closes
	end      context.CancelCauseFunc

	clients places.Entrance
	large   chan struct{} // holds a token for each large message that is being read

	places *places.House
	mouths mouth.Mouths
	games  *neuro.Hub
}

// New makes a feed.
func New(cfg Config) *Feed {
	f := &Feed{cfg: cfg.withDefaults(), large: make(chan struct{}, largeMessages)}
	f.rooms.Log = f.cfg.Log
	f.games = neuro.New(f.cfg.Games)
	// A body whose machine is off is found out after PongWait; no other leaves for sure.
	f.places = places.New(places.Config{What: "WebSockets", Total: f.cfg.MaxClients, Again: f.cfg.PongWait})
	f.ctx, f.end = context.WithCancelCause(context.Background())
	f.upgrader = websocket.Upgrader{
		HandshakeTimeout: f.cfg.WriteTimeout,
		ReadBufferSize:   1 << 10,
		WriteBufferSize:  4 << 10,
		WriteBufferPool:  &sync.Pool{},
		CheckOrigin:      f.cfg.CheckOrigin,
		Subprotocols:     []string{guard.Subprotocol}, // the token beside it is not to be echoed
		Error: func(w http.ResponseWriter, r *http.Request, status int, reason error) {
			code := abi.CodeInvalid
			if status == http.StatusForbidden {
				code = abi.CodeDenied
			} else if status >= http.StatusInternalServerError {
				code = abi.CodeInternal
			}
			guard.ProblemStatus(w, r, status, abi.Errorf(code, "handshake: %v", reason))
		},
	}
	return f
}

// Forget lets go of what is at hand of a room, of all with "", because words were taken out of
// its entries.
func (f *Feed) Forget(room string) { f.rooms.Forget(room) }

// Register mounts the feed and the socket of actions.
func (f *Feed) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /v1/rooms/{room}/feed", f.handshake(func(r *http.Request) (view, error) {
		v, err := f.open(r, r.PathValue("room"))
		v.dialect = entries{}
		return v, err
	}))
	mux.HandleFunc("GET /v1/actions", f.handshake(f.openBody))
	mux.HandleFunc("GET /aituberkit/{companion}/ws", f.handshake(f.openLinkage))
	mux.HandleFunc("GET /ollmv/{companion}/client-ws", f.handshake(f.openPage))
	mux.HandleFunc("GET /neuro/{companion}", f.handshake(f.openGame))
	mux.HandleFunc("GET /firehose/{room}", f.handshake(func(r *http.Request) (view, error) { return f.openHose(r, r.PathValue("room")) }))
}

// Clients tells how many clients are connected.
func (f *Feed) Clients() int {
	return f.clients.In()
}

// Close says goodbye to every client with [CloseGoingAway] and returns when all
// are gone, or with ctx's error when ctx ends first; connections then end
// without a goodbye within WriteTimeout. Afterwards handshakes are refused.
func (f *Feed) Close(ctx context.Context) error {
	f.clients.Shut()
	f.end(errGoingAway)
	return f.clients.Empty(ctx)
}

// handshake is for clients of what open finds: everything that can be refused is, the
// page of another site first, and then the client is served until it or the daemon goes.
func (f *Feed) handshake(open func(*http.Request) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !f.cfg.CheckOrigin(r) {
			guard.Problem(w, r, guard.ForeignOrigin(r))
		} else if v, err := open(r); err != nil {
			guard.Problem(w, r, err)
		} else {
			f.accept(w, r, v)
		}
	}
}

// accept makes a client of a handshake and serves it.
func (f *Feed) accept(w http.ResponseWriter, r *http.Request, v view) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	if v.free != nil {
		defer v.free()
	}
	caller := identity.Of(r.Context())
	place, err := f.enter(caller, v, func() { cancel(errOthers) })
	if err != nil {
		guard.Problem(w, r, err)
		return
	}
	defer f.clients.Leave(place)
	c := &client{
		cfg: f.cfg, caller: caller, place: place, log: f.cfg.Log.With("remote", r.RemoteAddr),
		view: v, seen: v.since, turns: make(chan view), turned: make(chan struct{}), rooms: &f.rooms, large: f.large,
		leave: v.enter(), // who is told that it is connected, is
	}
	defer func() { c.leave() }()
	if d, is := v.dialect.(*front); is {
		d.Mic = &c.mic
	}
	if c.conn, err = f.upgrader.Upgrade(plain.Hijack(w, &c.out), r, nil); err != nil {
		return // upgrader.Error has answered
	}
	defer context.AfterFunc(f.ctx, func() { cancel(context.Cause(f.ctx)) })()
	c.serve(ctx, cancel)
}

// maxSeq is the greatest seq a JavaScript client can name; no room gets there.
const maxSeq = 1<<53 - 1

// open finds the room and where to start, for who may read.
func (f *Feed) open(r *http.Request, name string) (v view, err error) {
	if err := identity.Of(r.Context()).May(identity.Read); err != nil {
		return view{}, err
	}
	if v.talk, err = f.cfg.Rooms.Room(r.Context(), name); err != nil {
		return view{}, err
	}
	v.since, v.asked, err = start(r, v.talk)
	return v, err
}

// start gives the seq of the entry to start after, and whether the client named
// it.
func start(r *http.Request, talk rooms.Room) (since uint64, asked bool, err error) {
	query := r.URL.Query()
	if !query.Has("since") {
		_, head, err := talk.Entries(r.Context(), 0, 0)
		return head, false, err
	}
	since, err = strconv.ParseUint(query.Get("since"), 10, 64)
	if err != nil || since > maxSeq {
		return 0, false, abi.Field("query.since", abi.CodeInvalid, "not a whole number of 0..%d", uint64(maxSeq))
	}
	// None is read: since may be behind an entry that nobody can read.
	_, head, err := talk.Entries(r.Context(), since, 0)
	if err != nil || since <= head {
		return since, true, err
	}
	// The entry itself must be there, for the head may be told a moment late.
	at, head, err := talk.Entries(r.Context(), since-1, 1)
	if err != nil {
		return 0, false, err
	}
	if len(at) == 0 {
		// The client followed another history. Waiting for the room to get
		// there would hide that.
		return 0, false, abi.Field("query.since", abi.CodeConflict, "%d is beyond the room's head, %d", since, head)
	}
	return since, true, nil
}

// enter counts a client in. It calls letGo when others need the place.
func (f *Feed) enter(c identity.Caller, v view, letGo func()) (*places.Place, error) {
	return f.clients.Enter(func() (*places.Place, error) {
		switch v.dialect.(type) {
		case *front, *game:
			return f.places.TakeHeld(c.Sharer, nil, time.Time{})
		}
		return f.places.Take(c.Sharer, letGo)
	})
}

var (
	errGoingAway = errors.New("going away")
	errSlow      = errors.New("too far behind")
	errMessage   = errors.New("client sent what the feed does not take")
	errTurned    = errors.New("client is to see something else")
	errGone      = errors.New("client is gone")
	errOthers    = errors.New("others need the place")
)
