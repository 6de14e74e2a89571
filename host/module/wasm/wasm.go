// Package wasm is the engine for companions that come as WebAssembly: it loads
// a .wasm file, runs its calls one at a time, and takes the instance away from
// a guest that hangs, traps, grows or lies.
//
// A guest can do nothing but compute, and reach nothing but what this package
// writes down in its tables of imports: four functions of abi.Namespace, clock,
// random and standard output of WASI, and AssemblyScript's env.abort. There is
// no file, environment, argument, socket or real sleep behind any of them.
//
// A guest is held by bounds on:
//
//   - CPU: every module is rewritten at load (package fuel) so that it asks for
//     leave every 100,000 units, about a third of a millisecond. There the call
//     ends when its deadline has passed, its budget is used up or its module is
//     closed. Every import asks the same question before it does anything, and charges
//     for what it does. Only the budget is a fault that counts; see Config.FuelPerCall.
//     Without this, one busy guest would stop the daemon at its next garbage
//     collection.
//   - Memory: Config.MaxMemory bytes an instance, reserved as address space and
//     used page by page; tables have a bound of their own. wazero's call stack
//     is bounded by wazero at 400 MB and is not counted.
//   - Output: replies of abi.MaxReply bytes, Config.LogBytesPerSecond of log.
//   - The file: bounds on what decoding and interpreting it takes (package fuel), and a
//     process of its own for compiling it, with bounds on memory and time (package
//     compiler). Here nothing is ever compiled. One on its bytes holds whoever reads it
//     (package folder).
//
// A call that does not end in a reply costs the instance, never the module: the
// next call gets a new instance of the same compiled code, started right away.
// An instance that nobody asks for is put to sleep where that is possible, and else
// taken away; see [drive.Interpreter].
//
// The package never ends a host function. A guest inside
// module.HostCalls stays there until HostCall returns, so HostCall must obey
// its ctx, which ends with the call; and HostCall must not call the module it
// answers, which would wait for itself. It does not know which host ops there are
// and which are granted; it watches no folder, and it keeps no state of a guest
// across instances but that of one that sleeps, in memory alone.
package wasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/codecache"
	"github.com/companiond/companiond/host/module/wasm/compiler"
	"github.com/companiond/companiond/host/module/wasm/drive"
	"github.com/companiond/companiond/host/module/wasm/meter"
	"github.com/companiond/companiond/host/module/wasm/snapshot"
)

// Guard names what stops a guest that does not return.
type Guard string

// The guards.
const (
	// GuardFuel rewrites modules to burn fuel. It costs 15-25 % and stops
	// everything that was tried.
	GuardFuel Guard = "fuel"
	// GuardContext uses wazero's WithCloseOnContextDone, for machines whose
	// owner distrusts rewriting. It is 4-10 times slower, meters nothing, has
	// no fuel budget and does not stop recursion without a loop before the
	// call stack is full; endless shallow recursion it may not stop at all.
	GuardContext Guard = "context"

	// guardNone lets a guest run free: for benchmarks, which need a baseline.
	guardNone Guard = "none"
)

// Config says what guests may use. The zero value is usable: every zero field
// means the default named at it.
type Config struct {
	// CacheDir keeps compiled code between runs; "" means none is kept. It is
	// created with mode 0700. It holds machine code that will be run as it is,
	// so nobody else may write to it, and it must not be inside a watched folder.
	CacheDir string
	// CacheSize bounds the bytes in it; 0 means 256 MiB, 14 Go characters.
	CacheSize int64
	// MemoryTotal is what the process should keep within, in bytes, with all of its
	// characters; 0 is no bound. It is soft: what is loaded is never refused for it.
	MemoryTotal int64
	// Compiler is the command that compiles: a program that calls compiler.Main before
	// anything else, with what it needs before that one's arguments. nil is this program.
	Compiler []string
	// MaxMemory is the bound in bytes of one instance's memory, rounded down
	// to pages of 64 KiB; 0 means 64 MiB.
	MaxMemory int64
	// FuelPerCall is the budget of work of one call, and of one start, in units of
	// package fuel: about 300 million a second of ordinary code, ten times as many in
	// tight loops. It is counted in slices of 100,000, and what host functions do is
	// charged too. Using it up is the fault of a guest that hangs; time is none, and
	// neither is a wait in a host call. Where it is interpreted, a call has a fiftieth.
	// On Linux a call may also not take more than 10 ns of processor time for each
	// of these units, whatever it did in it. 0 means 1,500 million. GuardContext ignores
	// it and goes by that processor time alone, when its caller gives up.
	FuelPerCall int64
	// CallTimeout bounds a call whose ctx has no deadline, and the start of an
	// instance; 0 means 5 s.
	CallTimeout time.Duration
	// LogBytesPerSecond bounds what a module may write to the log by log,
	// stdout and stderr together; every line counts 64 bytes more than it has.
	// More is dropped and counted. 0 means 64 KiB.
	LogBytesPerSecond int
	// Guard is GuardFuel unless set.
	Guard Guard
	// Interpreter runs what Interpret is given; nil is none.
	Interpreter *drive.Interpreter
	// Dialects are other borders that files may have; none has a module that is imported here anyway.
	Dialects []drive.Dialect
	// Host answers host calls; nil answers none.
	Host module.HostCalls
	// Log gets what modules write and what becomes of them; nil drops it.
	Log *slog.Logger
}

// The defaults of Config.
const (
	defaultMaxMemory   = 64 << 20
	defaultCacheSize   = 256 << 20
	defaultCallTimeout = 5 * time.Second
	defaultLogRate     = 64 << 10
)

// pageSize is WebAssembly's unit of memory in bytes.
const pageSize = 64 << 10

// slice is how many units a guest runs between two ticks: a third of a
// millisecond, which bounds how long it can hold up a garbage collection.
const slice = 100_000

// check fills defaults in and refuses what makes no sense.
func (c Config) check() (Config, error) {
	c.MaxMemory = cmp.Or(c.MaxMemory, defaultMaxMemory)
	c.CacheSize = cmp.Or(c.CacheSize, defaultCacheSize)
	if c.FuelPerCall == 0 || c.FuelPerCall > 0 && c.Guard == GuardContext {
		c.FuelPerCall = meter.Budget
	}
	c.CallTimeout = cmp.Or(c.CallTimeout, defaultCallTimeout)
	c.LogBytesPerSecond = cmp.Or(c.LogBytesPerSecond, defaultLogRate)
	c.Guard = cmp.Or(c.Guard, GuardFuel)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.MaxMemory < pageSize || c.MaxMemory > 1<<32:
		return c, fmt.Errorf("wasm: memory limit of %d bytes is outside %d..%d", c.MaxMemory, pageSize, int64(1<<32))
	case c.FuelPerCall < 0:
		return c, fmt.Errorf("wasm: negative fuel %d", c.FuelPerCall)
	case c.CallTimeout < 0:
		return c, fmt.Errorf("wasm: negative call timeout %v", c.CallTimeout)
	case c.LogBytesPerSecond < 0:
		return c, fmt.Errorf("wasm: negative log rate %d", c.LogBytesPerSecond)
	case c.Guard != GuardFuel && c.Guard != GuardContext && c.Guard != guardNone:
		return c, fmt.Errorf("wasm: guard %q is neither %q nor %q", c.Guard, GuardFuel, GuardContext)
	}
	return c, nil
}

// Engine loads .wasm files. It is safe for concurrent use.
type Engine struct {
	cfg      Config
	runtime  wazero.Runtime
	compiles bool                    // runtime runs machine code
	quick    wazero.Runtime          // interprets what is not compiled yet; nil: everybody waits
	cache    wazero.CompilationCache // of runtime, where it runs machine code, and so are:
	store    *codecache.Store
	queue    *compiler.Queue
	born     time.Time // zero of the guests' monotonic clock

	preparing   chan struct{}  // holds one token while a file is rewritten or interpreted
	quickStarts chan struct{}  // holds a token for each module that starts for the first time
	slowStarts  chan struct{}  // and one for each that takes longer than most
	loading     sync.Mutex     // while code is taken out of the cache
	busy        sync.WaitGroup // whatever runs beside a Load
	closing     chan struct{}
	asleep      *snapshot.Shelf[*Module, drive.Driver]

	mu      sync.Mutex
	closed  bool
	modules map[*Module]struct{}
	forms   map[codecache.Key]*form // machine code that is loaded
	crowded bool                    // it is more than the cache may have, and the log says so

	used      atomic.Int64 // counts calls
	loaded    atomic.Int64 // counts what was loaded or given back
	short     bool         // of memory; tend's own
	instances atomic.Int64 // alive now
	reserved  atomic.Int64 // bytes of address space the allocator holds now
}

var (
	_ module.Engine    = (*Engine)(nil)
	_ module.Closer    = (*Engine)(nil)
	_ module.Forgetter = (*Engine)(nil)
)

// New makes an engine. Close it to release compiled code and the cache.
//
// # Errors
//
// It fails for a Config out of range, for a CacheDir that others may write to,
// and where the system forbids to make memory executable (systemd's
// MemoryDenyWriteExecute). Where wazero has no compiler for the machine it
// interprets, 40-100 times slower, and says so in the log.
func New(cfg Config) (*Engine, error) {
	if cfg.Guard == guardNone {
		return nil, errors.New(`wasm: guard "none" is not offered: a busy guest would stop the daemon`)
	}
	e, err := newEngine(cfg, true)
	if err != nil {
		return nil, err
	}
	if err := e.startQuick(); err != nil {
		return nil, errors.Join(err, e.Close(context.Background()))
	}
	return e, nil
}

// newEngine is New without its refusal of guardNone and without the help of the
// interpreter; compile false asks for nothing but the interpreter.
func newEngine(cfg Config, compile bool) (*Engine, error) {
	ignored := cfg.FuelPerCall > 0 && cfg.Guard == GuardContext
	cfg, err := cfg.check()
	if err != nil {
		return nil, err
	}
	e := &Engine{
		cfg:         cfg,
		born:        time.Now(),
		preparing:   make(chan struct{}, 1),
		quickStarts: make(chan struct{}, quickStarts),
		slowStarts:  make(chan struct{}, slowStarts),
		closing:     make(chan struct{}),
		asleep:      snapshot.New[*Module, drive.Driver](asleepTotal, asleepOne),
		modules:     make(map[*Module]struct{}),
		forms:       make(map[codecache.Key]*form),
	}
	if err := e.startRuntime(compile); err != nil {
		return nil, err
	}
	if ignored {
		cfg.Log.Warn("the wasm guard is context: the fuel budget of calls is not enforced")
	}
	e.busy.Go(e.tend)
	return e, nil
}

// Name is "wasm".
func (e *Engine) Name() string { return "wasm" }

// Match takes what ends in ".wasm".
func (e *Engine) Match(file string) (name string, ok bool) { return strings.CutSuffix(file, ".wasm") }

// Close closes every module still open, as their Close does, and then the
// engine; Load is refused from its start on. A compile under way ends with its
// process. It must be called once.
//
// # Errors
//
// When a host function does not return after ctx has ended, its module and the
// engine stay in memory, for code and memory must not go away under a guest;
// the error says so.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if !e.closed {
		close(e.closing)
	}
	e.closed = true
	e.mu.Unlock()

	if e.queue != nil {
		e.queue.Close()
	}
	open := e.open()
	errs := make([]error, len(open))
	var wg sync.WaitGroup
	for i, m := range open {
		wg.Go(func() { errs[i] = m.Close(ctx) })
	}
	wg.Wait()
	e.busy.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("wasm: close engine: %w", err)
	}
	return e.closeRuntime(context.WithoutCancel(ctx))
}

var errClosing error = abi.Errorf(abi.CodeUnavailable, "the engine is closing")

// add registers m, or refuses it when the engine has closed meanwhile.
func (e *Engine) add(m *Module) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errClosing
	}
	e.modules[m] = struct{}{}
	return nil
}

func (e *Engine) remove(m *Module) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.modules, m)
}
