// Package compiler makes machine code of WebAssembly in child processes, one at a time,
// which are bounded and can be killed: wazero's compiler takes gigabytes, or minutes, for
// some small valid files, and nothing interrupts it.
//
// [Main] is the child's side. It compiles one image into a directory and exits. [Queue] is
// the daemon's: it starts children, small files first, puts a file that takes long behind
// the others, and remembers which files are too much. The code reaches the daemon through
// package codecache only.
//
// The daemon's own process never compiles: [Load] takes code from the cache or fails.
package compiler

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// Settings are what the child and the daemon must agree on, or the code is not found.
type Settings struct {
	Pages       uint32 // most memory of an instance, in pages of 64 KiB
	CloseOnDone bool   // calls end with their context (wazero's WithCloseOnContextDone)
}

// Runtime gives the configuration of a runtime for machine code.
func (s Settings) Runtime() wazero.RuntimeConfig { return s.bound(wazero.NewRuntimeConfigCompiler()) }

// Interpreter gives that of one that interprets.
func (s Settings) Interpreter() wazero.RuntimeConfig {
	return s.bound(wazero.NewRuntimeConfigInterpreter())
}

func (s Settings) bound(rc wazero.RuntimeConfig) wazero.RuntimeConfig {
	return rc.WithMemoryLimitPages(s.Pages).
		WithDebugInfoEnabled(false). // a hostile file's DWARF is not worth reading
		WithCloseOnContextDone(s.CloseOnDone)
}

// ErrNotCached is the error of Load where the cache has no code.
var ErrNotCached = errors.New("there is no machine code of it in the cache")

// Load takes an image's code out of the runtime's cache, and never compiles: it decodes
// and checks the image, which takes a tenth of a second for 4 MiB.
func Load(r wazero.Runtime, image []byte) (wazero.CompiledModule, error) {
	// wazero asks its cache first. Without an entry its workers, of which there must be more
	// than one, look at the context before the first function.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	compiled, err := r.CompileModule(experimental.WithCompilationWorkers(ctx, 2), image)
	switch {
	case errors.Is(err, context.Canceled):
		return nil, ErrNotCached
	case err != nil:
		return nil, fmt.Errorf("load machine code: %w", err)
	}
	return compiled, nil
}
