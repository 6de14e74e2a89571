package sense

import (
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
)

const (
	maxSessions = 1024
	idleSession = 24 * time.Hour   // then a session is over
	quietEnough = 10 * time.Minute // then one may go for another, when there are too many
)

// sessions are those of the reference wire of seed C, where an id stands for a
// companion. It is bound to who opened it: the id alone is no key (flaw C4).
type sessions struct {
	newID func() string

	mu  sync.Mutex
	all map[string]*session
}

type session struct {
	companion string
	caller    string
	used      time.Time
}

// Open makes a session with a companion for a caller: the name of a token's
// holder, or "" for a guest. All guests are one caller.
//
// # Errors
//
// CodeNotFound for a companion that does not exist. CodeExhausted when there are
// too many sessions and all were used within 10 minutes.
func (s *Senses) Open(companion, caller string) (id string, err error) {
	if _, ok := s.cfg.Card(companion); !ok {
		return "", abi.Errorf(abi.CodeNotFound, "companion: there is no %q", companion)
	}
	return s.sessions.open(companion, caller, time.Now())
}

// Session gives the companion of a session and counts as use of it. A session
// ends when it was not used for 24 hours.
//
// # Errors
//
// CodeNotFound for a session that does not exist, any more; CodeDenied for one
// that another caller opened.
func (s *Senses) Session(id, caller string) (companion string, err error) {
	return s.sessions.find(id, caller, time.Now())
}

func (s *sessions) open(companion, caller string, now time.Time) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= maxSessions && !s.clear(now) {
		return "", abi.Errorf(abi.CodeExhausted, "%d sessions are open already", maxSessions)
	}
	id := s.newID()
	s.all[id] = &session{companion, caller, now}
	return id, nil
}

// clear makes room: those that are over go, or else the one that was not used
// for longest. Whoever is talking keeps the session, however many are opened.
func (s *sessions) clear(now time.Time) bool {
	oldest, since := "", now.Add(-quietEnough)
	for id, x := range s.all {
		if now.Sub(x.used) >= idleSession {
			delete(s.all, id)
		} else if x.used.Before(since) {
			oldest, since = id, x.used
		}
	}
	if len(s.all) >= maxSessions {
		delete(s.all, oldest)
	}
	return len(s.all) < maxSessions
}

func (s *sessions) find(id, caller string, now time.Time) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.all[id]
	if x != nil && now.Sub(x.used) >= idleSession {
		delete(s.all, id)
		x = nil
	}
	switch {
	case x == nil:
		return "", abi.Errorf(abi.CodeNotFound, "session: there is no such session; open one with POST /init")
	case x.caller != caller:
		return "", abi.Errorf(abi.CodeDenied, "session: was opened by somebody else; open another with POST /init")
	}
	x.used = now
	return x.companion, nil
}
