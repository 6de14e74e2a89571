package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/sessions"
)

// desks are conversations and sessions in memory, made of the table of host/conversation
// alone, so that the door is tested without rooms. Time does not pass in them: what it
// would bring a test does.
type desks struct {
	agents   map[string]conversations.Agent
	projects []conversations.Project
	passkeys map[string]string

	mu       sync.Mutex
	changed  chan struct{}
	talks    []*talk // oldest first
	sessions map[string]sessions.Session
	seen     map[*conversations.Seen]map[string]bool
	n        int
	tick     time.Time
	fails    error // of Acknowledge
	waits    int   // calls of Next that wait
	// began, if there is one, has the next call of Next answered only when its client has gone,
	// and then closes answered.
	began, answered chan struct{}
}

type talk struct {
	id string
	conversation.Conversation
	said []abi.Message
}

func newDesks() *desks {
	d := &desks{
		agents: map[string]conversations.Agent{
			"worker-a": {ID: "worker-a", Name: "Analysis Worker"}, "worker-b": {ID: "worker-b", Name: "ワーカーB"}, "worker-c": {ID: "worker-c"},
			"stranger": {ID: "stranger"}, "boss": {ID: "boss", Human: true}, "kyoko": {ID: "kyoko", Hosted: true}, "both": {ID: "both"},
		},
		projects: []conversations.Project{
			{Name: "p", Agents: []string{"worker-a", "worker-b", "worker-c", "boss", "kyoko", "both"}}, {Name: "q", Agents: []string{"stranger", "both"}},
		},
		passkeys: map[string]string{"worker-c": "secret"},
		changed:  make(chan struct{}), sessions: map[string]sessions.Session{}, seen: map[*conversations.Seen]map[string]bool{},
		tick: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	return d
}

func (d *desks) agent(id string) (conversations.Agent, bool) { a, ok := d.agents[id]; return a, ok }

// Sessions.

func (d *desks) Open(l sessions.Login) (sessions.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if want := d.passkeys[l.Agent]; want != "" && want != l.Passkey && l.Caller.Name != l.Agent {
		return sessions.Session{}, conversation.Refuse(conversation.BadPasskey, "")
	}
	d.n++
	s := sessions.Session{Token: fmt.Sprint("t", d.n), Project: l.Project, Agent: l.Agent, Expires: time.Now().Add(time.Hour)}
	d.sessions[s.Token] = s
	return s, nil
}

func (d *desks) Hold(token string) (sessions.Session, func(), error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.sessions[token]
	if !ok {
		return s, nil, conversation.Refuse(conversation.NoSession, "")
	}
	return s, func() {}, nil
}

func (d *desks) Close(token string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.sessions[token]
	if !ok {
		return conversation.Refuse(conversation.NoSession, "")
	}
	delete(d.sessions, token)
	if !d.here(s.Agent) {
		d.gone(s.Agent)
	}
	return nil
}

// expire ends all sessions of an agent.
func (d *desks) expire(agent string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.sessions, func(_ string, s sessions.Session) bool { return s.Agent == agent })
	d.gone(agent)
}

func (d *desks) gone(agent string) {
	for _, t := range d.talks {
		_ = d.apply(t, conversation.Input{Kind: conversation.Gone, Who: agent})
	}
}

func (d *desks) here(agent string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(d.sessions)), func(s sessions.Session) bool { return s.Agent == agent })
}

// Conversations.

// apply has something happen; the mutex is held.
func (d *desks) apply(t *talk, in conversation.Input) error {
	d.tick = d.tick.Add(time.Second)
	in.At = d.tick
	if in.Kind == conversation.Lapse {
		in.At, _ = t.Due()
	}
	for _, m := range t.Members {
		if !d.here(m.ID) {
			in.Absent = append(in.Absent, m.ID)
		}
	}
	err := t.Apply(in)
	if err == nil {
		d.wake()
	}
	return err
}

// lapse lets the time of a conversation be over.
func (d *desks) lapse(id string) (refused, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.find(id)
	return err != nil || d.apply(t, conversation.Input{Kind: conversation.Lapse}) != nil, true
}

func (d *desks) find(id string) (*talk, error) {
	i := slices.IndexFunc(d.talks, func(t *talk) bool { return t.id == id })
	if i < 0 {
		return nil, conversation.Refuse(conversation.NotFound, id)
	}
	return d.talks[i], nil
}

// open gives the open conversations of an agent, with another or with anybody.
func (d *desks) open(agent, with string) (all []*talk) {
	for _, t := range d.talks {
		if m := t.Member(agent); t.Open() && m != nil && m.Ending == nil && (with == "" || t.Member(with) != nil) {
			all = append(all, t)
		}
	}
	return all
}

func (t *talk) view() conversations.View {
	return conversations.View{ID: t.id, Conversation: t.Clone()}
}

// clear forgets all that was.
func (d *desks) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.talks = nil
	clear(d.sessions)
	clear(d.seen)
}

func (d *desks) slow() (began, answered chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.began, d.answered = make(chan struct{}), make(chan struct{})
	return d.began, d.answered
}

// await waits until so many calls of Next wait.
func (d *desks) await(calls int) {
	for {
		d.mu.Lock()
		n, changed := d.waits, d.changed
		d.mu.Unlock()
		if n == calls {
			return
		}
		<-changed
	}
}

// wake has everybody look again; the mutex is held.
func (d *desks) wake() {
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *desks) Next(ctx context.Context, m conversations.Member, s *conversations.Seen, wait time.Duration) (conversations.Action, error) {
	d.mu.Lock()
	if began, answered := d.began, d.answered; began != nil {
		d.began = nil
		a := d.next(m, s)
		d.mu.Unlock()
		close(began)
		<-ctx.Done()
		close(answered)
		return a, nil
	}
	d.waits++
	d.wake()
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.waits--
		d.wake()
	}()
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		d.mu.Lock()
		a, changed := d.next(m, s), d.changed
		d.mu.Unlock()
		if a.Do != conversations.DoWait || a.View.ID != "" || wait == 0 {
			return a, nil
		}
		select {
		case <-changed:
		case <-over.C:
			return a, nil
		case <-ctx.Done():
			return a, ctx.Err()
		}
	}
}

func (d *desks) next(m conversations.Member, s *conversations.Seen) conversations.Action {
	if d.seen[s] == nil {
		d.seen[s] = map[string]bool{}
	}
	shown := d.seen[s]
	unread := d.waiting(m)
	for _, t := range d.talks {
		e := t.Untold(m.Agent)
		switch {
		case e == nil || slices.ContainsFunc(unread.New, func(l conversations.Line) bool { return l.Conversation == t.id }): // first that
		case t.State == conversation.Expired && t.Initiator() == m.Agent:
			return conversations.Action{Do: conversations.DoExpired, View: t.view(), Ending: *e, Target: t.Terms.Members[1], Cursor: "end " + t.id}
		default:
			return conversations.Action{Do: conversations.DoEnded, View: t.view(), Ending: *e, Cursor: "end " + t.id}
		}
	}
	var requests []conversations.View
	for _, t := range d.open(m.Agent, "") {
		if !t.Member(m.Agent).Joined && !shown[t.id] {
			requests = append(requests, t.view())
		}
	}
	if len(requests) > 0 {
		for _, v := range requests {
			shown[v.ID] = true
		}
		return conversations.Action{Do: conversations.DoRequest, View: requests[0], Others: requests[1:]}
	}
	if unread.Total > 0 {
		t, _ := d.find(unread.New[0].Conversation)
		return conversations.Action{Do: conversations.DoRead, View: t.view(), Unread: unread.Total}
	}
	for _, t := range d.open(m.Agent, "") {
		if t.State == conversation.Active && t.Initiator() == m.Agent && !shown["active "+t.id] {
			shown["active "+t.id] = true
			return conversations.Action{Do: conversations.DoWait, View: t.view()}
		}
	}
	return conversations.Action{Do: conversations.DoWait}
}

func (d *desks) waiting(m conversations.Member) (w conversations.Waiting) {
	for _, t := range d.talks {
		me := t.Member(m.Agent)
		if me == nil {
			continue
		}
		for _, said := range t.said {
			l := conversations.Line{Conversation: t.id, Message: said}
			switch {
			case said.From == m.Agent || said.Seq <= me.Read:
				w.Context = append(w.Context, l)
			case len(w.New) < conversations.MaxNew:
				w.New, w.Total = append(w.New, l), w.Total+1
				w.Cursor = fmt.Sprint("read ", t.id, " ", said.Seq)
			default:
				w.Total++
			}
		}
	}
	return w
}

func (d *desks) Waiting(_ context.Context, m conversations.Member) (conversations.Waiting, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting(m), nil
}

func (d *desks) Acknowledge(_ context.Context, m conversations.Member, cursor string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails != nil {
		return d.fails
	}
	f := strings.Fields(cursor)
	if len(f) < 2 {
		return conversation.Refuse(conversation.Invalid, "acknowledge: is no cursor")
	}
	t, err := d.find(f[1])
	if err != nil {
		return err
	}
	in := conversation.Input{Kind: conversation.Tell, Who: m.Agent}
	if f[0] == "read" {
		in.Kind = conversation.Read
		_, _ = fmt.Sscan(f[2], &in.Upto)
	} else if t.Untold(m.Agent) == nil {
		return nil
	}
	return d.apply(t, in)
}

func (d *desks) Earlier(_ context.Context, id string) (*conversations.Earlier, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.find(id)
	if err != nil {
		return nil, err
	}
	var last *conversations.Earlier
	for _, was := range d.talks {
		if was != t && slices.Equal(slices.Sorted(slices.Values(was.Terms.Members)), slices.Sorted(slices.Values(t.Terms.Members))) {
			last = &conversations.Earlier{ID: was.id, Purpose: was.Terms.Purpose, Ended: was.Over, Ending: was.Ending, Turns: was.Turns, Last: was.said}
		}
	}
	return last, nil
}

func (d *desks) Get(_ context.Context, id string) (conversations.View, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.find(id)
	if err != nil {
		return conversations.View{}, err
	}
	return t.view(), nil
}

func (d *desks) History(_ context.Context, id string, since uint64, limit int) (all []abi.Message, head uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.find(id)
	if err != nil {
		return nil, 0, err
	}
	for _, m := range t.said {
		if head = m.Seq; m.Seq > since && len(all) < limit {
			all = append(all, m)
		}
	}
	return all, head, nil
}

func (d *desks) List(_ context.Context, f conversations.Filter) (all []conversations.View, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	older := f.Before == ""
	for _, t := range slices.Backward(d.talks) {
		if older && len(all) < f.Limit && t.Terms.Project == f.Project && (f.Agent == "" || t.Member(f.Agent) != nil) && (f.State == "" || t.State == f.State) {
			all = append(all, t.view())
		}
		older = older || t.id == f.Before
	}
	return all, nil
}

func (d *desks) Project(name string) (conversations.Project, bool) {
	i := slices.IndexFunc(d.projects, func(p conversations.Project) bool { return p.Name == name })
	if i < 0 {
		return conversations.Project{}, false
	}
	return d.projects[i], true
}

func (d *desks) ProjectOf(agent string) (string, error) {
	var in []string
	for _, p := range d.projects {
		if slices.Contains(p.Agents, agent) {
			in = append(in, p.Name)
		}
	}
	if len(in) != 1 {
		return "", conversation.Refuse(conversation.Invalid, fmt.Sprintf("project_id: %s is in %v", agent, in))
	}
	return in[0], nil
}
