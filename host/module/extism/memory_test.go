package extism

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestMemory: a block begins with nothing in it, keeps what is written to it whatever becomes of others, and is there until it is
// given back; what is none has no length, and nothing is outside.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m memory
		holds := map[uint64][]byte{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0: // another call
				m.reset()
				clear(holds)
			case 1, 2, 3:
				for at := range holds {
					m.release(at)
					m.release(at) // which is none by now
					delete(holds, at)
					break
				}
			default:
				n := uint64(rapid.IntRange(0, 5000).Draw(t, "bytes"))
				at := m.alloc(n)
				if b := m.block(at); uint64(len(b)) != n || !bytes.Equal(b, make([]byte, n)) {
					t.Fatalf("a block of %d has %d bytes, or something in it", n, len(b))
				}
				if n > 0 {
					holds[at] = bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, int(n))
					copy(m.block(at), holds[at])
				}
			}
			for at, b := range holds {
				if !bytes.Equal(m.block(at), b) {
					t.Fatalf("the block at %d is another", at)
				}
			}
			if m.blocks[0] != 0 || len(m.space) > maxMemory {
				t.Fatal("0 is a block, or there is too much")
			}
		}
	})
}

// FuzzMemory: no address takes the daemon along; it ends the guest, or is within.
func FuzzMemory(f *testing.F) {
	f.Add(uint64(0), uint64(1), uint64(8))
	f.Add(uint64(1)<<63, ^uint64(0), uint64(100))
	f.Add(uint64(16), uint64(16)<<20, uint64(1)<<40)
	f.Fuzz(func(t *testing.T, at, n, size uint64) {
		var m memory
		defer func() {
			if p := recover(); p != nil {
				if _, ok := p.(error); !ok || bytes.Contains([]byte(p.(error).Error()), []byte("runtime error")) {
					t.Fatalf("it panics with %v", p)
				}
			}
		}()
		block := m.alloc(size)
		m.release(at)
		_ = m.block(block)
		if b := m.at(at, n); uint64(len(b)) != n {
			t.Errorf("%d bytes of %d", len(b), n)
		}
	})
}
