package fuel_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/module/wasm/fuel"
	"github.com/companiond/companiond/host/waittest"
)

func rewriteAny(wasm []byte) ([]byte, error) { return fuel.Rewrite(wasm, 100) }

// FuzzRewrite holds for any bytes: no panic, no hang, and a module that compiled before
// compiles after.
func FuzzRewrite(f *testing.F) {
	for _, m := range handmade() {
		f.Add(m.assemble())
	}
	for seed := range 20 {
		f.Add(rapid.Custom(drawModule).Example(seed).assemble())
	}
	compile := newCompile(f)
	f.Fuzz(func(t *testing.T, wasm []byte) { holds(t, compile, wasm) })
}

// FuzzBody does the same for the body of a function, of which the bytes of a
// whole module would rarely have a new one.
func FuzzBody(f *testing.F) {
	f.Add(uint8(0), []byte{opEnd})
	for _, m := range handmade() {
		for _, fn := range m.functions {
			f.Add(uint8(3), fn.code)
		}
	}
	for seed := range 20 {
		for _, fn := range rapid.Custom(drawModule).Example(seed).functions {
			f.Add(uint8(3), fn.code)
		}
	}
	compile := newCompile(f)
	f.Fuzz(func(t *testing.T, fill uint8, code []byte) {
		m := rapid.Custom(drawModule).Example(0)
		// Constants below the code give it operands to take.
		below := join(repeat(int(fill%8), konst(1)), code)
		m.functions[2] = function{runs: 3, locals: drawnLocals, code: below, export: "run"}
		holds(t, compile, m.assemble())
	})
}

// newCompile gives a function that compiles a module or says why it cannot.
func newCompile(f *testing.F) func([]byte) error {
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	f.Cleanup(func() { runtime.Close(ctx) })
	return func(wasm []byte) error {
		c, err := runtime.CompileModule(ctx, wasm)
		if err == nil {
			c.Close(ctx)
		}
		return err
	}
}

// holds checks what is true of any bytes. It never gives wazero what Rewrite
// refused: some of that makes wazero allocate gigabytes.
func holds(t *testing.T, compile func([]byte) error, wasm []byte) {
	began := time.Now()
	out, err := rewriteAny(wasm)
	if d := time.Since(began); waittest.Late(d, time.Second) {
		t.Errorf("%d bytes took %v", len(wasm), d)
	}
	if err != nil {
		return
	}
	if again, err := rewriteAny(wasm); err != nil || !bytes.Equal(out, again) {
		t.Errorf("second rewrite differs: %v", err)
	}
	if hasCustomSection(wasm) || compile(wasm) != nil {
		return
	}
	if err := compile(out); err != nil {
		t.Errorf("compiled before, not after: %v", err)
	}
	if merged, err := fuel.MergeData(out); err != nil || compile(merged) != nil {
		t.Errorf("compiled before its data was merged, not after: %v", err)
	}
}

// hasCustomSection is true for modules whose names wazero would read with
// lengths that nobody checked; Rewrite drops them.
func hasCustomSection(wasm []byte) bool {
	for rest := wasm[len(header):]; len(rest) > 0; {
		if rest[0] == 0 {
			return true
		}
		size, i := 0, 1
		for shift := 0; ; shift += 7 {
			b := rest[i]
			size |= int(b&0x7f) << shift
			i++
			if b < 0x80 {
				break
			}
		}
		rest = rest[i+size:]
	}
	return false
}
