package wasm

import (
	"context"
	"errors"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module/wasm/fuel"
)

// headStart is how long a compile may take before the interpreter is asked to
// help out. Code from the cache is there sooner.
const headStart = 60 * time.Millisecond

// form is a module's file in the shape that a runtime can run.
type form struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

// result is the outcome of a compile.
type result struct {
	form form
	err  error
}

// prepare guards and bounds a file's code.
func (e *Engine) prepare(data []byte) (image []byte, err error) {
	if e.cfg.Guard == GuardFuel {
		data, err = fuel.Rewrite(data, slice)
		if err != nil {
			return nil, unreadable(err)
		}
	}
	data, err = fuel.BoundTables(data)
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "the module cannot be loaded: %w", err)
	}
	return data, nil
}

// unreadable says what is wrong with a file that package fuel cannot read.
func unreadable(err error) error {
	if errors.Is(err, fuel.ErrUnsupported) {
		return abi.Errorf(abi.CodeInvalid, "the module cannot be guarded: %w; build it for WebAssembly 2.0 without threads and exceptions", err)
	}
	return abi.Errorf(abi.CodeInvalid, "the module is broken: %w", err)
}

// job is a compile under way. Somebody has to take its result: first, upgrade
// or abandon.
type job struct {
	begun  chan struct{} // closed when it is its turn
	result chan result
}

// compile begins to compile an image; one compiles at a time.
func (e *Engine) compile(image []byte) (*job, error) {
	j := &job{make(chan struct{}), make(chan result)}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, abi.Errorf(abi.CodeUnavailable, "the engine is closing")
	}
	e.compilers.Add(1) // under mu, so that Close waits for it
	go func() {
		defer e.compilers.Done() // when the result was taken
		e.compiling <- struct{}{}
		close(j.begun)
		compiled, err := e.compileWith(e.runtime, image)
		<-e.compiling
		j.result <- result{form{e.runtime, compiled}, err}
	}()
	return j, nil
}

// first gives the code that is there first: the machine code that is coming, or
// the interpreter's form of the same image. last says that it is the former.
// Where nobody will take the former, it is given back.
func (e *Engine) first(ctx context.Context, image []byte, coming *job) (c form, last bool, err error) {
	var helpOut <-chan time.Time
	if e.quick != nil {
		timer := time.NewTimer(headStart)
		defer timer.Stop()
		helpOut = timer.C
	}
	select {
	case r := <-coming.result:
		return r.form, true, r.err
	case <-helpOut:
	case <-ctx.Done():
		e.abandon(coming)
		return form{}, false, coming.late(ctx.Err(), len(image))
	}
	compiled, err := e.compileWith(e.quick, image)
	if err != nil {
		e.abandon(coming)
		return form{}, false, err
	}
	return form{e.quick, compiled}, false, nil
}

// late says why there is no result in time.
func (j *job) late(cause error, size int) error {
	select {
	case <-j.begun:
		return abi.Errorf(abi.CodeTimeout, "compiling %d bytes of WebAssembly took too long: %w", size, cause)
	default:
		return abi.Errorf(abi.CodeTimeout, "another module was still compiling: %w", cause)
	}
}

// abandon gives code back that nobody wants any more, when it is there.
func (e *Engine) abandon(coming *job) {
	e.compilers.Go(func() {
		if r := <-coming.result; r.err == nil {
			_ = r.form.compiled.Close(context.Background())
		}
	})
}

// compileWith compiles in this goroutine, so that a panic of wazero's compiler
// on a strange file can be caught here; it must not be given more workers.
func (e *Engine) compileWith(r wazero.Runtime, image []byte) (compiled wazero.CompiledModule, err error) {
	defer func() {
		if r := recover(); r != nil {
			e.cfg.Log.Error("wazero's compiler panicked", "panic", r)
			err = abi.Errorf(abi.CodeInvalid, "the module cannot be compiled: %v", r)
		}
	}()
	compiled, err = r.CompileModule(context.Background(), image)
	if err != nil && r == e.runtime && e.cache != nil && cacheTrouble(err) {
		e.cfg.Log.Warn("the cache of compiled code gives trouble; it is emptied", "err", err)
		emptyCache(e.cfg.CacheDir)
		compiled, err = r.CompileModule(context.Background(), image)
	}
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "the module cannot be compiled: %w", err)
	}
	return compiled, nil
}

// upgrade changes an interpreted module over to machine code when it is there.
// The instance goes with the old form: its memory is lost, as it is
// when an instance is dropped.
func (m *Module) upgrade(coming *job) {
	r := <-coming.result
	defer close(m.compiled)
	if r.err != nil {
		m.log.log.Warn("module stays interpreted, 40-100 times slower", "err", r.err)
		return
	}
	if err := m.takeTurn(m.calls.Killed()); err != nil { // closed meanwhile
		_ = r.form.compiled.Close(context.Background())
		return
	}
	m.drop()
	old := m.form
	m.form = r.form
	if err := old.compiled.Close(context.Background()); err != nil {
		m.log.log.Warn("interpreted form was not given back", "err", err)
	}
	m.replace() // ends the turn
}

// Compiled is closed when the module runs as machine code. Until then a file
// that was never seen before is interpreted: it answers, but slowly. It is also
// closed when the module stays as it is, because it was closed or cannot be
// compiled.
func (m *Module) Compiled() <-chan struct{} { return m.compiled }
