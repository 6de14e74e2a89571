package conversations

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations/terms"
	"github.com/companiond/companiond/host/conversations/view"
)

// Line is a message with the conversation it belongs to.
type Line struct {
	Conversation string
	abi.Message
}

// Waiting is what a member has not read.
type Waiting struct {
	Context []Line // read, or its own; the newest 20 of the conversations of New
	New     []Line // unread, at most 10, oldest first
	Total   int    // unread in all
	// Cursor acknowledges New.
	Cursor string
}

// Waiting gives what a member has not read. It comes again until its cursor is acknowledged.
func (c *Conversations) Waiting(ctx context.Context, m Member) (w Waiting, err error) {
	c.mu.Lock()
	h := c.talks.Handout(m, MaxNew, MaxContext)
	c.mu.Unlock()
	texts, err := c.texts(ctx, h.Spans)
	if err != nil {
		return Waiting{}, err
	}
	w.Total, w.Cursor = h.Total, h.Cursor
	for _, p := range h.Picks {
		msg, there := texts[at{p.Conversation, p.Seq}]
		if !there { // nothing is acknowledged that may yet be read
			if msg, there, err = c.text(ctx, p.Conversation, p.Seq); err != nil {
				return Waiting{}, err
			}
		}
		switch {
		case !there: // its words were taken out of the journal
		case p.New:
			w.New = append(w.New, Line{p.Conversation, msg})
		default:
			w.Context = append(w.Context, Line{p.Conversation, msg})
		}
	}
	return w, nil
}

// at is where a message is.
type at struct {
	conversation string
	seq          uint64
}

// texts reads messages of conversations.
func (c *Conversations) texts(ctx context.Context, spans map[string]view.Span) (map[at]abi.Message, error) {
	texts := map[at]abi.Message{}
	for id, s := range spans {
		room, err := c.room(ctx, id)
		if err != nil {
			return nil, err
		}
		for before := s.Last + 1; before > s.First; { // the newest are at hand in a room that is awake
			h, err := room.History(ctx, abi.HistoryAsk{Before: before, Limit: MaxContext + MaxNew})
			if err != nil {
				return nil, err
			}
			if len(h.Messages) == 0 {
				break
			}
			for _, msg := range h.Messages {
				texts[at{id, msg.Seq}] = msg
			}
			before = h.Messages[0].Seq
		}
	}
	return texts, nil
}

// text reads one message out of the journal; ok is false where its words were taken out of it.
func (c *Conversations) text(ctx context.Context, id string, seq uint64) (m abi.Message, ok bool, err error) {
	room, err := c.room(ctx, id)
	if err != nil {
		return m, false, err
	}
	msgs, _, err := room.Messages(ctx, seq-1, 1)
	if err != nil || len(msgs) == 0 || msgs[0].Seq != seq {
		return m, false, err
	}
	return msgs[0], true, nil
}

// Acknowledge takes the cursor of a Waiting or an Action. One that is old, or was acknowledged, is no
// error; one that was never given is Invalid.
func (c *Conversations) Acknowledge(ctx context.Context, m Member, cursor string) error {
	if cursor == "" {
		return nil
	}
	c.mu.Lock()
	marks, ok := c.talks.Marks(m, cursor)
	c.mu.Unlock()
	if !ok {
		return terms.Invalid("acknowledge: %.200q is no cursor of yours; give the one of the answer before", cursor)
	}
	for _, k := range marks {
		in := conversation.Input{Kind: conversation.Read, Who: m.Agent, Upto: k.Upto}
		if k.End {
			in = conversation.Input{Kind: conversation.Tell, Who: m.Agent}
		}
		if _, err := c.converse(ctx, k.Conversation, in); err != nil && !is(err, conversation.NotOpen) {
			return err // NotOpen: it was acknowledged in this moment
		}
	}
	return nil
}
