package js_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/js"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/module/wasm/compiler/compilertest"
)

const scene = `{"message":{"seq":1,"id":"m1","from":"taro","to":[],"text":"Pip, are you there?","kind":"turn","at":"2026-01-02T03:04:05Z"},"addressed":true,"members":[{"id":"pip","kind":"companion"},{"id":"taro","kind":"human"}],"turns":1,"max_turns":24}`

// guest builds a character in another language, or skips.
func guest(b *testing.B, dir string, env []string, build ...string) []byte {
	b.Helper()
	out := filepath.Join(b.TempDir(), "guest.wasm")
	cmd := exec.Command(build[0], append(build[1:], "-o", out)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		b.Skipf("%v: %s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// BenchmarkVote is a vote of characters in three languages that do little, beside each other: what the border costs in each.
func BenchmarkVote(b *testing.B) {
	guests, err := wasm.New(wasm.Config{CacheDir: cache, Compiler: []string{compilertest.Program()}, Interpreter: js.Interpreter(image(b))})
	if err != nil {
		b.Fatal(err)
	}
	defer guests.Close(context.Background())
	scripts := js.New(guests, os.DirFS("npm/node_modules/sucrase/dist/esm"))
	load := func(e module.Engine, name string, data []byte) module.Module {
		m, err := e.Load(b.Context(), module.Source{ID: "pip", Name: name, Data: data, Generation: 1})
		if err != nil {
			b.Fatal(err)
		}
		return m
	}
	for name, make := range map[string]func(b *testing.B) module.Module{
		"typescript": func(b *testing.B) module.Module {
			return load(scripts, "pip.ts", []byte(mustRead(b, "../../../sdk/examples/typescript/pip.ts")))
		},
		"c": func(b *testing.B) module.Module {
			return load(guests, "pip.wasm", guest(b, "../../../sdk/examples/c", nil, "clang", "--target=wasm32", "-Os", "-nostdlib", "-Wl,--no-entry", "pip.c"))
		},
		"go": func(b *testing.B) module.Module {
			return load(guests, "talker.wasm", guest(b, "../../testdata/talker", []string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "build", "-buildmode=c-shared", "-ldflags=-s -w"))
		},
	} {
		b.Run(name, func(b *testing.B) {
			m := make(b)
			defer m.Close(context.Background())
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
				if _, err := m.Call(ctx, abi.Request{Op: abi.OpVote, ID: "1", Room: "main", Data: json.RawMessage(scene)}); err != nil {
					b.Fatal(err)
				}
				cancel()
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(m.Memory())/(1<<10), "KiB")
		})
	}
}

// BenchmarkCharacters is 200 characters in TypeScript that have each voted: what one more takes of memory, as the system counts it, and how
// long they take to be there.
func BenchmarkCharacters(b *testing.B) {
	e := newEngine(b, nil)
	for b.Loop() {
		if _, err := load(b, e, "warm.ts", "export function vote() { return { state: 'listen' } }"); err != nil {
			b.Fatal(err)
		}
		before, began := resident(b), time.Now()
		const many = 200
		for n := range many {
			m, err := load(b, e, "pip.ts", strings.Replace(mustRead(b, "../../../sdk/examples/typescript/pip.ts"), "Pip", fmt.Sprint("Pip", n), 1))
			if err == nil {
				_, err = m.Call(b.Context(), abi.Request{Op: abi.OpVote, Data: json.RawMessage(scene)})
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(resident(b)-before)/(1<<20), "MiB")
		b.ReportMetric(float64(time.Since(began).Milliseconds())/many, "ms/character")
	}
}

// resident is what the process takes of memory, in bytes, when what loading took is given back, as the engine does in a few seconds.
func resident(b *testing.B) int64 {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
