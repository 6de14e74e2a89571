package room

import (
	"maps"
	"sync"
)

// counts is what a room counts for people who look, since the daemon started.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[what]++
}

func (c *counts) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.n)
}

// idRing remembers the ids of the newest messages, so that one that is sent
// twice at once is told apart before the journal is asked.
type idRing struct {
	order []string
	known map[string]bool
}

func (i *idRing) has(id string) bool { return i.known[id] }

func (i *idRing) add(id string) {
	const most = 1024
	if i.known == nil {
		i.known = map[string]bool{}
	}
	i.order, i.known[id] = append(i.order, id), true
	if len(i.order) > most {
		delete(i.known, i.order[0])
		i.order = i.order[1:]
	}
}
