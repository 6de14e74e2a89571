package wasmtest

import "slices"

// Bombs are files that are valid and small, and cost far more than others of their size.
// All are within the file's own bound of bytes.
func Bombs() map[string][]byte {
	return map[string][]byte{
		"locals of many functions": File{Functions: slices.Repeat([]Function{{Locals: 49_000}}, 1_000)}.Bytes(),
		"locals":                   File{Functions: slices.Repeat([]Function{{Locals: 1_000}}, 10_000)}.Bytes(),
		"phis":                     one(Function{Locals: 2_000, Body: phis(2_000, 8_000)}),
		"fewer phis":               one(Function{Locals: 500, Body: phis(500, 4_000)}),
		"nested blocks":            one(Function{Body: join(slices.Repeat([]byte{opBlock, void}, 90_000), slices.Repeat([]byte{opEnd}, 90_000))}),
		"a long table of branches": one(Function{Body: join([]byte{opBlock, void}, konst(0), []byte{opBrTable}, leb(1_000_000), make([]byte, 1_000_001), []byte{opEnd})}),
		"straight code":            one(Function{Body: slices.Repeat([]byte{opConst, 1, opDrop}, 2_800_000)}),
		"a high stack":             one(Function{Body: join(slices.Repeat([]byte{opConst, 1}, 1_000_000), slices.Repeat([]byte{opDrop}, 1_000_000))}),
		"values live over calls":   one(Function{Body: live(10_000)}),
		"loops":                    File{Functions: slices.Repeat([]Function{{Locals: 100, Body: loops(1_000)}}, 500)}.Bytes(),
		"types":                    File{Types: 2_000_000}.Bytes(),
		"functions":                File{Functions: slices.Repeat([]Function{{}}, 190_000)}.Bytes(),
		"globals":                  File{Globals: 2_000_000}.Bytes(),
		"exports":                  File{Exports: 500_000}.Bytes(),
		"data segments":            File{Data: slices.Repeat([][]byte{join([]byte{0}, konst(0), []byte{opEnd, 0})}, 2_000_000)}.Bytes(),
		"elements":                 File{Table: 1_000, Elements: slices.Repeat([][]byte{join([]byte{0}, konst(0), []byte{opEnd}, leb(1_000), slices.Repeat([]byte{fnCall}, 1_000))}, 5_000)}.Bytes(),
		"switches in switches":     one(Function{Body: switches(300)}),
	}
}

func one(f Function) []byte { return File{Functions: []Function{f}}.Bytes() }

// phis are ifs each of which may set a local that the next one reads: where they meet the
// compiler keeps both values of all of them.
func phis(locals, ifs uint32) (b []byte) {
	for i := range ifs {
		b = append(b, join([]byte{opLocalGet}, leb(i%locals), []byte{opIf, void}, konst(i), []byte{opLocalSet}, leb((i*7+1)%locals), []byte{opEnd})...)
	}
	return b
}

// live has many values that are used after many calls.
func live(n int) []byte {
	call := []byte{opConst, 1, opConst, 0, opConst, 0, opCall, fnWrite}
	return join(slices.Repeat(call, n), slices.Repeat([]byte{opAdd}, n-1), []byte{opDrop})
}

// loops are loops behind each other, each of which reads a local.
func loops(n int) []byte {
	return slices.Repeat([]byte{opLoop, void, opLocalGet, 1, opLocalGet, 2, opAdd, opLocalSet, 3, opEnd}, n)
}

// switches are tables of branches in the blocks of others.
func switches(n int) []byte {
	var b []byte
	for range n {
		b = append(b, opBlock, void)
	}
	for i := range n {
		targets := make([]byte, 0, 2*n)
		for t := range uint32(n - i) {
			targets = append(targets, leb(t)...)
		}
		b = append(b, join(konst(0), []byte{opBrTable}, leb(uint32(n-i-1)), targets, []byte{opEnd})...)
	}
	return b
}
