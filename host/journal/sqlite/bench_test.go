package sqlite

import (
	"fmt"
	"maps"
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
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
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

// long appends n lines to a room that is acquired, and gives its head.
func long(b *testing.B, j *Journal, room string, n int) journal.Head {
	b.Helper()
	h, err := j.Acquire(b.Context(), room, "bench", time.Now())
	for err == nil && n > 0 {
		news := make([]journal.New, min(n, 500))
		for i := range news {
			news[i] = line(fmt.Sprint(h.Seq, "-", i))
		}
		n -= len(news)
		h, err = j.Append(b.Context(), room, h, news...)
	}
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// timed runs f in a loop and reports how long it took.
func timed(b *testing.B, f func()) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		f()
		took = append(took, time.Since(start))
	}
	report(b, took, b.Elapsed())
}

// BenchmarkPlain reads a room of 10,000 entries that is no fork: the newest 50, those of them that were said, the
// newest 50 that were said, what is behind the last, an entry by its id, and one that is not there.
func BenchmarkPlain(b *testing.B) {
	j := mustOpen(b, filepath.Join(b.TempDir(), "companion.db"))
	h := long(b, j, "広場", 10_000)
	reads := map[string]func() (int, error){
		"read50": func() (int, error) { es, err := j.Read(b.Context(), "広場", h.Seq-50, 50); return len(es), err },
		"said50": func() (int, error) {
			es, err := j.Said(b.Context(), "広場", journal.Span{After: h.Seq - 50, Limit: 50})
			return len(es), err
		},
		"newest50": func() (int, error) {
			es, err := j.Said(b.Context(), "広場", journal.Span{Limit: 50, Newest: true})
			return len(es), err
		},
		"nothing": func() (int, error) { es, err := j.Read(b.Context(), "広場", h.Seq, 50); return len(es) + 50, err },
		"find": func() (int, error) {
			_, ok, err := j.Find(b.Context(), "広場", fmt.Sprint(h.Seq-500, "-7"))
			return map[bool]int{true: 50}[ok], err
		},
		"miss": func() (int, error) {
			_, ok, err := j.Find(b.Context(), "広場", "no")
			return map[bool]int{false: 50}[ok], err
		},
	}
	for _, name := range slices.Sorted(maps.Keys(reads)) {
		b.Run(name, func(b *testing.B) {
			timed(b, func() {
				if n, err := reads[name](); n != 50 || err != nil {
					b.Fatal(n, err)
				}
			})
		})
	}
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
