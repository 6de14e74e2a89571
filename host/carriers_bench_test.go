//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/process"
	"github.com/companiond/companiond/host/module/wasm"
)

// carriers gives the two engines that code runs in, each with the file of the same source.
func carriers(b *testing.B) map[string]struct {
	engine module.Engine
	file   string
} {
	compiled, err := wasm.New(wasm.Config{CacheDir: filepath.Join(guests, "cache")})
	if err != nil {
		b.Fatal(err)
	}
	run, err := process.New(process.Config{Programs: []process.Program{{Module: "clerk", File: "clerk-first"}}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := compiled.Close(context.Background()); err != nil {
			b.Error(err)
		}
		if err := run.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return map[string]struct {
		engine module.Engine
		file   string
	}{"wasm": {compiled, build(b, "./testdata/clerk", "clerk", "")}, "process": {run, program(b, "first")}}
}

func loadClerk(b *testing.B, e module.Engine, path string) module.Module {
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	m, err := e.Load(b.Context(), module.Source{ID: "clerk", Name: filepath.Base(path), Path: path, Data: data, Generation: 1})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// BenchmarkCarrier is a vote of the same source in WebAssembly and in a process, with what each
// takes of memory.
func BenchmarkCarrier(b *testing.B) {
	scene, err := json.Marshal(abi.Scene{Message: abi.Message{Seq: 1, ID: "m1", From: "taro", Text: "clerk?"}, Addressed: true})
	if err != nil {
		b.Fatal(err)
	}
	for name, c := range carriers(b) {
		b.Run(name, func(b *testing.B) {
			m := loadClerk(b, c.engine, c.file)
			defer m.Close(context.Background())
			for b.Loop() {
				ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
				if _, err := m.Call(ctx, abi.Request{Op: abi.OpVote, ID: "1", Data: scene}); err != nil {
					b.Fatal(err)
				}
				cancel()
			}
			b.ReportMetric(float64(m.Memory())/(1<<20), "MiB")
		})
	}
}

// BenchmarkCarrierStart is a load of the same source: with its machine code in the cache, and a process with its
// handshake.
func BenchmarkCarrierStart(b *testing.B) {
	for name, c := range carriers(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := loadClerk(b, c.engine, c.file).Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
