package conversations

import (
	"context"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations/view"
	"github.com/companiond/companiond/host/entry"
)

// Wrote takes what is in the journal of a conversation's room by now. It is called by the
// room's loop, before anybody is answered, and does not wait.
func (c *Conversations) Wrote(room string, now conversation.Conversation, entries []entry.Entry) {
	if len(entries) == 0 || now.State == conversation.None {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	was := conversation.None
	known := c.talks.Talk(room)
	if known != nil {
		was = known.State()
		if known.Misses(entries[0].Seq) {
			c.run(errand{what: "read the journal of " + room, do: func(ctx context.Context) error { return c.again(ctx, room) }})
		}
	}
	t := c.note(room, now, entries[len(entries)-1].Seq, entries)
	if known == nil {
		t.Hold()
	}
	c.release(t)
	if t.State() != was {
		c.tell(Notice{View: View{ID: room, Conversation: now.Clone()}})
	}
}

// note has the view take in how a conversation stands at head, and entries of its journal, and
// wakes those for whom there may be something to do; c.mu is held.
func (c *Conversations) note(id string, now conversation.Conversation, head uint64, entries []entry.Entry) *view.Talk {
	known := c.talks.Talk(id)
	settled := known != nil && known.Settled()
	t, stirred := c.talks.Note(id, now, head, entries)
	if t.Settled() && !settled {
		c.run(errand{what: "settle " + id, do: func(ctx context.Context) error { return c.settle(ctx, t, now.Opened) }})
	}
	for _, m := range stirred {
		c.ring(m)
	}
	return t
}
