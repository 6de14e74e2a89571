package fuel

// The opcodes that the package writes or treats in a way of their own.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32LtS       = 0x48
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI32ShrU      = 0x76
	opRefNull      = 0xd0
	opRefFunc      = 0xd2
	opMisc         = 0xfc
	opVector       = 0xfd
)

// Second opcodes, after opMisc and opVector.
const (
	miscMemoryInit = 8
	miscDataDrop   = 9
	miscMemoryCopy = 10
	miscMemoryFill = 11
	miscTableInit  = 12
	miscElemDrop   = 13
	miscTableCopy  = 14
	miscTableGrow  = 15
	miscTableSize  = 16
	miscTableFill  = 17

	vecConst = 12
)

const emptyBlock = 0x40

// operand says what follows an opcode.
type operand byte

const (
	unknown  operand = iota // the opcode is refused
	none                    // nothing
	control                 // what the instruction's own case reads
	local                   // local index
	global                  // global index
	table                   // table index
	memory                  // alignment and offset
	lane                    // a byte
	memLane                 // alignment, offset, lane
	zeroByte                // a zero
	const32                 // signed LEB128
	const64                 // signed LEB128
	bytes4                  // IEEE 754
	bytes8                  // IEEE 754
	bytes16                 // vector, or lanes of a shuffle
)

// operandOf tells what follows op; it knows all of the first opcodes that
// api.CoreFeaturesV2 of wazero allows, and unknown is the answer for others.
func operandOf(op byte) operand {
	switch {
	case op <= opElse, op >= opEnd && op <= opCallIndirect,
		op == opSelectTyped, op == opRefNull, op == opRefFunc, op == opMisc, op == opVector:
		return control
	case op == 0x1a, op == 0x1b, // drop, select
		op >= 0x45 && op <= 0xc4, // comparisons, arithmetic, conversions, sign extension
		op == 0xd1:               // ref.is_null
		return none
	case op >= opLocalGet && op <= opLocalTee:
		return local
	case op == opGlobalGet, op == opGlobalSet:
		return global
	case op == 0x25, op == 0x26: // table.get, table.set
		return table
	case op >= 0x28 && op <= 0x3e: // loads and stores
		return memory
	case op == opMemorySize, op == opMemoryGrow:
		return zeroByte
	case op == opI32Const:
		return const32
	case op == opI64Const:
		return const64
	case op == opF32Const:
		return bytes4
	case op == opF64Const:
		return bytes8
	}
	return unknown
}

// vectorOperandOf does the same for the second opcode after opVector.
func vectorOperandOf(op uint32) operand {
	switch {
	case op <= 11, op == 92, op == 93: // loads, store, loads with zeros
		return memory
	case op == vecConst, op == 13: // const, shuffle
		return bytes16
	case op >= 21 && op <= 34: // extract_lane, replace_lane
		return lane
	case op >= 84 && op <= 91: // loads and stores of a lane
		return memLane
	case op > 0xff: // relaxed SIMD
		return unknown
	}
	switch op { // never assigned
	case 0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6,
		0xcf, 0xd0, 0xd2, 0xd3, 0xd4, 0xe2, 0xee:
		return unknown
	}
	return none
}

// proposal names the proposal an unknown opcode comes from, for errors.
func proposal(op byte) string {
	switch op {
	case 0x06, 0x07, 0x08, 0x09, 0x0a, 0x18, 0x19, 0x1f:
		return " (exception handling)"
	case 0x12, 0x13:
		return " (tail calls)"
	case 0x14, 0x15, 0xd4, 0xd5, 0xd6:
		return " (typed function references)"
	case 0xd3, 0xfb:
		return " (garbage collection)"
	case 0xfe:
		return " (threads)"
	}
	return ""
}
