package conversations

import (
	"context"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations/terms"
)

// Words are a message to be said.
type Words struct {
	Conversation string // empty: the open one with Target, or with whoever wrote last
	Target       string // empty: whoever is in the conversation
	Text         string
	MessageID    string // idempotency key; empty: one is made
	AutoStart    bool   // where none with Target is open, open one
	Person       bool   // as in Ask; such a one may speak in every conversation
}

// Said is what became of words.
type Said struct {
	View    View // Turns are those up to the message
	Message abi.Message
	Started bool // the conversation was opened for them
}

// Say says something in an open conversation. Between a human and an AI one is opened where
// none is, as with AutoStart. A human of the project may say something in any, and is no member for
// that: it is no turn.
//
// # Errors
//
// Required where an AI writes to an AI outside any; NotFound, NotParticipant, NotOpen,
// NotYourTurn, NoneActive where no target is named and none is open, Invalid (a text of more
// than 4,000 characters, or of none); of a target, those of Start.
func (c *Conversations) Say(ctx context.Context, m Member, w Words) (Said, error) {
	for tries := 0; ; tries++ {
		s, err := c.sayOnce(ctx, m, w)
		// What was open, or was not, when it was looked for need not be so any more.
		moved := is(err, conversation.AlreadyActive) || is(err, conversation.NotOpen)
		if !moved || w.Conversation != "" || tries == 2 {
			return s, err
		}
	}
}

func (c *Conversations) sayOnce(ctx context.Context, m Member, w Words) (s Said, err error) {
	v, err := c.where(ctx, m, w)
	if is(err, conversation.Required) || is(err, conversation.NoneActive) {
		if s, found := c.before(ctx, m, w); found {
			return s, nil
		}
	}
	if err != nil {
		return s, err
	}
	if err := terms.CheckText("content", w.Text, true); err != nil {
		return s, err
	}
	if v.ID != "" {
		s.View, s.Message, err = c.say(ctx, m, v, w.Text, w.MessageID, w.Person)
		return s, err
	}
	if s, found := c.before(ctx, m, w); found {
		return s, nil
	}
	s.View, s.Message, err = c.open(ctx, m, Ask{Targets: []string{w.Target}, Text: w.Text, MessageID: w.MessageID, Person: w.Person}, true)
	s.Started = err == nil
	return s, err
}

// where finds the conversation that words are for; none is to be opened.
func (c *Conversations) where(ctx context.Context, m Member, w Words) (v View, err error) {
	switch {
	case w.Conversation != "":
		return c.named(ctx, m, w)
	case w.Target == "":
		return c.latest(m)
	}
	if w.Target != m.Agent {
		c.mu.Lock()
		v, ok := c.talks.With(m, w.Target) // be it with a person whom the configuration does not know
		c.mu.Unlock()
		if ok {
			return v, nil
		}
	}
	t, err := c.rules.Terms(m.Project, m.Agent, Ask{Targets: []string{w.Target}, Person: w.Person}, true)
	if err != nil {
		return v, err
	}
	if !w.AutoStart && !t.Chat() {
		return v, conversation.Refuse(conversation.Required, w.Target)
	}
	return v, nil
}

// named gives the conversation that words name.
func (c *Conversations) named(ctx context.Context, m Member, w Words) (View, error) {
	v, err := c.Get(ctx, w.Conversation)
	switch {
	case err != nil:
		return v, err
	case v.Terms.Project != m.Project, v.Member(m.Agent) == nil && !w.Person && !c.rules.Human(m.Project, m.Agent):
		return v, conversation.Refuse(conversation.NotParticipant, "")
	case w.Target == m.Agent:
		return v, conversation.Refuse(conversation.WithSelf, "")
	case w.Target != "" && v.Member(w.Target) == nil:
		return v, terms.Invalid("target_agent_id: %s is not in %s", w.Target, v.ID)
	}
	return v, nil
}

// latest gives the open conversation in which somebody else wrote last, or the only one.
func (c *Conversations) latest(m Member) (View, error) {
	c.mu.Lock()
	v, ids, ok := c.talks.Latest(m)
	c.mu.Unlock()
	switch {
	case ok:
		return v, nil
	case len(ids) == 0:
		return v, conversation.Refuse(conversation.NoneActive, "")
	}
	return v, several(ids)
}

// before finds a message that was sent before, in the last conversation with its target, or with
// anybody where none is named: its answer was lost, and the conversation is over.
func (c *Conversations) before(ctx context.Context, m Member, w Words) (s Said, found bool) {
	if w.MessageID == "" {
		return s, false
	}
	c.mu.Lock()
	last := c.talks.Last(m, w.Target)
	c.mu.Unlock()
	if last == nil {
		return s, false
	}
	room, err := c.room(ctx, last.ID)
	if err != nil {
		return s, false
	}
	h, err := room.History(ctx, abi.HistoryAsk{Limit: abi.MaxHistory})
	if err != nil {
		return s, false
	}
	i := slices.IndexFunc(h.Messages, func(was abi.Message) bool { return was.ID == w.MessageID && was.From == m.Agent && was.Text == w.Text })
	if i < 0 {
		return s, false
	}
	v, err := c.after(ctx, last.ID, h.Messages[i].Seq)
	return Said{View: v, Message: h.Messages[i]}, err == nil
}
