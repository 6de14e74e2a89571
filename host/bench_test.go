package host_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

// quantiles reports the middle and the tail of what was measured.
func quantiles(b *testing.B, took []time.Duration, unit string) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	at := func(q float64) float64 {
		return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.50), "p50-"+unit)
	b.ReportMetric(at(0.99), "p99-"+unit)
}

// benchRooms runs rooms on a journal on disk, with companions from Wasm files
// where there are any, and without doors.
func benchRooms(b *testing.B, n int, rules entry.Rules, files ...string) *registry.Registry {
	b.Helper()
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(b.TempDir(), "state", "companiond.db")})
	if err != nil {
		b.Fatal(err)
	}
	loaded := map[string]*module.Companion{}
	var cast []entry.Joined
	engine, err := wasm.New(wasm.Config{CacheDir: filepath.Join(guests, "cache")})
	if err != nil {
		b.Fatal(err)
	}
	for i, f := range files {
		id := fmt.Sprintf("c%d", i)
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		m, err := engine.Load(b.Context(), module.Source{ID: id, Name: f, Data: data, Generation: 1})
		if err != nil {
			b.Fatal(err)
		}
		<-m.(*wasm.Module).Compiled()
		loaded[id] = module.NewCompanion(id, module.NewGeneration(1, engine.Name(), m), module.Limits{}, slog.New(slog.DiscardHandler))
		cast = append(cast, entry.Joined{ID: id, Name: id, Kind: abi.KindCompanion})
	}
	var ids atomic.Int64
	var settings []room.Settings
	for i := range n {
		settings = append(settings, room.Settings{Name: fmt.Sprintf("r%d", i), Companions: []string{"*"}, Rules: rules})
	}
	all, err := registry.New(registry.Config{
		Room: room.Config{
			Journal: j, Log: slog.New(slog.DiscardHandler),
			NewID: func() string { return strconv.FormatInt(ids.Add(1), 36) },
			Find:  func(id string) (room.Companion, bool) { c, ok := loaded[id]; return c, ok },
		},
		Rooms: settings, Usual: "r0",
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- all.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
		if err := j.Close(); err != nil {
			b.Error(err)
		}
		for _, c := range loaded {
			_ = c.Close()
		}
		_ = engine.Close(context.Background())
	})
	all.SetCast(ctx, cast)
	for _, r := range settings { // none is to be woken while the clock runs
		if len(files) > 0 {
			break // but for a round that is waited for
		}
		talk, err := all.Room(ctx, r.Name)
		if err == nil {
			_, err = talk.Say(ctx, rooms.Utterance{From: "taro", Text: "hello"})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return all
}

var benchRules = entry.Rules{Policy: "vote", Seed: "bench", Patience: 1000, Floor: 5000, MaxTurns: 1, Stale: entry.StaleReask}

// BenchmarkRound measures a whole round with three Wasm voters: from a human's
// message to the chosen companion's line, both durable.
func BenchmarkRound(b *testing.B) {
	p := parrot(b, "one")
	all := benchRooms(b, 1, benchRules, p, p, p)
	r, _ := all.Room(b.Context(), "r0")
	lines := make(chan struct{}, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		_ = r.Follow(ctx, 0, func(es []entry.Entry) error {
			for _, e := range es {
				if m, ok := e.Message(); ok && m.From != "taro" {
					lines <- struct{}{}
				}
			}
			return nil
		})
	}()
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := r.Say(ctx, rooms.Utterance{From: "taro", Text: "hello"}); err != nil {
			b.Fatal(err)
		}
		<-lines
		took = append(took, time.Since(begin))
	}
	quantiles(b, took, "ms/round")
	cancel()
	<-followed
}

// BenchmarkMessages measures acknowledged, durable messages through rooms
// without companions.
func BenchmarkMessages(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("rooms=%d", n), func(b *testing.B) {
			all := benchRooms(b, n, benchRules)
			const people = 256
			var turn atomic.Int64
			var mu sync.Mutex
			var took []time.Duration
			b.SetParallelism(people / runtime.GOMAXPROCS(0))
			b.ResetTimer()
			begin := time.Now()
			b.RunParallel(func(pb *testing.PB) {
				var mine []time.Duration
				for pb.Next() {
					r, _ := all.Room(context.Background(), fmt.Sprintf("r%d", turn.Add(1)%int64(n)))
					asked := time.Now()
					if _, err := r.Say(context.Background(), rooms.Utterance{From: "taro", Text: "こんにちは、みなさん"}); err != nil {
						b.Error(err)
						return
					}
					mine = append(mine, time.Since(asked))
				}
				mu.Lock()
				took = append(took, mine...)
				mu.Unlock()
			})
			b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "messages/s")
			quantiles(b, took, "ms/message")
		})
	}
}

// BenchmarkReload measures from the save of a changed file to the moment the
// new generation serves, the quarter of a second included that a file must be
// left alone. "new" has never been compiled, "known" is in the cache.
func BenchmarkReload(b *testing.B) {
	one, two := parrot(b, "one"), parrot(b, "two")
	measure := func(b *testing.B, change func(n int) []byte) {
		h := newHome(b)
		h.drop(one, "polly.wasm")
		h.open("")
		var took []time.Duration
		for n := 0; b.Loop(); n++ {
			before := h.companion("polly").Generation
			h.save("polly.wasm", change(n))
			saved := time.Now()
			h.until("the new generation", func() bool { return h.companion("polly").Generation > before })
			took = append(took, time.Since(saved))
		}
		quantiles(b, took, "ms/reload")
	}
	whole := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		return data
	}
	a, c := whole(one), whole(two)
	b.Run("known", func(b *testing.B) {
		measure(b, func(n int) []byte {
			if n%2 == 0 {
				return c
			}
			return a
		})
	})
	b.Run("new", func(b *testing.B) {
		measure(b, func(n int) []byte {
			// Another text of the same length is another module to the cache.
			text := fmt.Sprintf("%03d", (n+int(time.Now().UnixNano()/1000))%1000)
			return bytes.ReplaceAll(c, []byte("two"), []byte(text))
		})
	})
}

// BenchmarkMemory reports what a companion more costs in resident memory: of equal files,
// which share their code, and of different ones.
func BenchmarkMemory(b *testing.B) {
	data, err := os.ReadFile(parrot(b, "two"))
	if err != nil {
		b.Fatal(err)
	}
	for name, file := range map[string]func(n int) []byte{
		"equal":     func(int) []byte { return data },
		"different": func(n int) []byte { return bytes.ReplaceAll(data, []byte("two"), fmt.Appendf(nil, "%03d", n)) },
	} {
		b.Run(name, func(b *testing.B) {
			engine, err := wasm.New(wasm.Config{CacheDir: filepath.Join(guests, "cache"), CacheSize: 2 << 30})
			if err != nil {
				b.Fatal(err)
			}
			defer engine.Close(context.Background())
			load := func(n int) {
				m, err := engine.Load(b.Context(), module.Source{ID: "c", Name: "c.wasm", Data: file(n), Generation: 1})
				if err != nil {
					b.Fatal(err)
				}
				<-m.(*wasm.Module).Compiled()
			}
			load(0)
			debug.FreeOSMemory()
			before := resident(b)
			const more = 50
			for n := range more {
				load(n + 1)
			}
			debug.FreeOSMemory()
			for b.Loop() {
			}
			b.ReportMetric(float64(resident(b)-before)/more, "KiB/character")
		})
	}
}

// BenchmarkShipped reports what the daemon takes with the three characters of the
// repository, some seconds after they talked: as the system sees it, which is told nothing.
func BenchmarkShipped(b *testing.B) {
	d := newDaemon(b, "")
	for _, name := range []string{"aya", "kyoko", "natsumi"} {
		name += ".talk.txt"
		data, err := os.ReadFile(filepath.Join("../characters", name))
		d.must(err)
		d.must(os.WriteFile(filepath.Join(d.dir, "characters", name), data, 0o600))
	}
	for b.Loop() {
	}
	for _, cache := range []string{"cold", "warm"} {
		d.start("main")
		for begin := time.Now(); d.said("main") < 4 && time.Since(begin) < 5*time.Minute; {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(20 * time.Second)
		rss, peak := d.status("VmRSS"), d.status("VmHWM")
		d.stop()
		b.ReportMetric(float64(rss)/1024, "MiB-"+cache)
		b.ReportMetric(float64(peak)/1024, "MiB-peak-"+cache)
	}
}

// resident gives the memory of this process in KiB.
func resident(b *testing.B) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("resident memory is read from /proc, which is not here")
	}
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(v)[0])
			return n
		}
	}
	return 0
}
