package wasm

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/fuel"
	"github.com/companiond/companiond/host/waittest"
)

func TestRefusedFiles(t *testing.T) {
	e := newTestEngine(t, nil)
	for name, c := range map[string]struct {
		data []byte
		code abi.Code
		says []string
	}{
		"empty":       {nil, abi.CodeInvalid, []string{"empty"}},
		"text":        {[]byte("export const aya = 1"), abi.CodeInvalid, []string{"no WebAssembly"}},
		"only header": {[]byte(fuel.Header), abi.CodeInvalid, []string{`"memory"`}},
		"component":   {[]byte("\x00asm\x0d\x00\x01\x00"), abi.CodeInvalid, []string{"component", "core module"}},
		"version 2":   {[]byte("\x00asm\x02\x00\x00\x00"), abi.CodeInvalid, []string{"version 02 00 00 00"}},
		"command": {tiny{exports: [][]byte{code(text("_start"), 0, fnInit)}}.build(),
			abi.CodeInvalid, []string{"_start", "-buildmode=c-shared"}},
		"no memory exported": {tiny{noMemory: true}.build(), abi.CodeInvalid, []string{`"memory"`}},
		"no call":            {tiny{noCall: true}.build(), abi.CodeInvalid, []string{"companion_v1_call"}},
		"call of another type": {tiny{callType: typII_I}.build(),
			abi.CodeInvalid, []string{"exports companion_v1_call as (i32, i32) -> (i32)", "(i32) -> (i32)"}},
		"memory is a function": {tiny{noMemory: true, exports: [][]byte{code(text("memory"), 0, fnInit)}}.build(),
			abi.CodeInvalid, []string{`"memory"`}},
		"_initialize with parameters": {bytes.Replace(tiny{exports: [][]byte{code(text("_initializ_"), 0, fnRead)}}.build(),
			[]byte("_initialize"), []byte("_initialisi"), 1), "", nil}, // renamed: fine
		"unknown imports": {tiny{imports: [][]byte{
			importOf("companion_v1", "launch_rockets", typNone), importOf("env", "memcpy", typIII),
			importOf("wasi_snapshot_preview1", "fd_explode", typI),
		}}.build(), abi.CodeInvalid, []string{
			`"companion_v1.launch_rockets"`, `"env.memcpy"`, `"wasi_snapshot_preview1.fd_explode"`,
			"a module may import", "host_call, log, read, write"}},
		"import of the guard": {tiny{imports: [][]byte{importOf("companion_guard", "tick", typ_I)}}.build(),
			abi.CodeInvalid, []string{`function "companion_guard.tick"`}},
		"imported memory": {tiny{imports: [][]byte{code(text("env"), text("memory"), 2, 0, 1)}}.build(),
			abi.CodeInvalid, []string{`unknown memory "env.memory"`}},
		"imported table": {tiny{imports: [][]byte{code(text("env"), text("t"), 1, 0x70, 0, 1)}}.build(),
			abi.CodeInvalid, []string{`unknown table "env.t"`}},
		"imported global": {tiny{imports: [][]byte{code(text("env"), text("g"), 3, 0x7f, 0)}}.build(),
			abi.CodeInvalid, []string{`unknown global "env.g"`}},
		"import of another type": {tiny{imports: [][]byte{importOf("companion_v1", "read", typII)}}.build(),
			abi.CodeInvalid, []string{"imports companion_v1.read as (i32, i32) -> (), but it is (i32) -> ()"}},
		"too much memory": {tiny{pages: 1025}.build(), abi.CodeTooLarge, []string{"67174400 bytes of memory at its start", "wasm.memory"}},
		"huge table":      {tiny{table: code(0x70, 0, leb(1<<21))}.build(), abi.CodeInvalid, []string{"2097152 entries"}},
		"broken code":     {tiny{init: code(opDrop)}.build(), abi.CodeInvalid, []string{"cannot be compiled"}},
		"unknown opcode":  {tiny{init: code(0xff)}.build(), abi.CodeInvalid, []string{"0xff"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := e.Load(t.Context(), module.Source{ID: "x", Data: c.data})
			if c.code == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if m != nil {
				t.Fatal("loaded")
			}
			wantRefusal(t, err, c.code, c.says...)
		})
	}
}

func TestManyUnknownImports(t *testing.T) {
	var imports [][]byte
	for k := range 100 {
		imports = append(imports, importOf("env", fmt.Sprint("f", k), typNone))
	}
	_, err := newTestEngine(t, nil).Load(t.Context(), tinyFile(tiny{imports: imports}))
	wantRefusal(t, err, abi.CodeInvalid, `"env.f0"`, "and 80 more")
}

func TestDescriptions(t *testing.T) {
	e := newTestEngine(t, nil)
	for describe, want := range map[string]struct {
		code abi.Code
		says string
	}{
		`{"ok":{"abi":"1","name":"彩 Aya","aliases":["あや","アヤ"],"version":"0.1","ops":["vote","speak","perceive"],"needs":["kv.get","say"],"later":1}}`: {},
		`{"ok":{"abi":"1.7","name":"A","ops":["dance"]}}`:             {},
		`{"ok":{"abi":"1","name":"A","ops":["vot"]}}`:                 {abi.CodeInvalid, `unknown op "vot"`},
		`{"ok":{"abi":"2","name":"A","ops":[]}}`:                      {abi.CodeInvalid, `describe.abi: "2"`},
		`{"ok":{"abi":"1.","name":"A","ops":[]}}`:                     {abi.CodeInvalid, "describe.abi"},
		`{"ok":{"abi":"1.x","name":"A","ops":[]}}`:                    {abi.CodeInvalid, "describe.abi"},
		`{"ok":{"abi":"1.-1","name":"A","ops":[]}}`:                   {abi.CodeInvalid, "describe.abi"},
		`{"ok":{"abi":"1.+1","name":"A","ops":[]}}`:                   {abi.CodeInvalid, "describe.abi"},
		`{"ok":{"abi":"10","name":"A","ops":[]}}`:                     {abi.CodeInvalid, "describe.abi"},
		`{"ok":{"name":"A","ops":[]}}`:                                {abi.CodeInvalid, "describe.abi"},
		`{"ok":{"abi":1,"name":"A","ops":[]}}`:                        {abi.CodeInvalid, "no description"},
		`{"ok":{"abi":"1","name":" ","ops":[]}}`:                      {abi.CodeInvalid, "describe.name: must not be empty"},
		`{"ok":{"abi":"1","name":"A\u0007","ops":[]}}`:                {abi.CodeInvalid, "cannot be printed"},
		`{"ok":{"abi":"1","name":"` + strings.Repeat("a", 65) + `"}}`: {abi.CodeInvalid, "65 bytes"},
		`{"ok":{"abi":"1","name":"A","aliases":[""]}}`:                {abi.CodeInvalid, "describe.aliases"},
		`{"ok":[]}`: {abi.CodeInvalid, "no description"},
		`{"error":{"code":"unavailable","message":"not today"}}`: {abi.CodeInvalid, "not today"},
		`nothing`: {abi.CodeInvalid, "no JSON"},
	} {
		m, err := e.Load(t.Context(), tinyFile(tiny{describe: describe}))
		if want.code == "" {
			if err != nil {
				t.Errorf("%s\nrefused: %v", describe, err)
			}
			continue
		}
		if m != nil {
			t.Errorf("%s\nloaded", describe)
			continue
		}
		wantRefusal(t, err, want.code, want.says)
	}
}

// A file that is still being written is a prefix of what it will be.
func TestTruncatedFiles(t *testing.T) {
	e := newTestEngine(t, nil)
	whole := tiny{table: code(0x70, 0, 1), start: true}.build()
	load(t, e, module.Source{ID: "whole", Data: whole})
	for n := range whole {
		if _, err := e.Load(t.Context(), module.Source{ID: "part", Data: whole[:n]}); err == nil {
			t.Errorf("a prefix of %d of %d bytes was loaded", n, len(whole))
		} else if _, ok := err.(*abi.Error); !ok {
			t.Errorf("prefix of %d bytes: %v is no abi.Error", n, err)
		}
	}
	big := guestFile(t, "go").Data
	for n := 1; n < len(big); n += len(big) / 50 {
		if _, err := e.Load(t.Context(), module.Source{ID: "part", Data: big[:n]}); err == nil {
			t.Errorf("a prefix of %d of %d bytes was loaded", n, len(big))
		}
	}
}

func TestRandomFiles(t *testing.T) {
	e := newTestEngine(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		junk := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "junk")
		if rapid.Bool().Draw(t, "header") {
			junk = append([]byte(fuel.Header), junk...)
		}
		if _, err := e.Load(context.Background(), module.Source{ID: "junk", Data: junk}); err == nil {
			t.Fatalf("%x was loaded", junk)
		}
	})
}

// A module with a few bytes changed is refused, or runs and is contained.
func TestDamagedFiles(t *testing.T) {
	e := newTestEngine(t, func(c *Config) { c.FuelPerCall = 10 * slice })
	whole := tiny{table: code(0x70, 0, 1), init: code(i32(3), opDrop)}.build()
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Clone(whole)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			data[rapid.IntRange(8, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		tryModule(t, e, data)
	})
}

// tryModule loads data if it can be, calls it, and closes it.
func tryModule(t interface{ Errorf(string, ...any) }, e *Engine, data []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
	defer cancel()
	m, err := e.Load(ctx, module.Source{ID: "tried", Data: data})
	if err != nil {
		if _, ok := err.(*abi.Error); !ok {
			t.Errorf("load: %v is no abi.Error", err)
		}
		return
	}
	_ = vote(ctx, m.(*Module))
	if err := m.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

// FuzzLoad looks for bytes that Load does not survive.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(fuel.Header))
	f.Add(tiny{}.build())
	f.Add(tiny{vote: forever(), table: code(0x70, 0, 1), start: true, init: code(i32(1), opMemoryGrow, 0, opDrop)}.build())
	e, err := newEngine(Config{FuelPerCall: 5 * slice, MaxMemory: 4 << 20}, false)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = e.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, data []byte) {
		tryModule(t, e, data)
		if n := e.instances.Load(); n != 0 {
			t.Errorf("%d instances left", n)
		}
	})
}
