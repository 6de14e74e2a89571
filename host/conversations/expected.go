package conversations

import "slices"

// Expected gives the members of conversations that may come back after a restart: those
// that take part, or are to be told how it ended, and come from outside.
func (c *Conversations) Expected() (all []Member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for who, s := range c.seats {
		if slices.ContainsFunc(s.talks, func(t *talk) bool {
			terms := &t.whole.now.Terms
			m := t.whole.now.Member(who.Agent)
			return m.Joined && !m.Told && !slices.Contains(terms.Humans, who.Agent) && !slices.Contains(terms.Hosted, who.Agent)
		}) {
			all = append(all, who)
		}
	}
	return all
}
