package wasm

import (
	"context"
	"errors"

	"github.com/companiond/companiond/host/module/wasm/snapshot"
)

const (
	// asleepOne is by how many bytes an instance may differ from one that has just begun, to be put to sleep: so many are back in
	// 40 ms, and what most differ by in one.
	asleepOne = 8 << 20
	// asleepTotal is what the images of all may take, some 10 KiB each. Beyond that the oldest are lost.
	asleepTotal = 64 << 20
)

// sleeps says whether instances of the module can be put to sleep.
func (m *Module) sleeps() bool { return m.way.globals != nil }

// sleep puts the instance to sleep, if there is one and it can be, unless stop says that somebody wants it. The caller owns the
// turn.
func (m *Module) sleep(stop func() bool) {
	if m.inst == nil {
		return
	}
	i, asked := m.inst, m.asked.Load()
	switch err := m.engine.asleep.Put(m, i.driver, i.guest, m.way.globals, i.era, stop); {
	case err == nil:
		i.driver.Resume(nil)
		m.drop()
	case errors.Is(err, snapshot.ErrErased):
		m.drop()
	case !errors.Is(err, snapshot.ErrStopped):
		m.awake.Store(asked)
		m.log.Info("module is not put to sleep: without another call its variables are lost", "after", idleTime, "err", err)
	}
}

// wake gives the instance that sleeps, nil where none does. The caller owns the turn.
func (m *Module) wake(ctx context.Context) *instance {
	kept := m.engine.asleep.Take(m)
	if kept == nil {
		return nil
	}
	i := m.newInstance()
	i.era = kept.Era
	err := i.instantiate(i.begin(ctx), func() error {
		i.driver = kept.With
		i.driver.Resume(guest{i})
		return kept.Restore(i.guest)
	})
	i.end()
	if err != nil {
		i.close()
		m.log.Warn("module did not wake as it was, and begins anew", "err", err)
		return nil
	}
	m.memory.Store(&i.memory)
	return i
}

// Forget erases what modules hold in memory that sleep, and has those that do not begin anew: words may stand in it.
func (e *Engine) Forget() {
	e.asleep.Clear()
	for _, m := range e.open() {
		select {
		case m.turn <- struct{}{}:
			m.drop()
			m.endTurn()
		default: // it is being asked, and begins anew with the next call
		}
	}
}
