// Package waits bounds the calls that wait for something to happen: all of them, those of
// one caller, so that the others find a place, and those of one agent in a room, which has no
// use for many. It never waits itself.
package waits

import (
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/places"
)

// How many calls may wait, how many of one caller, and how many of one agent in a room.
const (
	Most  = 256
	Share = 192
	Each  = 4
)

// Waits counts the calls that wait. Its methods may be called from many goroutines.
type Waits[Agent comparable] struct {
	house *places.House
	all   string // says that an agent has as many as there may be

	mu sync.Mutex
	of map[Agent]int
}

// New has no call that waits.
func New[Agent comparable]() *Waits[Agent] {
	return sized[Agent](Most, "in this room, which is all there may be in one")
}

// Sized is New for agents that wait in no room, and for another number than Most. A
// caller's share of it is as large.
func Sized[Agent comparable](most int) *Waits[Agent] {
	return sized[Agent](most, "already, which is all there may be")
}

func sized[Agent comparable](most int, all string) *Waits[Agent] {
	house := places.New(places.Config{What: "waiting calls", Total: most, Share: max(1, most*Share/Most)})
	return &Waits[Agent]{house: house, all: all, of: map[Agent]int{}}
}

// Enter counts a call of an agent in a room until leave is called, by the time that is given. Sharer is
// whose share it is of.
//
// # Errors
//
// CodeExhausted where as many of the agent wait as may; a [places.Full] where of the caller,
// or of all.
func (w *Waits[Agent]) Enter(who Agent, sharer string, until time.Time) (leave func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of[who] >= Each {
		return nil, abi.Errorf(abi.CodeExhausted, "%d calls of yours are waiting %s", Each, w.all)
	}
	place, err := w.house.TakeHeld(sharer, nil, until)
	if err != nil {
		return nil, err
	}
	w.of[who]++
	return sync.OnceFunc(func() {
		place.Leave()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.of[who]--; w.of[who] == 0 {
			delete(w.of, who)
		}
	}), nil
}

// Waiting gives how many calls wait.
func (w *Waits[Agent]) Waiting() int { return w.house.Taken() }
