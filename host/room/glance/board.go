package glance

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/turn"
)

// Board shows a room that is awake to those who look, whatever its loop does meanwhile.
// The zero value shows nothing: [Board.Show] comes first.
type Board struct {
	info   atomic.Pointer[rooms.Info]
	pool   atomic.Pointer[turn.PoolView]
	mu     sync.Mutex
	counts map[string]int
}

// Count counts something for people who look.
func (b *Board) Count(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.counts == nil {
		b.counts = map[string]int{}
	}
	b.counts[what]++
}

// Show shows the room as it is in the journal up to the entry head; known says whether
// it is known which companions are loaded, trouble why the journal takes nothing.
func (b *Board) Show(set Settings, s *fold.State, head uint64, members []abi.Member, known bool, trouble error) {
	i := infoOf(set, s, members, known)
	i.Head = head
	b.mu.Lock()
	maps.Copy(i.Counts, b.counts)
	b.mu.Unlock()
	pool := s.PoolView()
	b.pool.Store(&pool)
	if trouble != nil {
		i.State, i.Error = "unavailable", abi.AsError(trouble).Message
	}
	b.info.Store(&i)
}

// Info is the room at a glance, with its pool as it is now.
func (b *Board) Info() rooms.Info {
	i := *b.info.Load()
	if p, ok := b.Budget(); ok {
		i.Pool = &p
	}
	return i
}

// Budget gives the room's pool now; ok is false in a room without one.
func (b *Board) Budget() (abi.Budget, bool) {
	return b.pool.Load().At(time.Now().UTC().Truncate(time.Millisecond))
}
