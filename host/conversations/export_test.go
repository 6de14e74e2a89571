package conversations

import "github.com/companiond/companiond/host/conversation"

// Seats gives how many agents there is something kept for.
func (c *Conversations) Seats() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.seats)
	for _, m := range c.talks.Members(func(*conversation.Conversation, *conversation.Member) bool { return true }) {
		if c.seats[m] == nil {
			n++
		}
	}
	return n
}

// Polls gives how many calls of Next wait.
func (c *Conversations) Polls() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.seats {
		n += s.waiting
	}
	return n
}
