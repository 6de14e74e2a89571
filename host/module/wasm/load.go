package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/border"
	"github.com/companiond/companiond/host/module/wasm/fuel"
)

// Load makes a module of a whole .wasm file: it checks the file, takes its machine code
// from the cache or has it compiled in another process, starts an instance, and lets it
// describe itself. The source hears what it waits for.
//
// A small file that waits to be compiled is interpreted meanwhile, so that a saved
// change is heard at once; see [Module.Compiled].
//
// ctx bounds all of it; with the last who wants it, a compile ends too.
//
// # Errors
//
// abi.CodeInvalid, CodeTooLarge or CodeDenied say what is wrong with the file;
// CodeTimeout that ctx ended first; CodeUnavailable that it cannot be compiled just now,
// or the engine is closing.
func (e *Engine) Load(ctx context.Context, s module.Source) (module.Module, error) {
	var w *way
	about, err := border.Check(s.Data, e.cfg.MaxMemory, func(imports []fuel.Import) border.Rules {
		w = e.way(imports, s)
		return w.rules
	})
	if err != nil {
		e.loaded.Add(1)
		return nil, err
	}
	return e.load(ctx, s, s.Data, about.Weight, w)
}

// load makes a module of an image, whose instances are asked in a way.
func (e *Engine) load(ctx context.Context, s module.Source, image []byte, weight int64, w *way) (module.Module, error) {
	defer e.loaded.Add(1) // also what was refused took memory
	image, err := e.prepare(ctx, image)
	if err != nil {
		return nil, err
	}
	if s.Progress == nil {
		s.Progress = func(string) {}
	}
	s.Progress("") // from here on it only waits for others
	if !e.compiles {
		if weight > maxInterpreted {
			return nil, abi.Errorf(abi.CodeTooLarge, "the module has %d bytes of code and locals; without a compiler for this machine at most %d are allowed", weight, maxInterpreted)
		}
		f, err := e.interpret(ctx, e.runtime, image)
		if err != nil {
			return nil, err
		}
		return e.begin(ctx, s, f, nil, w)
	}
	sought, err := e.seek(image, s)
	if err != nil {
		return nil, err
	}
	f, err := e.first(ctx, image, weight, sought)
	if err != nil {
		return nil, err
	}
	if f.machine {
		return e.begin(ctx, s, f, nil, w)
	}
	m, err := e.begin(ctx, s, f, sought, w)
	if err == nil {
		return m, nil
	}
	if abi.CodeOf(err) != abi.CodeTimeout && !strings.Contains(err.Error(), stackOverflow) {
		e.abandon(sought)
		return nil, err
	}
	select { // it was the interpreter that took too long
	case r := <-sought.result:
		if r.err != nil {
			return nil, err
		}
		return e.begin(ctx, s, r.form, nil, w)
	case <-ctx.Done():
		e.abandon(sought)
		return nil, err
	}
}

// begin makes a module of code that is there, and has it change over to what is sought;
// nil is nothing. The form is given back where it does not start.
func (e *Engine) begin(ctx context.Context, s module.Source, f *form, sought *job, w *way) (module.Module, error) {
	m := e.newModule(s, f)
	m.way = w
	if err := m.begin(ctx, s.Progress); err != nil {
		_ = m.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	if sought == nil {
		close(m.compiled)
	} else {
		e.busy.Go(func() { m.upgrade(sought) })
	}
	return m, nil
}

// begin checks the compiled code and lets a first instance describe itself.
func (m *Module) begin(ctx context.Context, progress func(string)) error {
	if known := m.way.rules.Known; known != nil {
		if err := border.Signatures(m.form.compiled, known); err != nil {
			return err
		}
	}
	if err := m.engine.add(m); err != nil {
		return err
	}
	ctx, end, err := m.calls.Begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := m.takeTurn(ctx); err != nil {
		return abi.Errorf(abi.CodeTimeout, "there was no time to start the module: %w", err)
	}
	defer m.endTurn()
	req := abi.Request{Op: abi.OpDescribe, ID: fmt.Sprintf("load-%s-%d", m.id, m.generation)}
	data, fault, err := m.firstCall(ctx, req, progress)
	var wrong *abi.Error // with a source that is interpreted
	switch {
	case fault != nil && (fault.Kind == module.FaultTimeout || fault.Kind == module.FaultFuel && m.tooSlow(fault)):
		return abi.Errorf(abi.CodeTimeout, "the module did not start and describe itself in time (%v): %w", m.engine.cfg.CallTimeout, fault.Cause)
	case fault != nil && errors.As(fault.Cause, &wrong):
		return wrong
	case fault != nil:
		return abi.Errorf(abi.CodeInvalid, "the module failed when asked to describe itself: %s: %w", fault.Kind, fault.Cause)
	case err != nil:
		return abi.Errorf(abi.CodeInvalid, "the module answered describe with an error: %w", err)
	}
	m.desc, err = abi.ReadDescription(data)
	return err
}

const (
	// quickStart is how long an instance may take to start and describe itself before it
	// does so again behind all others. One from the Go compiler takes 20 ms.
	quickStart = 100 * time.Millisecond
	// quickStarts and slowStarts are how many do so at a time: a hundred that hang would
	// leave rooms that talk a hundredth of the machine.
	quickStarts = 4
	slowStarts  = 2
)

// firstCall runs a module's first call when it is its turn among the others that start.
func (m *Module) firstCall(ctx context.Context, req abi.Request, progress func(string)) (data json.RawMessage, fault *module.Fault, err error) {
	e := m.engine
	for _, try := range []struct {
		turns chan struct{}
		most  time.Duration
	}{{e.quickStarts, quickStart}, {e.slowStarts, e.cfg.CallTimeout}} {
		progress("waiting for other files to start")
		select {
		case try.turns <- struct{}{}:
			progress("")
		case <-ctx.Done():
			return nil, &module.Fault{Kind: module.FaultTimeout, Cause: context.Cause(ctx)}, nil
		}
		within, cancel := context.WithTimeout(ctx, try.most)
		data, fault, err = m.callOnce(within, req, false)
		cancel()
		<-try.turns
		if fault == nil || fault.Kind != module.FaultTimeout || ctx.Err() != nil {
			break
		}
	}
	return data, fault, err
}
