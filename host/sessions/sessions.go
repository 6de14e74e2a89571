// Package sessions is who is there for conversations: agents that have authenticated, by
// their tokens, until these are given back or expire.
//
// A session is its token's and nobody else's: to end one leaves the others of the same agent
// alone, or a process that ends would end what the others are in. They are kept in memory; after a restart agents authenticate anew, and
// until they would have expired those that may have had one count as here. It knows no
// conversations: it tells whoever asked when the last session of an agent is gone.
//
// Of a token only its hash is kept, and no token or passkey is in anything that the package
// says.
package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/identity"
)

// Bounds.
const (
	// Most is how many sessions an agent may have in a project.
	Most = 64
	// spare is how long one has not been used that goes for another where there are Most: an agent
	// that breaks down and comes back again and again leaves as many behind.
	spare = time.Minute
	// prefix begins every token, so that people and scanners know one when they see it.
	prefix = "cms_"
)

// Config is what sessions stand on.
type Config struct {
	Tokens *identity.Register
	Expiry time.Duration // after the last use
	Random func([]byte)
	// Gone is told when the last session of an agent in a project has ended or expired. It is called
	// by whoever ended it, without any lock, and an Open of that agent waits for it: what the new
	// session takes part in is not left by the old one. It must not open or close one itself.
	Gone func(project, agent string)
}

// Session is one.
type Session struct {
	Token, Project, Agent string
	Expires               time.Time
}

// member is an agent in a project.
type member struct{ project, agent string }

// hash is what is kept of a token. It is looked up by that, so that how long it takes tells
// nothing of a token; there is too much chance in one to be guessed from it.
type hash [sha256.Size]byte

// session is one that is kept.
type session struct {
	member
	hash    hash
	opened  time.Time
	used    time.Time
	expires time.Time // where nothing holds it
	held    int       // calls of its agent that run
}

func (x *session) over(now time.Time) bool { return x.held == 0 && !now.Before(x.expires) }

// presence is what an agent has in a project: sessions, or until when it is assumed that it may
// have some. Where it is kept it has one of them.
type presence struct {
	sessions map[*session]bool
	assumed  time.Time
}

// Sessions are all there are. Make them with New; Run lets them expire.
type Sessions struct {
	cfg  Config
	wake chan struct{} // something expires sooner than Run thinks

	mu    sync.Mutex
	all   map[hash]*session
	who   map[member]*presence
	going map[member]chan struct{} // of whom Gone is being told; closed when it was
	next  time.Time                // when Run looks again; zero: when it is woken
	tries tries
}

// New makes them.
func New(c Config) *Sessions {
	return &Sessions{
		cfg: c, wake: make(chan struct{}, 1), all: map[hash]*session{}, who: map[member]*presence{}, going: map[member]chan struct{}{}, tries: tries{},
	}
}

// Open makes a session. It asks nothing but who that is: the caller has looked whether there is such
// an agent in such a project.
//
// # Errors
//
// A *conversation.Fault BadPasskey where the passkey is wrong, which says nothing of whether there
// is one; CodeExhausted where too many were wrong, or where the agent has [Most] sessions
// and all are in use.
func (s *Sessions) Open(l Login) (Session, error) {
	if err := s.admit(l); err != nil {
		return Session{}, err
	}
	m := member{l.Project, l.Agent}
	for {
		s.mu.Lock()
		if told := s.going[m]; told != nil {
			s.mu.Unlock()
			<-told
			continue
		}
		now := time.Now()
		if s.who[m] != nil && s.clear(m, now) { // it came back when its last one had expired, and Run was not there yet
			s.tell(m)
			continue
		}
		defer s.mu.Unlock()
		return s.open(m, now)
	}
}

// open makes a session of somebody who may have one. The caller has the lock.
func (s *Sessions) open(m member, now time.Time) (Session, error) {
	p := s.who[m]
	if p == nil {
		p = &presence{sessions: map[*session]bool{}}
	}
	if len(p.sessions) >= Most {
		oldest := p.oldest()
		if oldest == nil || now.Sub(oldest.used) < spare {
			return Session{}, abi.Errorf(abi.CodeExhausted, "%s has %d sessions, and no agent may have more: call logout with one that is not needed, or wait a minute", m.agent, Most)
		}
		s.drop(oldest)
	}
	var b [32]byte
	s.cfg.Random(b[:])
	token := prefix + base64.RawURLEncoding.EncodeToString(b[:])
	x := &session{member: m, hash: sha256.Sum256([]byte(token)), opened: now}
	x.use(now, s.cfg.Expiry)
	s.all[x.hash], p.sessions[x] = x, true
	// What was assumed has come true. An agent that gives this session back is gone, whether
	// it had another before the restart or not.
	p.assumed = time.Time{}
	s.who[m] = p
	s.due(x.expires)
	return x.shown(token), nil
}

// oldest gives the one of somebody's sessions that was not used for longest, nil where calls run
// in all of them.
func (p *presence) oldest() (oldest *session) {
	for x := range p.sessions {
		if x.held == 0 && (oldest == nil || x.used.Before(oldest.used)) {
			oldest = x
		}
	}
	return oldest
}

// use puts the expiry off. The clock of the process counts, whatever becomes of the wall's.
func (x *session) use(now time.Time, expiry time.Duration) { x.used, x.expires = now, now.Add(expiry) }

func (x *session) shown(token string) Session {
	return Session{Token: token, Project: x.project, Agent: x.agent, Expires: x.expires.UTC().Truncate(time.Millisecond)}
}

// find gives the session of a token; NoSession for any other. The caller has the lock.
func (s *Sessions) find(token string, now time.Time) (*session, error) {
	x := s.all[sha256.Sum256([]byte(token))]
	if x == nil || x.over(now) {
		return nil, conversation.Refuse(conversation.NoSession, "")
	}
	return x, nil
}

// Use finds a session by its token and puts its expiry off; NoSession for any other.
func (s *Sessions) Use(token string) (Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	x, err := s.find(token, now)
	if err != nil {
		return Session{}, err
	}
	x.use(now, s.cfg.Expiry)
	return x.shown(token), nil
}

// Hold keeps a session from expiring while a call of its agent runs, until release, which
// is a use of it. Release may be called more than once. NoSession where there is none.
func (s *Sessions) Hold(token string) (sess Session, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	x, err := s.find(token, now)
	if err != nil {
		return Session{}, nil, err
	}
	x.use(now, s.cfg.Expiry)
	x.held++
	return x.shown(token), sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		x.held--
		x.use(time.Now(), s.cfg.Expiry)
		if s.all[x.hash] == x {
			s.due(x.expires)
		}
	}), nil
}

// Close ends one, also while a call of its agent runs; NoSession where there is none.
func (s *Sessions) Close(token string) error {
	s.mu.Lock()
	x, err := s.find(token, time.Now())
	if err != nil {
		s.mu.Unlock()
		return err
	}
	s.drop(x)
	if s.clear(x.member, time.Now()) {
		s.tell(x.member)
		return nil
	}
	s.mu.Unlock()
	return nil
}

// Leave ends the sessions that an agent has opened since a moment and in which no call runs: the
// program that opened them has ended. One that another process of the agent opened meanwhile is
// among them, unless it waits for something, as it mostly does.
func (s *Sessions) Leave(project, agent string, since time.Time) {
	m := member{project, agent}
	s.mu.Lock()
	p := s.who[m]
	if p == nil {
		s.mu.Unlock()
		return
	}
	for x := range p.sessions {
		if x.held == 0 && !x.opened.Before(since) {
			s.drop(x)
		}
	}
	if s.clear(m, time.Now()) {
		s.tell(m)
		return
	}
	s.mu.Unlock()
}

// drop takes a session out. The caller has the lock.
func (s *Sessions) drop(x *session) {
	delete(s.all, x.hash)
	delete(s.who[x.member].sessions, x)
}

// Here says whether an agent has a session, or may have had one before a restart.
func (s *Sessions) Here(project, agent string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, now := s.who[member{project, agent}], time.Now()
	if p == nil {
		return false
	}
	for x := range p.sessions {
		if !x.over(now) {
			return true
		}
	}
	return now.Before(p.assumed)
}

// Assume counts an agent as here until a session that it had just used would have expired, or
// until it opens one. Where it has one, or is assumed to be here, that changes nothing.
func (s *Sessions) Assume(project, agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := member{project, agent}
	if s.who[m] != nil {
		return
	}
	p := &presence{sessions: map[*session]bool{}, assumed: time.Now().Add(s.cfg.Expiry)}
	s.who[m] = p
	s.due(p.assumed)
}

// Run lets sessions expire until ctx ends. Gone is told in the meantime.
func (s *Sessions) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-s.wake:
		}
		for _, m := range s.expired() {
			s.mu.Lock()
			if s.who[m] == nil || !s.clear(m, time.Now()) { // it came back
				s.mu.Unlock()
				continue
			}
			s.tell(m)
			if ctx.Err() != nil {
				return nil
			}
		}
		s.mu.Lock()
		s.next = s.soonest()
		if s.next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(time.Until(s.next))
		}
		s.mu.Unlock()
	}
}
