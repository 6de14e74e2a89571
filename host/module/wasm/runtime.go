package wasm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/tetratelabs/wazero"
)

// startRuntime makes wazero's runtime and puts the host's modules into it.
func (e *Engine) startRuntime(compile bool) error {
	ctx := context.Background()
	if compile && !compilerSupported(runtime.GOOS, runtime.GOARCH) {
		e.cfg.Log.Warn("wazero has no compiler for this machine; modules are interpreted, 40-100 times slower",
			"os", runtime.GOOS, "arch", runtime.GOARCH)
		compile = false
	}
	rc := e.bounded(wazero.NewRuntimeConfigInterpreter())
	if compile {
		rc = e.bounded(wazero.NewRuntimeConfigCompiler())
	}
	if compile && e.cfg.CacheDir != "" { // the interpreter has nothing to keep
		cache, err := openCache(e.cfg.CacheDir)
		if err != nil {
			return err
		}
		e.cache = cache
		rc = rc.WithCompilationCache(cache)
	}
	var err error
	if e.runtime, err = e.buildRuntime(ctx, rc); err != nil {
		_ = e.closeRuntime(ctx)
		return err
	}
	e.compiles = compile
	return nil
}

// startQuick makes the runtime that helps out while the compiler works. Where
// everything is interpreted there is nothing to help out with.
func (e *Engine) startQuick() (err error) {
	if !e.compiles {
		return nil
	}
	e.quick, err = e.buildRuntime(context.Background(), e.bounded(wazero.NewRuntimeConfigInterpreter()))
	return err
}

func (e *Engine) bounded(rc wazero.RuntimeConfig) wazero.RuntimeConfig {
	return rc.WithMemoryLimitPages(uint32(e.cfg.MaxMemory / pageSize)).
		WithDebugInfoEnabled(false). // a hostile file's DWARF is not worth reading
		WithCloseOnContextDone(e.cfg.Guard == GuardContext)
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
	for _, h := range hostModules(e.cfg.Guard) {
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
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("wasm: close runtime: %w", err)
	}
	return nil
}

// openCache opens the directory of compiled code, which nobody else may write
// to: the code in it is run.
func openCache(dir string) (wazero.CompilationCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("wasm: make cache directory: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("wasm: look at cache directory: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("wasm: cache directory %s has mode %o: others may write machine code into it; chmod 0700 it", dir, mode)
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("wasm: open cache directory: %w", err)
	}
	return cache, nil
}

// cacheTrouble says whether a compile failed for a damaged cache or a disk
// that cannot be read or written, and not for the module.
func cacheTrouble(err error) bool {
	var errno syscall.Errno
	return strings.HasPrefix(err.Error(), "compilationcache:") || errors.As(err, &errno)
}

// emptyCache removes what wazero keeps in dir. A file that cannot be removed stays.
func emptyCache(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if err != nil {
		return
	}
	for _, f := range files {
		_ = os.Remove(f)
	}
}

// compilerSupported says where wazero v1.12 compiles. On amd64 it also wants
// SSE4.1, which every such processor since 2008 has.
func compilerSupported(goos, goarch string) bool {
	switch goos {
	case "linux", "darwin", "freebsd", "netbsd", "windows":
		return goarch == "amd64" || goarch == "arm64"
	case "dragonfly", "solaris", "illumos":
		return goarch == "amd64"
	}
	return false
}
