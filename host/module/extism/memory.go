package extism

import (
	"fmt"
	"math/bits"
)

const (
	// maxMemory is what a call may have of Extism's memory, beside its own.
	maxMemory = 16 << 20
	// keptMemory is what is kept of it for the next call.
	keptMemory = 64 << 10
	// least is where the first block begins, and what the smallest takes: 0 is none. What a block takes on the heap beside it is less.
	least = 64
)

// memory is Extism's, which is not the guest's: blocks that live until the call ends.
type memory struct {
	space  []byte
	blocks map[uint64]uint64 // lengths, by where they begin
	free   [32][]uint64      // blocks that were given back, by the logarithm of what they take
}

// reset gives all blocks back.
func (m *memory) reset() {
	clear(m.space)
	m.space = m.space[:0]
	if cap(m.space) > keptMemory {
		m.space = nil
	}
	m.blocks, m.free = nil, [32][]uint64{}
}

// classOf is the logarithm of what a block takes.
func classOf(n uint64) int { return bits.Len64(max(n, least) - 1) }

// alloc gives a block of zeroes, 0 for one of nothing.
func (m *memory) alloc(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	if n > maxMemory {
		panic(fmt.Errorf("alloc(%d): a call may have %d bytes", n, maxMemory))
	}
	if m.blocks == nil {
		m.blocks = map[uint64]uint64{}
	}
	class := classOf(n)
	if free := m.free[class]; len(free) > 0 {
		at := free[len(free)-1]
		m.free[class] = free[:len(free)-1]
		clear(m.space[at : at+n])
		m.blocks[at] = n
		return at
	}
	at := max(uint64(len(m.space)), least)
	end := at + 1<<class
	if end > maxMemory {
		panic(fmt.Errorf("alloc(%d): a call may have %d bytes", n, maxMemory))
	}
	m.space = append(m.space, make([]byte, end-uint64(len(m.space)))...)
	m.blocks[at] = n
	return at
}

// release gives a block back; what is none is passed over.
func (m *memory) release(at uint64) {
	if n, ok := m.blocks[at]; ok {
		delete(m.blocks, at)
		m.free[classOf(n)] = append(m.free[classOf(n)], at)
	}
}

// at is what stands somewhere. It is no copy.
func (m *memory) at(at, n uint64) []byte {
	if n == 0 {
		return nil
	}
	if at < least || at > uint64(len(m.space)) || n > uint64(len(m.space))-at {
		panic(fmt.Errorf("%d bytes at %d are outside of Extism's memory", n, at))
	}
	return m.space[at : at+n]
}

// block is what stands in a block, nothing in what is none.
func (m *memory) block(at uint64) []byte { return m.at(at, m.blocks[at]) }
