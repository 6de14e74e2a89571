package conversations

import (
	"context"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations/view"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/life"
	"github.com/companiond/companiond/host/rooms"
)

// This file brings the keys, of which no two open conversations have the same, together with
// what the rooms' journals say.

// Of Load and Run.
const (
	page     = 100 // conversations, or entries, at a time
	firstTry = time.Second
	lastTry  = time.Minute
)

// errand is something to be done beside whoever caused it, and again until it succeeds.
type errand struct {
	what  string
	do    func(context.Context) error
	tries int
	at    time.Time // not before
}

// run has an errand done soon; c.mu is held.
func (c *Conversations) run(e errand) {
	c.errands = append(c.errands, e)
	select {
	case c.stir <- struct{}{}:
	default:
	}
}

// Run frees the keys of conversations that are over, and tries again what a room could not
// take, until ctx ends. Without it a key is freed when somebody asks for it.
func (c *Conversations) Run(ctx context.Context) error {
	timer := time.NewTimer(lastTry)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(c.errandsDue(ctx))
		select {
		case <-c.stir:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// errandsDue does what is due, one after the other, and gives how long there is nothing to do.
func (c *Conversations) errandsDue(ctx context.Context) time.Duration {
	c.mu.Lock()
	all := c.errands
	c.errands = nil
	c.mu.Unlock()
	wait := lastTry
	for _, e := range all {
		if left := time.Until(e.at); left <= 0 && ctx.Err() == nil {
			err := e.do(ctx)
			if err == nil {
				continue
			}
			e.at = time.Now().Add(min(firstTry<<min(e.tries, 10), lastTry))
			if e.tries++; ctx.Err() == nil {
				c.cfg.Log.Warn("a conversation is not settled yet", "to", e.what, "tries", e.tries, "err", err)
			}
		}
		wait = min(wait, time.Until(e.at))
		c.mu.Lock()
		c.errands = append(c.errands, e)
		c.mu.Unlock()
	}
	return max(wait, 0)
}

// release has the key of a talk freed that is over; c.mu is held.
func (c *Conversations) release(t *view.Talk) {
	if t.Release() {
		c.run(errand{what: "free the key of " + t.ID, do: func(ctx context.Context) error { return c.free(ctx, t) }})
	}
}

// free frees the key of a talk that is over.
func (c *Conversations) free(ctx context.Context, t *view.Talk) error {
	c.mu.Lock()
	keyed := t.Keyed()
	c.mu.Unlock()
	if !keyed {
		return nil
	}
	if err := c.cfg.Halls.Dissolve(ctx, t.ID); err != nil && abi.CodeOf(err) != abi.CodeNotFound {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Unhold()
	return nil
}

// settle has it noted that nobody need look at a talk any more.
func (c *Conversations) settle(ctx context.Context, t *view.Talk, opened time.Time) error {
	if err := c.cfg.Halls.Settle(ctx, t.ID, rooms.Settled{State: t.State(), Opened: opened}); err != nil && abi.CodeOf(err) != abi.CodeNotFound {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Unhold()
	return nil
}

// Load reads which conversations there are, and brings the index of rooms together with what
// the rooms' journals say: what a kill left half done is done. A conversation that cannot be
// read is logged and left out.
func (c *Conversations) Load(ctx context.Context) error {
	return c.convened(ctx, func(cv rooms.Convened) error {
		t, err := c.adopt(ctx, cv)
		if err != nil && ctx.Err() == nil {
			c.cfg.Log.Warn("a conversation could not be read and is left out", "conversation", cv.Name, "err", err)
			return nil
		}
		if t != nil {
			c.inviteAgain(t)
		}
		return ctx.Err()
	})
}

// convened calls fn with all conversations there are, until it answers an error.
func (c *Conversations) convened(ctx context.Context, fn func(rooms.Convened) error) error {
	for after := ""; ; {
		all, err := c.cfg.Halls.Convened(ctx, after, page)
		if err != nil || len(all) == 0 {
			return err
		}
		for _, cv := range all {
			if err := fn(cv); err != nil {
				return err
			}
			after = cv.Name
		}
	}
}

// adopt takes a conversation into the view, as its journal says it stands. One of which there
// is no more than the key is begun.
func (c *Conversations) adopt(ctx context.Context, cv rooms.Convened) (*view.Talk, error) {
	if s := cv.Settled; s != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.talks.Settle(cv.Name, &cv.Terms, s.Opened, s.State), nil
	}
	room, err := c.room(ctx, cv.Name)
	if err != nil {
		return nil, err
	}
	entries, now, err := fold(ctx, room)
	if err == nil && now == nil {
		// Anything that is done there wakes the room, and a room that wakes is begun.
		if _, err = room.Converse(ctx, conversation.Input{Kind: conversation.Read, Who: cv.Terms.Members[0]}); err == nil {
			entries, now, err = fold(ctx, room)
		}
	}
	if err != nil {
		return nil, err
	}
	if now == nil {
		return nil, abi.Errorf(abi.CodeUnavailable, "its journal has no start")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.note(cv.Name, *now, entries[len(entries)-1].Seq, entries)
	if !cv.Over {
		t.Hold()
		c.release(t)
	}
	return t, nil
}

// again reads what a room's journal says, of which the room did not tell all: after trouble
// with the journal there may be more than it knew.
func (c *Conversations) again(ctx context.Context, id string) error {
	room, err := c.room(ctx, id)
	if err != nil {
		return err
	}
	entries, now, err := fold(ctx, room)
	if err != nil || now == nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(c.note(id, *now, entries[len(entries)-1].Seq, entries))
	return nil
}

// fold gives all entries of a room and how they leave its conversation, nil where it has
// none yet.
func fold(ctx context.Context, room rooms.Room) (entries []entry.Entry, now *conversation.Conversation, err error) {
	var l life.Life
	for since := uint64(0); ; {
		more, head, err := room.Entries(ctx, since, page)
		if err != nil || len(more) == 0 {
			return entries, l.Conversation, err
		}
		for _, e := range more {
			view.Fold(&l, e)
		}
		entries = append(entries, more...)
		if since = more[len(more)-1].Seq; since >= head {
			return entries, l.Conversation, nil
		}
	}
}

// inviteAgain tells of those who were invited before a restart and did not come yet.
func (c *Conversations) inviteAgain(t *view.Talk) {
	c.mu.Lock()
	v, ok := t.View()
	c.mu.Unlock()
	if ok && v.State == conversation.Pending {
		c.invite(v)
	}
}

// invite tells of those who are to come and are not here.
func (c *Conversations) invite(v View) {
	for _, m := range v.Members {
		a, _ := c.cfg.Agent(m.ID)
		who := Member{Project: v.Terms.Project, Agent: m.ID}
		if !m.Joined && m.Ending == nil && !a.Hosted && !c.cfg.Here(who) {
			c.cfg.Invite(Invitation{Member: who, Conversation: v.ID, From: v.Initiator(), Purpose: v.Terms.Purpose})
		}
	}
}
