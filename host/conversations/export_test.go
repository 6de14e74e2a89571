package conversations

// Seats gives how many agents there is something kept for.
func (c *Conversations) Seats() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seats)
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
