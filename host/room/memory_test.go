package room

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// memory is a journal for tests: it keeps everything in memory and fails on
// request.
type memory struct {
	mu      sync.Mutex
	rooms   map[string][]entry.Entry
	snaps   map[string]memSnap
	wake    chan struct{}
	fail    error // Append answers this
	stores  bool  // ... and stores the entries all the same
	sick    error // Health
	appends int
}

type memSnap struct {
	seq   uint64
	state []byte
}

var _ journal.Journal = (*memory)(nil)

func newMemory() *memory {
	return &memory{rooms: map[string][]entry.Entry{}, snaps: map[string]memSnap{}, wake: make(chan struct{})}
}

func (m *memory) break_(fail error, stores bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail, m.stores, m.sick = fail, stores, fail
}

func (m *memory) head(room string) journal.Head {
	es := m.rooms[room]
	if len(es) == 0 {
		return journal.Head{}
	}
	return journal.Head{Seq: es[len(es)-1].Seq, Epoch: es[len(es)-1].Epoch}
}

func (m *memory) Acquire(_ context.Context, room, owner string, at time.Time) (journal.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.head(room)
	body, _ := json.Marshal(entry.Owner{Owner: owner})
	e := entry.Entry{Seq: h.Seq + 1, Epoch: h.Epoch + 1, At: at, Kind: entry.KindOwner, ID: fmt.Sprintf("owner/%d", h.Epoch+1), Body: body}
	m.rooms[room] = append(m.rooms[room], e)
	m.ring()
	return m.head(room), nil
}

func (m *memory) Append(_ context.Context, room string, h journal.Head, news ...journal.New) (journal.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil && !m.stores {
		return h, m.fail
	}
	now := m.head(room)
	switch {
	case now.Epoch > h.Epoch:
		return h, journal.ErrFenced
	case now != h:
		return h, journal.ErrConflict
	}
	for _, n := range news {
		if slices.ContainsFunc(m.rooms[room], func(e entry.Entry) bool { return e.ID == n.ID }) {
			return h, fmt.Errorf("%w: duplicate id %q", journal.ErrConflict, n.ID)
		}
	}
	for i, n := range news {
		m.rooms[room] = append(m.rooms[room], entry.Entry{
			Seq: h.Seq + 1 + uint64(i), Epoch: h.Epoch, At: n.At.UTC(), Kind: n.Kind, ID: n.ID, Body: slices.Clone(n.Body),
		})
	}
	m.appends++
	m.ring()
	if m.fail != nil {
		return h, m.fail
	}
	return m.head(room), nil
}

func (m *memory) ring() {
	close(m.wake)
	m.wake = make(chan struct{})
}

func (m *memory) Read(_ context.Context, room string, after uint64, limit int) ([]entry.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	es := m.rooms[room]
	i := min(int(after), len(es))
	return slices.Clone(es[i:min(len(es), i+limit)]), nil
}

func (m *memory) Find(_ context.Context, room, id string) (entry.Entry, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.rooms[room] {
		if e.ID == id {
			return e, true, nil
		}
	}
	return entry.Entry{}, false, nil
}

func (m *memory) Follow(ctx context.Context, room string, after uint64, fn func([]entry.Entry) error) error {
	for {
		m.mu.Lock()
		wake := m.wake
		m.mu.Unlock()
		es, _ := m.Read(ctx, room, after, 256)
		if len(es) > 0 {
			if err := fn(es); err != nil {
				return err
			}
			after = es[len(es)-1].Seq
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *memory) PutSnapshot(_ context.Context, room string, seq uint64, state []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq > m.snaps[room].seq {
		m.snaps[room] = memSnap{seq, slices.Clone(state)}
	}
	return nil
}

func (m *memory) GetSnapshot(_ context.Context, room string) (uint64, []byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.snaps[room].seq, m.snaps[room].state, nil
}

func (m *memory) Rooms(context.Context) (map[string]journal.Head, error) { return nil, nil }

func (m *memory) Trim(context.Context, string, uint64) error { return nil }

func (m *memory) Verify(context.Context, string, uint64) (uint64, error) { return 0, nil }

func (m *memory) Health() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sick
}

func (m *memory) Close() error { return nil }
