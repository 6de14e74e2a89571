package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/fuel"
	"github.com/companiond/companiond/host/module/wasm/sig"
	"github.com/companiond/companiond/host/module/wasm/wasi"
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
	about, err := e.checkFile(s.Data)
	if err != nil {
		e.loaded.Add(1)
		return nil, err
	}
	return e.load(ctx, s, s.Data, about.Weight, nil)
}

// load makes a module of an image, whose instances have drivers where it is an interpreter.
func (e *Engine) load(ctx context.Context, s module.Source, image []byte, weight int64, drive func() Driver) (module.Module, error) {
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
		return e.begin(ctx, s, f, nil, drive)
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
		return e.begin(ctx, s, f, nil, drive)
	}
	m, err := e.begin(ctx, s, f, sought, drive)
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
		return e.begin(ctx, s, r.form, nil, drive)
	case <-ctx.Done():
		e.abandon(sought)
		return nil, err
	}
}

// begin makes a module of code that is there, and has it change over to what is sought;
// nil is nothing. The form is given back where it does not start.
func (e *Engine) begin(ctx context.Context, s module.Source, f *form, sought *job, drive func() Driver) (module.Module, error) {
	m := e.newModule(s, f)
	if m.drive, m.kind = drive, e.Name(); drive != nil {
		m.kind = e.cfg.Interpreter.Name
	}
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
	if m.drive == nil {
		if err := checkSignatures(m.form.compiled, m.engine.cfg.Guard); err != nil {
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

// checkFile refuses, before the cost of compiling it, a file that cannot be a
// companion.
func (e *Engine) checkFile(data []byte) (m fuel.Module, err error) {
	switch {
	case len(data) == 0:
		return m, abi.Errorf(abi.CodeInvalid, "the file is empty")
	case len(data) < len(fuel.Header) || string(data[:4]) != fuel.Header[:4]:
		return m, abi.Errorf(abi.CodeInvalid, `the file is no WebAssembly: it does not begin with "\0asm" and a version`)
	case string(data[4:8]) == "\x0d\x00\x01\x00":
		return m, abi.Errorf(abi.CodeInvalid, "the file is a WebAssembly component; build a core module instead")
	case string(data[:8]) != fuel.Header:
		return m, abi.Errorf(abi.CodeInvalid, "the file is WebAssembly of unknown version % x", data[4:8])
	}
	if m, err = fuel.Inspect(data); err != nil {
		return m, unreadable(err)
	}
	if err := checkImports(m.Imports, e.cfg.Guard); err != nil {
		return m, err
	}
	if least := int64(m.Pages) * pageSize; least > e.cfg.MaxMemory {
		return m, abi.Errorf(abi.CodeTooLarge, "the module asks for %d bytes of memory at its start, at most %d are allowed (wasm.memory)", least, e.cfg.MaxMemory)
	}
	return m, checkExports(m)
}

func checkExports(m fuel.Module) error {
	if _, command := m.Exports["_start"]; command {
		return abi.Errorf(abi.CodeInvalid, "the module is a command (it exports _start), which ends when it has started; "+
			"build a reactor instead: for Go with -buildmode=c-shared, for Rust as cdylib, for C with -mexec-model=reactor")
	}
	if kind, ok := m.Exports["memory"]; !ok || kind != fuel.KindMemory {
		return abi.Errorf(abi.CodeInvalid, `the module does not export its memory as "memory"`)
	}
	if kind, ok := m.Exports[abi.Export]; !ok || kind != fuel.KindFunction {
		return abi.Errorf(abi.CodeInvalid, "the module does not export the function %s(i32) -> i32; every companion must", abi.Export)
	}
	return nil
}

// checkImports names everything a module imports that nobody exports.
func checkImports(imports []fuel.Import, guard Guard) error {
	known := importable(guard)
	var unknown []string
	for _, i := range imports {
		kind := [...]string{"function", "table", "memory", "global"}[i.Kind]
		if i.Kind != fuel.KindFunction || known[i.String()] == "" || i.Module == fuel.ImportModule {
			unknown = append(unknown, fmt.Sprintf("%s %.100q", kind, i.String()))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	const most = 20
	if rest := len(unknown) - most; rest > 0 {
		unknown = append(unknown[:most], fmt.Sprintf("and %d more", rest))
	}
	var may []string
	for name := range known {
		if f, ok := strings.CutPrefix(name, abi.Namespace+"."); ok {
			may = append(may, f)
		}
	}
	slices.Sort(may)
	return abi.Errorf(abi.CodeInvalid, "imports unknown %s; a module may import: the functions %s of %q, those of %q, and \"env.abort\"",
		strings.Join(unknown, ", "), strings.Join(may, ", "), abi.Namespace, wasi.Name)
}

// checkSignatures refuses imports and exports whose types are not as agreed.
func checkSignatures(c wazero.CompiledModule, guard Guard) error {
	want := importable(guard)
	for _, def := range c.ImportedFunctions() {
		mod, name, _ := def.Import()
		if got, want := sig.Of(def), want[mod+"."+name]; got != want {
			return abi.Errorf(abi.CodeInvalid, "imports %s.%s as %s, but it is %s", mod, name, got, want)
		}
	}
	exports := c.ExportedFunctions()
	for name, want := range map[string]string{abi.Export: "(i32) -> (i32)", "_initialize": "() -> ()"} {
		if def, ok := exports[name]; ok && sig.Of(def) != want {
			return abi.Errorf(abi.CodeInvalid, "exports %s as %s, but it must be %s", name, sig.Of(def), want)
		}
	}
	return nil
}
