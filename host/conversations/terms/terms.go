// Package terms says who may have a conversation with whom, and within which bounds: it makes
// the terms of one of what somebody asks for, or refuses.
//
// It is pure: it never knows which conversations there are (host/conversations/view), nor who
// is here.
package terms

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
)

// Bounds.
const (
	MaxMembers  = 16             // of a group
	MaxPatience = 24 * time.Hour // until one expires, or ends because nobody says anything
)

// Agent is one of those who may take part.
type Agent struct {
	ID, Name string
	Human    bool
	Hosted   bool // a companion that lives here
}

// Project is agents that may have conversations with each other.
type Project struct {
	Name   string
	Agents []string
}

// Ask is a conversation that somebody wants. The zero values are the usual ones.
type Ask struct {
	Targets       []string // one, or more for a group
	Purpose       string
	Text          string // the first message; empty: none
	MessageID     string // of that, idempotency key; empty: one is made
	MaxTurns      int    // 2 to 40; 0: 20, and any number where a human takes part
	InTurn        bool
	Pending, Idle time.Duration // at most MaxPatience
	// Person says that whoever asks is a person, as a door has found out: it may chat with the
	// agents of every project.
	Person bool
}

// Rules are what is configured.
type Rules struct {
	Projects      []Project
	Agent         func(id string) (Agent, bool)
	Pending, Idle time.Duration // where nothing else is asked for
}

// Project gives a project; ok is false for one that is not configured.
func (r *Rules) Project(name string) (p Project, ok bool) {
	i := slices.IndexFunc(r.Projects, func(p Project) bool { return p.Name == name })
	if i < 0 {
		return p, false
	}
	return r.Projects[i], true
}

// ProjectOf gives the project of an agent that is in one alone, and else Invalid, naming
// them.
func (r *Rules) ProjectOf(agent string) (string, error) {
	var in []string
	for _, p := range r.Projects {
		if slices.Contains(p.Agents, agent) {
			in = append(in, p.Name)
		}
	}
	switch len(in) {
	case 0:
		return "", Invalid("project_id: %q is in no project; add it to agents under a [project.NAME]", agent)
	case 1:
		return in[0], nil
	}
	return "", Invalid("project_id: %q is in several projects; say which of %q", agent, in)
}

// In says whether an agent is in a project.
func (r *Rules) In(project, agent string) bool {
	p, _ := r.Project(project)
	return slices.Contains(p.Agents, agent)
}

// Human says whether somebody is a human of a project.
func (r *Rules) Human(project, agent string) bool {
	a, ok := r.Agent(agent)
	return ok && a.Human && r.In(project, agent)
}

// Kind is what somebody speaks as.
func (r *Rules) Kind(agent string, person bool) abi.ParticipantKind {
	switch a, _ := r.Agent(agent); {
	case a.Human || person:
		return abi.KindHuman
	case a.Hosted:
		return abi.KindCompanion
	}
	return abi.KindAgent
}

// Terms finds out who is to be in a conversation that an agent of a project asks for, and
// refuses in the order of seed E. With chat an AI may open one with a human. What is left to the
// usual is for Bound to fill in.
func (r *Rules) Terms(project, agent string, a Ask, chat bool) (t conversation.Terms, err error) {
	t = conversation.Terms{Project: project, Purpose: a.Purpose, MaxTurns: a.MaxTurns, InTurn: a.InTurn, Members: append([]string{agent}, a.Targets...)}
	if len(a.Targets) == 0 {
		return t, Invalid("target_agent_id: say with whom")
	}
	if slices.Contains(a.Targets, agent) {
		return t, conversation.Refuse(conversation.WithSelf, "")
	}
	of := make([]Agent, len(t.Members))
	for i, id := range t.Members {
		var known bool
		if of[i], known = r.Agent(id); i == 0 && a.Person {
			of[i] = Agent{ID: id, Human: true}
		} else if !known {
			return t, conversation.Refuse(conversation.AgentNotFound, id)
		}
	}
	for i, id := range t.Members {
		switch {
		case of[i].Human && i > 0 && (!chat || of[0].Human):
			return t, conversation.Refuse(conversation.WithHuman, id)
		case of[i].Human:
			t.Humans = append(t.Humans, id)
		case of[i].Hosted:
			t.Hosted = append(t.Hosted, id)
		}
	}
	for i, id := range t.Members {
		if (i > 0 || !a.Person) && !r.In(project, id) {
			return t, conversation.Refuse(conversation.NotInProject, id)
		}
		if slices.Contains(t.Members[:i], id) {
			return t, Invalid("target_agent_id: %s is there twice", id)
		}
	}
	return t, nil
}

// Bound fills in what was left to the usual, and refuses what is too much.
func (r *Rules) Bound(t *conversation.Terms, a Ask) error {
	if len(t.Members) > MaxMembers {
		return Invalid("target_agent_id: %d agents, at most %d", len(a.Targets), MaxMembers-1)
	}
	if err := cmp.Or(CheckText("purpose", a.Purpose, false), CheckText("initial_message", a.Text, false)); err != nil {
		return err
	}
	if t.MaxTurns == 0 && !t.Chat() {
		t.MaxTurns = conversation.UsualTurns
	}
	if n := t.MaxTurns; (n != 0 || !t.Chat()) && (n < conversation.MinTurns || n > conversation.MaxMaxTurns) {
		return Invalid("max_turns: %d is not %d to %d; a message is a turn", n, conversation.MinTurns, conversation.MaxMaxTurns)
	}
	var err error
	if t.Pending, err = patience("pending_seconds", a.Pending, r.Pending); err == nil {
		t.Idle, err = patience("idle_seconds", a.Idle, r.Idle)
	}
	return err
}

// patience gives a time-out in milliseconds.
func patience(field string, asked, usual time.Duration) (int64, error) {
	if asked == 0 {
		asked = usual
	}
	if asked < time.Millisecond || asked > MaxPatience {
		return 0, Invalid("%s: %v is not 1 ms to %v", field, asked, MaxPatience)
	}
	return asked.Milliseconds(), nil
}

// CheckText refuses a text that is too long, or none where one is needed.
func CheckText(field, s string, needed bool) error {
	if n := utf8.RuneCountInString(s); n > conversation.MaxText {
		return Invalid("%s: %d characters, at most %d", field, n, conversation.MaxText)
	}
	if s == "" && !needed {
		return nil
	}
	if err := abi.CheckText(field, s); err != nil {
		return Invalid("%s", abi.AsError(err).Message)
	}
	return nil
}

// Invalid is a fault that says what to do about it.
func Invalid(format string, args ...any) error {
	return conversation.Refuse(conversation.Invalid, fmt.Sprintf(format, args...))
}
