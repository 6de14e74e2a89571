package fuel_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
)

// TestOpcodesAreWazeros goes through all opcodes of one byte and of two, each
// with operands of several shapes, at a place where the stack fits any.
// Rewrite must take all that wazero takes, and must know no opcode that wazero
// never takes. Were the two to read operands of different lengths, the bytes
// after them would make one of them fail.
func TestOpcodesAreWazeros(t *testing.T) {
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer runtime.Close(ctx)
	var operands [][]byte
	for n := range 18 {
		operands = append(operands, repeat(n, []byte{0}))
	}
	operands = append(operands, repeat(4, []byte{6}), repeat(8, []byte{6}), repeat(16, []byte{6}), // 6 is no opcode
		[]byte{void, opEnd}, []byte{void, opElse, opEnd}, []byte{1, i32}, []byte{funcref})
	for _, code := range allOpcodes() {
		ours, theirs := false, false
		for _, operand := range operands {
			wasm := anywhere(join(code, operand))
			_, refused := rewriteAny(wasm)
			c, err := runtime.CompileModule(ctx, wasm)
			if err == nil {
				c.Close(ctx)
				theirs = true
			}
			if refused != nil && err == nil {
				t.Errorf("%x with %x: wazero takes it, Rewrite: %v", code, operand, refused)
			}
			ours = ours || refused == nil
		}
		if ours && !theirs {
			t.Errorf("%x: Rewrite takes it, wazero never", code)
		}
	}
}

// allOpcodes gives each first byte but opEnd, which ends what stands after it
// too, and the second bytes of both prefixes in their shortest form. (In a
// vector opcode wazero takes the last byte of that form for a nop.)
func allOpcodes() [][]byte {
	var all [][]byte
	for b := range 256 {
		if b != opEnd && b != 0xfc && b != 0xfd {
			all = append(all, []byte{byte(b)})
		}
		if b < 0x80 {
			all = append(all, []byte{0xfc, byte(b)}, []byte{0xfd, byte(b)})
		} else {
			all = append(all, []byte{0xfd, byte(b), 1})
		}
	}
	return all
}

// anywhere is a module with one of everything, and code between two
// unreachable in an if.
func anywhere(code []byte) []byte {
	m := bulkTables()
	m.types = append(m.types, noneToNone)
	m.memories, m.datas, m.dataCount = onePage, [][]byte{{1, 0}}, true
	m.globals = [][]byte{global(i32, 1, konst(0))}
	m.functions[2] = function{typ: 1, runs: 1, locals: local(1, i32), code: join(
		[]byte{opUnreachable, opIf, void, opUnreachable}, code, []byte{opUnreachable, opEnd, opUnreachable})}
	return m.assemble()
}
