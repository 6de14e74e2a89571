package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/host/journal"
)

// opened makes rooms without waiting for the disk, and opens the file as a daemon does.
func opened(b *testing.B, build func(j *Journal)) *Journal {
	path := filepath.Join(b.TempDir(), "companion.db")
	j := unsynced(b, path)
	build(j)
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	return mustOpen(b, path)
}

// BenchmarkFork forks rooms of several lengths at entry 40, each time with one entry of its own, which is on the disk then.
// B/fork is what the file grows by.
func BenchmarkFork(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			j := opened(b, func(j *Journal) { long(b, j, "広場", n) })
			pages, forks := number(b, j.path, "PRAGMA page_count"), 0
			timed(b, func() {
				forked(b, j, fmt.Sprint("枝", forks), "広場", 40, "own")
				forks++
			})
			b.ReportMetric(float64(number(b, j.path, "PRAGMA page_count")-pages)*4096/float64(forks), "B/fork")
		})
	}
}

// BenchmarkForkHead forks at the newest of 100,000 entries.
func BenchmarkForkHead(b *testing.B) {
	var h journal.Head
	j := opened(b, func(j *Journal) { h = long(b, j, "広場", 100_000) })
	forks := 0
	timed(b, func() {
		forked(b, j, fmt.Sprint("枝", forks), "広場", h.Seq, "own")
		forks++
	})
}

// BenchmarkGrandchild reads the newest 50 entries of a grandchild, which stand in three rooms, finds one of the oldest,
// and checks the chain of all 10,000, also through journal.MaxDepth forks.
func BenchmarkGrandchild(b *testing.B) {
	const at = 10_000
	for name, depth := range map[string]int{"2": 2, "64": journal.MaxDepth} {
		j := opened(b, func(j *Journal) {
			long(b, j, "枝0", at+100)
			head := uint64(at)
			for n := 1; n <= depth; n++ {
				var own []string
				for i := range max(40/depth, 1) {
					own = append(own, fmt.Sprint("own", n, "-", i))
				}
				head = forked(b, j, fmt.Sprint("枝", n), fmt.Sprint("枝", n-1), head, own...).Seq
			}
		})
		room := fmt.Sprint("枝", depth)
		row, _, err := j.Room(b.Context(), room)
		if err != nil {
			b.Fatal(err)
		}
		for what, f := range map[string]func() (bool, error){
			"tail50": func() (bool, error) {
				es, err := j.Read(b.Context(), room, row.Head.Seq-50, 50)
				return len(es) == 50, err
			},
			"newest50": func() (bool, error) {
				es, err := j.Said(b.Context(), room, journal.Span{Limit: 50, Newest: true})
				return len(es) == 50, err
			},
			"find":   func() (bool, error) { _, ok, err := j.Find(b.Context(), room, "1-7"); return ok, err },
			"verify": func() (bool, error) { bad, err := j.Verify(b.Context(), room, 0); return bad == 0, err },
		} {
			b.Run(what+"/"+name, func(b *testing.B) {
				timed(b, func() {
					if ok, err := f(); !ok || err != nil {
						b.Fatal(ok, err)
					}
				})
			})
		}
	}
}

// BenchmarkAppendToAFork is BenchmarkAppend in a fork of a fork.
func BenchmarkAppendToAFork(b *testing.B) {
	j := opened(b, func(j *Journal) {
		long(b, j, "広場", 10_000)
		forked(b, j, "枝", "広場", 5000, "own")
		forked(b, j, "孫", "枝", 5001)
	})
	timed(b, talker(b, j, "孫"))
}
