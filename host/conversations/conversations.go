// Package conversations is the conversations of agents as their doors have them: it opens
// one for those of a project, finds out what each of them is to do next, and hands out what
// was said until it is acknowledged.
//
// It decides nothing of a conversation's life: the table of host/conversation does, in the
// conversation's room, whose journal alone says how it stands. What is known of that is a view
// (host/conversations/view), made anew when the daemon starts; host/conversations/terms says
// who may have one with whom. Here is whatever waits, or asks a room. It knows no passkeys or
// sessions (host/sessions), and no wire.
package conversations

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations/terms"
	"github.com/companiond/companiond/host/conversations/view"
	"github.com/companiond/companiond/host/rooms"
)

// Bounds.
const (
	MaxWait    = 45 * time.Second // of one Next
	MaxContext = 20               // read messages in a Waiting
	MaxNew     = 10               // unread ones
)

type (
	// Agent is one of those who may take part.
	Agent = terms.Agent
	// Project is agents that may have conversations with each other.
	Project = terms.Project
	// Member is an agent in a project.
	Member = view.Member
	// View is a conversation as it is shown: to its members, to humans, on the page.
	View = view.View
)

// Config is what conversations stand on.
type Config struct {
	Rooms    rooms.Directory
	Halls    rooms.Halls
	Projects []Project
	Agent    func(id string) (Agent, bool)
	Here     func(m Member) bool // it has a session
	Pending  time.Duration       // until one expires that nobody answers, unless it is asked for otherwise; 0: 5 minutes
	Idle     time.Duration       // until one ends in which nobody says anything, unless ...; 0: 10 minutes
	NewID    func() string       // random; the ids made of it begin with "conv_"
	Invite   func(Invitation)    // somebody who is not here was invited; does not wait; nil: nobody is told
	Log      *slog.Logger        // nil: slog.Default()
}

// Invitation is for somebody who has no session.
type Invitation struct {
	Member
	Conversation, From, Purpose string
}

// Conversations are all of a daemon. Make them with New, and call Load before anything else.
// The methods may be called from many goroutines.
type Conversations struct {
	cfg   Config
	rules terms.Rules

	mu        sync.Mutex // never held while a room or the journal is asked
	talks     *view.Talks
	seats     map[Member]*seat         // where somebody waits
	starts    map[string]chan struct{} // by key; closed when the start has been answered
	followers map[*follower]struct{}
	errands   []errand
	stir      chan struct{} // there are errands
}

// New makes them; nothing is read yet.
func New(c Config) *Conversations {
	if c.Pending == 0 {
		c.Pending = conversation.UsualPending
	}
	if c.Idle == 0 {
		c.Idle = conversation.UsualIdle
	}
	if c.Invite == nil {
		c.Invite = func(Invitation) {}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return &Conversations{
		cfg: c, rules: terms.Rules{Projects: c.Projects, Agent: c.Agent, Pending: c.Pending, Idle: c.Idle}, talks: view.New(), seats: map[Member]*seat{},
		starts: map[string]chan struct{}{}, followers: map[*follower]struct{}{}, stir: make(chan struct{}, 1),
	}
}

// Project gives a project; ok is false for one that is not configured.
func (c *Conversations) Project(name string) (p Project, ok bool) { return c.rules.Project(name) }

// ProjectOf gives the project of an agent that is in one alone, and else Invalid, naming
// them.
func (c *Conversations) ProjectOf(agent string) (string, error) { return c.rules.ProjectOf(agent) }

// absent gives the members that nobody could tell anything now.
func (c *Conversations) absent(t *conversation.Terms) (ids []string) {
	for _, id := range t.Members {
		if !slices.Contains(t.Humans, id) && !slices.Contains(t.Hosted, id) && !c.cfg.Here(Member{Project: t.Project, Agent: id}) {
			ids = append(ids, id)
		}
	}
	return ids
}

// plain gives the fault that an error of a room carries or comes to, and any other error as
// it is.
func plain(err error) error {
	var f *conversation.Fault
	if errors.As(err, &f) {
		return f
	}
	switch abi.CodeOf(err) {
	case abi.CodeNotFound:
		return conversation.Refuse(conversation.NotFound, "")
	case abi.CodeInvalid, abi.CodeTooLarge:
		return terms.Invalid("%s", abi.AsError(err).Message)
	}
	return err
}

// is says whether an error is a fault with a code.
func is(err error, code string) bool {
	var f *conversation.Fault
	return errors.As(err, &f) && f.Code == code
}

// room finds the room of a conversation.
func (c *Conversations) room(ctx context.Context, id string) (rooms.Room, error) {
	r, err := c.cfg.Rooms.Room(ctx, id)
	return r, plain(err)
}
