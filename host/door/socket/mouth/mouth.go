// Package mouth keeps a companion from having two voices: of those who play how its lines sound, one at a time is its
// mouth in a room.
//
// It plays nothing, and knows neither rooms nor connections.
package mouth

import (
	"sync"

	"github.com/companiond/companiond/abi"
)

// Mouths are those of a house. The zero value is ready; it may be used by many at once.
type Mouths struct {
	mu   sync.Mutex
	open map[string]map[string]bool // by room, then by companion; empty: all there
}

// Take makes somebody the mouth of a companion in a room until leave is called, of all there with an empty companion.
//
// # Errors
//
// CodeConflict where somebody is: of the companion, or of all, or where all are asked for, of anybody there.
func (m *Mouths) Take(room, companion string) (leave func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	here := m.open[room]
	for who := range here {
		switch {
		case who == "":
			return nil, abi.Errorf(abi.CodeConflict, "the sound of all in room %s is played elsewhere already; close that page", room)
		case who == companion, companion == "":
			return nil, abi.Errorf(abi.CodeConflict, "the sound of %s in room %s is played elsewhere already; close that page", who, room)
		}
	}
	if here == nil {
		if m.open == nil {
			m.open = map[string]map[string]bool{}
		}
		here = map[string]bool{}
		m.open[room] = here
	}
	here[companion] = true
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if delete(here, companion); len(here) == 0 {
			delete(m.open, room)
		}
	}), nil
}
