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

// Voice is one client, which is the mouth of at most one companion at a time, and may be turned to another's. It may be used
// by many at once.
type Voice struct {
	mouths *Mouths

	mu    sync.Mutex
	at    [2]string // room and companion
	leave func()    // nil: of nobody
	gone  bool
}

// Voice makes one that is nobody's mouth yet.
func (m *Mouths) Voice() *Voice { return &Voice{mouths: m} }

// Turn makes it the mouth of a companion in a room, and no longer of the one before. Where it cannot be that one's it stays what
// it is.
//
// # Errors
//
// CodeConflict as [Mouths.Take], and where it has left.
func (v *Voice) Turn(room, companion string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := [2]string{room, companion}
	switch {
	case v.gone:
		return abi.Errorf(abi.CodeConflict, "the client has gone")
	case v.leave != nil && v.at == at:
		return nil
	}
	leave, err := v.mouths.Take(room, companion)
	if err != nil {
		return err
	}
	if v.leave != nil {
		v.leave()
	}
	v.at, v.leave = at, leave
	return nil
}

// Leave makes it nobody's mouth, for good.
func (v *Voice) Leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.gone = true; v.leave != nil {
		v.leave()
	}
}
