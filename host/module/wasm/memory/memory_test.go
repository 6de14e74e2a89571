package memory

import (
	"sync/atomic"
	"testing"
)

const page = 64 << 10

func TestMemory(t *testing.T) {
	var reserved atomic.Int64
	m := &Memory{Limit: 4 * page, Reserved: &reserved}
	if m.Allocate(0, 1<<60) != m || reserved.Load() != 4*page {
		t.Fatalf("reserved %d: %v", reserved.Load(), m.err)
	}
	first := m.Reallocate(page)
	if len(first) != page || cap(first) != page || m.size.Load() != page {
		t.Errorf("got %d of %d bytes", len(first), cap(first))
	}
	first[7] = 7
	grown := m.Reallocate(4 * page)
	if len(grown) != 4*page || &grown[0] != &first[0] || grown[7] != 7 || grown[4*page-1] != 0 {
		t.Error("growing moved or changed the memory")
	}
	if m.Reallocate(4*page+1) != nil || m.size.Load() != 4*page {
		t.Error("grew over the limit")
	}
	m.Free()
	m.Free()
	if reserved.Load() != 0 || m.size.Load() != 0 || m.Reallocate(1) != nil {
		t.Error("not given back")
	}
	none := &Memory{Limit: page, Reserved: &reserved}
	none.Allocate(0, 0)
	if got := none.Reallocate(0); got == nil || len(got) != 0 {
		t.Error("a memory of no pages is an error")
	}
	none.Free()
	absurd := &Memory{Limit: 1 << 62, Reserved: &reserved}
	absurd.Allocate(0, 1<<62)
	if absurd.err == nil || absurd.Reallocate(page) != nil || reserved.Load() != 0 {
		t.Error("got memory that nobody has")
	}
	absurd.Free()
}
