// Package memory gives WebAssembly instances their linear memory: address space
// for all they may ever have, reserved at once and used page by page, so that
// growing never copies.
//
// It never gives more than its limit, and never decides who gets any.
package memory

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// Memory is the linear memory of one instance, and the allocator wazero gets
// it from. It reserves address space for all the instance may ever have, so
// that growing never copies (which with wazero's own allocator took a second
// at 64 MiB, past any deadline) and pages cost nothing before they are used.
type Memory struct {
	Limit    uint64        // bytes
	Reserved *atomic.Int64 // counts the address space that is held, in bytes

	space []byte       // nil before allocate and after Free
	size  atomic.Int64 // bytes in use
	err   error        // why space could not be had
}

var (
	_ experimental.MemoryAllocator = (*Memory)(nil)
	_ experimental.LinearMemory    = (*Memory)(nil)
)

// Allocate reserves max bytes, or the limit if that is less. wazero calls it
// once an instance, for a module has at most one memory. It cannot fail; the
// Reallocate that follows does.
func (m *Memory) Allocate(_, max uint64) experimental.LinearMemory {
	n := min(max, m.Limit)
	if n == 0 || m.space != nil {
		return m
	}
	m.space, m.err = reserve(n)
	m.Reserved.Add(int64(len(m.space)))
	return m
}

// Size gives the bytes in use. It may be called at any time.
func (m *Memory) Size() int64 { return m.size.Load() }

// Err says why space could not be had.
func (m *Memory) Err() error { return m.err }

// Reallocate gives the first size bytes of the space, nil when there are not
// as many.
func (m *Memory) Reallocate(size uint64) []byte {
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
func (m *Memory) Free() {
	if m.space == nil {
		return
	}
	m.Reserved.Add(-int64(len(m.space)))
	release(m.space)
	m.space = nil
	m.size.Store(0)
}
