package conversations

// Polls gives how many calls of Next wait.
func (c *Conversations) Polls() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.seats {
		n += s.waiting
	}
	return n
}
