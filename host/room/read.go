package room

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
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

// History answers a companion's history.get.
func (r *Room) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	switch {
	case ask.Limit == 0:
		ask.Limit = 20
	case ask.Limit < 0 || ask.Limit > abi.MaxHistory:
		return abi.History{}, abi.Errorf(abi.CodeInvalid, "limit: %d is outside 1..%d", ask.Limit, abi.MaxHistory)
	}
	r.tail.mu.RLock()
	head := r.tail.head
	r.tail.mu.RUnlock()
	if ask.Before == 0 {
		ask.Before = head + 1
	}
	msgs, ok := r.tail.before(ask.Before, ask.Limit)
	if !ok {
		var err error
		if msgs, err = lastMessages(ctx, r.journal, r.settings.Name, ask.Before, ask.Limit); err != nil {
			return abi.History{}, doorError(err)
		}
	}
	if msgs == nil {
		msgs = []abi.Message{}
	}
	return abi.History{Messages: msgs, Head: head}, nil
}

// lastMessages reads backwards: up to n messages with Seq < before, oldest first.
func lastMessages(ctx context.Context, j journal.Journal, room string, before uint64, n int) ([]abi.Message, error) {
	var msgs []abi.Message
	for end := before; end > 1 && len(msgs) < n; {
		start := uint64(0)
		if end > readChunk {
			start = end - 1 - readChunk
		}
		entries, err := j.Read(ctx, room, start, int(end-1-start))
		if err != nil {
			return nil, err
		}
		var chunk []abi.Message
		for _, e := range entries {
			if m, ok := e.Message(); ok {
				chunk = append(chunk, m)
			}
		}
		msgs = append(chunk, msgs...)
		end = start + 1
	}
	return msgs[max(0, len(msgs)-n):], nil
}

// Entries gives up to limit entries with Seq > since and the room's head.
func (r *Room) Entries(ctx context.Context, since uint64, limit int) ([]entry.Entry, uint64, error) {
	entries, err := r.journal.Read(ctx, r.settings.Name, since, limit)
	if err != nil {
		return nil, 0, doorError(err)
	}
	head := r.info.Load().Head
	if n := len(entries); n > 0 {
		head = max(head, entries[n-1].Seq)
	}
	return entries, head, nil
}

// Messages gives up to limit messages with Seq > since and the room's head.
func (r *Room) Messages(ctx context.Context, since uint64, limit int) ([]abi.Message, uint64, error) {
	msgs := []abi.Message{}
	for {
		entries, head, err := r.Entries(ctx, since, readChunk)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range entries {
			if m, ok := e.Message(); ok && len(msgs) < limit {
				msgs = append(msgs, m)
			}
			since = e.Seq
		}
		if len(entries) < readChunk || len(msgs) == limit {
			return msgs, head, nil
		}
	}
}

// Follow calls fn with entries with Seq > since until ctx ends or fn answers
// an error.
func (r *Room) Follow(ctx context.Context, since uint64, fn func([]entry.Entry) error) error {
	err := r.journal.Follow(ctx, r.settings.Name, since, fn)
	if errors.Is(err, journal.ErrCorrupt) || errors.Is(err, journal.ErrUnavailable) {
		return doorError(err)
	}
	return err
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

func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

func contains[T comparable](list []T, v T) bool { return slices.Contains(list, v) }
