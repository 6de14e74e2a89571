package wasm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/border"
	"github.com/companiond/companiond/host/module/wasm/codecache"
	"github.com/companiond/companiond/host/module/wasm/compiler"
)

const (
	// headStart is how long machine code may take before the interpreter is asked to
	// help out. Code from the cache is there sooner, and so is that of a small file.
	headStart = 60 * time.Millisecond
	// maxHelped is the weight of a file that is interpreted while its machine code is
	// made, see fuel.Module: the interpreter takes up to 140 bytes for each of these.
	maxHelped = 256 << 10
	// maxHelpedFile bounds the whole of such a file, which is decoded once more for it.
	maxHelpedFile = 1 << 20
	// maxInterpreted is that of a file where nothing can be compiled at all.
	maxInterpreted = 4 << 20
)

// form is a module's file in the shape that a runtime can run. Machine code is shared by
// all modules with the same image.
type form struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	machine  bool
	key      codecache.Key
	bytes    int64 // of machine code
	users    int   // of machine code; the engine's mu
}

// alone waits until nobody else reads a file, until done is called.
func (e *Engine) alone(ctx context.Context) (done func(), err error) {
	select {
	case e.preparing <- struct{}{}:
		return func() { <-e.preparing }, nil
	case <-ctx.Done():
		return nil, abi.Errorf(abi.CodeTimeout, "other files were being read: %w", context.Cause(ctx))
	}
}

// prepare guards and bounds a file's code, one file at a time: it takes some times the
// memory of the file.
func (e *Engine) prepare(ctx context.Context, data []byte) (image []byte, err error) {
	done, err := e.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	units := int32(slice)
	if e.cfg.Guard != GuardFuel {
		units = 0
	}
	return border.Prepare(data, units)
}

// result is the outcome of seeking machine code.
type result struct {
	form *form
	err  error
}

// job is machine code that is sought. Somebody has to take its result, or abandon it.
type job struct {
	cancel context.CancelFunc
	result chan result // has room for it
}

// seek begins to look for an image's machine code, and to have it compiled.
func (e *Engine) seek(image []byte, s module.Source) (*job, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosing
	}
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{cancel, make(chan result, 1)}
	e.busy.Go(func() { // under mu, so that Close waits for it
		defer cancel()
		f, err := e.machineCode(ctx, compiler.Job{Image: image, Key: codecache.KeyOf(image), Name: s.Name, Progress: s.Progress})
		j.result <- result{f, err}
	})
	return j, nil
}

// machineCode gives the code of an image, compiled in another process where there is none
// in the cache.
func (e *Engine) machineCode(ctx context.Context, j compiler.Job) (*form, error) {
	f, err := e.cached(j)
	if !errors.Is(err, compiler.ErrNotCached) {
		return f, err
	}
	err = e.queue.Compile(ctx, j)
	j.Progress("")
	if err != nil {
		return nil, err
	}
	if f, err = e.cached(j); errors.Is(err, compiler.ErrNotCached) {
		return nil, abi.Errorf(abi.CodeUnavailable, "what compiled it is another program than this one: was companiond replaced? restart it")
	}
	return f, err
}

// cached takes an image's code out of the cache, or shares that of a module that has it.
// One at a time does, so that equal files have one.
func (e *Engine) cached(j compiler.Job) (f *form, err error) {
	e.loading.Lock()
	defer e.loading.Unlock()
	if f := e.join(j.Key); f != nil {
		return f, nil
	}
	bytes, ok := e.store.Find(j.Key)
	if !ok {
		return nil, compiler.ErrNotCached
	}
	defer func() {
		if r := recover(); r != nil {
			e.cfg.Log.Error("wazero panicked over a module", "file", j.Name, "panic", r)
			err = abi.Errorf(abi.CodeInvalid, "the module cannot be loaded: %v", r)
		}
	}()
	compiled, err := compiler.Load(e.runtime, j.Image)
	if err != nil { // of another version, or another machine
		e.store.Drop(j.Key)
		return nil, fmt.Errorf("%w: %w", compiler.ErrNotCached, err)
	}
	f = &form{runtime: e.runtime, compiled: compiled, machine: true, key: j.Key, bytes: bytes, users: 1}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forms[j.Key] = f
	e.checkCacheSize()
	return f, nil
}

// checkCacheSize tells once that the code of all modules does not fit into the cache. The
// caller has the lock.
func (e *Engine) checkCacheSize() {
	if sum := e.codeBytes(); sum > e.cfg.CacheSize && !e.crowded {
		e.crowded = true
		e.cfg.Log.Warn("the cache of compiled code is smaller than the code of all characters: the next start compiles some of them again; make wasm.cache_size larger",
			"MiB", sum>>20, "wasm.cache_size", e.cfg.CacheSize>>20)
	}
}

// share is what each user of a form takes of it; nil is nothing.
func (e *Engine) share(f *form) int64 {
	if f == nil {
		return 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return f.bytes / int64(max(f.users, 1))
}

// join gives machine code that is loaded to one more, nil for none.
func (e *Engine) join(k codecache.Key) *form {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.forms[k]
	if f != nil {
		f.users++
	}
	return f
}

// release gives a form back, which goes with the last who uses it.
func (e *Engine) release(f *form) error {
	if f.machine {
		e.mu.Lock()
		f.users--
		left := f.users
		if left == 0 {
			delete(e.forms, f.key)
		}
		e.mu.Unlock()
		if left > 0 {
			return nil
		}
	}
	e.loaded.Add(1)
	return f.compiled.Close(context.Background())
}

// first gives the code that is there first: the machine code that is sought, or for a
// small file the interpreter's form of the same image.
func (e *Engine) first(ctx context.Context, image []byte, weight int64, sought *job) (*form, error) {
	var helpOut <-chan time.Time
	if e.quick != nil && weight <= maxHelped && len(image) <= maxHelpedFile {
		timer := time.NewTimer(headStart)
		defer timer.Stop()
		helpOut = timer.C
	}
	select {
	case r := <-sought.result:
		return r.form, r.err
	case <-helpOut:
		f, err := e.interpret(ctx, e.quick, image)
		if err != nil {
			e.abandon(sought)
		}
		return f, err
	case <-ctx.Done():
		e.abandon(sought)
		return nil, abi.Errorf(abi.CodeTimeout, "its machine code was not there in time: %w", context.Cause(ctx))
	}
}

// interpret gives the interpreter's form of an image, one at a time.
func (e *Engine) interpret(ctx context.Context, r wazero.Runtime, image []byte) (f *form, err error) {
	done, err := e.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Log.Error("wazero's interpreter panicked", "panic", p)
			err = abi.Errorf(abi.CodeInvalid, "the module cannot be interpreted: %v", p)
		}
	}()
	compiled, err := r.CompileModule(context.Background(), image)
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "the module cannot be compiled: %w", err)
	}
	return &form{runtime: r, compiled: compiled}, nil
}

// abandon gives up seeking machine code.
func (e *Engine) abandon(sought *job) {
	sought.cancel()
	e.busy.Go(func() {
		if r := <-sought.result; r.err == nil {
			_ = e.release(r.form)
		}
	})
}

// upgrade changes an interpreted module over to machine code when it is there.
// The instance goes with the old form: its memory is lost, as it is
// when an instance is dropped.
func (m *Module) upgrade(sought *job) {
	defer close(m.compiled)
	var r result
	select {
	case r = <-sought.result:
	case <-m.calls.Killed().Done():
		m.engine.abandon(sought)
		return
	}
	if r.err != nil {
		m.log.Warn("module stays interpreted, 40-100 times slower", "err", r.err)
		return
	}
	if err := m.takeTurn(m.calls.Killed()); err != nil { // closed meanwhile
		_ = m.engine.release(r.form)
		return
	}
	m.drop()
	old := m.form
	m.form = r.form
	m.shown.Store(r.form)
	if err := m.engine.release(old); err != nil {
		m.log.Warn("interpreted form was not given back", "err", err)
	}
	m.replace() // ends the turn
}

// Compiled is closed when the module runs as machine code. Until then a small file
// that was never seen before is interpreted: it answers, but slowly. It is also
// closed when the module stays as it is, because it was closed or cannot be
// compiled.
func (m *Module) Compiled() <-chan struct{} { return m.compiled }
