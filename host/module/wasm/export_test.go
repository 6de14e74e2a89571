package wasm

import (
	"time"

	"github.com/companiond/companiond/host/module"
)

// How long an instance is left alone until it sleeps, and until it is let go of.
const (
	SleepTime = sleepTime
	IdleTime  = idleTime
)

// Rest lets instances rest as if so much time had passed.
func (e *Engine) Rest(after time.Duration) {
	e.rest(time.Now().Add(after), sleepTime, idleTime, time.Hour)
}

// Kept is what the images of all that sleep take.
func (e *Engine) Kept() (n int64) {
	for _, m := range e.open() {
		n += e.asleep.Size(m)
	}
	return n
}

// KeptOf is what the image of a module takes, open or closed.
func KeptOf(m module.Module) int64 { return m.(*Module).engine.asleep.Size(m.(*Module)) }

// Alive is how many instances there are.
func (e *Engine) Alive() int64 { return e.instances.Load() }

// Sleep puts a module's instance to sleep, unless stop says no.
func Sleep(m module.Module, stop func() bool) {
	w := m.(*Module)
	w.turn <- struct{}{}
	w.sleep(stop)
	w.endTurn()
}

// Waiting is how many calls wait for a module.
func Waiting(m module.Module) int32 { return m.(*Module).waiting.Load() }

// Scratch is where tests put what they share.
func Scratch() string { return scratch }
