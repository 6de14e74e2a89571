package guide

import (
	"fmt"
	"sync"

	"github.com/companiond/companiond/host/rooms"
)

// maxKnown bounds the rooms that are remembered; others are only looked at again.
const maxKnown = 4096

// Prices are what talking costs in the rooms, as far as that is known: a room counts from
// when it was looked at first without trouble. Its methods may be called from many
// goroutines.
type Prices struct {
	mu    sync.Mutex
	known map[string]bool
	usual rooms.Info      // the room of whoever names none
	kinds map[string]bool // of prices there are: one, or two for any number
	most  float64         // the largest pool
}

// NewPrices knows no price yet.
func NewPrices(usual string) *Prices {
	return &Prices{known: map[string]bool{}, kinds: map[string]bool{}, usual: rooms.Info{Name: usual}, most: Unpaid}
}

// Forget says that a room may have other prices now.
func (p *Prices) Forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, name)
}

// Note takes in what a room says of itself; fresh says that it was not known.
func (p *Prices) Note(info rooms.Info) (fresh bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if info.Error != "" || p.known[info.Name] {
		return false
	}
	if len(p.known) >= maxKnown {
		clear(p.known)
		p.known[p.usual.Name] = p.usual.Policy != ""
	}
	p.known[info.Name] = true
	if info.Name == p.usual.Name {
		p.usual = info
	}
	if info.Terms != nil {
		p.most = max(p.most, info.Terms.Size)
	}
	if len(p.kinds) < 2 {
		p.kinds[kind(info)] = true
	}
	return true
}

// kind is the same for rooms in which talking costs the same.
func kind(info rooms.Info) string {
	if info.Terms == nil {
		return info.Policy
	}
	return fmt.Sprint(info.Policy, *info.Terms)
}

// Terms gives what the tools are to say.
func (p *Prices) Terms() Terms {
	p.mu.Lock()
	defer p.mu.Unlock()
	return TermsOf(p.usual, p.most, p.known[p.usual.Name] && len(p.kinds) == 1)
}
