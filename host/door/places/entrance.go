package places

import (
	"context"
	"sync"

	"github.com/companiond/companiond/host/rooms"
)

// Entrance counts who has come in, until it is shut and they have left. The zero value is open.
type Entrance struct {
	mu   sync.Mutex
	shut bool
	in   int
	gone sync.WaitGroup
}

// Enter counts somebody in who takes a place, unless the entrance is shut:
// [rooms.ErrStopping].
func (e *Entrance) Enter(take func() (*Place, error)) (*Place, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shut {
		return nil, rooms.ErrStopping
	}
	place, err := take()
	if err == nil {
		e.in++
		e.gone.Add(1)
	}
	return place, err
}

// Leave counts somebody out, and gives the place back.
func (e *Entrance) Leave(place *Place) {
	place.Leave()
	e.mu.Lock()
	e.in--
	e.mu.Unlock()
	e.gone.Done()
}

// In tells how many are in.
func (e *Entrance) In() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.in
}

// Shut lets nobody in any more.
func (e *Entrance) Shut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shut = true
}

// Empty waits until all have left, and gives ctx's error when that ends first. The entrance
// must be shut.
func (e *Entrance) Empty(ctx context.Context) error {
	done := make(chan struct{})
	go func() { e.gone.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
