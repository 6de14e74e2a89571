package memory_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/memory/near"
)

// BenchmarkFull is a companion that remembers as much as it may: its table is made, and asked.
func BenchmarkFull(b *testing.B) {
	for _, dims := range []int{0, 768} {
		b.Run(fmt.Sprint("vectors of ", dims), func(b *testing.B) { benchmarkFull(b, dims) })
	}
}

func benchmarkFull(b *testing.B, dims int) {
	ctx := context.Background()
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(b.TempDir(), "x.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	head, err := j.Acquire(ctx, journal.MemoryOf("aya"), "test", time.Now())
	for i := 0; err == nil && i < 10_000; i += 100 {
		var news []journal.New
		for n := i; n < i+100; n++ {
			e, _ := entry.Entry{}.WithBody(entry.Remembered{How: entry.HowRules, Memory: abi.Memory{
				ID: fmt.Sprint("m", n), Kind: abi.MemoryFact, Text: fmt.Sprintf("person%d has a cat called Tama%d", n%50, n), Quote: fmt.Sprintf("My cat is called Tama%d.", n),
				About: []string{fmt.Sprint("person", n%50)}, Keys: []string{"cat", fmt.Sprint("tama", n), "pet", "name"}, Room: fmt.Sprint("room", n%20), Turns: []uint64{uint64(n)},
				SaidBy: fmt.Sprint("person", n%50), SaidAt: time.Now(), Importance: 3, Visibility: abi.VisibleAll,
			}})
			news = append(news, journal.New{ID: fmt.Sprint("e", n), V: 2, Kind: entry.KindRemembered, At: time.Now(), Body: e.Body})
			if dims > 0 {
				e, _ := entry.Entry{}.WithBody(entry.Vector{Of: fmt.Sprint("m", n), Model: "m", Dims: dims, Numbers: near.Of(random(fmt.Sprint(n), dims))})
				news = append(news, journal.New{ID: fmt.Sprint("v", n), V: 2, Kind: entry.KindVector, At: time.Now(), Body: e.Body})
			}
		}
		head, err = j.Append(ctx, journal.MemoryOf("aya"), head, news...)
	}
	if err != nil {
		b.Fatal(err)
	}
	begin := func() *memory.Keeper {
		c := memory.Config{Journal: j, NewID: func() string { return "x" }}
		if dims > 0 {
			c.Meaning = (&sees{model: "m", dims: dims}).finder()
			if err := c.Meaning.Ready(ctx, "aya"); err != nil {
				b.Fatal(err)
			}
		}
		return memory.New(c)
	}
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if p, err := begin().List(ctx, "aya", memory.Filter{}); err != nil || p.Total != 10_000 {
				b.Fatalf("%d %v", p.Total, err)
			}
		}
	})
	b.Run("recall", func(b *testing.B) {
		k := begin()
		if _, err := k.List(ctx, "aya", memory.Filter{}); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if found, err := k.Recall(ctx, caller("aya", "room1"), abi.MemoryAsk{Text: "What is my cat called, Tama77?", About: []string{"person27"}}); err != nil || len(found.Memories) == 0 {
				b.Fatal(err)
			}
		}
	})
}
