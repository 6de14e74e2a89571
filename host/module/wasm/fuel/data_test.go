package fuel_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/tetratelabs/wazero"
	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/module/wasm/fuel"
)

// part is a data segment of the first memory.
type part struct {
	at   int32
	data []byte
}

// withData is a module that has nothing but a page of memory and segments of it.
func withData(parts []part) []byte {
	section := binary.AppendUvarint(nil, uint64(len(parts)))
	for _, p := range parts {
		section = join(section, []byte{0}, konst(p.at), []byte{opEnd}, binary.AppendUvarint(nil, uint64(len(p.data))), p.data)
	}
	return join([]byte(header), []byte{5, 3, 1, 0, 1}, []byte{7, 10, 1, 6}, []byte("memory"), []byte{2, 0},
		[]byte{11}, binary.AppendUvarint(nil, uint64(len(section))), section)
}

// memoryOf gives what is in a module's memory at the start, nil if it does not start.
func memoryOf(t interface{ Fatal(...any) }, wasm []byte) []byte {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	c, err := r.CompileModule(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.InstantiateModule(ctx, c, wazero.NewModuleConfig())
	if err != nil {
		return nil
	}
	all, _ := m.Memory().Read(0, m.Memory().Size())
	return bytes.Clone(all)
}

func mustMerge(t interface{ Fatal(...any) }, wasm []byte) []byte {
	before := bytes.Clone(wasm)
	merged, err := fuel.MergeData(wasm)
	if err != nil || !bytes.Equal(before, wasm) {
		t.Fatal("merged, or the module was changed:", err)
	}
	return merged
}

// Whatever the segments are, the memory is the same; segments in order become fewer.
func TestMergeData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []part
		var at int32
		for range rapid.IntRange(0, 30).Draw(t, "segments") {
			at = max(at+rapid.SampledFrom([]int32{0, 0, 1, 8, 63, 64, 65, 300, -20, -100}).Draw(t, "gap"), -1)
			data := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "data")
			if rapid.IntRange(0, 40).Draw(t, "far") == 0 {
				at = 65536 - 10
			}
			parts = append(parts, part{at, data})
			at += int32(len(data))
		}
		wasm := withData(parts)
		if want, got := memoryOf(t, wasm), memoryOf(t, mustMerge(t, wasm)); !bytes.Equal(want, got) || (want == nil) != (got == nil) {
			t.Fatalf("another memory from %v", parts)
		}
	})
	side := withData([]part{{8, []byte("abc")}, {20, []byte("d")}, {85, []byte("e")}, {151, []byte("far")}})
	want := withData([]part{{8, join([]byte("abc"), make([]byte, 9), []byte("d"), make([]byte, 64), []byte("e"))}, {151, []byte("far")}})
	if got := mustMerge(t, side); !bytes.Equal(got, want) {
		t.Errorf("% x\n% x", got, want)
	}
}

// Segments that the code may use by number, or that are not at a number, stay.
func TestMergeDataLeavesAlone(t *testing.T) {
	whole := withData([]part{{0, []byte("a")}, {1, []byte("b")}})
	passive := bytes.Replace(whole, []byte{0, opI32Const, 1, opEnd, 1, 'b'}, []byte{1, 4, 'b', 'b', 'b', 'b'}, 1)
	counted := join(whole[:len(whole)-15], []byte{12, 1, 2}, whole[len(whole)-15:])
	for name, wasm := range map[string][]byte{
		"one passive": passive, "counted": counted, "broken": whole[:len(whole)-1], "of another's memory": join([]byte(header), whole[len(header)+5+12:]), "none": []byte(header),
	} {
		if got, err := fuel.MergeData(wasm); err == nil && !bytes.Equal(got, wasm) {
			t.Errorf("%s: % x became % x", name, wasm, got)
		}
	}
}
