package conversations

import (
	"context"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
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
	if err := checkText("content", w.Text, true); err != nil {
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
	t, err := c.terms(m, Ask{Targets: []string{w.Target}, Person: w.Person}, true)
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var with *talk
	for _, t := range c.at(m) {
		if !t.takes(m.Agent) || !t.takes(w.Target) {
			continue
		}
		// One of these two alone is meant rather than a group, else the one heard of last.
		if with == nil || with.two() == t.two() && !t.whole.now.Heard.Before(with.whole.now.Heard) || t.two() && !with.two() {
			with = t
		}
	}
	if with != nil {
		return with.view(), nil
	}
	if !w.AutoStart && !t.Chat() {
		return v, conversation.Refuse(conversation.Required, w.Target)
	}
	return v, nil
}

func (t *talk) two() bool { return len(t.whole.now.Members) == 2 }

// takes says whether somebody takes part in an open talk, or may.
func (t *talk) takes(id string) bool {
	m := t.whole.now.Member(id)
	return t.open() && m != nil && m.Ending == nil
}

// named gives the conversation that words name.
func (c *Conversations) named(ctx context.Context, m Member, w Words) (View, error) {
	v, err := c.Get(ctx, w.Conversation)
	switch {
	case err != nil:
		return v, err
	case v.Terms.Project != m.Project, v.Member(m.Agent) == nil && !w.Person && !c.isHuman(m):
		return v, conversation.Refuse(conversation.NotParticipant, "")
	case w.Target == m.Agent:
		return v, conversation.Refuse(conversation.WithSelf, "")
	case w.Target != "" && v.Member(w.Target) == nil:
		return v, invalid("target_agent_id: %s is not in %s", w.Target, v.ID)
	}
	return v, nil
}

// latest gives the open conversation in which somebody else wrote last, or the only one.
func (c *Conversations) latest(m Member) (v View, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var heard *talk
	var newest int64
	var open []*talk
	for _, t := range c.at(m) {
		if !t.takes(m.Agent) {
			continue
		}
		open = append(open, t)
		me := t.whole.of(m.Agent)
		for _, l := range slices.Backward(t.whole.lines) {
			if l.from == me {
				continue
			}
			if heard == nil || l.at >= newest {
				heard, newest = t, l.at
			}
			break
		}
	}
	switch {
	case heard != nil:
		return heard.view(), nil
	case len(open) == 1:
		return open[0].view(), nil
	case len(open) == 0:
		return v, conversation.Refuse(conversation.NoneActive, "")
	}
	var ids []string
	for _, t := range open {
		ids = append(ids, t.id)
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
	var last *talk
	for i := len(c.order) - 1; i >= 0 && last == nil; i-- {
		of := c.order[i].circle
		if of.project == m.Project && slices.Contains(of.members, m.Agent) && (w.Target == "" || slices.Contains(of.members, w.Target)) {
			last = c.order[i]
		}
	}
	c.mu.Unlock()
	if last == nil {
		return s, false
	}
	room, err := c.room(ctx, last.id)
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
	v, err := c.after(ctx, last.id, h.Messages[i].Seq)
	return Said{View: v, Message: h.Messages[i]}, err == nil
}
