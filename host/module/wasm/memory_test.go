package wasm

import (
	"sync/atomic"
	"testing"

	"github.com/companiond/companiond/host/module"
)

func TestMemory(t *testing.T) {
	var reserved atomic.Int64
	m := &memory{limit: 4 * pageSize, reserved: &reserved}
	if m.Allocate(0, 1<<60) != m || reserved.Load() != 4*pageSize {
		t.Fatalf("reserved %d: %v", reserved.Load(), m.err)
	}
	first := m.Reallocate(pageSize)
	if len(first) != pageSize || cap(first) != pageSize || m.size.Load() != pageSize {
		t.Errorf("got %d of %d bytes", len(first), cap(first))
	}
	first[7] = 7
	grown := m.Reallocate(4 * pageSize)
	if len(grown) != 4*pageSize || &grown[0] != &first[0] || grown[7] != 7 || grown[4*pageSize-1] != 0 {
		t.Error("growing moved or changed the memory")
	}
	if m.Reallocate(4*pageSize+1) != nil || m.size.Load() != 4*pageSize {
		t.Error("grew over the limit")
	}
	m.Free()
	m.Free()
	if reserved.Load() != 0 || m.size.Load() != 0 || m.Reallocate(1) != nil {
		t.Error("not given back")
	}
	none := &memory{limit: pageSize, reserved: &reserved}
	none.Allocate(0, 0)
	if got := none.Reallocate(0); got == nil || len(got) != 0 {
		t.Error("a memory of no pages is an error")
	}
	none.Free()
	absurd := &memory{limit: 1 << 62, reserved: &reserved}
	absurd.Allocate(0, 1<<62)
	if absurd.err == nil || absurd.Reallocate(pageSize) != nil || reserved.Load() != 0 {
		t.Error("got memory that nobody has")
	}
	absurd.Free()
}

// A machine without memory costs the call, not the daemon.
func TestNoMemoryToBeHad(t *testing.T) {
	e := newTestEngine(t, nil)
	m := load(t, e, tinyFile(tiny{}))
	m.drop()
	e.cfg.MaxMemory = 0 // nothing can be reserved any more
	if err := vote(t.Context(), m); faultKind(err) != module.FaultTrap {
		t.Errorf("got %v, want a trap", err)
	}
	m.turn <- struct{}{} // wait for the attempt to replace the instance
	e.cfg.MaxMemory = defaultMaxMemory
	<-m.turn
	if err := vote(t.Context(), m); err != nil {
		t.Errorf("with memory again: %v", err)
	}
}
