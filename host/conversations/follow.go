package conversations

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
)

// maxBehind is how many notices wait for a follower.
const maxBehind = 256

// Notice is a change of a conversation's life, or somebody invited who is not here.
type Notice struct {
	View
	Absent []string `json:"absent,omitempty"` // invited, and without a session
}

// follower is whoever wants notices.
type follower struct {
	project string
	notices chan Notice // closed for one that is too slow
}

// Follow calls fn with every change of state from now on of the conversations of a project,
// "" for all, until ctx ends or fn answers an error. A follower that is too slow is dropped with an error.
func (c *Conversations) Follow(ctx context.Context, project string, fn func(Notice) error) error {
	f := &follower{project: project, notices: make(chan Notice, maxBehind)}
	c.mu.Lock()
	c.followers[f] = struct{}{}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.followers, f)
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case n, ok := <-f.notices:
			if !ok {
				return abi.Errorf(abi.CodeExhausted, "more than %d changes were not taken; follow anew", maxBehind)
			}
			if n.State == conversation.Pending {
				n.Absent = c.missing(&n.Conversation)
			}
			if err := fn(n); err != nil {
				return err
			}
		}
	}
}

// missing gives those who were invited and have no session.
func (c *Conversations) missing(now *conversation.Conversation) (ids []string) {
	for _, id := range c.absent(&now.Terms) {
		if !now.Member(id).Joined {
			ids = append(ids, id)
		}
	}
	return ids
}

// tell gives a notice to all who follow; c.mu is held.
func (c *Conversations) tell(n Notice) {
	for f := range c.followers {
		if f.project != "" && f.project != n.Terms.Project {
			continue
		}
		select {
		case f.notices <- n:
		default:
			close(f.notices)
			delete(c.followers, f)
		}
	}
}
