package wasm

import (
	"encoding/binary"
	"slices"

	"github.com/companiond/companiond/host/module/wasm/fuel"
)

// Opcodes that tiny modules are written in.
const (
	opUnreachable = 0x00
	opLoop        = 0x03
	opIf          = 0x04
	opEnd         = 0x0b
	opBr          = 0x0c
	opReturn      = 0x0f
	opCall        = 0x10
	opDrop        = 0x1a
	opI32Const    = 0x41
	opI32Load     = 0x28
	opI32Load8U   = 0x2d
	opI32Store8   = 0x3a
	opI32Eq       = 0x46
	opI32DivU     = 0x6e
	opMemoryGrow  = 0x40
	void          = 0x40
)

// The functions of a tiny module, by index: its imports, then its own.
const (
	fnRead = iota
	fnWrite
	fnHostCall
	fnLog
	fnRandom
	fnPoll
	fnYield
	fnExit
	fnFdWrite
	fnAbort
	fnCall // companion_v1_call
	fnInit // _initialize
	fnDeep // a function for behaviours to call
)

// Where tiny modules keep things in their memory, whose rest is zero.
const (
	atDescribe = 16
	atReply    = 512
	atRequest  = 32 << 10
	atScratch  = 60 << 10
)

const (
	tinyDescribe = `{"ok":{"abi":"1","name":"Tiny","ops":["vote"]}}`
	tinyReply    = `{"ok":{"state":"listen","importance":1}}`
)

// tiny describes a small module. The zero value is a good companion that votes
// to listen.
type tiny struct {
	vote     []byte // code for anything but describe; must leave an i32 or not return
	init     []byte // code of _initialize
	start    bool   // _initialize is the module's start function too
	deep     []byte // code of function fnDeep, () -> ()
	describe string // reply to describe
	reply    string // reply to anything else, for the default vote
	imports  [][]byte
	pages    uint32 // of memory; 0 means 1
	table    []byte // entry of the table section
	exports  [][]byte
	noMemory bool
	noCall   bool
	callType byte // 0 means (i32) -> i32
}

func leb(v uint32) []byte { return binary.AppendUvarint(nil, uint64(v)) }

// i32 pushes a constant.
func i32(v int32) []byte {
	out := []byte{opI32Const}
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && b&0x40 == 0) || (v == -1 && b&0x40 != 0) {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func code(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = append(out, byte(p))
		case []byte:
			out = append(out, p...)
		}
	}
	return out
}

// call pushes arguments and calls a function.
func call(fn int, args ...int32) []byte {
	var out []byte
	for _, a := range args {
		out = append(out, i32(a)...)
	}
	return append(out, opCall, byte(fn))
}

// forever repeats code that leaves nothing.
func forever(body ...any) []byte {
	return code(opLoop, void, code(body...), opBr, 0, opEnd, opUnreachable)
}

func text(s string) []byte { return append(leb(uint32(len(s))), s...) }

func importOf(module, name string, typ byte) []byte {
	return code(text(module), text(name), 0, []byte{typ})
}

func section(id byte, entries ...[]byte) []byte {
	body := leb(uint32(len(entries)))
	for _, e := range entries {
		body = append(body, e...)
	}
	return code([]byte{id}, leb(uint32(len(body))), body)
}

func body(c []byte) []byte {
	c = code(0, c, opEnd) // no locals
	return append(leb(uint32(len(c))), c...)
}

// Types of tiny modules, by index.
const (
	typNone = iota
	typI_I
	typI
	typII
	typII_I
	typIII
	typIIII_I
	typ_I
	typIIII
)

func funcType(params, results int) []byte {
	i := func(n int) []byte { return append(leb(uint32(n)), slices.Repeat([]byte{0x7f}, n)...) }
	return code(0x60, i(params), i(results))
}

// build assembles the module.
func (m tiny) build() []byte {
	if m.describe == "" {
		m.describe = tinyDescribe
	}
	if m.reply == "" {
		m.reply = tinyReply
	}
	if m.vote == nil {
		m.vote = code(call(fnWrite, atReply, int32(len(m.reply))), i32(0))
	}
	if m.callType == 0 {
		m.callType = typI_I
	}
	const wasi = "wasi_snapshot_preview1"
	imports := append([][]byte{
		importOf("companion_v1", "read", typI), importOf("companion_v1", "write", typII),
		importOf("companion_v1", "host_call", typII_I), importOf("companion_v1", "log", typIII),
		importOf(wasi, "random_get", typII_I), importOf(wasi, "poll_oneoff", typIIII_I),
		importOf(wasi, "sched_yield", typ_I), importOf(wasi, "proc_exit", typI),
		importOf(wasi, "fd_write", typIIII_I), importOf("env", "abort", typIIII),
	}, m.imports...)
	own := byte(len(m.imports)) // further imports move our own functions up
	answer := code(
		call(fnRead, atRequest),
		i32(atRequest+int32(len(`{"v":1,"op":"`))), opI32Load8U, 0, 0, i32('d'), opI32Eq, opIf, void,
		call(fnWrite, atDescribe, int32(len(m.describe))), i32(0), opReturn,
		opEnd, m.vote)
	if m.callType != typI_I {
		answer = code(opUnreachable)
	}
	exports := slices.Clone(m.exports)
	exports = append(exports, code(text("_initialize"), 0, []byte{fnInit + own}))
	if !m.noMemory {
		exports = append(exports, code(text("memory"), 2, 0))
	}
	if !m.noCall {
		exports = append(exports, code(text("companion_v1_call"), 0, []byte{fnCall + own}))
	}
	out := code([]byte(fuel.Header),
		section(1, funcType(0, 0), funcType(1, 1), funcType(1, 0), funcType(2, 0), funcType(2, 1),
			funcType(3, 0), funcType(4, 1), funcType(0, 1), funcType(4, 0)),
		section(2, imports...),
		section(3, []byte{m.callType}, []byte{typNone}, []byte{typNone}))
	if m.table != nil {
		out = append(out, section(4, m.table)...)
	}
	out = append(out, section(5, code(0, leb(max(m.pages, 1))))...)
	out = append(out, section(7, exports...)...)
	if m.start {
		out = append(out, code(8, 1, []byte{fnInit + own})...)
	}
	data := func(at int32, s string) []byte { return code(0, i32(at), opEnd, text(s)) }
	out = append(out, section(10, body(answer), body(m.init), body(m.deep))...)
	return append(out, section(11, data(atDescribe, m.describe), data(atReply, m.reply))...)
}
