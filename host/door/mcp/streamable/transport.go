package streamable

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/mcp/rpc"
	"github.com/companiond/companiond/host/door/places"
	"github.com/companiond/companiond/host/rooms"
)

// modernSince is the first revision of MCP without sessions. Older revisions
// begin with initialize and go on with a session id. The SDK serves the two
// from two handlers; clients tell them apart by a header.
const modernSince = "2026-07-28"

// The headers and the method the transport looks at; the SDK checks that
// Mcp-Method says what the body says.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	methodListen  = "subscriptions/listen"
)

// Config bounds what clients may hold. The zero value is the default.
type Config struct {
	// SessionTimeout ends a session whose client has been silent for so long.
	// Zero means 10 minutes.
	SessionTimeout time.Duration
	// MaxSessions bounds the sessions of older clients. Zero means 256.
	MaxSessions int
	// MaxStreams bounds the streams that are open for events: an older client's
	// GET, a newer one's subscriptions/listen. Zero means 256.
	MaxStreams int
	// StreamHold is for how long an older client's stream keeps its session, and itself,
	// from being let go for another since something was called. Zero means a minute.
	StreamHold time.Duration
	// WriteTimeout is how long a client may take for one write. Zero means 10 s.
	WriteTimeout time.Duration
	// Owner says who is asking. A session then belongs to who began it and is
	// refused to everybody else. Nil means that the session id is enough.
	Owner func(*http.Request) string
	// Sharer says with whom who is asking shares what is bounded, see
	// [places.House]. Nil means that everybody is one.
	Sharer func(*http.Request) string
	// Dropped is told that a session was let go for another: "place". Nil: nobody is.
	Dropped func(reason string)
	// Log takes the SDK's complaints, see Quiet. Nil means none.
	Log *slog.Logger
	// Tools are those that may be called beside the SDK, see Tool. Nil means
	// none.
	Tools map[string]Tool
	// Server is what the server says it is. It must be set where there are Tools.
	Server *sdk.Implementation
}

// MaxBody is the largest body that is taken.
const MaxBody = 4 << 20

func (c Config) withDefaults() Config {
	c.SessionTimeout = cmp.Or(c.SessionTimeout, 10*time.Minute)
	c.MaxSessions = cmp.Or(c.MaxSessions, 256)
	c.MaxStreams = cmp.Or(c.MaxStreams, 256)
	c.StreamHold = cmp.Or(c.StreamHold, time.Minute)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 10*time.Second)
	if c.Owner == nil {
		c.Owner = func(*http.Request) string { return "" }
	}
	if c.Sharer == nil {
		c.Sharer = func(*http.Request) string { return "" }
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}

// Transport serves both eras of MCP behind one URL. Its methods may be called
// from many goroutines.
type Transport struct {
	cfg      Config
	modern   http.Handler
	legacy   http.Handler
	sessions *sessions
	streams  *places.House
	complete *sdk.CallToolResult // see completed

	// streamsEnd ends event streams, callsEnd everything else. They live from
	// New to close, as no request does.
	streamsEnd, callsEnd context.Context
	endStreams           context.CancelFunc
	endCalls             context.CancelCauseFunc
	mu                   sync.Mutex
	closing              bool
	requests             int
	idle                 chan struct{} // closed when closing and no request is left
}

// New serves server. It adds a middleware to it, by which Close reaches the tools
// that are running, so that a server has one transport at most.
func New(server *sdk.Server, cfg Config) *Transport {
	t := &Transport{cfg: cfg.withDefaults(), idle: make(chan struct{}), complete: aComplete()}
	t.streamsEnd, t.endStreams = context.WithCancel(context.Background())
	t.callsEnd, t.endCalls = context.WithCancelCause(context.Background())
	t.streams = places.New(places.Config{What: "event streams", Total: t.cfg.MaxStreams})
	t.sessions = newSessions(server, places.New(places.Config{What: "sessions", Total: t.cfg.MaxSessions}), t.cfg.StreamHold, t.callsEnd)
	if t.cfg.Dropped != nil {
		t.sessions.dropped = t.cfg.Dropped
	}
	get := func(*http.Request) *sdk.Server { return server }
	log := Quiet(t.cfg.Log)
	// Both answer with event streams; reply turns into JSON what can be. Which names of
	// hosts are ours the guard knows, also those of who stands before a daemon on loopback.
	t.modern = sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, Logger: log, DisableLocalhostProtection: true,
	})
	t.legacy = sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{SessionTimeout: t.cfg.SessionTimeout, Logger: log, DisableLocalhostProtection: true})
	server.AddReceivingMiddleware(t.endWithTheDoor)
	return t
}

// endWithTheDoor gives a tool a context that ends with its session and with the door. In
// a session it is otherwise not even bound to its request: a client that went away may
// still want what it asked for. What a handler fails with gets a code of JSON-RPC.
func (t *Transport) endWithTheDoor(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		end := t.callsEnd
		if id := req.GetSession().ID(); id != "" {
			end = t.sessions.endingOf(id)
		}
		ctx, cancel := endingWith(ctx, end)
		defer cancel()
		res, err := next(ctx, method, req)
		return res, inRPC(method, err)
	}
}

// endingWith gives a context that ends with either.
func endingWith(ctx, end context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(end, func() { cancel(context.Cause(end)) })
	return ctx, func() { forget(); cancel(nil) }
}

// exchange is one request while it is served.
type exchange struct {
	modern  bool        // of the era without sessions
	stream  bool        // it asks for a stream of events
	asked   []byte      // what was posted
	message rpc.Message // of it, as far as it is one
	session *session    // that it belongs to, or may begin; nil: none
	begins  bool
}

// ServeHTTP serves one request. It belongs behind a guard, which has read the
// body whole.
func (t *Transport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{modern: r.Header.Get(headerVersion) >= modernSince}
	x.stream = isStream(r, x.modern)
	if err := t.enter(); err != nil {
		refuse(w, r, err)
		return
	}
	defer t.leave()
	if r.Method == http.MethodPost {
		body, err := guard.ReadBody(r.Body, MaxBody)
		if err != nil {
			refuse(w, r, err)
			return
		}
		x.asked = body
		x.message = rpc.Read(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if !x.modern {
		leave, err := t.attend(r, x)
		if err != nil {
			refuse(w, r, err)
			return
		}
		defer leave()
		if x.session != nil {
			t.sessions.cancelled(x.session, x.message)
		}
	}
	if x.stream {
		ctx, leave, err := t.listen(r, x)
		if err != nil {
			refuse(w, r, err)
			return
		}
		defer leave()
		r = r.WithContext(ctx)
	}
	if !t.quick(w, r, x) {
		t.slow(w, r, x)
	}
}

// attend finds the session of an older client's request, or makes room for one.
func (t *Transport) attend(r *http.Request, x *exchange) (leave func(), err error) {
	id, owner := r.Header.Get(headerSession), t.cfg.Owner(r)
	switch {
	case id != "":
		x.session, leave, err = t.sessions.enter(id, owner, x.stream)
		if err != nil || r.Method != http.MethodDelete {
			return leave, err
		}
		t.sessions.drop(x.session, errDeleted) // its calls end now, and with them the SDK has nothing to wait for
		used := leave
		return func() {
			used()
			t.sessions.close(id) // the SDK refuses a request that is wrong otherwise, and would keep a session that has no place
		}, nil
	case r.Method != http.MethodPost:
		return func() {}, nil // the SDK refuses it
	}
	method, plain := rpc.PlainText(x.message.Method)
	switch plain = plain && !x.message.More; {
	case plain && (method == "ping" || method == "server/discover" || method != "initialize" && x.message.CallID() == nil):
		return func() {}, nil // the SDK answers, and no session is left
	case plain && method != "initialize":
		return nil, unbegun(x.message.CallID())
	}
	x.begins = true // or may, in a batch or oddly written
	x.session, leave, err = t.sessions.begin(owner, t.cfg.Sharer(r))
	return leave, err
}

// slow has a request served by the SDK.
func (t *Transport) slow(w http.ResponseWriter, r *http.Request, x *exchange) {
	handler, end := t.legacy, t.callsEnd
	if x.modern {
		handler = t.modern
	}
	if x.stream {
		end = t.streamsEnd
	}
	ctx, cancel := endingWith(r.Context(), end)
	defer cancel()
	out := newReply(w, t.cfg.WriteTimeout, cancel)
	out.mend = x.mend
	if x.begins { // before the client learns the id, it is known whose it is
		out.before = func(h http.Header) { t.sessions.begun(x.session, h.Get(headerSession)) }
	}
	defer out.abort() // a panic on the way; else there is nothing left to do
	handler.ServeHTTP(out, r.WithContext(ctx))
	out.finish(t.callsEnd.Err() != nil || t.streamsEnd.Err() != nil)
	if x.session != nil && !x.begins && r.Method == http.MethodPost {
		t.sessions.pass(x.session, out.taken())
	}
}

// isStream says whether a request asks for a stream of events, which lasts for
// as long as the client likes. A listen that does not say so in its header is
// refused by the SDK.
func isStream(r *http.Request, modern bool) bool {
	if modern {
		return r.Method == http.MethodPost && r.Header.Get(headerMethod) == methodListen
	}
	return r.Method == http.MethodGet
}

// listen makes room for a stream of events. The context ends when it is let go: an
// older client's may be when its session may.
func (t *Transport) listen(r *http.Request, x *exchange) (ctx context.Context, leave func(), err error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	var until time.Time // nobody knows when a newer client's is over
	if x.session != nil {
		until = time.Now().Add(t.cfg.StreamHold)
	}
	place, err := t.streams.TakeHeld(t.cfg.Sharer(r), func() { cancel(errLetGo) }, until)
	if err != nil {
		cancel(err)
		return nil, nil, err
	}
	over, forget := func() {}, func() bool { return true }
	if x.session != nil {
		over = t.sessions.hears(x.session, place)
		forget = context.AfterFunc(x.session.ending, func() { cancel(context.Cause(x.session.ending)) })
		go t.sessions.keep(ctx, x.session.id, t.cfg.SessionTimeout/3)
	}
	return ctx, func() { over(); forget(); place.Leave(); cancel(nil) }, nil
}

func (t *Transport) enter() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closing {
		return rooms.ErrStopping
	}
	t.requests++
	return nil
}

func (t *Transport) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests--
	if t.closing && t.requests == 0 {
		close(t.idle)
	}
}

// Sessions gives how many sessions there are.
func (t *Transport) Sessions() int { return t.sessions.house.Taken() }

// goodbye is how long what was told to end may take to do so.
const goodbye = time.Second

// Close ends the transport: new requests are refused, event streams end at once,
// calls may finish until ctx ends and are cancelled then, sessions end. It may
// be called once. After it, http.Server.Shutdown has nothing to wait for; an
// error means that a tool ignores its context.
func (t *Transport) Close(ctx context.Context) error {
	t.mu.Lock()
	t.closing = true
	if t.requests == 0 {
		close(t.idle)
	}
	t.mu.Unlock()
	t.endStreams()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-t.idle
		t.sessions.end() // waits for calls whose client has gone away
	}()
	defer t.endCalls(rooms.ErrStopping)
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	t.endCalls(rooms.ErrStopping)
	last := time.NewTimer(goodbye)
	defer last.Stop()
	select {
	case <-ended:
		return nil
	case <-last.C:
		t.mu.Lock()
		defer t.mu.Unlock()
		return fmt.Errorf("close mcp door: %d requests and %d sessions have not ended: %w", t.requests, t.sessions.count(), ctx.Err())
	}
}
