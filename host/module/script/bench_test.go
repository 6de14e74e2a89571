package script

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// BenchmarkScripts is what a shipped character costs beside 200 of its kind, which have all said something: on the heap, and
// until it has spoken.
func BenchmarkScripts(b *testing.B) {
	data, err := os.ReadFile("../../../characters/aya.talk.txt")
	if err != nil {
		b.Fatal(err)
	}
	e := New(Config{Host: &hosts{kv: map[string]string{}}})
	ask[abi.Line](b, load(b, e, string(data)), abi.OpSpeak, 1, "こんにちは！P2Pって何？") // what all share is there now
	for b.Loop() {
		const many = 200
		before, began := heap(), time.Now()
		all := make([]*Module, many)
		for i := range all {
			all[i] = load(b, e, string(data))
			ask[abi.Vote](b, all[i], abi.OpVote, 1, "こんにちは！P2Pって何？")
			ask[abi.Line](b, all[i], abi.OpSpeak, 1, "こんにちは！P2Pって何？")
		}
		took := time.Since(began)
		b.ReportMetric(float64(heap()-before)/many/1024, "KiB/character")
		b.ReportMetric(float64(took.Microseconds())/many/1000, "ms/character")
		runtime.KeepAlive(all)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
