package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/handover"
)

// However far a follower is behind, and however much comes at once: it gets what is in
// the database, all of it, in order and once, be it handed or read.
func TestFollowersGetEverythingOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "companion.db")
	j := mustOpen(t, path)
	room := 0
	rapid.Check(t, func(t *rapid.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		room++
		name := fmt.Sprint("room", room)
		h, err := j.Acquire(ctx, name, "test", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{1, 1, 2, 30, batch - 10, batch, batch + 1}), 1, 4).Draw(t, "sizes")
		total := h.Seq
		for _, n := range sizes {
			total += uint64(n)
		}
		hold := rapid.SliceOfN(rapid.Bool(), 3, 3).Draw(t, "hold")
		var following sync.WaitGroup
		got := make([][]entry.Entry, len(hold))
		held := make(chan struct{})
		for i := range got {
			from := uint64(rapid.IntRange(0, int(min(3, total-1))).Draw(t, "from"))
			following.Go(func() {
				got[i] = append(got[i], make([]entry.Entry, from)...) // what it had already
				err := j.Follow(ctx, name, from, func(es []entry.Entry) error {
					if hold[i] {
						<-held
					}
					got[i] = append(got[i], es...)
					if es[len(es)-1].Seq == total {
						return context.Canceled
					}
					return nil
				})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("follower %d: %v", i, err)
				}
			})
		}
		for k, n := range sizes {
			news := make([]journal.New, n)
			for i := range news {
				news[i] = line(fmt.Sprint(h.Seq, "/", i))
			}
			if h, err = j.Append(ctx, name, h, news...); err != nil {
				t.Fatal(err)
			}
			if k == len(sizes)/2 {
				close(held)
			}
			if rapid.Bool().Draw(t, "doubt") {
				j.desk.Doubt()
			}
		}
		following.Wait()
		var want []entry.Entry
		for after := uint64(0); after < total; after = want[len(want)-1].Seq {
			es, err := j.Read(ctx, name, after, batch)
			if err != nil || len(es) == 0 {
				t.Fatal(len(es), err)
			}
			want = append(want, es...)
		}
		for i, es := range got {
			if uint64(len(es)) != total {
				t.Fatalf("follower %d got %d entries of %d", i, len(es), total)
			}
			for k, e := range es {
				if e.Seq != 0 && !reflect.DeepEqual(e, want[k]) {
					t.Fatalf("follower %d: entry %d is %+v, not %+v", i, k+1, e, want[k])
				}
			}
		}
	})
}

// What was committed and nobody was told of, as when a commit seems to fail and did not, is
// read: the follower that was handed what comes before it and after it gets that as well.
func TestAFollowerGetsWhatNobodyWasToldOf(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	h, err := j.Acquire(t.Context(), "main", "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	add := func(id string) {
		t.Helper()
		if h, err = j.Append(t.Context(), "main", h, line(id)); err != nil {
			t.Fatal(err)
		}
	}
	busy, done := make(chan struct{}), make(chan struct{})
	var got []uint64
	var following sync.WaitGroup
	following.Go(func() {
		_ = j.Follow(t.Context(), "main", 0, func(es []entry.Entry) error { // it ends with what the function gives
			if got == nil {
				close(busy)
				<-done
			}
			for _, e := range es {
				got = append(got, e.Seq)
			}
			if got[len(got)-1] == 4 {
				return context.Canceled
			}
			return nil
		})
	})
	<-busy
	add("handed")
	desk := j.desk
	j.desk = new(handover.Desk)
	add("not told of")
	j.desk = desk
	j.desk.Doubt()
	add("handed as well")
	close(done)
	following.Wait()
	if want := []uint64{1, 2, 3, 4}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A follower that is behind is given bounded pieces of what are long messages: hundreds of
// them may be, after a restart.
func TestFollowersReadInPieces(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "companion.db"))
	h, err := j.Acquire(t.Context(), "main", "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	const long, total = 15 << 10, 301 // with the owner's
	for i := range total - 1 {
		n := line(fmt.Sprint(i))
		n.Body = []byte(`{"text":"` + strings.Repeat("x", long) + `"}`)
		if h, err = j.Append(t.Context(), "main", h, n); err != nil {
			t.Fatal(err)
		}
	}
	var last uint64
	err = j.Follow(t.Context(), "main", 0, func(es []entry.Entry) error {
		size := 0
		for _, e := range es {
			if size += len(e.Body); e.Seq != last+1 {
				t.Errorf("%d behind %d", e.Seq, last)
			}
			last = e.Seq
		}
		if size > batchBytes+2*long {
			t.Errorf("%d KiB at once", size>>10)
		}
		if last == total {
			return context.Canceled
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
