package reader

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// TailSize is how many of the newest messages a room keeps at hand.
const TailSize = 256

// Tail holds the newest messages that are in the journal, for module calls
// that ask for history beside the loop.
type Tail struct {
	mu   sync.RWMutex
	msgs []abi.Message
	head uint64
}

// Add keeps what was said in entries that follow.
func (t *Tail) Add(entries []entry.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range entries {
		if m, ok := e.Message(); ok {
			t.msgs = append(t.msgs, m)
		}
		if e.Kind == entry.KindHeard {
			t.heard(e)
		}
		t.head = e.Seq
	}
	if n := len(t.msgs); n > 2*TailSize {
		t.msgs = slices.Clone(t.msgs[n-TailSize:])
	}
}

// heard keeps of a message what people heard of it.
func (t *Tail) heard(e entry.Entry) {
	h, err := entry.Decode[entry.Heard](e)
	if err != nil {
		return
	}
	i, found := slices.BinarySearchFunc(t.msgs, h.Of, func(m abi.Message, s uint64) int { return cmp.Compare(m.Seq, s) })
	if !found {
		return
	}
	m, some := h.Apply(t.msgs[i])
	t.msgs = slices.Clone(t.msgs) // somebody may be reading it
	if t.msgs[i] = m; !some {
		t.msgs = slices.Delete(t.msgs, i, i+1)
	}
}

// Set begins with the newest messages of a room, as far as it is.
func (t *Tail) Set(msgs []abi.Message, head uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.msgs, t.head = msgs, head
}

// Last gives up to n of the newest messages, oldest first.
func (t *Tail) Last(n int) []abi.Message {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Clone(t.msgs[max(0, len(t.msgs)-n):])
}

// before gives up to n messages with Seq < seq, oldest first, and how far the room is;
// seq 0 means no bound. ok is false when others than those at hand would be needed.
func (t *Tail) before(seq uint64, n int) (h abi.History, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	end := len(t.msgs)
	if seq > 0 {
		end, _ = slices.BinarySearchFunc(t.msgs, seq, func(m abi.Message, s uint64) int { return cmp.Compare(m.Seq, s) })
	}
	start := max(0, end-n)
	h = abi.History{Messages: slices.Clone(t.msgs[start:end]), Head: t.head}
	return h, t.head > 0 && (end-start == n || len(t.msgs) < TailSize)
}

// Told answers for a room whose newest messages these are, as [Room.Told] does, under what is laid.
func (t *Tail) Told(ctx context.Context, r Room, ask abi.HistoryAsk, l Laid) (abi.History, error) {
	if l.Upto() == 0 {
		h, err := t.History(ctx, r, ask)
		h.Laid = l.Changed
		return h, err
	}
	h, err := r.ToldUnder(ctx, ask, l)
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.head > 0 && err == nil { // a message that was not shown yet is not told
		h.Head = t.head
	}
	return h, err
}

// History answers for a room whose newest messages these are, as [Room.History] does.
func (t *Tail) History(ctx context.Context, r Room, ask abi.HistoryAsk) (abi.History, error) {
	if err := checkHistory(&ask); err != nil {
		return abi.History{}, err
	}
	near, ok := t.before(ask.Before, ask.Limit)
	if ok {
		return within(near, ask.Budget), nil
	}
	if near.Head == 0 { // it could not be loaded, or is empty
		return r.History(ctx, ask)
	}
	ask.Before = cmp.Or(ask.Before, near.Head+1)
	h, err := r.History(ctx, ask)
	h.Head = near.Head
	return h, err
}
