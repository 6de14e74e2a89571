package fuel_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/module/wasm/fuel"
)

// inFunction is a module with one function of two locals (one a parameter),
// two types, one global and one table, and the code given.
func inFunction(code ...[]byte) []byte {
	return module{
		types:  [][]byte{i32ToI32, noneToNone},
		tables: [][]byte{{funcref, 0, 1}}, memories: onePage,
		globals:   [][]byte{global(i32, 1, konst(0))},
		functions: []function{{typ: 0, runs: 1, locals: local(1, i32), code: join(code...)}},
	}.assemble()
}

func sectionsOf(parts ...[]byte) []byte { return join([]byte(header), join(parts...)) }

func TestRefused(t *testing.T) {
	long := func(b ...byte) []byte { return b }
	oneType := section(1, vector([][]byte{noneToNone}))
	oneFunc := section(3, []byte{1, 0})
	body := func(b ...byte) []byte { return section(10, join([]byte{1, byte(len(b))}, b)) }
	for _, c := range []struct {
		name string
		wasm []byte
		err  error
		text string
	}{
		{"nothing", nil, fuel.ErrMalformed, "version 1"},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), fuel.ErrMalformed, "version 1"},
		{"a half header", []byte("\x00asm\x01"), fuel.ErrMalformed, "version 1"},

		{"a section twice", sectionsOf(oneType, oneType), fuel.ErrMalformed, "type section twice"},
		{"sections in the wrong order", sectionsOf(section(3, []byte{0}), oneType), fuel.ErrMalformed, "out of order"},
		{"data count after code", sectionsOf(section(10, []byte{0}), section(12, []byte{0})), fuel.ErrMalformed, "out of order"},
		{"a section of tags", sectionsOf(section(13, []byte{0})), fuel.ErrUnsupported, "section id 13"},
		{"a section over the end", sectionsOf([]byte{1, 9, 0}), fuel.ErrMalformed, "9 bytes wanted"},
		{"an empty section", sectionsOf([]byte{1, 0}), fuel.ErrMalformed, "unexpected end"},
		{"a long section size", sectionsOf([]byte{1, 0x81, 0x80, 0x80, 0x80, 0x80, 0x00, 0}), fuel.ErrMalformed, "over 32 bits"},
		{"bytes after the types", sectionsOf(section(1, []byte{0, 0})), fuel.ErrMalformed, "1 bytes after the end"},
		{"bytes after the functions", sectionsOf(section(3, []byte{0, 0})), fuel.ErrMalformed, "function section"},
		{"bytes after the tables", sectionsOf(section(4, []byte{0, 0})), fuel.ErrMalformed, "table section"},
		{"bytes after the globals", sectionsOf(section(6, []byte{0, 0})), fuel.ErrMalformed, "global section"},
		{"bytes after the exports", sectionsOf(section(7, []byte{0, 0})), fuel.ErrMalformed, "export section"},
		{"bytes after the start", sectionsOf(oneType, oneFunc, section(8, []byte{0, 0}), body(0, opEnd)), fuel.ErrMalformed, "start section"},
		{"bytes after the elements", sectionsOf(section(9, []byte{0, 0})), fuel.ErrMalformed, "element section"},
		{"bytes after the bodies", sectionsOf(section(10, []byte{0, 0})), fuel.ErrMalformed, "code section"},
		{"bytes after the data", sectionsOf(section(11, []byte{0, 0})), fuel.ErrMalformed, "data section"},
		{"bytes after the data count", sectionsOf(section(12, []byte{0, 0})), fuel.ErrMalformed, "data count section"},
		{"more functions than bodies", sectionsOf(oneType, oneFunc), fuel.ErrMalformed, "1 functions, 0 bodies"},
		{"more bodies than functions", sectionsOf(oneType, body(0, opEnd)), fuel.ErrMalformed, "0 functions, 1 bodies"},

		{"a type of a structure", sectionsOf(section(1, []byte{1, 0x5f, 0})), fuel.ErrUnsupported, "form 0x5f"},
		{"an exnref parameter", sectionsOf(section(1, []byte{1, 0x60, 1, 0x69, 0})), fuel.ErrUnsupported, "value type 0x69"},
		{"1001 results", sectionsOf(section(1, vector([][]byte{typ(nil, repeat(1001, long(i32)))}))), fuel.ErrUnsupported, "1001 parameters"},
		{"an import of our module", module{types: [][]byte{noneToI32}, imports: [][]byte{importFunc(fuel.ImportModule, fuel.ImportField, 0)}}.assemble(), fuel.ErrReserved, fuel.ImportModule},
		{"an import of another field", module{types: [][]byte{noneToI32}, imports: [][]byte{importFunc(fuel.ImportModule, "x", 0)}}.assemble(), fuel.ErrReserved, fuel.ImportModule},
		{"an export of our name", module{memories: onePage, exports: []export{{fuel.ImportModule, 2, 0}}}.assemble(), fuel.ErrReserved, "export"},
		{"an imported tag", module{imports: [][]byte{join(name("m"), name("t"), []byte{4, 0, 0})}}.assemble(), fuel.ErrUnsupported, "kind 4"},
		{"an exported tag", module{exports: []export{{"t", 4, 0}}}.assemble(), fuel.ErrUnsupported, "kind 4"},
		{"a shared memory", module{memories: [][]byte{{3, 1, 1}}}.assemble(), fuel.ErrUnsupported, "flags 0x3"},
		{"a 64-bit memory", module{memories: [][]byte{{4, 1}}}.assemble(), fuel.ErrUnsupported, "flags 0x4"},
		{"a 64-bit table", module{tables: [][]byte{{funcref, 4, 1}}}.assemble(), fuel.ErrUnsupported, "flags 0x4"},
		{"an imported shared memory", module{imports: [][]byte{join(name("m"), name("m"), []byte{2, 3, 1, 1})}}.assemble(), fuel.ErrUnsupported, "flags 0x3"},
		{"two memories", module{memories: [][]byte{{0, 1}, {0, 1}}}.assemble(), fuel.ErrUnsupported, "second memory"},
		{"a table with an initial value", module{tables: [][]byte{{0x40, 0, funcref, 0, 1, 0xd0, funcref, opEnd}}}.assemble(), fuel.ErrUnsupported, "reference type 0x40"},
		{"a shared global", module{globals: [][]byte{global(i32, 3, konst(0))}}.assemble(), fuel.ErrMalformed, "mutability 0x3"},
		{"arithmetic in a constant", module{globals: [][]byte{global(i32, 0, join(konst(0), konst(0), []byte{0x6a}))}}.assemble(), fuel.ErrUnsupported, "more than one instruction"},
		{"a call in a constant", module{globals: [][]byte{global(i32, 0, op(opCall, 0))}}.assemble(), fuel.ErrUnsupported, "opcode 0x10 in a constant"},
		{"an element segment of a ninth form", module{elements: [][]byte{{8}}}.assemble(), fuel.ErrUnsupported, "flags 0x8"},
		{"an element kind", module{elements: [][]byte{{1, 1, 0}}}.assemble(), fuel.ErrUnsupported, "element kind"},
		{"a data segment of a fourth form", module{datas: [][]byte{{3}}}.assemble(), fuel.ErrUnsupported, "flags 0x3"},

		{"a type index of a function", sectionsOf(oneType, section(3, []byte{1, 1}), body(0, opEnd)), fuel.ErrMalformed, "type index 1 of 1"},
		{"a type index of an import", module{types: [][]byte{noneToNone}, imports: [][]byte{importFunc("m", "f", 1)}}.assemble(), fuel.ErrMalformed, "type index 1 of 1"},
		{"a type index of a block", inFunction([]byte{opBlock, 2, opEnd}), fuel.ErrMalformed, "type index 2 of 2"},
		{"a type index of a call", inFunction(op(0x11, 2, 0)), fuel.ErrMalformed, "type index 2 of 2"},
		{"a function index of a call", inFunction(op(opCall, 1)), fuel.ErrMalformed, "function index 1 of 1"},
		{"a function index of ref.func", inFunction(op(0xd2, 1)), fuel.ErrMalformed, "function index 1 of 1"},
		{"a function index of an export", module{exports: []export{{"f", 0, 0}}}.assemble(), fuel.ErrMalformed, "function index 0 of 0"},
		{"a function index of the start", module{start: ptr(0)}.assemble(), fuel.ErrMalformed, "function index 0 of 0"},
		{"a function index of an element", module{elements: [][]byte{{1, 0, 1, 0}}}.assemble(), fuel.ErrMalformed, "function index 0 of 0"},
		{"a function index of a constant", module{globals: [][]byte{global(funcref, 0, op(0xd2, 0))}}.assemble(), fuel.ErrMalformed, "function index 0 of 0"},
		{"a global index of get", inFunction(op(opGlobalGet, 1)), fuel.ErrMalformed, "global index 1 of 1"},
		{"a global index of set", inFunction(op(opGlobalSet, 1)), fuel.ErrMalformed, "global index 1 of 1"},
		{"a global index of an export", module{exports: []export{{"fuel", 3, 0}}}.assemble(), fuel.ErrMalformed, "global index 0 of 0"},
		{"a global index of a constant", module{memories: onePage, datas: [][]byte{join([]byte{0}, op(opGlobalGet, 0), []byte{opEnd, 0})}}.assemble(), fuel.ErrMalformed, "global index 0 of 0"},
		{"a local index of get", inFunction(op(opLocalGet, 2)), fuel.ErrMalformed, "local index 2 of 2"},
		{"a local index of set", inFunction(op(opLocalSet, 2), misc(11, 0)), fuel.ErrMalformed, "local index 2 of 2"},
		{"a local index of tee", inFunction(op(opLocalTee, 2)), fuel.ErrMalformed, "local index 2 of 2"},
		{"a label index", inFunction(op(opBr, 1)), fuel.ErrMalformed, "label index 1 of 1"},
		{"a label index of a table", inFunction(op(opBrTable, 1, 0, 1)), fuel.ErrMalformed, "label index 1 of 1"},

		{"an unknown opcode", inFunction([]byte{0x27}), fuel.ErrUnsupported, "opcode 0x27"},
		{"return_call", inFunction(op(0x12, 0)), fuel.ErrUnsupported, "opcode 0x12 (tail calls)"},
		{"return_call_indirect", inFunction(op(0x13, 0, 0)), fuel.ErrUnsupported, "opcode 0x13 (tail calls)"},
		{"call_ref", inFunction(op(0x14, 0)), fuel.ErrUnsupported, "opcode 0x14 (typed function references)"},
		{"try_table", inFunction([]byte{0x1f}), fuel.ErrUnsupported, "opcode 0x1f (exception handling)"},
		{"struct.new", inFunction([]byte{0xfb, 0, 0}), fuel.ErrUnsupported, "opcode 0xfb (garbage collection)"},
		{"memory.atomic.notify", inFunction([]byte{0xfe, 0, 2, 0}), fuel.ErrUnsupported, "opcode 0xfe (threads)"},
		{"an unknown bulk operation", inFunction(misc(18)), fuel.ErrUnsupported, "opcode 0xfc 0x12"},
		{"a bulk operation in a long form", inFunction([]byte{0xfc, 0x8b, 0, 0}), fuel.ErrUnsupported, "opcode 0xfc 0x8b"},
		{"a vector operation never assigned", inFunction(vec(0x9a)), fuel.ErrUnsupported, "opcode 0xfd 0x9a"},
		{"a relaxed vector operation", inFunction(vec(0x100)), fuel.ErrUnsupported, "opcode 0xfd 0x100"},
		{"a vector operation in a long form", inFunction([]byte{0xfd, 0x83, 0}), fuel.ErrUnsupported, "long form"},
		{"an even longer one", inFunction([]byte{0xfd, 0xa0, 0x81, 0}), fuel.ErrUnsupported, "long form"},
		{"a load from a second memory", inFunction(op(0x28, 0x42, 0, 0)), fuel.ErrUnsupported, "memory index"},
		{"memory.grow of a second memory", inFunction(op(0x40, 1)), fuel.ErrUnsupported, "memory index"},
		{"memory.copy to a second memory", inFunction(misc(10, 1, 0)), fuel.ErrUnsupported, "memory index"},
		{"memory.fill of a second memory", inFunction(misc(11, 1)), fuel.ErrUnsupported, "memory index"},
		{"a block of a structure", inFunction([]byte{opBlock, 0x6b, opEnd}), fuel.ErrUnsupported, "block of type"},
		{"an empty block in a long form", inFunction([]byte{opBlock, 0xc0, 0x7f, opEnd}), fuel.ErrUnsupported, "block of type -64"},
		{"select of two types", inFunction([]byte{0x1c, 2, i32, i32}), fuel.ErrUnsupported, "select"},
		{"a typed null", inFunction([]byte{0xd0, 0}), fuel.ErrUnsupported, "reference type 0x0"},

		{"a body without end", sectionsOf(oneType, oneFunc, body(0)), fuel.ErrMalformed, "unexpected end"},
		{"an open block", inFunction([]byte{opBlock, void}), fuel.ErrMalformed, "unexpected end"},
		{"an end too many", inFunction([]byte{opEnd}), fuel.ErrMalformed, "after the end"},
		{"code after the end", inFunction([]byte{opEnd, 0x01}), fuel.ErrMalformed, "after the end"},
		{"else without if", inFunction([]byte{opElse}), fuel.ErrMalformed, "else without if"},
		{"else twice", inFunction(konst(0), []byte{opIf, void, opElse, opElse, opEnd}), fuel.ErrMalformed, "else without if"},
		{"else in a block in an if", inFunction(konst(0), []byte{opIf, void, opBlock, void, opElse, opEnd, opEnd}), fuel.ErrMalformed, "else without if"},
		{"a cut constant", sectionsOf(oneType, oneFunc, body(0, opI32Const)), fuel.ErrMalformed, "unexpected end"},
		{"an i32 of six bytes", inFunction([]byte{opI32Const, 0x80, 0x80, 0x80, 0x80, 0x80, 0}), fuel.ErrMalformed, "over 32 bits"},
		{"an i32 of 33 bits", inFunction([]byte{opI32Const, 0xff, 0xff, 0xff, 0xff, 0x0f}), fuel.ErrMalformed, "over 32 bits"},
		{"an i64 of 65 bits", inFunction([]byte{0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}), fuel.ErrMalformed, "over 64 bits"},
		{"an index of 33 bits", inFunction([]byte{opLocalGet, 0x80, 0x80, 0x80, 0x80, 0x10}), fuel.ErrMalformed, "over 32 bits"},
		{"a vast br_table", inFunction([]byte{opBrTable, 0xff, 0xff, 0xff, 0xff, 0x0f}), fuel.ErrMalformed, "vector of 4294967295 elements"},
		{"50001 locals", sectionsOf(oneType, oneFunc, body(1, 0xd1, 0x86, 0x03, i32, opEnd)), fuel.ErrUnsupported, "over 50000 locals"},
		{"locals beyond 32 bits", sectionsOf(oneType, oneFunc, body(2, 0xff, 0xff, 0xff, 0xff, 0x0f, i32, 1, i32, opEnd)), fuel.ErrUnsupported, "over 50000 locals"},
		{"a local of no type", sectionsOf(oneType, oneFunc, body(1, 1, 0x40, opEnd)), fuel.ErrUnsupported, "value type 0x40"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := fuel.Rewrite(c.wasm, 100)
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %q, want %q with %q", err, c.err, c.text)
			}
			if out != nil {
				t.Error("bytes with an error")
			}
		})
	}
}

func TestNegativeSliceIsRefused(t *testing.T) {
	if out, err := fuel.Rewrite([]byte(header), -1); err == nil || out != nil {
		t.Errorf("Rewrite with slice -1 = %d bytes, %v", len(out), err)
	}
}

// The function's index counts imports, the offset is that of the opcode.
func TestErrorsNameThePlace(t *testing.T) {
	wasm := module{
		types: [][]byte{noneToNone}, imports: [][]byte{importFunc("m", "f", 0)},
		functions: []function{{}, {code: []byte{0x01, 0xfe, 0x03}}},
	}.assemble()
	_, err := fuel.Rewrite(wasm, 1)
	at := bytes.IndexByte(wasm, 0xfe)
	want := fmt.Sprintf("fuel: code section: function 2: offset %#x: opcode 0xfe (threads): unsupported WebAssembly feature", at)
	if err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

// Every prefix of a module is refused, or is whole sections only.
func TestPrefixes(t *testing.T) {
	for name, m := range handmade() {
		wasm := m.assemble()
		for n := range wasm {
			if _, err := fuel.Rewrite(wasm[:n], 1); err != nil &&
				!errors.Is(err, fuel.ErrMalformed) && !errors.Is(err, fuel.ErrUnsupported) {
				t.Fatalf("%s[:%d]: %v", name, n, err)
			}
		}
	}
}

// Long forms that linkers write are taken.
func TestPaddedNumbersPass(t *testing.T) {
	padded := []byte{0x80, 0x80, 0x80, 0x80, 0x00}
	rewrite(t, inFunction(
		join([]byte{opLocalGet}, padded, []byte{opDrop}),
		join([]byte{opI32Const}, padded, []byte{opDrop}),
		join([]byte{opI32Const}, []byte{0xff, 0xff, 0xff, 0xff, 0x7f}, []byte{opDrop}),
		join([]byte{opI32Const}, []byte{0x80, 0x80, 0x80, 0x80, 0x78}, []byte{opDrop}),
		join([]byte{0x42}, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, []byte{opDrop}),
		konst(0), join([]byte{opCall}, padded),
	), 1)
}
