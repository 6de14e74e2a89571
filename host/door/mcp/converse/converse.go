// Package converse is the tools by which agents have conversations with each other: the
// actions, answers and instructions of seed E. An agent authenticates, asks what it is to do
// next, and does it; what it was answered counts as received with its next call.
//
// It decides nothing: host/conversations has the conversations, host/sessions who is there.
// What others say, call themselves or want a conversation for stands in fields of its own and
// never in an instruction. It does not know the MCP SDK.
package converse

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/mcp/waits"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/sessions"
)

// Conversations is what the tools want of the conversations of a daemon.
// *conversations.Conversations implements it.
type Conversations interface {
	Start(ctx context.Context, m conversations.Member, a conversations.Ask) (conversations.View, error)
	Join(ctx context.Context, m conversations.Member, id string) (conversations.View, error)
	Decline(ctx context.Context, m conversations.Member, id, why string) (conversations.View, error)
	End(ctx context.Context, m conversations.Member, id, final string) (conversations.View, error)
	Say(ctx context.Context, m conversations.Member, w conversations.Words) (conversations.Said, error)
	Next(ctx context.Context, m conversations.Member, s *conversations.Seen, wait time.Duration) (conversations.Action, error)
	Waiting(ctx context.Context, m conversations.Member) (conversations.Waiting, error)
	Acknowledge(ctx context.Context, m conversations.Member, cursor string) error
	Earlier(ctx context.Context, id string) (*conversations.Earlier, error)
	Get(ctx context.Context, id string) (conversations.View, error)
	History(ctx context.Context, id string, since uint64, limit int) ([]abi.Message, uint64, error)
	List(ctx context.Context, f conversations.Filter) ([]conversations.View, error)
	Project(name string) (conversations.Project, bool)
	ProjectOf(agent string) (string, error)
}

// Sessions is what the tools want of who is there. *sessions.Sessions implements it.
type Sessions interface {
	Open(l sessions.Login) (sessions.Session, error)
	Hold(token string) (s sessions.Session, release func(), err error)
	Close(token string) error
}

// Config is what the tools stand on.
type Config struct {
	Conversations Conversations
	Sessions      Sessions
	// Agent finds one of those who may take part.
	Agent func(id string) (conversations.Agent, bool)
	// MaxWaits bounds the calls of get_next_action that wait. Zero means [waits.Most].
	MaxWaits int
}

// Desk is the tools. Make it with New. Its methods are the tools by name; they may be called
// from many goroutines, and what they answer is to be encoded as JSON. Their errors are
// for [Refuse].
type Desk struct {
	Config
	stopping context.Context
	waits    *waits.Waits[conversations.Member]

	mu  sync.Mutex
	all map[hash]*standing // by token
	due int                // so many are looked through for those that are over
}

// New makes it. Whoever waits is answered when stopping ends.
func New(c Config, stopping context.Context) *Desk {
	if c.MaxWaits == 0 {
		c.MaxWaits = waits.Most
	}
	return &Desk{Config: c, stopping: stopping, waits: waits.Sized[conversations.Member](c.MaxWaits), all: map[hash]*standing{}, due: fewest}
}

// Purposes are what an agent may say it is here for. They differ in nothing.
var Purposes = []string{"chat", "task"}

// AuthenticateIn is who wants a session.
type AuthenticateIn struct {
	Agent        string `json:"agent_id"`
	Passkey      string `json:"passkey"`
	Project      string `json:"project_id"`
	Purpose      string `json:"purpose"`
	Conversation string `json:"conversation_id"`
}

// AuthenticateOut is a session.
type AuthenticateOut struct {
	Success      bool      `json:"success"`
	Token        string    `json:"session_token"`
	Expires      time.Time `json:"expires_at"`
	Agent        string    `json:"agent_id"`
	Name         string    `json:"agent_name"`
	Project      string    `json:"project_id"`
	Agents       []Other   `json:"agents"`
	Conversation string    `json:"conversation_id,omitempty"`
	Earlier      *Earlier  `json:"earlier,omitempty"`
	Instruction  string    `json:"instruction"`
}

// Other is one of a project with whom somebody may talk.
type Other struct {
	ID   string `json:"agent_id"`
	Name string `json:"agent_name"`
	Type string `json:"type"` // ai or human
}

// others gives all of a project but one.
func (d *Desk) others(project, but string) []Other {
	all := []Other{}
	p, _ := d.Conversations.Project(project)
	for _, id := range p.Agents {
		if a, ok := d.Agent(id); ok && id != but {
			o := Other{ID: id, Name: d.name(id), Type: "ai"}
			if a.Human {
				o.Type = "human"
			}
			all = append(all, o)
		}
	}
	return all
}

// Authenticate opens a session, and with a conversation's id joins that.
func (d *Desk) Authenticate(ctx context.Context, c identity.Caller, in AuthenticateIn) (any, error) {
	if in.Purpose != "" && !slices.Contains(Purposes, in.Purpose) {
		return nil, invalid("purpose: %.64q is none of chat, task", in.Purpose)
	}
	who, project, err := d.comer(in)
	if err != nil {
		return nil, err
	}
	s, err := d.Sessions.Open(sessions.Login{Project: project, Agent: who.ID, Passkey: in.Passkey, Caller: c})
	if err != nil {
		return nil, err
	}
	out := AuthenticateOut{
		Success: true, Token: s.Token, Expires: s.Expires, Agent: who.ID, Name: d.name(who.ID), Project: project, Agents: d.others(project, who.ID), Instruction: toldAuthenticated.text(),
	}
	if in.Conversation == "" {
		return out, nil
	}
	v, err := d.Conversations.Join(ctx, conversations.Member{Project: project, Agent: who.ID}, in.Conversation)
	if err != nil {
		_ = d.Sessions.Close(s.Token) // nobody knows it
		return nil, err
	}
	out.Conversation, out.Earlier, out.Instruction = v.ID, d.earlier(ctx, v.ID), toldJoined.text()
	return out, nil
}

// comer finds who wants to authenticate, and for which project.
func (d *Desk) comer(in AuthenticateIn) (who conversations.Agent, project string, err error) {
	if in.Agent == "" {
		return who, "", invalid("agent_id: is missing: give your own id")
	}
	who, ok := d.Agent(in.Agent)
	switch {
	case !ok:
		return who, "", conversation.Refuse(conversation.AgentNotFound, short(in.Agent))
	case who.Hosted:
		return who, "", invalid("agent_id: %s is a companion that lives here, and speaks for itself", who.ID)
	case in.Project == "":
		project, err = d.Conversations.ProjectOf(who.ID)
		return who, project, err
	}
	p, ok := d.Conversations.Project(in.Project)
	switch {
	case !ok:
		return who, "", invalid("project_id: there is no project %.64q", in.Project)
	case !slices.Contains(p.Agents, who.ID):
		return who, "", invalid("project_id: %s is not in the project %s", who.ID, p.Name)
	}
	return who, p.Name, nil
}

// LogoutIn ends a session.
type LogoutIn struct {
	Token string `json:"session_token"`
}

// LogoutOut is that it has ended.
type LogoutOut struct {
	Success     bool   `json:"success"`
	Instruction string `json:"instruction"`
}

// Logout ends a session. A call of it that waits is answered that there is none.
func (d *Desk) Logout(ctx context.Context, _ identity.Caller, in LogoutIn) (any, error) {
	return d.visit(ctx, in.Token, nil, func(v *visit) (any, error) {
		if err := d.Sessions.Close(in.Token); err != nil {
			return nil, err
		}
		d.forget(in.Token)
		return LogoutOut{true, toldLoggedOut.text()}, nil
	})
}

// name gives what an agent is called, its id where nobody knows.
func (d *Desk) name(id string) string {
	if a, ok := d.Agent(id); ok && a.Name != "" {
		return a.Name
	}
	return id
}
