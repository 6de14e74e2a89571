package snapshot

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"pgregory.net/rapid"
)

func never() bool { return false }

// file is a module with a page of memory, at most four, and a global sp.
const file = "\x00asm\x01\x00\x00\x00" + "\x05\x04\x01\x01\x01\x04" + "\x06\x06\x01\x7f\x01\x41\x00\x0b" + "\x07\x0f\x02\x06memory\x02\x00\x02sp\x03\x00"

// guests gives what makes instances of it.
func guests(t testing.TB) func() api.Module {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { _ = r.Close(ctx) })
	compiled, err := r.CompileModule(ctx, []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return func() api.Module {
		m, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// put keeps a guest with its global.
func put(s *Shelf[string, int], k string, with int, g api.Module) error {
	return s.Put(k, with, g, []string{"sp"}, s.Era(), never)
}

// TestImage: whatever stands in a memory, and whatever the base, it is there again; so it is where the new memory had
// something else in it.
func TestImage(t *testing.T) {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []byte {
			mem := make([]byte, pageSize*rapid.IntRange(0, 2).Draw(t, name))
			for range min(len(mem), rapid.IntRange(0, 20).Draw(t, name+" bytes")) {
				mem[rapid.IntRange(0, len(mem)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
			}
			return mem
		}
		mem, base := draw("memory"), draw("base")
		i, err := take(mem, base, 1<<20, w, never)
		if err != nil {
			t.Fatal(err)
		}
		again := make([]byte, len(mem))
		if len(again) > 0 {
			again[rapid.IntRange(0, len(again)-1).Draw(t, "there")] = 1
		}
		if err := i.restore(again); err != nil || !bytes.Equal(again, mem) {
			t.Fatalf("it is another: %v", err)
		}
		if err := i.restore(make([]byte, len(mem)+pageSize)); err == nil {
			t.Error("it was written to a memory of another size")
		}
	})
}

// TestGuest: an instance is what another was, with its memory, which had grown, and its global; and it is so once.
func TestGuest(t *testing.T) {
	begin := guests(t)
	s := New[string, int](1<<20, 1<<20)
	s.Base(begin())
	g := begin()
	g.Memory().Grow(2)
	g.Memory().WriteString(2*pageSize+7, "ミケ")
	g.ExportedGlobal("sp").(api.MutableGlobal).Set(5)
	if err := put(s, "a", 7, g); err != nil {
		t.Fatal(err)
	}
	kept := s.Take("a")
	if kept == nil || kept.With != 7 || kept.Era != 0 {
		t.Fatalf("kept is %+v", kept)
	}
	again := begin()
	if err := kept.Restore(again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(all(g), all(again)) || again.ExportedGlobal("sp").Get() != 5 {
		t.Error("it is another")
	}
	if s.Take("a") != nil || s.bytes != 0 {
		t.Error("it can be taken twice")
	}
	if b := kept.packed; !bytes.Equal(b, make([]byte, len(b))) {
		t.Error("the image is still there")
	}
	kept.size = 9 * pageSize
	if err := kept.Restore(begin()); err == nil {
		t.Error("one was restored that is too large")
	}
}

// TestNotKept: too much, given up, forgotten meanwhile: nothing is kept.
func TestNotKept(t *testing.T) {
	g := guests(t)()
	s := New[string, int](1<<20, 8*page)
	for n := range uint32(9) {
		g.Memory().WriteByte(n*page, 1)
	}
	if err := put(s, "a", 0, g); !errors.Is(err, ErrLarge) {
		t.Errorf("too many pages: %v", err)
	}
	g.Memory().WriteByte(0, 0)
	if err := put(s, "a", 0, g); err != nil {
		t.Errorf("as many as may be: %v", err)
	}
	for after := range 2 {
		asked := 0
		if err := s.Put("b", 0, g, nil, 0, func() bool { asked++; return asked > after }); !errors.Is(err, ErrStopped) {
			t.Errorf("given up: %v", err)
		}
	}
	if err := s.Put("b", 0, g, nil, 0, func() bool { // once it has begun
		if s.Era() == 0 {
			s.Clear()
		}
		return false
	}); !errors.Is(err, ErrErased) {
		t.Errorf("forgotten meanwhile: %v", err)
	}
	if s.bytes != 0 || s.Size("a") != 0 || s.Size("b") != 0 {
		t.Errorf("%d bytes are kept", s.bytes)
	}
	small := New[string, int](overhead+100, 1<<20)
	noise := make([]byte, pageSize)
	for n := range noise {
		noise[n] = byte(rand.Uint32())
	}
	g.Memory().Write(0, noise)
	if err := put(small, "a", 0, g); !errors.Is(err, ErrLarge) || small.bytes != 0 {
		t.Errorf("more than the shelf has room for: %v", err)
	}
}

// TestOldestGo: where there is no more room, the oldest go, and their bytes are erased; so are those of what is dropped.
func TestOldestGo(t *testing.T) {
	g := guests(t)()
	g.Memory().WriteByte(5, 5)
	s := New[string, int](5*overhead/2, 1<<20)
	for _, k := range []string{"a", "b", "a"} { // the newer of the same key stays
		if err := put(s, k, 0, g); err != nil {
			t.Fatal(err)
		}
	}
	gone := [][]byte{s.kept["b"].packed}
	if err := put(s, "c", 0, g); err != nil {
		t.Fatal(err)
	}
	if s.Size("b") != 0 || s.Size("a") == 0 || s.Size("c") == 0 || len(s.order) != 2 {
		t.Errorf("there are %v", s.order)
	}
	gone = append(gone, s.kept["a"].packed, s.kept["c"].packed)
	s.Drop("a")
	s.Clear()
	for _, b := range gone {
		if len(b) == 0 || !bytes.Equal(b, make([]byte, len(b))) {
			t.Error("the bytes of what was erased are still there")
		}
	}
	if s.bytes != 0 || s.Era() != 1 {
		t.Errorf("%d bytes, era %d", s.bytes, s.Era())
	}
}

// TestTogether: many at once get what is theirs.
func TestTogether(t *testing.T) {
	begin := guests(t)
	s := New[int, int](1<<20, 1<<20)
	var all sync.WaitGroup
	for k := range 8 {
		g, again := begin(), begin()
		all.Go(func() {
			for n := range 50 {
				g.Memory().WriteByte(uint32(n), byte(k+n))
				if err := s.Put(k, n, g, nil, 0, never); err != nil {
					t.Error(err)
				}
				kept := s.Take(k)
				if kept == nil || kept.With != n || kept.Restore(again) != nil {
					t.Errorf("%d has lost its own", k)
				} else if b, _ := again.Memory().ReadByte(uint32(n)); b != byte(k+n) {
					t.Errorf("%d has %d at %d", k, b, n)
				}
			}
		})
	}
	all.Wait()
}
