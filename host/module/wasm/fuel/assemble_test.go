package fuel_test

import (
	"encoding/binary"
	"math"
)

// Value types and the opcodes that tests write by hand.
const (
	i32, i64, v128     = 0x7f, 0x7e, 0x7b
	funcref, externref = 0x70, 0x6f
	void               = 0x40

	opUnreachable, opBlock, opLoop, opIf, opElse, opEnd = 0x00, 0x02, 0x03, 0x04, 0x05, 0x0b
	opBr, opBrIf, opBrTable, opReturn, opCall, opDrop   = 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x1a
	opLocalGet, opLocalSet, opLocalTee                  = 0x20, 0x21, 0x22
	opGlobalGet, opGlobalSet, opI32Const, opI32Store    = 0x23, 0x24, 0x41, 0x36
)

// function is a function of an assembled module.
type function struct {
	typ    uint32
	locals []byte // already encoded runs, without their number
	runs   int
	code   []byte // without the last end
	export string
}

// export is one more export, of any kind.
type export struct {
	name  string
	kind  byte
	index uint32
}

// module is what assemble writes: entries are encoded one by one, nil parts
// are left out.
type module struct {
	types     [][]byte
	imports   [][]byte
	functions []function
	tables    [][]byte
	memories  [][]byte
	globals   [][]byte
	exports   []export
	start     *uint32
	elements  [][]byte
	datas     [][]byte
	dataCount bool
}

const header = "\x00asm\x01\x00\x00\x00"

func (m module) assemble() []byte {
	out := []byte(header)
	put := func(id byte, entries [][]byte) {
		if entries != nil {
			out = append(out, section(id, vector(entries))...)
		}
	}
	put(1, m.types)
	put(2, m.imports)
	imported := uint32(0)
	for _, b := range m.imports {
		if importKind(b) == 0 {
			imported++
		}
	}
	var kinds, exports, bodies [][]byte
	for i, f := range m.functions {
		kinds = append(kinds, u32(f.typ))
		body := join(u32(uint32(f.runs)), f.locals, f.code, []byte{opEnd})
		bodies = append(bodies, join(u32(uint32(len(body))), body))
		if f.export != "" {
			exports = append(exports, join(name(f.export), []byte{0}, u32(imported+uint32(i))))
		}
	}
	for _, e := range m.exports {
		exports = append(exports, join(name(e.name), []byte{e.kind}, u32(e.index)))
	}
	put(3, kinds)
	put(4, m.tables)
	put(5, m.memories)
	put(6, m.globals)
	put(7, exports)
	if m.start != nil {
		out = append(out, section(8, u32(*m.start))...)
	}
	put(9, m.elements)
	if m.dataCount {
		out = append(out, section(12, u32(uint32(len(m.datas))))...)
	}
	put(10, bodies)
	put(11, m.datas)
	return out
}

// importKind finds the kind in an import of names shorter than 128 bytes.
func importKind(b []byte) byte {
	i := 1 + int(b[0])
	return b[i+1+int(b[i])]
}

func section(id byte, body []byte) []byte {
	return join([]byte{id}, u32(uint32(len(body))), body)
}

func vector(entries [][]byte) []byte {
	return join(u32(uint32(len(entries))), join(entries...))
}

func join(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func u32(v uint32) []byte { return binary.AppendUvarint(nil, uint64(v)) }

func name(s string) []byte { return join(u32(uint32(len(s))), []byte(s)) }

// signed encodes a signed LEB128 number.
func signed(v int64) []byte {
	var b []byte
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

// typ is a function type.
func typ(params, results []byte) []byte {
	return join([]byte{0x60}, u32(uint32(len(params))), params, u32(uint32(len(results))), results)
}

func importFunc(module, field string, typ uint32) []byte {
	return join(name(module), name(field), []byte{0}, u32(typ))
}

// op is an instruction with unsigned operands.
func op(code byte, operands ...uint32) []byte {
	b := []byte{code}
	for _, v := range operands {
		b = append(b, u32(v)...)
	}
	return b
}

func konst(v int32) []byte   { return join([]byte{opI32Const}, signed(int64(v))) }
func konst64(v int64) []byte { return join([]byte{0x42}, signed(v)) }

// misc is an instruction of prefix 0xfc.
func misc(code byte, operands ...uint32) []byte { return join([]byte{0xfc}, op(code, operands...)) }

// vec is an instruction of prefix 0xfd.
func vec(code uint32, operands ...byte) []byte { return join([]byte{0xfd}, u32(code), operands) }

func local(run uint32, t byte) []byte { return append(u32(run), t) }

func global(t, mutable byte, init []byte) []byte {
	return join([]byte{t, mutable}, init, []byte{opEnd})
}

// repeat gives code n times.
func repeat(n int, code []byte) []byte {
	var out []byte
	for range n {
		out = append(out, code...)
	}
	return out
}

// countTo is a loop that runs code n times, with the local i as its counter.
func countTo(n int32, i uint32, code []byte) []byte {
	return join(
		konst(n), op(opLocalSet, i),
		[]byte{opLoop, void}, code,
		op(opLocalGet, i), konst(1), []byte{0x6b}, op(opLocalTee, i), op(opBrIf, 0),
		[]byte{opEnd})
}

func ptr(v uint32) *uint32 { return &v }

func f64bits(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
