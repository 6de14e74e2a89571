package room

import (
	"context"
	"errors"
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

// History answers a companion's history.get; the newest messages are at hand.
func (r *Room) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	if err := checkHistory(&ask); err != nil {
		return abi.History{}, err
	}
	r.tail.mu.RLock()
	head := r.tail.head
	r.tail.mu.RUnlock()
	if head == 0 { // it could not be loaded, or is empty
		return r.Reader.History(ctx, ask)
	}
	if ask.Before == 0 {
		ask.Before = head + 1
	}
	if msgs, ok := r.tail.before(ask.Before, ask.Limit); ok {
		return abi.History{Messages: msgs, Head: head}, nil
	}
	h, err := r.Reader.History(ctx, ask)
	h.Head = head
	return h, err
}

func checkHistory(ask *abi.HistoryAsk) error {
	switch {
	case ask.Limit == 0:
		ask.Limit = 20
	case ask.Limit < 0 || ask.Limit > abi.MaxHistory:
		return abi.Errorf(abi.CodeInvalid, "limit: %d is outside 1..%d", ask.Limit, abi.MaxHistory)
	}
	return nil
}

// Reader reads what the journal has of a room, whether the room is awake or not.
// Each of its reads costs as much as what it gives.
type Reader struct {
	journal journal.Journal
	name    string
}

// NewReader makes a reader of a room. The room need not exist.
func NewReader(j journal.Journal, room string) Reader { return Reader{j, room} }

// Name is the room's name.
func (r Reader) Name() string { return r.name }

// History gives messages of before, oldest first.
func (r Reader) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	if err := checkHistory(&ask); err != nil {
		return abi.History{}, err
	}
	head, err := r.head(ctx, 0)
	if err != nil {
		return abi.History{}, err
	}
	msgs, err := said(ctx, r.journal, r.name, journal.Span{Before: ask.Before, Limit: ask.Limit, Newest: true})
	if err != nil {
		return abi.History{}, DoorError(err)
	}
	return abi.History{Messages: msgs, Head: head}, nil
}

// said reads messages.
func said(ctx context.Context, j journal.Log, room string, s journal.Span) ([]abi.Message, error) {
	entries, err := j.Said(ctx, room, s)
	if err != nil {
		return nil, err
	}
	msgs := make([]abi.Message, 0, len(entries))
	for _, e := range entries {
		if m, ok := e.Message(); ok {
			msgs = append(msgs, m)
		}
	}
	return msgs, nil
}

// head gives how far the room is, at least what the caller has seen.
func (r Reader) head(ctx context.Context, seen uint64) (uint64, error) {
	row, _, err := r.journal.Room(ctx, r.name)
	if err != nil {
		return 0, DoorError(err)
	}
	return max(row.Head.Seq, seen), nil
}

// Entries gives up to limit entries with Seq > since and the room's head.
func (r Reader) Entries(ctx context.Context, since uint64, limit int) ([]entry.Entry, uint64, error) {
	entries, err := r.journal.Read(ctx, r.name, since, limit)
	if err != nil {
		return nil, 0, DoorError(err)
	}
	var seen uint64
	if n := len(entries); n > 0 {
		seen = entries[n-1].Seq
	}
	head, err := r.head(ctx, seen)
	return entries, head, err
}

// Messages gives up to limit messages with Seq > since and the room's head.
func (r Reader) Messages(ctx context.Context, since uint64, limit int) ([]abi.Message, uint64, error) {
	head, err := r.head(ctx, 0)
	if err != nil {
		return nil, 0, err
	}
	msgs, err := said(ctx, r.journal, r.name, journal.Span{After: since, Limit: limit})
	if err != nil {
		return nil, 0, DoorError(err)
	}
	if n := len(msgs); n > 0 {
		head = max(head, msgs[n-1].Seq)
	}
	return msgs, head, nil
}

// Follow calls fn with entries with Seq > since until ctx ends or fn answers
// an error.
func (r Reader) Follow(ctx context.Context, since uint64, fn func([]entry.Entry) error) error {
	err := r.journal.Follow(ctx, r.name, since, fn)
	if errors.Is(err, journal.ErrCorrupt) || errors.Is(err, journal.ErrUnavailable) {
		return DoorError(err)
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
