package conversations

import (
	"context"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations/terms"
	"github.com/companiond/companiond/host/conversations/view"
)

// lastWords is how many messages of an earlier conversation are given.
const lastWords = 4

// Earlier is the conversation before this one of the same members of a project.
type Earlier struct {
	ID      string               `json:"conversation_id"`
	Purpose string               `json:"purpose,omitempty"`
	Ended   time.Time            `json:"ended_at"`
	Ending  *conversation.Ending `json:"ending,omitempty"`
	Turns   int                  `json:"turns"`
	Last    []abi.Message        `json:"last_messages"` // at most 4
}

// Earlier gives it, nil for none.
func (c *Conversations) Earlier(ctx context.Context, id string) (*Earlier, error) {
	c.mu.Lock()
	t := c.talks.Talk(id)
	var was *view.Talk
	if t != nil {
		was = t.Before()
	}
	c.mu.Unlock()
	if t == nil {
		return nil, conversation.Refuse(conversation.NotFound, id)
	}
	if was == nil {
		return nil, nil
	}
	v, err := c.Get(ctx, was.ID)
	if err != nil {
		return nil, err
	}
	room, err := c.room(ctx, was.ID)
	if err != nil {
		return nil, err
	}
	h, err := room.History(ctx, abi.HistoryAsk{Limit: lastWords})
	if err != nil {
		return nil, plain(err)
	}
	return &Earlier{ID: v.ID, Purpose: v.Terms.Purpose, Ended: v.Over, Ending: v.Ending, Turns: v.Turns, Last: append([]abi.Message{}, h.Messages...)}, nil
}

// Get gives one by its id; NotFound.
func (c *Conversations) Get(ctx context.Context, id string) (View, error) {
	c.mu.Lock()
	t := c.talks.Talk(id)
	if t == nil {
		c.mu.Unlock()
		return View{}, conversation.Refuse(conversation.NotFound, id)
	}
	v, ok := t.View()
	c.mu.Unlock()
	if !ok {
		return c.look(ctx, id)
	}
	return v, nil
}

// look gives a conversation as its room shows it.
func (c *Conversations) look(ctx context.Context, id string) (View, error) {
	room, err := c.room(ctx, id)
	if err != nil {
		return View{}, err
	}
	info := room.Info()
	if info.Conversation == nil {
		return View{}, abi.Errorf(abi.CodeUnavailable, "%s cannot be looked into now", id)
	}
	return View{ID: id, Conversation: info.Conversation.Clone()}, nil
}

// History gives messages of one with Seq > since, 20 where limit is 0 and at most
// abi.MaxHistory, and the seq of the newest entry there is. A member of the conversation may read it, and a
// human of the project: that is the door's to ask, see [Conversations.Project].
func (c *Conversations) History(ctx context.Context, id string, since uint64, limit int) (msgs []abi.Message, head uint64, err error) {
	if limit, err = abi.Limit(limit, 20, abi.MaxHistory); err != nil {
		return nil, 0, terms.Invalid("%s", abi.AsError(err).Message)
	}
	c.mu.Lock()
	known := c.talks.Talk(id) != nil
	c.mu.Unlock()
	if !known {
		return nil, 0, conversation.Refuse(conversation.NotFound, id)
	}
	room, err := c.room(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	msgs, head, err = room.Messages(ctx, since, limit)
	return msgs, head, plain(err)
}

// Filter is which conversations a list is to have. Empty fields are any.
type Filter = view.Filter

// List gives conversations, newest first. One that cannot be looked into now is left out.
func (c *Conversations) List(ctx context.Context, f Filter) ([]View, error) {
	limit, err := abi.Limit(f.Limit, 20, abi.MaxHistory+1) // one more than is shown tells whether there are more
	if err != nil {
		return nil, terms.Invalid("%s", abi.AsError(err).Message)
	}
	c.mu.Lock()
	ids, ok := c.talks.List(f, limit)
	c.mu.Unlock()
	if !ok {
		return nil, terms.Invalid("before: there is no conversation %.100q", f.Before)
	}
	views := []View{}
	for _, id := range ids {
		v, err := c.Get(ctx, id)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			views = append(views, v)
		}
	}
	return views, nil
}
