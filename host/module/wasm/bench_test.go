package wasm

import (
	"encoding/json"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	native "github.com/companiond/companiond/host/module/wasm/testdata/vote"
)

// benchRequest is a vote as a room of four asks it.
func benchRequest() abi.Request {
	scene, _ := json.Marshal(abi.Scene{
		Message: abi.Message{
			Seq: 41, ID: "m-41", From: "bob", To: []string{"aya"}, Kind: abi.KindTurn,
			Text: "Aya, what do you think of the new song they played yesterday evening?", At: time.Unix(1_750_000_000, 0).UTC(),
		},
		Addressed: true, Turns: 2, MaxTurns: 8,
		Members: []abi.Member{{ID: "aya", Kind: abi.KindCompanion}, {ID: "ken", Kind: abi.KindCompanion}, {ID: "bob", Name: "Bob", Kind: abi.KindHuman}},
	})
	return abi.Request{V: 1, Op: abi.OpVote, ID: "round-41-aya", Self: "aya", Room: "main", Now: time.Unix(1_750_000_001, 0).UTC(), Data: scene}
}

// BenchmarkVote is one vote that decodes and encodes JSON: as a function in
// this process, and in a guest under each guard. The quotients are what the
// sandbox and the guards cost.
func BenchmarkVote(b *testing.B) {
	req := benchRequest()
	b.Run("native", func(b *testing.B) {
		for b.Loop() {
			request, err := json.Marshal(req)
			if err != nil {
				b.Fatal(err)
			}
			var reply abi.Reply
			if err := json.Unmarshal(native.Answer(request), &reply); err != nil || reply.OK == nil {
				b.Fatal(err, reply.Error)
			}
		}
	})
	for name, guard := range map[string]Guard{"unguarded": guardNone, "fuel": GuardFuel, "context": GuardContext} {
		b.Run(name, func(b *testing.B) {
			e := newTestEngine(b, func(c *Config) { c.Guard = guard })
			m := load(b, e, guestFile(b, "aya"))
			for b.Loop() {
				if _, err := m.Call(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCallOverhead is a call of a guest that does almost nothing.
func BenchmarkCallOverhead(b *testing.B) {
	m := load(b, newTestEngine(b, nil), tinyFile(tiny{}))
	req := abi.Request{Op: abi.OpVote}
	for b.Loop() {
		if _, err := m.Call(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad is a load of a Go guest of 3 MB, with nothing and with
// everything in the cache.
func BenchmarkLoad(b *testing.B) {
	file := guestFile(b, "aya")
	once := func(b *testing.B, dir string) {
		e := newTestEngine(b, func(c *Config) { c.CacheDir = dir })
		load(b, e, file)
		if err := e.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			once(b, filepath.Join(b.TempDir(), "cache"))
		}
	})
	b.Run("warm", func(b *testing.B) {
		dir := filepath.Join(b.TempDir(), "cache")
		once(b, dir)
		for b.Loop() {
			once(b, dir)
		}
	})
}

// BenchmarkRestart is what a fault costs the next call: a new instance of a Go
// guest.
func BenchmarkRestart(b *testing.B) {
	m := load(b, newTestEngine(b, nil), guestFile(b, "aya"))
	for b.Loop() {
		if _, err := do(b.Context(), m, "deadlock", ""); faultKind(err) != module.FaultTrap {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemoryPerInstance reports what a module that answered one call takes
// of the machine's memory, for a Go guest of 3.5 MB and for one of a few bytes.
// Machine code is shared, for the bytes are the same; wazero keeps the decoded
// file for each.
func BenchmarkMemoryPerInstance(b *testing.B) {
	for name, file := range map[string]module.Source{"go": guestFile(b, "aya"), "tiny": tinyFile(tiny{})} {
		b.Run(name, func(b *testing.B) {
			e := newTestEngine(b, nil)
			load(b, e, file) // the code is shared by all
			for b.Loop() {
				const count = 50
				debug.FreeOSMemory()
				before := residentKiB()
				modules := make([]*Module, count)
				for k := range modules {
					modules[k] = load(b, e, file)
					if err := vote(b.Context(), modules[k]); err != nil {
						b.Fatal(err)
					}
				}
				debug.FreeOSMemory()
				b.ReportMetric(float64(residentKiB()-before)/count, "KiB/instance")
				for _, m := range modules {
					if err := m.Close(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
