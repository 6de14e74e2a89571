package room

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/reader"
)

// tailSize is how many of the newest messages a room keeps at hand.
const tailSize = 256

// tail holds the newest messages that are in the journal, for module calls
// that ask for history beside the loop.
type tail struct {
	mu   sync.RWMutex
	msgs []abi.Message
	head uint64
}

func (t *tail) add(entries []entry.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range entries {
		if m, ok := e.Message(); ok {
			t.msgs = append(t.msgs, m)
		}
		t.head = e.Seq
	}
	if n := len(t.msgs); n > 2*tailSize {
		t.msgs = slices.Clone(t.msgs[n-tailSize:])
	}
}

func (t *tail) set(msgs []abi.Message, head uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.msgs, t.head = msgs, head
}

// last gives up to n of the newest messages, oldest first.
func (t *tail) last(n int) []abi.Message {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Clone(t.msgs[max(0, len(t.msgs)-n):])
}

// before gives up to n messages with Seq < seq, oldest first; ok is false
// when older ones than those at hand would be needed.
func (t *tail) before(seq uint64, n int) (msgs []abi.Message, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	end, _ := slices.BinarySearchFunc(t.msgs, seq, func(m abi.Message, s uint64) int {
		switch {
		case m.Seq < s:
			return -1
		case m.Seq > s:
			return 1
		}
		return 0
	})
	start := max(0, end-n)
	return slices.Clone(t.msgs[start:end]), end-start == n || len(t.msgs) < tailSize
}

// History answers a companion's history.get; the newest messages are at hand.
func (r *Room) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	if err := reader.CheckHistory(&ask); err != nil {
		return abi.History{}, err
	}
	r.tail.mu.RLock()
	head := r.tail.head
	r.tail.mu.RUnlock()
	if head == 0 { // it could not be loaded, or is empty
		return r.Room.History(ctx, ask)
	}
	if ask.Before == 0 {
		ask.Before = head + 1
	}
	if msgs, ok := r.tail.before(ask.Before, ask.Limit); ok {
		return abi.History{Messages: msgs, Head: head}, nil
	}
	h, err := r.Room.History(ctx, ask)
	h.Head = head
	return h, err
}

// counts is what a room counts for people who look, since the daemon started.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[what]++
}

func (c *counts) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		return map[string]int{}
	}
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
