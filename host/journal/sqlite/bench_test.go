package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// line is a message of about 345 bytes, as in the measurements of the design.
func line(id string) journal.New {
	return journal.New{ID: id, Kind: entry.KindSaid, At: time.Now(),
		Body: []byte(`{"from":"aya","by":"companion","text":"` + strings.Repeat("今日は", 32) + `","kind":"turn"}`)}
}

// talker gives a function that appends one message to the room.
func talker(b *testing.B, j *Journal, room string) func() {
	h, err := j.Acquire(b.Context(), room, "bench", time.Now())
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		if h, err = j.Append(b.Context(), room, h, line(fmt.Sprint(h.Seq))); err != nil {
			b.Error(err)
		}
	}
}

func report(b *testing.B, took []time.Duration, elapsed time.Duration) {
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
	b.ReportMetric(float64(len(took))/elapsed.Seconds(), "msg/s")
}

func BenchmarkAppend(b *testing.B) {
	j := mustOpen(b, filepath.Join(b.TempDir(), "companion.db"))
	add := talker(b, j, "広場")
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		add()
		took = append(took, time.Since(start))
	}
	report(b, took, b.Elapsed())
}

// rooms lets each of n rooms append, round by round of its own.
func rooms(b *testing.B, n int) {
	j := mustOpen(b, filepath.Join(b.TempDir(), "companion.db"))
	adds := make([]func(), n)
	var wg sync.WaitGroup
	for i := range adds {
		wg.Go(func() { adds[i] = talker(b, j, fmt.Sprintf("部屋%d", i)) })
	}
	wg.Wait()
	const each = 10
	var mu sync.Mutex
	var took []time.Duration
	for b.Loop() {
		for _, add := range adds {
			wg.Go(func() {
				var mine [each]time.Duration
				for i := range mine {
					start := time.Now()
					add()
					mine[i] = time.Since(start)
				}
				mu.Lock()
				took = append(took, mine[:]...)
				mu.Unlock()
			})
		}
		wg.Wait()
	}
	report(b, took, b.Elapsed())
}

func BenchmarkAppend64Rooms(b *testing.B) { rooms(b, 64) }

func BenchmarkRooms1000(b *testing.B) { rooms(b, 1000) }

// BenchmarkRead50 reads the newest 50 of 10,000 entries.
func BenchmarkRead50(b *testing.B) {
	j := mustOpen(b, filepath.Join(b.TempDir(), "companion.db"))
	h, err := j.Acquire(b.Context(), "広場", "bench", time.Now())
	if err != nil {
		b.Fatal(err)
	}
	for range 100 {
		news := make([]journal.New, 100)
		for i := range news {
			news[i] = line(fmt.Sprint(h.Seq, "-", i))
		}
		if h, err = j.Append(b.Context(), "広場", h, news...); err != nil {
			b.Fatal(err)
		}
	}
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if es, err := j.Read(b.Context(), "広場", h.Seq-50, 50); err != nil || len(es) != 50 {
			b.Fatal(len(es), err)
		}
		took = append(took, time.Since(start))
	}
	report(b, took, b.Elapsed())
}

// BenchmarkVerify10k checks the chain of 10,000 entries.
func BenchmarkVerify10k(b *testing.B) {
	j := mustOpen(b, filepath.Join(b.TempDir(), "companion.db"))
	talk(b, j, "広場", 10_000)
	for b.Loop() {
		if bad, err := j.Verify(b.Context(), "広場", 0); bad != 0 || err != nil {
			b.Fatal(bad, err)
		}
	}
}
