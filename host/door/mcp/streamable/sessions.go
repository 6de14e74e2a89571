package streamable

import (
	"context"
	"maps"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
)

// sessions bounds the sessions of older clients and knows whose they are. The
// SDK keeps the sessions themselves and ends them; it tells nobody, so that the
// ids here may be of sessions that are gone. They are swept out when room is
// needed.
type sessions struct {
	server *sdk.Server
	max    int

	mu     sync.Mutex
	all    map[string]*session // by id
	coming int                 // requests that may begin a session
}

type session struct {
	owner  string
	passed time.Time // when a request of it last passed the SDK; zero: it may be there no more
}

func newSessions(server *sdk.Server, limit int) *sessions {
	return &sessions{server: server, max: limit, all: map[string]*session{}}
}

// begin makes room for one session until done is called. By then begun has said
// its id, if there is one.
func (s *sessions) begin() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all)+s.coming >= s.max {
		s.sweep()
	}
	if n := len(s.all) + s.coming; n >= s.max {
		return nil, abi.Errorf(abi.CodeUnavailable, "%d sessions are open, which is all there may be", n)
	}
	s.coming++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.coming--
	}, nil
}

// begun notes whose a new session is. Not every request that could begin one
// does.
func (s *sessions) begun(id, owner string) {
	if id == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[id] = &session{owner: owner}
}

// check refuses somebody else's session. Unknown ones are for the SDK to refuse.
func (s *sessions) check(id, owner string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.all[id]; known != nil && known.owner != owner {
		return abi.Errorf(abi.CodeDenied, "session: it was begun by somebody else")
	}
	return nil
}

// pass notes that the SDK has taken a request of a session, or, where it did
// not or the session was to end, that it may be there no more.
func (s *sessions) pass(id string, taken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.all[id]; known != nil {
		known.passed = time.Time{}
		if taken {
			known.passed = time.Now()
		}
	}
}

// open says whether a session is there for sure: the SDK has taken a request of
// it since, so it has not timed out.
func (s *sessions) open(id, owner string, since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.all[id]
	return known != nil && known.owner == owner && known.passed.After(since)
}

// count gives how many sessions there are.
func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	return len(s.all)
}

func (s *sessions) sweep() {
	live := map[string]bool{}
	for ss := range s.server.Sessions() {
		live[ss.ID()] = true
	}
	maps.DeleteFunc(s.all, func(id string, _ *session) bool { return !live[id] })
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
