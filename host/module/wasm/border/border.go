// Package border says whether a file of WebAssembly may be a module: what it imports, what it exports, of which types. And it
// reads what one says.
//
// It never runs or compiles one, and it does not know what stands behind an import.
package border

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module/wasm/fuel"
	"github.com/companiond/companiond/host/module/wasm/sig"
	"github.com/companiond/companiond/host/module/wasm/wasi"
)

// Known are the types of all functions that a file may import, by module.name.
type Known map[string]string

// Rules are what a file is held to.
type Rules struct {
	Known  Known
	Export string // the function that it has to export; "" is none, and then it may be a command
}

// pageSize is WebAssembly's unit of memory in bytes.
const pageSize = 64 << 10

// Check refuses, before the cost of compiling it, a file that cannot be a companion: it breaks the rules for a file that
// imports what it imports, or asks for more bytes of memory than an instance may have.
func Check(data []byte, most int64, rules func([]fuel.Import) Rules) (m fuel.Module, err error) {
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
		return m, Unreadable(err)
	}
	r := rules(m.Imports)
	if err := checkImports(m.Imports, r.Known); err != nil {
		return m, err
	}
	if least := int64(m.Pages) * pageSize; least > most {
		return m, abi.Errorf(abi.CodeTooLarge, "the module asks for %d bytes of memory at its start, at most %d are allowed (wasm.memory)", least, most)
	}
	return m, checkExports(m, r.Export)
}

func checkExports(m fuel.Module, export string) error {
	if _, command := m.Exports["_start"]; command && export != "" {
		return abi.Errorf(abi.CodeInvalid, "the module is a command (it exports _start), which ends when it has started; "+
			"build a reactor instead: for Go with -buildmode=c-shared, for Rust as cdylib, for C with -mexec-model=reactor")
	}
	if kind, ok := m.Exports["memory"]; !ok || kind != fuel.KindMemory {
		return abi.Errorf(abi.CodeInvalid, `the module does not export its memory as "memory"`)
	}
	if kind, ok := m.Exports[export]; export != "" && (!ok || kind != fuel.KindFunction) {
		return abi.Errorf(abi.CodeInvalid, "the module does not export the function %s(i32) -> i32; every companion must", export)
	}
	return nil
}

// checkImports names everything a module imports that nobody exports.
func checkImports(imports []fuel.Import, known Known) error {
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

// Signatures refuses imports and exports whose types are not as agreed.
func Signatures(c wazero.CompiledModule, known Known) error {
	for _, def := range c.ImportedFunctions() {
		mod, name, _ := def.Import()
		if got, want := sig.Of(def), known[mod+"."+name]; got != want {
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

// Unreadable says what is wrong with a file that package fuel cannot read.
func Unreadable(err error) error {
	switch {
	case errors.Is(err, fuel.ErrUnsupported):
		return abi.Errorf(abi.CodeInvalid, "the module cannot be loaded: %w; abi/ABI.md says what a file may use: WebAssembly 2.0, and nothing newer", err)
	case errors.Is(err, fuel.ErrTooMuch):
		return abi.Errorf(abi.CodeTooLarge, "%w", err)
	}
	return abi.Errorf(abi.CodeInvalid, "the module is broken: %w", err)
}

// Prepare guards and bounds a file's code: it asks for leave every so many units, never for 0.
func Prepare(data []byte, units int32) (image []byte, err error) {
	if units > 0 {
		if data, err = fuel.Rewrite(data, units); err != nil {
			return nil, Unreadable(err)
		}
	}
	if data, err = fuel.BoundTables(data); err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "the module cannot be loaded: %w", err)
	}
	if data, err = fuel.MergeData(data); err != nil {
		return nil, Unreadable(err)
	}
	return data, nil
}
