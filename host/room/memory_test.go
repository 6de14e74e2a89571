package room

import (
	"context"
	"sync"

	"github.com/companiond/companiond/host/journal"
	inmemory "github.com/companiond/companiond/host/journal/memory"
)

// memory is a journal in memory that fails on request.
type memory struct {
	*inmemory.Journal

	mu      sync.Mutex
	fail    error // Append answers this
	stores  bool  // ... and stores the entries all the same
	appends int
}

func newMemory() *memory { return &memory{Journal: inmemory.New()} }

func (m *memory) break_(fail error, stores bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail, m.stores = fail, stores
}

func (m *memory) Append(ctx context.Context, room string, h journal.Head, news ...journal.New) (journal.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil && !m.stores {
		return h, m.fail
	}
	m.appends++
	nh, err := m.Journal.Append(ctx, room, h, news...)
	if m.fail != nil && err == nil {
		return h, m.fail
	}
	return nh, err
}

func (m *memory) Health() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fail
}
