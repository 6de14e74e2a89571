package sessions

import (
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/identity"
)

// Login is who wants one.
type Login struct {
	Project, Agent, Passkey string
	// Caller is whoever calls: the holder of the agent's own token needs no passkey, and a guest
	// from this machine none for an agent that has none.
	Caller identity.Caller
}

// admit says why somebody gets no session.
func (s *Sessions) admit(l Login) error {
	if l.Agent == "" || l.Project == "" {
		return conversation.Refuse(conversation.Invalid, "agent_id and project_id must not be empty")
	}
	if !l.Caller.Guest && l.Caller.Name == l.Agent {
		return talks(l.Caller)
	}
	if _, taken := s.cfg.Tokens.Taken(l.Agent); !taken && l.Caller.Guest && l.Caller.Address == identity.Local {
		return talks(l.Caller)
	}
	if l.Passkey == "" && !l.Caller.Guest {
		return conversation.Refuse(conversation.BadPasskey, "you are connected with the token of "+l.Caller.Name+": connect with "+l.Agent+"'s own, or give its passkey")
	}
	if l.Passkey == "" { // nobody guesses that
		return conversation.Refuse(conversation.BadPasskey, "passkey: is missing; it is what companiond token NAME printed for the agent")
	}
	from := l.Caller.Sharer
	if from == "" {
		from = l.Caller.Address
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, by := time.Now(), try{l.Agent, from}
	if wait := s.tries.wait(by, now); wait > 0 {
		return abi.Errorf(abi.CodeExhausted, "passkey: too many were wrong; try again in %d s", (wait+time.Second-1)/time.Second)
	}
	holder, found := s.cfg.Tokens.Find(l.Passkey)
	if !found || holder.Name != l.Agent {
		s.tries.failed(by, now)
		return conversation.Refuse(conversation.BadPasskey, "")
	}
	return talks(holder)
}

// talks says why somebody may not talk, who is who it says.
func talks(c identity.Caller) error {
	if err := c.May(identity.Talk); err != nil {
		return conversation.Refuse(conversation.BadPasskey, abi.AsError(err).Reason())
	}
	return nil
}

// A passkey cannot be guessed; to try is bounded all the same, for what a search costs the daemon.
const (
	maxTries = 5                // at once, for one agent from one place
	tryEvery = 10 * time.Second // and then one in so long
	maxTried = 1024             // places that are remembered
)

// try is an agent and from where its passkey was wrong.
type try struct{ agent, from string }

// tries is until when each is paid for, at tryEvery each.
type tries map[try]time.Time

// wait gives how long a place has to wait, 0 where it need not.
func (t tries) wait(by try, now time.Time) time.Duration {
	until, known := t[by]
	if !known {
		return 0
	}
	return max(0, until.Sub(now)-(maxTries-1)*tryEvery)
}

// failed remembers that one was wrong. Where too many places are remembered the one that is
// paid for soonest is forgotten.
func (t tries) failed(by try, now time.Time) {
	if _, known := t[by]; !known && len(t) >= maxTried {
		var first try
		for other, until := range t {
			if !until.After(now) {
				delete(t, other)
			} else if t[first].IsZero() || until.Before(t[first]) {
				first = other
			}
		}
		if len(t) >= maxTried {
			delete(t, first)
		}
	}
	from := t[by]
	if from.Before(now) {
		from = now
	}
	t[by] = from.Add(tryEvery)
}
