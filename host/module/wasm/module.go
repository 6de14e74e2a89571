package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/guestlog"
	"github.com/companiond/companiond/host/module/wasm/memory"
	"github.com/companiond/companiond/host/module/wasm/meter"
)

// closeGrace is how long Close waits, after its ctx ended, for a guest that is
// being stopped. Guests stop within milliseconds; only a host function that
// does not obey its ctx takes longer.
const closeGrace = time.Second

// Module is one loaded file. It runs the calls of one instance at a time, in
// the order they came in. It is what Engine.Load returns.
type Module struct {
	engine     *Engine
	id         string
	generation uint64
	way        *way
	form       *form // belongs to the turn's owner, as inst does
	desc       abi.Description
	log        *slog.Logger
	said       *guestlog.Log // by the guest

	turn  chan struct{} // holds one token while somebody owns inst
	inst  *instance     // nil when there is none; belongs to the turn's owner, and so does
	debt  meter.Debt    // of calls
	calls module.Calls
	over  chan struct{} // closed when everything is given back

	compiled chan struct{} // closed when code is machine code, or never will be

	shown   atomic.Pointer[form]          // form, for others than the turn's owner
	asked   atomic.Int64                  // when it was called last, in Unix ns
	awake   atomic.Int64                  // of then it stays awake, for it could not be put to sleep
	waiting atomic.Int32                  // calls for their turn
	memory  atomic.Pointer[memory.Memory] // of inst, nil when there is none
	units   atomic.Int64                  // of fuel that all calls together used, in slices; 0 without GuardFuel
}

var _ module.Module = (*Module)(nil)

func (e *Engine) newModule(s module.Source, f *form) *Module {
	log := e.cfg.Log.With("companion", s.ID, "generation", s.Generation)
	m := &Module{
		engine: e, id: s.ID, generation: s.Generation, form: f,
		log: log, said: guestlog.New(log, e.cfg.LogBytesPerSecond),
		turn: make(chan struct{}, 1), over: make(chan struct{}), compiled: make(chan struct{}),
	}
	m.shown.Store(f)
	m.asked.Store(time.Now().UnixNano())
	return m
}

// Describe gives what the module said of itself when it was loaded.
func (m *Module) Describe() abi.Description { return m.desc }

// Hide implements [module.Hider].
func (m *Module) Hide(secrets func(text string) string) { m.said.Hide(secrets) }

// Memory gives the bytes that the module takes, as near as can be told: its guest's
// memory in use now, or the image of one that sleeps, and its share of the machine code.
// It may be called at any time.
func (m *Module) Memory() int64 {
	return m.guestMemory() + m.engine.asleep.Size(m) + m.engine.share(m.shown.Load())
}

// guestMemory is 0 while there is no instance, or it sleeps.
func (m *Module) guestMemory() int64 {
	if mem := m.memory.Load(); mem != nil {
		return mem.Size()
	}
	return 0
}

// Call runs one op. Calls wait for each other; one whose ctx ends while it
// waits gives ctx's error. The request's V is set, and its Self if it is empty.
//
// # Errors
//
// As module.Module says. A call that is ended because its ctx ended, or because Close
// ended it by force, is of kind timeout, which is not held against the guest: it was in
// the middle of something, so its instance is lost. One that has used up Config.FuelPerCall
// is of kind fuel.
func (m *Module) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	ctx, end, err := m.calls.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := m.takeTurn(ctx); err != nil {
		return nil, err
	}
	m.asked.Store(time.Now().UnixNano())
	m.engine.used.Add(1)
	data, fault, err := m.callOnce(ctx, req, true)
	if fault != nil && m.tooSlow(fault) {
		if err := m.awaitMachineCode(ctx); err != nil {
			return nil, err
		}
		if m.form.machine {
			data, fault, err = m.callOnce(ctx, req, true)
		}
	}
	if fault != nil {
		go m.replace()
		return nil, fault
	}
	m.endTurn()
	return data, err
}

// stackOverflow is in wazero's error of a guest that called too deep.
const stackOverflow = "stack overflow"

// tooSlow says whether a fault is the interpreter's and not the guest's: it takes longer,
// and has room for fewer frames. The caller owns the turn.
func (m *Module) tooSlow(f *module.Fault) bool {
	return !m.form.machine && m.engine.compiles &&
		(f.Kind == module.FaultTimeout || f.Kind == module.FaultFuel || strings.Contains(f.Cause.Error(), stackOverflow))
}

// awaitMachineCode gives the turn away until the module runs as well as it ever will, and
// takes it again. With an error, which is ctx's, the turn is not the caller's any more.
func (m *Module) awaitMachineCode(ctx context.Context) error {
	m.endTurn()
	select {
	case <-m.compiled:
		return m.takeTurn(ctx)
	case <-ctx.Done():
	}
	go func() {
		if m.takeTurn(m.calls.Killed()) == nil {
			m.replace()
		}
	}()
	return fmt.Errorf("wasm: %s is interpreted until its machine code is there: %w", m.id, context.Cause(ctx))
}

// takeTurn waits until the caller owns the instance, or ctx has ended.
func (m *Module) takeTurn(ctx context.Context) error {
	m.waiting.Add(1)
	defer m.waiting.Add(-1)
	select {
	case m.turn <- struct{}{}:
		if ctx.Err() == nil {
			return nil
		}
		m.endTurn()
	case <-ctx.Done():
	}
	if context.Cause(ctx) == module.ErrClosed {
		return module.ErrClosed
	}
	return ctx.Err()
}

func (m *Module) endTurn() { <-m.turn }

// callOnce runs one op on the instance, which it starts if there is none and
// drops at a fault. The caller owns the turn.
func (m *Module) callOnce(ctx context.Context, req abi.Request, asks bool) (json.RawMessage, *module.Fault, error) {
	ctx, cancel := m.bound(ctx)
	defer cancel()
	if m.inst != nil && m.inst.era != m.engine.asleep.Era() { // what it holds in memory was erased meanwhile
		m.drop()
	}
	if m.inst == nil {
		inst, fault := m.start(ctx)
		if fault != nil {
			return nil, fault, nil
		}
		m.inst = inst
	}
	data, fault, err := m.inst.run(ctx, req, asks)
	if fault != nil && fault.Kind == module.FaultTimeout && !m.tooSlow(fault) {
		m.debt = m.inst.did.Done()
	} else {
		m.debt = meter.Debt{}
	}
	if fault != nil {
		if asks { // else it is being loaded, and that has an error of its own
			m.log.Info("module lost its instance", "op", req.Op, "id", req.ID, "room", req.Room, "fault", string(fault.Kind), "err", fault.Cause)
		}
		m.drop()
	}
	return data, fault, err
}

// bound gives ctx a deadline if it has none.
func (m *Module) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, m.engine.cfg.CallTimeout)
}

// drop closes the instance, if there is one. The caller owns the turn.
func (m *Module) drop() {
	if m.inst == nil {
		return
	}
	m.memory.Store(nil)
	m.inst.close()
	m.inst = nil
}

// replace starts the instance that takes a dropped one's place, and ends the
// turn it was handed. If it cannot start, the next call tries again.
func (m *Module) replace() {
	defer m.endTurn()
	ctx, cancel := m.bound(m.calls.Killed())
	defer cancel()
	if ctx.Err() != nil || m.inst != nil {
		return
	}
	inst, fault := m.start(ctx)
	if fault != nil {
		if m.calls.Killed().Err() == nil { // else it was not to
			m.log.Warn("module did not start again", "err", fault)
		}
		return
	}
	m.inst = inst
}

// Close refuses new calls, serves those that came before until ctx ends, ends
// them by force then, and gives everything back. It is safe to call once.
//
// # Errors
//
// It fails when a host function holds the guest a second longer than ctx. The
// module is then given back when that function returns, but Close does not
// wait for it.
func (m *Module) Close(ctx context.Context) error {
	m.calls.Close(ctx)
	late := time.NewTimer(closeGrace)
	defer late.Stop()
	select {
	case m.turn <- struct{}{}:
		return m.release()
	case <-m.over:
		return nil
	case <-late.C:
		go func() {
			m.turn <- struct{}{}
			if err := m.release(); err != nil {
				m.log.Error("module closed late", "err", err)
			}
		}()
		return fmt.Errorf("wasm: close %s generation %d: a host function does not return", m.id, m.generation)
	}
}

// release closes instance and code. The caller owns the turn, and keeps it.
func (m *Module) release() error {
	defer close(m.over)
	m.drop()
	m.engine.asleep.Drop(m)
	m.said.TellLost()
	m.shown.Store(nil)
	err := m.engine.release(m.form)
	m.engine.remove(m)
	if err != nil {
		return fmt.Errorf("wasm: close %s generation %d: %w", m.id, m.generation, err)
	}
	return nil
}
