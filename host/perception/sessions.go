package perception

import (
	"fmt"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
)

const (
	maxSessions = 1024
	idleSession = 24 * time.Hour   // then a session is over
	quietEnough = 10 * time.Minute // then one may go for another, when there are too many
	freshEnough = 30 * time.Second // so may one that nobody came back to after POST /init
)

// sessions are those of the AI Companion Protocol's reference wire, where an id stands for a
// companion. It is bound to who opened it: the id alone is no key.
type sessions struct {
	mu  sync.Mutex
	all map[string]*session
}

type session struct {
	companion string
	caller    string
	used      time.Time
	again     bool // it was used since it was opened
}

// spare gives when a session may go for another.
func (x *session) spare() time.Time {
	if x.again {
		return x.used.Add(quietEnough)
	}
	return x.used.Add(freshEnough)
}

// Open makes a session with a companion for a caller: the name of a token's
// holder, or "" for a guest. All guests are one caller.
//
// # Errors
//
// Those of Config.Card. CodeExhausted when there are too many sessions, and all were used within 10 minutes or opened within 30
// seconds: a [Full] is in the chain.
func (s *Queues) Open(companion, caller string) (id string, err error) {
	if _, err := s.cfg.Card(companion); err != nil {
		return "", err
	}
	x, now := &s.sessions, time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.all) >= maxSessions {
		if after := x.clear(now); after > 0 {
			after = max(time.Second, (after + time.Second - 1).Truncate(time.Second)) // not before it is true
			return "", abi.Wrap(abi.CodeExhausted, &Full{after}, fmt.Sprintf("%d sessions are open already; try again in %v", maxSessions, after))
		}
	}
	id = s.cfg.NewID()
	x.all[id] = &session{companion: companion, caller: caller, used: now}
	return id, nil
}

// Session gives the companion of a session and counts as use of it. A session
// ends when it was not used for 24 hours.
//
// # Errors
//
// CodeNotFound for a session that does not exist, any more; CodeDenied for one
// that another caller opened.
func (s *Queues) Session(id, caller string) (companion string, err error) {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	x, now := s.sessions.all[id], time.Now()
	switch {
	case x == nil || now.Sub(x.used) >= idleSession:
		return "", abi.Errorf(abi.CodeNotFound, "session: there is no such session; open one with POST /init")
	case x.caller != caller:
		return "", abi.Errorf(abi.CodeDenied, "session: was opened by somebody else; open another with POST /init")
	}
	x.used, x.again = now, true
	return x.companion, nil
}

// clear makes room, or says how long until it can. Those that are over go, or else
// one that was opened and left alone, the oldest of them, or else the one that was
// not used for longest. Whoever is talking keeps the session, however many are
// opened; and who opens many and uses none is in nobody's way for long.
func (s *sessions) clear(now time.Time) (after time.Duration) {
	var least *session
	leastID := ""
	for id, x := range s.all {
		spare := !now.Before(x.spare())
		switch {
		case now.Sub(x.used) >= idleSession:
			delete(s.all, id)
		case !spare:
			if d := x.spare().Sub(now); after == 0 || d < after {
				after = d
			}
		case least == nil || least.again && !x.again || least.again == x.again && x.used.Before(least.used):
			least, leastID = x, id
		}
	}
	if len(s.all) >= maxSessions && least != nil {
		delete(s.all, leastID)
	}
	if len(s.all) < maxSessions {
		return 0
	}
	return after
}
