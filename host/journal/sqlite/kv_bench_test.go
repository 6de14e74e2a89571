package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal"
)

// BenchmarkKV reads and writes keys, of 100 and of 1000, in a room that is no fork, in a fork, a grandchild, and one
// that is 64 deep; without waiting for the disk.
func BenchmarkKV(b *testing.B) {
	for _, keys := range []int{100, 1000} {
		j := unsynced(b, filepath.Join(b.TempDir(), "companion.db"))
		h := talk(b, j, "0", 50)
		for n := range keys {
			if err := j.KVIn("0").KVSet(b.Context(), "aya", fmt.Sprintf("key %04d", n), fmt.Sprintf("a value of some length, %d", n)); err != nil {
				b.Fatal(err)
			}
		}
		grows := func(room string) {
			var err error
			if h, err = j.Acquire(b.Context(), room, "bench", time.Now()); err != nil {
				b.Fatal(err)
			}
		}
		grows("0")
		b.Run(fmt.Sprintf("keys=%d/fork", keys), func(b *testing.B) {
			n := 0
			for b.Loop() {
				if err := forkOnly(j, fmt.Sprintf("fork %d of %d", n, b.N), journal.Fork{Of: "0", At: h.Seq}); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
		for depth := range 65 {
			room := fmt.Sprint(depth)
			if depth > 0 {
				if err := forkOnly(j, room, journal.Fork{Of: fmt.Sprint(depth - 1), At: h.Seq}); err != nil {
					b.Fatal(err)
				}
				grows(room)
			}
			if depth > 2 && depth < 64 {
				continue
			}
			kv := j.KVIn(room)
			b.Run(fmt.Sprintf("keys=%d/depth=%d/get", keys, depth), func(b *testing.B) {
				for b.Loop() {
					if _, ok, err := kv.KVGet(b.Context(), "aya", "key 0042"); !ok || err != nil {
						b.Fatal(ok, err)
					}
				}
			})
			b.Run(fmt.Sprintf("keys=%d/depth=%d/list", keys, depth), func(b *testing.B) {
				for b.Loop() {
					if got, err := kv.KVList(b.Context(), "aya", "", "", 100); len(got) != 100 || err != nil {
						b.Fatal(len(got), err)
					}
				}
			})
			b.Run(fmt.Sprintf("keys=%d/depth=%d/set", keys, depth), func(b *testing.B) {
				n := 0
				for b.Loop() {
					if err := kv.KVSet(b.Context(), "aya", "key 0050", fmt.Sprint(n)); err != nil {
						b.Fatal(err)
					}
					n++
				}
			})
		}
	}
}

// BenchmarkKVSetEachTurn writes a key behind each entry, so that each value is kept for a while.
func BenchmarkKVSetEachTurn(b *testing.B) {
	j := unsynced(b, filepath.Join(b.TempDir(), "companion.db"))
	add := talker(b, j, "広場")
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			add()
		}
	})
	b.Run("append+set", func(b *testing.B) {
		n := 0
		for b.Loop() {
			add()
			if err := j.KVIn("広場").KVSet(b.Context(), "aya", "turn", fmt.Sprint(n)); err != nil {
				b.Fatal(err)
			}
			n++
		}
	})
}

func forkOnly(j *Journal, room string, f journal.Fork) error {
	_, err := j.Fork(context.Background(), room, f, journal.Listing{})
	return err
}
