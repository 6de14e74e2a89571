package streamable

import (
	"context"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/places"
)

// sessions bounds the sessions of older clients and knows whose they are, and which
// of them somebody needs: where the house is full, the one that was idle for longest
// is let go for who comes. The SDK keeps the sessions themselves. One that it ended by
// its time-out, which it tells nobody, is in here until it is asked for or let go.
type sessions struct {
	server *sdk.Server
	house  *places.House
	// dropped is told that a session was let go.
	dropped func(reason string)
	hold    time.Duration   // for how long a stream keeps its session
	ends    context.Context // with the transport

	mu  sync.Mutex
	all map[string]*session // by id
}

// session is one of an older client. What is not said otherwise is set before
// anybody else knows it.
type session struct {
	id     string
	owner  string
	place  *places.Place
	ending context.Context // ends with the session
	end    context.CancelCauseFunc

	// The mutex of the sessions guards these.
	passed  time.Time                      // when a request of it last passed the SDK; zero: it may be there no more
	streams map[*places.Place]bool         // that are open
	until   time.Time                      // the streams keep it, and themselves
	release *time.Timer                    // and then do no more; nil: they do not
	calls   map[string]*context.CancelFunc // that run beside the SDK, by their ids as they came
}

// Why a session's calls and streams end before their time.
var (
	errDeleted = abi.Errorf(abi.CodeNotFound, "session: its client has ended it")
	errLetGo   = abi.Errorf(abi.CodeNotFound, "session: it was idle, and let go for another; begin again with initialize")
)

func newSessions(server *sdk.Server, house *places.House, hold time.Duration, ends context.Context) *sessions {
	return &sessions{server: server, house: house, hold: hold, ends: ends, all: map[string]*session{}, dropped: func(string) {}}
}

// begin makes room for one session. It is nobody's until begun has said its id,
// and has none when done is called before that: not every request that could begin a
// session does.
func (s *sessions) begin(owner, sharer string) (begun *session, done func(), err error) {
	ss := &session{owner: owner}
	ss.ending, ss.end = context.WithCancelCause(s.ends)
	// It is used before anybody else can have it let go for another.
	place, used, err := s.house.TakeUsed(sharer, func() { s.letGo(ss) })
	if err != nil {
		ss.end(err)
		return nil, nil, err
	}
	ss.place = place
	return ss, func() {
		if ss.id == "" {
			ss.place.Leave()
			ss.end(nil)
		}
		used()
	}, nil
}

// begun notes the id of a new session, if there is one: the SDK has an id also for what
// could not begin.
func (s *sessions) begun(ss *session, id string) {
	if s.find(id) == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ss.id = id
	s.all[id] = ss
}

// enter finds a session for a request, and keeps it from being let go until leave is
// called. A stream does not keep it for that long, see hears.
//
// # Errors
//
// A fault with 404 for one that is not there, and CodeDenied for somebody else's.
func (s *sessions) enter(id, owner string, stream bool) (known *session, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ss := s.all[id]
	switch {
	case ss == nil:
		return nil, nil, gone()
	case ss.owner != owner:
		return nil, nil, abi.Errorf(abi.CodeDenied, "session: it was begun by somebody else")
	}
	leave, ok := ss.place.Use()
	if !ok {
		return nil, nil, gone() // it is about to be let go
	}
	if stream {
		leave()
	}
	return ss, leave, nil
}

// hears notes that a session has a stream of events, which has a place of its own, until
// over is called. It keeps the session for a while.
func (s *sessions) hears(ss *session, stream *places.Place) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ss.streams == nil {
		ss.streams = map[*places.Place]bool{}
	}
	ss.streams[stream] = true
	ss.until = time.Time{} // this one is not kept yet
	s.keepFor(ss)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(ss.streams, stream)
		if len(ss.streams) == 0 {
			s.unkept(ss)
		}
	}
}

// keepFor keeps a session that has a stream from being let go for another, and the
// stream with it, until nothing was called for a while. Who has its share of them keeps
// no more. The caller holds the mutex.
func (s *sessions) keepFor(ss *session) {
	until := time.Now().Add(s.hold)
	if ss.release != nil && until.Sub(ss.until) < s.hold/64 {
		return // for those that call all the time
	}
	ss.until = until
	_ = ss.place.Hold(until) // it has its share
	for stream := range ss.streams {
		_ = stream.Hold(until)
	}
	if ss.release == nil {
		ss.release = time.AfterFunc(s.hold, func() { s.releaseNow(ss) })
	}
}

// releaseNow lets go what keepFor keeps, or waits on where something was called since.
func (s *sessions) releaseNow(ss *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ss.release == nil {
		return // the last stream has ended
	}
	if left := time.Until(ss.until); left > 0 {
		ss.release.Reset(left)
		return
	}
	s.unkept(ss)
}

func (s *sessions) unkept(ss *session) {
	if ss.release != nil {
		ss.release.Stop()
		ss.release = nil
	}
	ss.place.Release()
	for stream := range ss.streams {
		stream.Release()
	}
}

// pass notes how the SDK has taken a request of a session: with 404 for one that timed
// out, with a failure that leaves open whether it is there, with an answer to a call, or
// else with one to what clients send by themselves, which keeps no stream.
func (s *sessions) pass(ss *session, status int) {
	if status == http.StatusNotFound {
		s.drop(ss, nil)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ss.passed = time.Time{}
	if status < http.StatusBadRequest {
		ss.passed = time.Now()
	}
	if status == http.StatusOK {
		s.called(ss)
	}
}

// called notes that a call of a session was answered. The caller holds the mutex.
func (s *sessions) called(ss *session) {
	if len(ss.streams) > 0 {
		s.keepFor(ss)
	}
}

// open says whether a session is there for sure: the SDK has taken a request of
// it since, so it has not timed out. Then a call of it is answered beside the SDK.
func (s *sessions) open(ss *session, since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ss.passed.After(since) {
		return false
	}
	s.called(ss)
	return true
}

// drop forgets a session, and ends what runs in it. The SDK's part of it is the
// caller's to end.
func (s *sessions) drop(ss *session, why error) {
	s.mu.Lock()
	if s.all[ss.id] == ss {
		delete(s.all, ss.id)
	}
	s.mu.Unlock()
	ss.end(why)
	ss.place.Leave()
}

// letGo ends a session that is idle. It may have none of its calls to wait for.
func (s *sessions) letGo(ss *session) {
	s.dropped("place")
	s.drop(ss, errLetGo)
	go s.close(ss.id)
}

// close ends the SDK's part of a session, if it is there, and waits for its calls.
func (s *sessions) close(id string) {
	if known := s.find(id); known != nil {
		_ = known.Close() // it is given up either way
	}
}

// endingOf gives the context that ends with a session, with the transport where there
// is none of that id.
func (s *sessions) endingOf(id string) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ss := s.all[id]; ss != nil {
		return ss.ending
	}
	return s.ends
}

// count gives how many sessions there are.
func (s *sessions) count() int {
	live := map[string]bool{}
	for ss := range s.server.Sessions() {
		live[ss.ID()] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for id := range s.all {
		if live[id] {
			n++
		}
	}
	return n
}

func (s *sessions) find(id string) *sdk.ServerSession {
	for ss := range s.server.Sessions() {
		if id != "" && ss.ID() == id {
			return ss
		}
	}
	return nil
}

// keep pings a client that listens, until ctx ends. Only what a client sends
// counts against the session's time-out: one that waits for events and says
// nothing would lose its session, its answers to pings keep it.
func (s *sessions) keep(ctx context.Context, id string, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		ss := s.find(id)
		if ss == nil {
			return
		}
		ping, cancel := context.WithTimeout(ctx, every)
		_ = ss.Ping(ping, nil) // who does not answer is timed out
		cancel()
	}
}

// end ends all sessions and returns when the last call in them has ended.
func (s *sessions) end() {
	var all sync.WaitGroup
	for ss := range s.server.Sessions() {
		all.Go(func() { _ = ss.Close() }) // it is given up either way
	}
	all.Wait()
}
