package conversations

import (
	"context"
	"slices"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations/terms"
	"github.com/companiond/companiond/host/conversations/view"
)

// This file is what agents do to a conversation besides talking.

// converse has something happen to a conversation.
func (c *Conversations) converse(ctx context.Context, id string, in conversation.Input) (View, error) {
	room, err := c.room(ctx, id)
	if err != nil {
		return View{}, err
	}
	now, err := room.Converse(ctx, in)
	if err != nil {
		return View{}, plain(err)
	}
	return View{ID: id, Conversation: now}, nil
}

// of gives a conversation that somebody is a member of.
func (c *Conversations) of(ctx context.Context, m Member, id string) (View, error) {
	v, err := c.Get(ctx, id)
	if err == nil && (v.Terms.Project != m.Project || v.Member(m.Agent) == nil) {
		err = conversation.Refuse(conversation.NotParticipant, "")
	}
	return v, err
}

// Join answers a request; it is what a member does that authenticates with the conversation's
// id. One that has joined, or opened it, may do so again.
func (c *Conversations) Join(ctx context.Context, m Member, id string) (View, error) {
	for again := false; ; again = true {
		v, err := c.of(ctx, m, id)
		if err != nil {
			return v, err
		}
		if me := v.Member(m.Agent); me.Joined && me.Ending == nil {
			return v, nil
		}
		now, err := c.converse(ctx, id, conversation.Input{Kind: conversation.Join, Who: m.Agent})
		if again || !is(err, conversation.NotOpen) { // else it may have joined by another call
			return now, err
		}
	}
}

// Decline refuses a request.
func (c *Conversations) Decline(ctx context.Context, m Member, id, why string) (View, error) {
	v, err := c.of(ctx, m, id)
	if err != nil {
		return v, err
	}
	if err := terms.CheckText("reason", why, false); err != nil {
		return v, err
	}
	return c.converse(ctx, id, conversation.Input{Kind: conversation.Decline, Who: m.Agent, Why: why, Absent: c.absent(&v.Terms)})
}

// End ends one, or leaves a group. Without an id it is the one that is open, NoneActive where
// there is none, and Invalid, naming them, where there are several; requests that were not answered are not meant.
// A final message that is not empty is said first.
func (c *Conversations) End(ctx context.Context, m Member, id, final string) (View, error) {
	if id == "" {
		c.mu.Lock()
		open := c.talks.Joined(m)
		c.mu.Unlock()
		switch len(open) {
		case 0:
			return View{}, conversation.Refuse(conversation.NoneActive, "")
		case 1:
			id = open[0]
		default:
			return View{}, several(open)
		}
	}
	v, err := c.of(ctx, m, id)
	if err != nil {
		return v, err
	}
	if err := terms.CheckText("final_message", final, false); err != nil {
		return v, err
	}
	if final != "" {
		if v, _, err = c.say(ctx, m, v, final, "", slices.Contains(v.Terms.Humans, m.Agent)); err != nil {
			return v, err
		}
		if v.Member(m.Agent).Ending != nil {
			return v, nil // it was the last turn
		}
	}
	return c.converse(ctx, id, conversation.Input{Kind: conversation.End, Who: m.Agent, Absent: c.absent(&v.Terms)})
}

// Stop ends one for all on the word of a human of the project, who need not be a member.
func (c *Conversations) Stop(ctx context.Context, human, id string) (View, error) {
	v, err := c.Get(ctx, id)
	if err != nil {
		return v, err
	}
	if !c.rules.Human(v.Terms.Project, human) {
		return v, conversation.Refuse(conversation.NotParticipant, human+" is no human of "+v.Terms.Project)
	}
	return c.converse(ctx, id, conversation.Input{Kind: conversation.Stop, Who: human, Absent: c.absent(&v.Terms)})
}

// Gone says that the last session of a member has ended or expired. A member that has
// another by now is not gone.
func (c *Conversations) Gone(ctx context.Context, m Member) {
	c.mu.Lock()
	talks := slices.Clone(c.talks.Of(m))
	c.mu.Unlock()
	for _, t := range talks {
		again := func(ctx context.Context) error { return c.gone(ctx, m, t) }
		if err := again(ctx); err != nil {
			c.mu.Lock()
			c.run(errand{what: "say that " + m.Agent + " is gone from " + t.ID, do: again, tries: 1, at: time.Now().Add(firstTry)})
			c.mu.Unlock()
		}
	}
}

// gone says it in one conversation, where that is open or the member was not told of the
// ending.
func (c *Conversations) gone(ctx context.Context, m Member, t *view.Talk) error {
	if c.cfg.Here(m) {
		return nil
	}
	c.mu.Lock()
	v, ok := t.View()
	c.mu.Unlock()
	if !ok {
		return nil
	}
	if me := v.Member(m.Agent); me.Told || me.Ending == nil && !v.Open() {
		return nil
	}
	_, err := c.converse(ctx, t.ID, conversation.Input{Kind: conversation.Gone, Who: m.Agent, Absent: c.absent(&v.Terms)})
	if is(err, conversation.NotOpen) {
		return nil // it has been overtaken
	}
	return err
}
