package hostops

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/module"
)

// Talks are the conversations of agents, as far as companions that live here open and end them
// themselves. *conversations.Conversations implements it.
type Talks interface {
	Start(ctx context.Context, m conversations.Member, a conversations.Ask) (conversations.View, error)
	End(ctx context.Context, m conversations.Member, id, final string) (conversations.View, error)
	Get(ctx context.Context, id string) (conversations.View, error)
	Project(name string) (p conversations.Project, ok bool)
	ProjectOf(agent string) (string, error)
}

var _ Talks = (*conversations.Conversations)(nil)

// window is how long a start counts.
const window = time.Minute

// starts counts how many conversations companions open, whichever room they are asked in: two that
// answer each request with a request of their own come to an end with it. The zero value is ready.
type starts struct {
	mu sync.Mutex
	at map[string][]time.Time // by companion, those of the last minute, oldest first
}

// take counts one more.
func (s *starts) take(who string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.DeleteFunc(s.at[who], func(t time.Time) bool { return now.Sub(t) >= window })
	if len(at) >= abi.MaxStarts {
		s.at[who] = at
		return abi.Errorf(abi.CodeExhausted, "%s: at most %d a minute (MaxStarts); the next may come in %s",
			abi.HostConversationStart, abi.MaxStarts, window-now.Sub(at[0]).Truncate(time.Second))
	}
	if s.at == nil {
		s.at = map[string][]time.Time{}
	}
	s.at[who] = append(at, now)
	return nil
}

// startTalk answers conversation.start.
func (o *Ops) startTalk(ctx context.Context, c module.Caller, a abi.ConversationAsk) (abi.ConversationNow, error) {
	if err := a.Check(); err != nil {
		return abi.ConversationNow{}, err
	}
	m, err := o.member(abi.HostConversationStart, c, a.Project)
	if err != nil {
		return abi.ConversationNow{}, err
	}
	if err := o.starts.take(c.Companion, time.Now()); err != nil {
		return abi.ConversationNow{}, err
	}
	return talkNow(o.Talks.Start(ctx, m, conversations.Ask{Targets: a.Target, Purpose: a.Purpose, Text: a.Message, MaxTurns: a.MaxTurns}))
}

// endTalk answers conversation.end.
func (o *Ops) endTalk(ctx context.Context, c module.Caller, a abi.ConversationEndAsk) (abi.ConversationNow, error) {
	if o.Talks == nil {
		return abi.ConversationNow{}, noProject(abi.HostConversationEnd)
	}
	project := "" // an id says itself which it is of
	if a.ID != "" {
		v, err := o.Talks.Get(ctx, a.ID)
		if err != nil {
			return abi.ConversationNow{}, refused(err)
		}
		project = v.Terms.Project
	}
	m, err := o.member(abi.HostConversationEnd, c, project)
	if err != nil {
		return abi.ConversationNow{}, err
	}
	return talkNow(o.Talks.End(ctx, m, a.ID, a.Message))
}

// member gives a companion as the member of one of its projects; "" is the only one.
func (o *Ops) member(op string, c module.Caller, project string) (m conversations.Member, err error) {
	if o.Talks == nil {
		return m, noProject(op)
	}
	if project == "" {
		if project, err = o.Talks.ProjectOf(c.Companion); err != nil {
			return m, refused(err)
		}
	}
	p, ok := o.Talks.Project(project)
	if !ok || !slices.Contains(p.Agents, c.Companion) {
		return m, abi.Field("project", abi.CodeDenied, "%s is in no project %.64q; to have it there, write %q into agents under [project.%s] in the configuration",
			c.Companion, project, c.Companion, project)
	}
	return conversations.Member{Project: project, Agent: c.Companion}, nil
}

func noProject(op string) error {
	return abi.Errorf(abi.CodeUnavailable, "%s: there is no project here; to have one, write under [project.NAME] in the configuration: agents = [...]", op)
}

func talkNow(v conversations.View, err error) (abi.ConversationNow, error) {
	if err != nil {
		return abi.ConversationNow{}, refused(err)
	}
	return abi.ConversationNow{ID: v.ID, Status: string(v.State)}, nil
}

// refused gives a fault of a conversation as modules know errors: its own code begins the message.
func refused(err error) error {
	f := (*conversation.Fault)(nil)
	if !errors.As(err, &f) {
		return err
	}
	code, ok := map[int]abi.Code{
		http.StatusUnauthorized: abi.CodeDenied, http.StatusForbidden: abi.CodeDenied,
		http.StatusNotFound: abi.CodeNotFound, http.StatusConflict: abi.CodeConflict,
	}[f.Status]
	if !ok {
		code = abi.CodeInvalid
	}
	return abi.Wrap(code, err, strings.TrimSpace(f.Error()))
}
