package wasm

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/companiond/companiond/host/child"
	"github.com/companiond/companiond/host/module/wasm/codecache"
	"github.com/companiond/companiond/host/module/wasm/compiler"
	"github.com/tetratelabs/wazero"
)

// startRuntime makes wazero's runtime and puts the host's modules into it.
func (e *Engine) startRuntime(compile bool) error {
	ctx := context.Background()
	if compile && !compiler.Supported(runtime.GOOS, runtime.GOARCH) {
		e.cfg.Log.Warn("wazero has no compiler for this machine; modules are interpreted, 40-100 times slower",
			"os", runtime.GOOS, "arch", runtime.GOARCH)
		compile = false
	}
	rc := e.settings().Interpreter()
	if compile { // the interpreter has nothing to keep
		var err error
		if rc, err = e.openCompiler(); err != nil {
			return errors.Join(err, e.closeRuntime(ctx))
		}
	}
	var err error
	if e.runtime, err = e.buildRuntime(ctx, rc); err != nil {
		_ = e.closeRuntime(ctx)
		return err
	}
	e.compiles = compile
	return nil
}

// openCompiler opens what makes and keeps machine code, for a runtime that runs it.
func (e *Engine) openCompiler() (rc wazero.RuntimeConfig, err error) {
	command := e.cfg.Compiler
	if command == nil {
		if command, err = compiler.This(); err != nil {
			return nil, err
		}
	}
	if child.Is() {
		return nil, errors.New("wasm: this program was started to compile, and does not call compiler.Main")
	}
	if e.store, err = codecache.Open(e.cfg.CacheDir, e.cfg.CacheSize); err != nil {
		return nil, fmt.Errorf("wasm: %w", err)
	}
	e.queue = compiler.NewQueue(e.store, e.settings(), command, e.cfg.Log)
	if e.cache, err = wazero.NewCompilationCacheWithDir(e.store.Dir()); err != nil {
		return nil, fmt.Errorf("wasm: open cache directory: %w", err)
	}
	return e.settings().Runtime().WithCompilationCache(e.cache), nil
}

// settings are those of all code that is run.
func (e *Engine) settings() compiler.Settings {
	return compiler.Settings{Pages: uint32(e.cfg.MaxMemory / pageSize), CloseOnDone: e.cfg.Guard == GuardContext}
}

// startQuick makes the runtime that helps out while the compiler works. Where
// everything is interpreted there is nothing to help out with.
func (e *Engine) startQuick() (err error) {
	if !e.compiles {
		return nil
	}
	e.quick, err = e.buildRuntime(context.Background(), e.settings().Interpreter())
	return err
}

// buildRuntime turns wazero's panic where memory cannot be made executable
// into an error.
func (e *Engine) buildRuntime(ctx context.Context, rc wazero.RuntimeConfig) (r wazero.Runtime, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("wasm: cannot compile WebAssembly here: %v; modules are compiled to machine code when they are loaded, "+
				"which needs memory that is first writable and then executable: under systemd take MemoryDenyWriteExecute=yes out of the unit", p)
		}
	}()
	r = wazero.NewRuntimeWithConfig(ctx, rc)
	var interpreter []hostFunc
	if e.cfg.Interpreter != nil {
		interpreter = driven(e.cfg.Interpreter.Imports)
	}
	all := hostModules(e.cfg.Guard, interpreter...)
	for _, d := range e.cfg.Dialects {
		all = append(all, modulesOf(d)...)
	}
	for _, h := range all {
		if err := h.instantiate(ctx, r); err != nil {
			return r, fmt.Errorf("wasm: build host module %s: %w", h.name, err)
		}
	}
	return r, nil
}

func (e *Engine) closeRuntime(ctx context.Context) error {
	var errs []error
	for _, r := range []wazero.Runtime{e.runtime, e.quick} {
		if r != nil {
			errs = append(errs, r.Close(ctx))
		}
	}
	if e.cache != nil {
		errs = append(errs, e.cache.Close(ctx))
	}
	if e.store != nil {
		errs = append(errs, e.store.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("wasm: close runtime: %w", err)
	}
	return nil
}
