package conversations

import (
	"slices"

	"github.com/companiond/companiond/host/conversation"
)

// Expected gives the members of conversations that may come back after a restart: those
// that take part, or are to be told how it ended, and come from outside.
func (c *Conversations) Expected() []Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.talks.Members(func(now *conversation.Conversation, m *conversation.Member) bool {
		return m.Joined && !m.Told && !slices.Contains(now.Terms.Humans, m.ID) && !slices.Contains(now.Terms.Hosted, m.ID)
	})
}
