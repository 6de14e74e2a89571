package perception

import (
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
)

const (
	maxSessions = 1024             // then one goes for another
	idleSession = 24 * time.Hour   // then a session is over
	quietEnough = 10 * time.Minute // one that is quiet for so long goes as soon
	freshEnough = 30 * time.Second // as one that nobody came back to for so long after POST /init
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
	sharer    string // whose share it counts to
	used      time.Time
	again     bool // it was used since it was opened
}

// Open makes a session with a companion for a caller: the name of a token's
// holder, or "" for a guest. All guests are one caller; sharer, as in identity.Caller, tells
// them apart.
//
// Nobody is refused because there are too many: where 1,024 are open, one goes of the sharer
// that has the most, the one that was not used for longest. One that nobody came back to since
// it was opened goes 9½ minutes sooner.
//
// # Errors
//
// Those of Config.Card.
func (s *Queues) Open(companion, caller, sharer string) (id string, err error) {
	if _, err := s.cfg.Card(companion); err != nil {
		return "", err
	}
	x, now := &s.sessions, time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.all) >= maxSessions {
		x.clear(sharer, now)
	}
	id = s.cfg.NewID()
	x.all[id] = &session{companion: companion, caller: caller, sharer: sharer, used: now}
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

// clear makes room for a sharer. Those that are over go, or else one of the sharer that has the
// most; of several, of the one that asks.
func (s *sessions) clear(asks string, now time.Time) {
	has := map[string]int{}
	for id, x := range s.all {
		if now.Sub(x.used) >= idleSession {
			delete(s.all, id)
			continue
		}
		has[x.sharer]++
	}
	if len(s.all) < maxSessions {
		return
	}
	var first *session
	firstID := ""
	for id, x := range s.all {
		if first == nil || x.before(first, has, asks) {
			first, firstID = x, id
		}
	}
	delete(s.all, firstID)
}

// before says whether a session goes before another, where each sharer has so many.
func (x *session) before(y *session, has map[string]int, asks string) bool {
	switch {
	case has[x.sharer] != has[y.sharer]:
		return has[x.sharer] > has[y.sharer]
	case (x.sharer == asks) != (y.sharer == asks):
		return x.sharer == asks
	}
	return x.spare().Before(y.spare())
}

// spare gives when a session can be spared: the first goes first. So whoever is talking keeps
// the session, however many others are opened and left alone.
func (x *session) spare() time.Time {
	if x.again {
		return x.used.Add(quietEnough)
	}
	return x.used.Add(freshEnough)
}
