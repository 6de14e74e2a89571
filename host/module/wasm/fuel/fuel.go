// Package fuel reads core WebAssembly modules before they run: it tells what one
// imports and exports, gives its tables a maximum, and rewrites it so that it burns
// fuel while it runs and asks the host for more when it has none. That is what stops
// a guest that never returns, and what gives the Go scheduler a place to preempt one.
//
// A rewritten module has one more import, [ImportModule] [ImportField] of type
// () -> i32, and one more global, the fuel. It burns
//
//   - one unit at the entry of a function (more when it has very many locals),
//   - one unit each time a loop's header is reached,
//   - one unit per [stretch] instructions on a path with neither, so that a unit
//     is a bounded amount of work also in a very long function,
//   - one unit and one more per 32 bytes or table entries before
//     memory.fill, memory.copy, memory.init, table.fill, table.copy, table.init,
//   - so many before memory.grow and table.grow that a loop of them costs what
//     other code does in the time.
//
// Right after each of these, when the fuel is below zero, the guest calls the
// import and goes on with the units it returns; a host ends the guest by a
// panic there. The debt is forgotten, so a slice counts from what was returned;
// that of a bulk operation, which may be many slices, is paid with as many calls.
// The same call of the same module burns the same units every time.
//
// The package reads everything it changes strictly and refuses what it does not
// know: it never lets an unknown opcode pass, never trusts a length before the
// bytes are there, and never makes an index valid that was not. It
// never checks what it does not need to understand (types of operands, alignment,
// limits of memories, the text of names): the compiler that gets the result does.
// It never keeps a custom section, since names and debug data would no longer
// fit. It never charges for what memory.grow and table.grow add, which their own limits
// must bound, nor for what host functions do.
package fuel

import (
	"errors"
	"fmt"
	"math"
)

// ImportModule and ImportField name the import that a rewritten module calls
// when its fuel is gone. It takes nothing and returns the next slice of units
// as an i32, which must not be negative.
const (
	ImportModule = "companion_guard"
	ImportField  = "tick"
)

// The reasons for which a module is refused; test with errors.Is.
var (
	ErrMalformed   = errors.New("malformed module")
	ErrUnsupported = errors.New("unsupported WebAssembly feature")
	ErrReserved    = errors.New("name reserved for the host")
)

// Limits of what Rewrite takes. A guest from a compiler is far below them.
const (
	maxModule = 1 << 27 // bytes
	maxLocals = 50_000  // of one function, parameters included, as in browsers
	maxArity  = 1_000   // parameters, and results, of one type, as in browsers
)

// stretch is the number of instructions that run at most between two checks of
// one function. Without it a loop around one call of a long function ran for
// minutes on a slice of 100,000 units; with 128 such a slice ends in about
// 70 ms (a slice of ordinary code in 0.4 ms). A guest from the Go compiler grows
// by 7 % in place of 2 % and is not measurably slower.
const stretch = 128

// What a memory.grow and a table.grow cost, added to what is around them. They leave
// machine code: that takes them 30 and 300 ns, in which ordinary code burns as much.
const (
	memoryGrowUnits = 10
	tableGrowUnits  = 100
)

// Rewrite returns module with fuel burning added; module itself is not changed.
// slice is the number of units an instance has at its start, before the first
// call of the import.
//
// The result is a valid module if module is one. If module is not, the result
// may be invalid too: compile it with checks on, as wazero always does.
//
// # Errors
//
// ErrUnsupported when the module uses something outside the feature set
// api.CoreFeaturesV2 of wazero (threads, exceptions, tail calls, garbage
// collection, 64-bit or several memories), ErrReserved when it imports from
// ImportModule or exports that name, and ErrMalformed when its bytes are no
// module or an index is out of range. The text names the offset in module, and
// the function and opcode where there is one. A negative slice is an error too.
func Rewrite(module []byte, slice int32) ([]byte, error) {
	if slice < 0 {
		return nil, fmt.Errorf("fuel: negative slice %d", slice)
	}
	if len(module) > maxModule {
		return nil, fmt.Errorf("fuel: module of %d bytes is over %d: %w", len(module), maxModule, ErrUnsupported)
	}
	out, err := rewrite(module, slice)
	if err != nil {
		return nil, fmt.Errorf("fuel: %w", err)
	}
	return out, nil
}

func rewrite(module []byte, slice int32) ([]byte, error) {
	sections, err := split(module)
	if err != nil {
		return nil, err
	}
	spaces, err := sections.indexSpaces()
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(module)+len(module)/4), Header...)
	for _, id := range sectionOrder {
		body, err := sections.rewrite(id, spaces, slice)
		if err != nil {
			return nil, fmt.Errorf("%s section: %w", sectionNames[id], err)
		}
		if body == nil {
			continue
		}
		if len(body) > math.MaxInt32 {
			return nil, fmt.Errorf("%s section: %d bytes when rewritten: %w", sectionNames[id], len(body), ErrUnsupported)
		}
		out = append(out, id)
		out = appendBytes(out, body)
	}
	return out, nil
}
