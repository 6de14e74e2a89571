package streamable

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
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
	// WriteTimeout is how long a client may take for one write. Zero means 10 s.
	WriteTimeout time.Duration
	// Owner says who is asking. A session then belongs to who began it and is
	// refused to everybody else. Nil means that the session id is enough.
	Owner func(*http.Request) string
	// Log takes the SDK's complaints, see Quiet. Nil means none.
	Log *slog.Logger
	// Tools are those that may be called beside the SDK, see Tool. Nil means
	// none.
	Tools map[string]Tool
}

func (c Config) withDefaults() Config {
	c.SessionTimeout = cmp.Or(c.SessionTimeout, 10*time.Minute)
	c.MaxSessions = cmp.Or(c.MaxSessions, 256)
	c.MaxStreams = cmp.Or(c.MaxStreams, 256)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 10*time.Second)
	if c.Owner == nil {
		c.Owner = func(*http.Request) string { return "" }
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

	// streamsEnd ends event streams, callsEnd everything else. They live from
	// New to close, as no request does.
	streamsEnd, callsEnd context.Context
	endStreams, endCalls context.CancelFunc
	mu                   sync.Mutex
	closing              bool
	requests, streams    int
	idle                 chan struct{} // closed when closing and no request is left
}

// New serves server. It adds a middleware to it, by which Close reaches the tools
// that are running, so that a server has one transport at most.
func New(server *sdk.Server, cfg Config) *Transport {
	t := &Transport{cfg: cfg.withDefaults(), idle: make(chan struct{})}
	t.streamsEnd, t.endStreams = context.WithCancel(context.Background())
	t.callsEnd, t.endCalls = context.WithCancel(context.Background())
	t.sessions = newSessions(server, t.cfg.MaxSessions)
	get := func(*http.Request) *sdk.Server { return server }
	log := Quiet(t.cfg.Log)
	// Both answer with event streams; reply turns into JSON what can be.
	t.modern = sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, Logger: log})
	t.legacy = sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{SessionTimeout: t.cfg.SessionTimeout, Logger: log})
	server.AddReceivingMiddleware(t.endWithTheDoor)
	return t
}

// endWithTheDoor gives a tool a context that ends with the door. In a session it
// is otherwise not even bound to its request: a client that went away may still
// want what it asked for.
func (t *Transport) endWithTheDoor(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		ctx, cancel := endingWith(ctx, t.callsEnd)
		defer cancel()
		return next(ctx, method, req)
	}
}

// endingWith gives a context that ends with either.
func endingWith(ctx, end context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	forget := context.AfterFunc(end, cancel)
	return ctx, func() { forget(); cancel() }
}

// ServeHTTP serves one request. It belongs behind a guard, which has read the
// body whole.
func (t *Transport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler, end := t.legacy, t.callsEnd
	modern := r.Header.Get(headerVersion) >= modernSince
	if modern {
		handler = t.modern
	}
	stream := isStream(r, modern)
	if err := t.enter(stream); err != nil {
		refuse(w, r, err)
		return
	}
	defer t.leave(stream)
	if !modern && t.quick(w, r) {
		return
	}

	if stream {
		end = t.streamsEnd
	}
	ctx, cancel := endingWith(r.Context(), end)
	defer cancel()
	out := newReply(w, t.cfg.WriteTimeout, cancel)
	if !modern {
		done, err := t.session(ctx, r, out, stream)
		if err != nil {
			refuse(w, r, err)
			return
		}
		defer done()
	}
	defer out.abort() // a panic on the way; else there is nothing left to do
	handler.ServeHTTP(out, r.WithContext(ctx))
	out.finish(t.callsEnd.Err() != nil || t.streamsEnd.Err() != nil)
	if id := r.Header.Get(headerSession); id != "" && r.Method != http.MethodGet {
		t.sessions.pass(id, r.Method == http.MethodPost && out.taken())
	}
}

// session checks a request of the older era against the sessions there are.
func (t *Transport) session(ctx context.Context, r *http.Request, out *reply, stream bool) (done func(), err error) {
	id, owner := r.Header.Get(headerSession), t.cfg.Owner(r)
	if id != "" || r.Method != http.MethodPost {
		if err := t.sessions.check(id, owner); err != nil {
			return nil, err
		}
		if stream {
			go t.sessions.keep(ctx, id, t.cfg.SessionTimeout/3)
		}
		return func() {}, nil
	}
	begun, err := t.sessions.begin()
	if err != nil {
		return nil, err
	}
	// Before the client learns the id, it is known whose it is.
	out.before = func(h http.Header) { t.sessions.begun(h.Get(headerSession), owner) }
	return begun, nil
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

func (t *Transport) enter(stream bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closing {
		return rooms.ErrStopping
	}
	if stream {
		if t.streams >= t.cfg.MaxStreams {
			return abi.Errorf(abi.CodeUnavailable, "%d event streams are open, which is all there may be", t.streams)
		}
		t.streams++
	}
	t.requests++
	return nil
}

func (t *Transport) leave(stream bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stream {
		t.streams--
	}
	t.requests--
	if t.closing && t.requests == 0 {
		close(t.idle)
	}
}

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
	defer t.endCalls()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	t.endCalls()
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

// retryAfter is what a client is told when there is no room: whoever is in the
// way will be gone after SessionTimeout at the latest, most are sooner.
const retryAfter = 30 * time.Second

func refuse(w http.ResponseWriter, r *http.Request, err error) {
	if abi.CodeOf(err) == abi.CodeUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter/time.Second)))
	}
	guard.Problem(w, r, err)
}
