// Package sessions is who is there for conversations: agents that have authenticated, by
// their tokens, until these are given back or expire.
//
// A session is its token's and nobody else's: to end one leaves the others of the same agent
// alone (flaw E12). They are kept in memory; after a restart agents authenticate anew, and
// until they would have expired those that may have had one count as here. It knows no
// conversations: it tells whoever asked when the last session of an agent is gone.
package sessions

import (
	"context"
	"time"

	"github.com/companiond/companiond/host/identity"
)

// Config is what sessions stand on.
type Config struct {
	Tokens *identity.Register
	Expiry time.Duration // after the last use
	Random func([]byte)
	// Gone is told when the last session of an agent in a project has ended or expired. It is called
	// beside whoever ended it.
	Gone func(project, agent string)
}

// Session is one.
type Session struct {
	Token, Project, Agent string
	Expires               time.Time
}

// Login is who wants one.
type Login struct {
	Project, Agent, Passkey string
	// Caller is whoever calls: the holder of the agent's own token needs no passkey, and from this
	// machine an agent that has none needs none.
	Caller identity.Caller
}

// Sessions are all there are. Make them with New; Run lets them expire.
type Sessions struct{}

// New makes them.
func New(c Config) *Sessions { panic("not yet") }

// Run lets sessions expire until ctx ends.
func (s *Sessions) Run(ctx context.Context) error { panic("not yet") }

// Open makes a session; *conversation.Fault BadPasskey where the passkey is wrong, and
// says nothing of whether there is one.
func (s *Sessions) Open(l Login) (Session, error) { panic("not yet") }

// Use finds a session by its token and puts its expiry off; NoSession for any other.
func (s *Sessions) Use(token string) (Session, error) { panic("not yet") }

// Hold keeps a session from expiring while a call of its agent runs, until release.
func (s *Sessions) Hold(token string) (sess Session, release func(), err error) { panic("not yet") }

// Close ends one.
func (s *Sessions) Close(token string) error { panic("not yet") }

// Here says whether an agent has a session, or may have had one before a restart.
func (s *Sessions) Here(project, agent string) bool { panic("not yet") }

// Assume counts an agent as here until it would have expired.
func (s *Sessions) Assume(project, agent string) { panic("not yet") }
