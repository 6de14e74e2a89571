package wasm

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/guestlog"
	"github.com/companiond/companiond/host/module/wasm/border"
	"github.com/companiond/companiond/host/module/wasm/drive"
	"github.com/companiond/companiond/host/module/wasm/fuel"
	"github.com/companiond/companiond/host/module/wasm/sig"
	"github.com/companiond/companiond/host/module/wasm/wasi"
)

// maxLog is how many bytes of one log call are looked at.
const maxLog = guestlog.MaxLine

// What host functions charge, in units of package fuel: 3 ns, as measured.
const (
	unitsOfImport   = 30      // of any, for the way out of machine code and back
	unitsOfHostCall = 100_000 // of one, which may be a transaction of the store
	unitsOfJSON     = 4       // a byte that is read or written as JSON
	bytesOfUnit     = 32      // that are copied
)

// hostModule is a module that guests import from.
type hostModule struct {
	name  string
	funcs []hostFunc
}

// hostFunc is one function guests may import. Its types are written one letter
// each: i for i32, l for i64.
type hostFunc struct {
	name            string
	params, results string
	run             func(i *instance, mem api.Memory, stack []uint64)
}

// hostModules lists everything there is to import under a guard.
func hostModules(guard Guard, more ...hostFunc) []hostModule {
	modules := []hostModule{
		{abi.Namespace, []hostFunc{
			{"read", "i", "", hostRead},
			{"write", "ii", "", hostWrite},
			{"host_call", "ii", "i", hostCall},
			{"log", "iii", "", hostLog},
		}},
		{"env", append([]hostFunc{{"abort", "iiii", "", hostAbort}}, more...)},
		{wasi.Name, wasiFuncs()},
	}
	if guard == GuardFuel {
		modules = append(modules, hostModule{fuel.ImportModule, []hostFunc{{fuel.ImportField, "", "i", hostTick}}})
	}
	return modules
}

// wasiFuncs lets an instance be the process that WASI's functions are for.
func wasiFuncs() []hostFunc {
	var funcs []hostFunc
	for _, f := range wasi.Funcs() {
		funcs = append(funcs, hostFunc{f.Name, f.Params, f.Results, func(i *instance, mem api.Memory, stack []uint64) { f.Run(&i.wasi, mem, stack) }})
	}
	return funcs
}

// importable gives the types of all functions of modules, by module.name.
func importable(modules []hostModule) border.Known {
	types := make(border.Known)
	for _, h := range modules {
		for _, f := range h.funcs {
			types[h.name+"."+f.name] = sig.Text(sig.Types(f.params), sig.Types(f.results))
		}
	}
	return types
}

// instantiate makes the module importable. Every function asks whether its
// call may go on before it does anything, and charges for it: a loop of calls to the
// host burns hardly any fuel, and host calls may each take long.
func (h hostModule) instantiate(ctx context.Context, rt wazero.Runtime) error {
	b := rt.NewHostModuleBuilder(h.name)
	for _, f := range h.funcs {
		run := f.run
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
			i := ctx.Value(instanceKey{}).(*instance)
			i.check()
			i.charge(unitsOfImport)
			run(i, m.Memory(), stack)
		}), sig.Types(f.params), sig.Types(f.results)).Export(f.name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

// hostTick is what a guest calls when its slice of fuel is gone.
func hostTick(i *instance, _ api.Memory, stack []uint64) {
	i.m.units.Add(slice)
	i.charge(slice)
	stack[0] = slice
}

// hostRead copies what is pending, the request or the last answer to
// host_call, to dst.
func hostRead(i *instance, mem api.Memory, stack []uint64) {
	dst := uint32(stack[0])
	i.charge(len(i.pending) / bytesOfUnit)
	if !mem.Write(dst, i.pending) {
		panic(trapf("read(%d): %d bytes do not fit in the module's memory there", dst, len(i.pending)))
	}
}

// hostWrite keeps a copy of the reply; a later one replaces it.
func hostWrite(i *instance, mem api.Memory, stack []uint64) {
	src, n := uint32(stack[0]), uint32(stack[1])
	if n > abi.MaxReply {
		panic(&stop{module.FaultReply, fmt.Errorf("reply of %d bytes, at most %d", n, abi.MaxReply)})
	}
	i.charge(int(n) / bytesOfUnit)
	view, ok := mem.Read(src, n)
	if !ok {
		panic(trapf("write(%d, %d): outside of the module's memory", src, n))
	}
	i.reply, i.replied = append(i.reply[:0], view...), true
}

// hostCall asks the host for the guest and makes the answer pending.
func hostCall(i *instance, mem api.Memory, stack []uint64) {
	src, n := uint32(stack[0]), uint32(stack[1])
	var ask []byte
	if n <= abi.MaxReply {
		view, ok := mem.Read(src, n)
		if !ok {
			panic(trapf("host_call(%d, %d): outside of the module's memory", src, n))
		}
		ask = view // decoding copies, and the guest stands still until then
	}
	i.pending = i.ask(ask, int(n))
	stack[0] = uint64(len(i.pending))
}

// ask asks the host for the guest something of n bytes; of more than it may, nothing else is told.
func (i *instance) ask(ask []byte, n int) (answer []byte) {
	if n > abi.MaxReply {
		ask = nil
	}
	i.charge(unitsOfHostCall + len(ask)*unitsOfJSON)
	answer = module.Asking{Calls: i.m.engine.cfg.Host, Loaded: i.asks, Log: i.m.log, By: module.Caller{
		Companion: i.m.id, Room: i.of.Room, Call: i.of.ID, Op: i.of.Op, Engine: i.m.way.kind, Generation: i.m.generation,
	}}.Answer(i.ctx, ask, n)
	i.check() // the host may have taken its time
	i.charge(len(answer) * unitsOfJSON)
	return answer
}

// hostLog writes a line to the daemon's log. Text over maxLog is cut.
func hostLog(i *instance, mem api.Memory, stack []uint64) {
	level, src, n := abi.Level(int32(stack[0])), uint32(stack[1]), uint32(stack[2])
	view, ok := mem.Read(src, n)
	if !ok {
		panic(trapf("log(%d, %d): outside of the module's memory", src, n))
	}
	i.m.said.Line(guestlog.Level(level), "log", view[:min(n, maxLog)])
}

// driven has drivers answer what is imported.
func driven(imports []drive.Import) (funcs []hostFunc) {
	for _, f := range imports {
		funcs = append(funcs, hostFunc{f.Name, f.Params, f.Results, func(i *instance, _ api.Memory, stack []uint64) {
			if i.driver == nil {
				panic(trapf("%s is called before the module has started", f.Name))
			}
			f.Run(i.driver, stack)
		}})
	}
	return funcs
}

// hostAbort is how AssemblyScript gives up.
func hostAbort(_ *instance, mem api.Memory, stack []uint64) {
	panic(trapf("abort: %s at %s:%d:%d", border.AssemblyString(mem, uint32(stack[0]), maxLog),
		border.AssemblyString(mem, uint32(stack[1]), maxLog), uint32(stack[2]), uint32(stack[3])))
}

// stop ends a guest: a host function panics with it, and wazero returns it
// wrapped from the guest's call.
type stop struct {
	kind  module.FaultKind
	cause error
}

func (s *stop) Error() string { return s.cause.Error() }
func (s *stop) Unwrap() error { return s.cause }

func trapf(format string, args ...any) *stop {
	return &stop{module.FaultTrap, fmt.Errorf(format, args...)}
}
