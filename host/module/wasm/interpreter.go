package wasm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/guestlog"
	"github.com/companiond/companiond/host/module/wasm/border"
	"github.com/companiond/companiond/host/module/wasm/drive"
	"github.com/companiond/companiond/host/module/wasm/fuel"
	"github.com/companiond/companiond/host/module/wasm/sig"
)

// modulesOf are those that files with a dialect import from.
func modulesOf(d drive.Dialect) (all []hostModule) {
	for name, imports := range d.Imports {
		all = append(all, hostModule{name, driven(imports)})
	}
	return all
}

// way is how a module's instances are asked.
type way struct {
	kind    string              // the engine that it is of, by name
	drive   func() drive.Driver // nil: by abi.Export
	globals []string            // Interpreter.Globals
	rules   border.Rules        // nothing where the file is the daemon's own
}

// way gives that of a file which imports all this.
func (e *Engine) way(imports []fuel.Import, s module.Source) *way {
	known := hostModules(e.cfg.Guard)
	for _, d := range e.cfg.Dialects {
		if slices.ContainsFunc(imports, func(i fuel.Import) bool { return d.Imports[i.Module] != nil }) {
			return &way{kind: e.Name(), drive: func() drive.Driver { return d.Drive(s) }, rules: border.Rules{Known: importable(append(known, modulesOf(d)...))}}
		}
	}
	return &way{kind: e.Name(), rules: border.Rules{Known: importable(known), Export: abi.Export}}
}

// guest is an instance as its driver sees it.
type guest struct{ i *instance }

var _ drive.Guest = guest{}

func (g guest) Call(name string, args ...uint64) (uint32, error) {
	f := g.i.hot[name]
	if f == nil {
		if f = g.i.guest.ExportedFunction(name); f == nil {
			return 0, fmt.Errorf("the module does not export %s", name)
		}
		if g.i.hot != nil { // each has a stack of its own, too large for what is called once
			g.i.hot[name] = f
		}
	}
	stack := append(make([]uint64, 0, 8), args...)[:8]
	err := f.CallWithStack(g.i.ctx, stack)
	return uint32(stack[0]), err
}

func (g guest) Exports() map[string]string {
	types := map[string]string{}
	for name, f := range g.i.guest.ExportedFunctionDefinitions() {
		types[name] = sig.Of(f)
	}
	return types
}

func (g guest) Copied(n int) { g.i.charge(n / bytesOfUnit) }

func (g guest) Read(at, n uint32) []byte {
	view, ok := g.i.guest.Memory().Read(at, n)
	if !ok {
		return nil
	}
	g.i.charge(int(n) / bytesOfUnit)
	return append(make([]byte, 0, n), view...)
}

func (g guest) Write(at uint32, b []byte) bool {
	g.i.charge(len(b) / bytesOfUnit)
	return g.i.guest.Memory().Write(at, b)
}

func (g guest) Alike() { g.i.m.engine.asleep.Base(g.i.guest) }

func (g guest) Ask(ask []byte) (answer []byte) { return g.i.ask(ask, len(ask)) }

func (g guest) Log(level abi.Level, line string) {
	g.i.m.said.Line(guestlog.Level(level), "log", []byte(line)[:min(len(line), maxLog)])
}

// last is what a driver is left to say where a guest was that hangs.
const last = 30 * time.Millisecond

func (g guest) Nearly() bool { return g.i.did.Nearly() || time.Until(g.i.deadline) < last }

func (g guest) Stopped(where string) error {
	if g.i.did.Nearly() {
		return &stop{module.FaultFuel, fmt.Errorf("it computes for too long: %s", where)}
	}
	return &stop{module.FaultTimeout, fmt.Errorf("%w: %s", context.DeadlineExceeded, where)}
}

// MemoryLimit is how many bytes an instance may have.
func (e *Engine) MemoryLimit() int64 { return e.cfg.MaxMemory }

// Interpret makes a module of a source for Config.Interpreter: each of its instances has a driver of its own. In all else it is
// as Load.
func (e *Engine) Interpret(ctx context.Context, s module.Source, drive func() drive.Driver) (module.Module, error) {
	about, err := fuel.Inspect(e.cfg.Interpreter.Image)
	if err != nil {
		return nil, border.Unreadable(err)
	}
	return e.load(ctx, s, e.cfg.Interpreter.Image, about.Weight, &way{kind: e.cfg.Interpreter.Name, drive: drive, globals: e.cfg.Interpreter.Globals})
}
