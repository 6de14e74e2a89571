// Package wasmtest makes WebAssembly files for tests: small valid companions, and ones
// that are valid too but cost whoever compiles or interprets them gigabytes or minutes.
// The daemon never uses it.
package wasmtest

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
)

// Opcodes and types of the files.
const (
	i32        = 0x7f
	void       = 0x40
	opBlock    = 0x02
	opLoop     = 0x03
	opIf       = 0x04
	opEnd      = 0x0b
	opBrTable  = 0x0e
	opCall     = 0x10
	opDrop     = 0x1a
	opLocalGet = 0x20
	opLocalSet = 0x21
	opConst    = 0x41
	opAdd      = 0x6a
)

// Function is one more function of a file, () -> ().
type Function struct {
	Locals uint32 // of type i32
	Body   []byte // without its end
}

// File is a companion that says in answer to everything who it is. Zero values add
// nothing to that.
type File struct {
	Types     int // more of them
	Functions []Function
	Table     uint32   // entries of a table
	Elements  [][]byte // segments of the table
	Globals   int
	Exports   int // more names of the function
	Data      [][]byte
}

const describe = `{"ok":{"abi":"1","name":"Tiny","ops":["vote"]}}`

// Of the functions the first two are the import and the call.
const (
	fnWrite = iota
	fnCall
	// FnMore is the index of the first of File.Functions.
	FnMore
)

// Bytes gives the file.
func (f File) Bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = section(out, 1, 3+f.Types, join(functype("\x7f\x7f", ""), functype("\x7f", "\x7f"), functype("", ""), slices.Repeat(functype("", ""), f.Types)))
	out = section(out, 2, 1, join(name("companion_v1"), name("write"), []byte{0, 0}))
	out = section(out, 3, 1+len(f.Functions), join([]byte{1}, slices.Repeat([]byte{2}, len(f.Functions))))
	if f.Table > 0 {
		out = section(out, 4, 1, join([]byte{0x70, 0}, leb(f.Table)))
	}
	out = section(out, 5, 1, []byte{0, 1})
	out = section(out, 6, f.Globals, slices.Repeat([]byte{i32, 0, opConst, 0, opEnd}, f.Globals))
	exports := join(name("memory"), []byte{2, 0}, name("companion_v1_call"), []byte{0, fnCall})
	for n := range f.Exports {
		exports = append(exports, join(name("x"+strconv.Itoa(n)), []byte{0, fnCall})...)
	}
	out = section(out, 7, 2+f.Exports, exports)
	out = section(out, 9, len(f.Elements), join(f.Elements...))
	code := body(Function{Body: join(konst(16), konst(uint32(len(describe))), []byte{opCall, fnWrite}, konst(0))})
	for _, fn := range f.Functions {
		code = append(code, body(fn)...)
	}
	out = section(out, 10, 1+len(f.Functions), code)
	data := join([]byte{0}, konst(16), []byte{opEnd}, name(describe))
	return section(out, 11, 1+len(f.Data), join(data, join(f.Data...)))
}

// body gives a function's entry in the code section.
func body(f Function) []byte {
	locals := []byte{0}
	if f.Locals > 0 {
		locals = join([]byte{1}, leb(f.Locals), []byte{i32})
	}
	all := join(locals, f.Body, []byte{opEnd})
	return join(leb(uint32(len(all))), all)
}

func section(out []byte, id byte, count int, entries []byte) []byte {
	if count == 0 {
		return out
	}
	all := join(leb(uint32(count)), entries)
	return append(append(append(out, id), leb(uint32(len(all)))...), all...)
}

func functype(params, results string) []byte {
	return join([]byte{0x60}, name(params), name(results))
}

func name(s string) []byte { return join(leb(uint32(len(s))), []byte(s)) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func leb(v uint32) []byte { return binary.AppendUvarint(nil, uint64(v)) }

// konst pushes a constant below 1<<27.
func konst(v uint32) []byte {
	b := []byte{opConst}
	for v >= 0x40 {
		b, v = append(b, byte(v)|0x80), v>>7
	}
	return append(b, byte(v))
}
