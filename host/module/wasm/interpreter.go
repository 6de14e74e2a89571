package wasm

import (
	"context"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/guestlog"
	"github.com/companiond/companiond/host/module/wasm/border"
	"github.com/companiond/companiond/host/module/wasm/fuel"
)

// Interpreter is a file of WebAssembly that runs sources which are none, such as one of JavaScript. It is the daemon's own,
// and may import functions of "env" that others may not; its instances are bounded as all are.
type Interpreter struct {
	Name    string // of the engine, for what it runs
	Image   []byte
	Imports []Import
	// Globals are the exported globals of type i32 in which, beside its memory, all stands that an instance has of its own while it is
	// not called. Such instances are put to sleep. nil: there is more, and they are not.
	Globals []string
}

// Import is a function of "env" that an interpreter imports. Its types are a letter each, i for i32.
type Import struct {
	Name, Params, Results string
	Run                   func(d Driver, stack []uint64)
}

// Driver speaks with one instance of an interpreter, which has a source.
type Driver interface {
	// Start readies the instance. An [*abi.Error] says what is wrong with the source; others are the guest's.
	Start(g *Guest) error
	// Call hands the source a request, and gives its reply. Errors are the guest's, which loses its instance.
	Call(request []byte) (reply []byte, err error)
	// Resume has it go on with another instance, which has all that the one before had; with nil, with none until then.
	Resume(g *Guest)
}

// Guest is an instance as its driver sees it, while it starts or is called.
type Guest struct{ i *instance }

// Call calls an export, and gives its result, 0 where it has none.
func (g *Guest) Call(name string, args ...uint64) (uint32, error) {
	f := g.i.hot[name]
	if f == nil {
		if f = g.i.guest.ExportedFunction(name); f == nil {
			return 0, fmt.Errorf("the interpreter does not export %s", name)
		}
		if g.i.hot != nil { // each has a stack of its own, too large for what is called once
			g.i.hot[name] = f
		}
	}
	stack := append(make([]uint64, 0, 8), args...)[:8]
	err := f.CallWithStack(g.i.ctx, stack)
	return uint32(stack[0]), err
}

// Read copies n bytes of memory, nil where there are none.
func (g *Guest) Read(at, n uint32) []byte {
	view, ok := g.i.guest.Memory().Read(at, n)
	if !ok {
		return nil
	}
	g.i.charge(int(n) / bytesOfUnit)
	return append(make([]byte, 0, n), view...)
}

// Write writes to memory, and says whether there was room.
func (g *Guest) Write(at uint32, b []byte) bool {
	g.i.charge(len(b) / bytesOfUnit)
	return g.i.guest.Memory().Write(at, b)
}

// Alike says that about the same stands in memory now in all instances: of one that sleeps is kept what differs from that.
func (g *Guest) Alike() { g.i.m.engine.asleep.Base(g.i.guest) }

// Ask asks the host, as host_call does.
func (g *Guest) Ask(ask []byte) (answer []byte) { return g.i.ask(ask, len(ask)) }

// Log writes a line to the daemon's log.
func (g *Guest) Log(level abi.Level, line string) {
	g.i.m.said.Line(guestlog.Level(level), "log", []byte(line)[:min(len(line), maxLog)])
}

// last is what a driver is left to say where a guest was that hangs.
const last = 30 * time.Millisecond

// Nearly says whether the guest has nearly done what it may, or its time is nearly over.
func (g *Guest) Nearly() bool { return g.i.did.Nearly() || time.Until(g.i.deadline) < last }

// Stopped is the error of a guest that was stopped because of that, with where it was.
func (g *Guest) Stopped(where string) error {
	if g.i.did.Nearly() {
		return &stop{module.FaultFuel, fmt.Errorf("it computes for too long: %s", where)}
	}
	return &stop{module.FaultTimeout, fmt.Errorf("%w: %s", context.DeadlineExceeded, where)}
}

// MemoryLimit is how many bytes an instance may have.
func (e *Engine) MemoryLimit() int64 { return e.cfg.MaxMemory }

// Interpret makes a module of a source for Config.Interpreter: each of its instances has a driver of its own. In all else it is
// as Load.
func (e *Engine) Interpret(ctx context.Context, s module.Source, drive func() Driver) (module.Module, error) {
	about, err := fuel.Inspect(e.cfg.Interpreter.Image)
	if err != nil {
		return nil, border.Unreadable(err)
	}
	return e.load(ctx, s, e.cfg.Interpreter.Image, about.Weight, drive)
}
