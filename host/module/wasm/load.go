package wasm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/fuel"
)

// Load makes a module of a whole .wasm file: it checks the file, compiles it,
// starts an instance, and lets it describe itself.
//
// A file that takes long to compile is interpreted meanwhile, so that a saved
// change is heard at once; see [Module.Compiled].
//
// ctx bounds all of it, but a compile under way goes on behind a Load that has
// given up; the next one waits for it.
//
// # Errors
//
// abi.CodeInvalid, CodeTooLarge or CodeDenied say what is wrong with the file;
// CodeTimeout that ctx ended first; CodeUnavailable that the engine is closing.
func (e *Engine) Load(ctx context.Context, s module.Source) (module.Module, error) {
	if err := e.checkFile(s.Data); err != nil {
		return nil, err
	}
	image, err := e.prepare(s.Data)
	if err != nil {
		return nil, err
	}
	coming, err := e.compile(image)
	if err != nil {
		return nil, err
	}
	c, last, err := e.first(ctx, image, coming)
	if err != nil {
		return nil, err
	}
	m := e.newModule(s, c)
	if err := m.begin(ctx); err != nil {
		if !last {
			e.abandon(coming)
		}
		_ = m.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	if last {
		close(m.compiled)
	} else {
		e.compilers.Go(func() { m.upgrade(coming) })
	}
	return m, nil
}

// begin checks the compiled code and lets a first instance describe itself.
func (m *Module) begin(ctx context.Context) error {
	if err := checkSignatures(m.form.compiled, m.engine.cfg.Guard); err != nil {
		return err
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
	req := abi.Request{V: abi.Version, Op: abi.OpDescribe, ID: fmt.Sprintf("load-%s-%d", m.id, m.generation), Self: m.id}
	data, fault, err := m.callOnce(ctx, req, false)
	switch {
	case fault != nil && fault.Kind == module.FaultTimeout:
		return abi.Errorf(abi.CodeTimeout, "the module did not describe itself in time: %w", fault.Cause)
	case fault != nil:
		return abi.Errorf(abi.CodeInvalid, "the module failed when asked to describe itself: %s: %w", fault.Kind, fault.Cause)
	case err != nil:
		return abi.Errorf(abi.CodeInvalid, "the module answered describe with an error: %w", err)
	}
	m.desc, err = abi.ReadDescription(data)
	return err
}

// checkFile refuses, before the cost of compiling it, a file that cannot be a
// companion.
func (e *Engine) checkFile(data []byte) error {
	switch {
	case len(data) == 0:
		return abi.Errorf(abi.CodeInvalid, "the file is empty")
	case len(data) < len(fuel.Header) || string(data[:4]) != fuel.Header[:4]:
		return abi.Errorf(abi.CodeInvalid, `the file is no WebAssembly: it does not begin with "\0asm" and a version`)
	case string(data[4:8]) == "\x0d\x00\x01\x00":
		return abi.Errorf(abi.CodeInvalid, "the file is a WebAssembly component; build a core module instead")
	case string(data[:8]) != fuel.Header:
		return abi.Errorf(abi.CodeInvalid, "the file is WebAssembly of unknown version % x", data[4:8])
	}
	m, err := fuel.Inspect(data)
	if err != nil {
		return unreadable(err)
	}
	if m.Functions > fuel.MaxFunctions {
		return abi.Errorf(abi.CodeTooLarge, "the module has %d functions, at most %d are allowed", m.Functions, fuel.MaxFunctions)
	}
	if err := checkImports(m.Imports, e.cfg.Guard); err != nil {
		return err
	}
	return checkExports(m)
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
			unknown = append(unknown, fmt.Sprintf("%s %q", kind, i))
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
		strings.Join(unknown, ", "), strings.Join(may, ", "), abi.Namespace, wasiName)
}

// checkSignatures refuses imports and exports whose types are not as agreed.
func checkSignatures(c wazero.CompiledModule, guard Guard) error {
	want := importable(guard)
	for _, def := range c.ImportedFunctions() {
		mod, name, _ := def.Import()
		if got, want := typeOf(def), want[mod+"."+name]; got != want {
			return abi.Errorf(abi.CodeInvalid, "imports %s.%s as %s, but it is %s", mod, name, got, want)
		}
	}
	exports := c.ExportedFunctions()
	for name, want := range map[string]string{abi.Export: "(i32) -> (i32)", "_initialize": "() -> ()"} {
		if def, ok := exports[name]; ok && typeOf(def) != want {
			return abi.Errorf(abi.CodeInvalid, "exports %s as %s, but it must be %s", name, typeOf(def), want)
		}
	}
	return nil
}

func typeOf(def api.FunctionDefinition) string {
	return signature(def.ParamTypes(), def.ResultTypes())
}
