package conversations

import (
	"context"
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations/terms"
	"github.com/companiond/companiond/host/conversations/view"
	"github.com/companiond/companiond/host/rooms"
)

// Ask is a conversation that somebody wants. The zero values are the usual ones.
type Ask = terms.Ask

// Start opens a conversation. Where it is open and its first message was refused, it gives both
// the conversation and the error.
//
// # Errors
//
// A *conversation.Fault: WithSelf, AgentNotFound, WithHuman (of an AI; a human starts a chat with
// an AI in the same way), NotInProject, AlreadyActive (Detail is the id of the one that is
// open), Invalid.
func (c *Conversations) Start(ctx context.Context, m Member, a Ask) (View, error) {
	v, _, err := c.open(ctx, m, a, false)
	return v, err
}

// open is Start, and gives the first message. With chat an AI may open one with a human.
func (c *Conversations) open(ctx context.Context, m Member, a Ask, chat bool) (v View, said abi.Message, err error) {
	t, err := c.rules.Terms(m.Project, m.Agent, a, chat)
	if err != nil {
		return v, said, err
	}
	if err := c.taken(view.KeyOf(t.Project, t.Members)); err != nil {
		return v, said, err
	}
	if err := c.rules.Bound(&t, a); err != nil {
		return v, said, err
	}
	v, err = c.convene(ctx, t)
	if err != nil {
		return v, said, err
	}
	if a.Text != "" {
		if v, said, err = c.say(ctx, m, v, a.Text, a.MessageID, a.Person); err != nil && !v.Open() {
			return v, said, err
		}
	}
	c.invite(v)
	return v, said, err
}

// taken refuses a key that an open conversation has.
func (c *Conversations) taken(key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.talks.Holder(key); t != nil && t.Open() {
		return conversation.Refuse(conversation.AlreadyActive, t.ID)
	}
	return nil
}

// convene opens the room. Whoever asks for the same one in the same instant waits until it is
// known what became of that, and is told its id.
func (c *Conversations) convene(ctx context.Context, t conversation.Terms) (View, error) {
	key := view.KeyOf(t.Project, t.Members)
	for {
		if err := c.taken(key); err != nil {
			return View{}, err
		}
		c.mu.Lock()
		done := c.starts[key]
		if done == nil {
			done = make(chan struct{})
			c.starts[key] = done
			c.mu.Unlock()
			defer c.started(key, done)
			return c.begin(ctx, key, t)
		}
		c.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return View{}, ctx.Err()
		}
	}
}

// started lets those go on who wait for a start.
func (c *Conversations) started(key string, done chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.starts, key)
	close(done)
}

// begin opens the room as the only one that does.
func (c *Conversations) begin(ctx context.Context, key string, t conversation.Terms) (v View, err error) {
	id := c.cfg.NewID()
	if !strings.HasPrefix(id, conversation.Prefix) {
		id = conversation.Prefix + id
	}
	for tries := 0; ; tries++ {
		if err := c.vacant(ctx, key); err != nil {
			return v, err
		}
		now, err := c.cfg.Halls.Convene(ctx, rooms.Convening{Name: id, Key: key, Terms: t})
		if err == nil {
			c.begun(id, now)
			return View{ID: id, Conversation: now}, nil
		}
		if err = plain(err); !is(err, conversation.AlreadyActive) || tries > 0 {
			return v, err
		}
		if err := c.seek(ctx, key); err != nil {
			return v, err
		}
	}
}

// vacant frees a key that a conversation has which is over, and refuses one that is not.
func (c *Conversations) vacant(ctx context.Context, key string) error {
	if err := c.taken(key); err != nil {
		return err
	}
	c.mu.Lock()
	holder := c.talks.Holder(key)
	c.mu.Unlock()
	if holder == nil {
		return nil
	}
	return c.free(ctx, holder)
}

// seek takes into the view the conversation that has a key, of which nothing was known:
// a kill, or an answer that did not come, left no more of it than that.
func (c *Conversations) seek(ctx context.Context, key string) error {
	return c.convened(ctx, func(cv rooms.Convened) error {
		if cv.Key != key || cv.Over {
			return nil
		}
		_, err := c.adopt(ctx, cv)
		return err
	})
}

// begun takes a conversation into the view, should its room not have told of it yet.
func (c *Conversations) begun(id string, now conversation.Conversation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.talks.Talk(id) == nil {
		c.note(id, now.Clone(), 0, nil).Hold()
		c.tell(Notice{View: View{ID: id, Conversation: now}})
	}
}

// say says something in a conversation that is known to be there, and gives how that stands
// afterwards.
func (c *Conversations) say(ctx context.Context, m Member, v View, text, id string, person bool) (View, abi.Message, error) {
	room, err := c.room(ctx, v.ID)
	if err != nil {
		return v, abi.Message{}, err
	}
	said, err := room.Say(ctx, rooms.Utterance{From: m.Agent, By: c.rules.Kind(m.Agent, person), Text: text, ID: id, Member: true})
	now, lookErr := c.after(ctx, v.ID, said.Seq)
	if lookErr != nil {
		now = v
	}
	if err != nil {
		return now, said, plain(err)
	}
	return now, said, nil
}

// after gives a conversation as a message left it: the turns are those up to it. Somebody may have
// ended it since; that a later message was the last one, that message's answer tells.
func (c *Conversations) after(ctx context.Context, id string, seq uint64) (View, error) {
	c.mu.Lock()
	if t := c.talks.Talk(id); t != nil {
		if v, ok := t.After(seq); ok {
			c.mu.Unlock()
			return v, nil
		}
	}
	c.mu.Unlock()
	return c.look(ctx, id)
}

// several names conversations where one was meant.
func several(of []string) error {
	return terms.Invalid("conversation_id: you are in several conversations; say which of %s", fmt.Sprint(of))
}
