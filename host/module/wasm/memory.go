package wasm

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// memory is the linear memory of one instance, and the allocator wazero gets
// it from. It reserves address space for all the instance may ever have, so
// that growing never copies (which with wazero's own allocator took a second
// at 64 MiB, past any deadline) and pages cost nothing before they are used.
type memory struct {
	limit    uint64        // bytes
	reserved *atomic.Int64 // the engine's count of reserved bytes
	space    []byte        // nil before allocate and after Free
	size     atomic.Int64  // bytes in use
	err      error         // why space could not be had
}

var (
	_ experimental.MemoryAllocator = (*memory)(nil)
	_ experimental.LinearMemory    = (*memory)(nil)
)

// Allocate reserves max bytes, or the limit if that is less. wazero calls it
// once an instance, for a module has at most one memory. It cannot fail; the
// Reallocate that follows does.
func (m *memory) Allocate(_, max uint64) experimental.LinearMemory {
	n := min(max, m.limit)
	if n == 0 || m.space != nil {
		return m
	}
	m.space, m.err = reserve(n)
	m.reserved.Add(int64(len(m.space)))
	return m
}

// Reallocate gives the first size bytes of the space, nil when there are not
// as many.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.space)) {
		return nil
	}
	m.size.Store(int64(size))
	if size == 0 {
		return []byte{}
	}
	return m.space[:size:size]
}

// Free gives the space back. It may be called again: wazero does not call it
// for an instance that fails at its start, so the owner always does.
func (m *memory) Free() {
	if m.space == nil {
		return
	}
	m.reserved.Add(-int64(len(m.space)))
	release(m.space)
	m.space = nil
	m.size.Store(0)
}
