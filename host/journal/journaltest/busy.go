package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

func racingWriters(t *testing.T, j journal.Journal) {
	const rounds, writers = 20, 8
	h := acquire(t, j, "広場")
	for round := range rounds {
		var wins, conflicts atomic.Int32
		var next atomic.Value
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				nh, err := j.Append(t.Context(), "広場", h, message(fmt.Sprintf("r%dw%d", round, w), "先に"))
				switch {
				case err == nil:
					wins.Add(1)
					next.Store(nh)
				case errors.Is(err, journal.ErrConflict):
					conflicts.Add(1)
				default:
					t.Errorf("append: %v", err)
				}
			})
		}
		wg.Wait()
		if wins.Load() != 1 || conflicts.Load() != writers-1 {
			t.Fatalf("round %d: %d writers won and %d conflicted, want 1 and %d", round, wins.Load(), conflicts.Load(), writers-1)
		}
		h = next.Load().(journal.Head)
	}
	intact(t, j, "広場", 1+rounds)
}

// cancelled gives up on appends at all moments. One that says nothing was
// stored must not be found, one that says nil must.
func cancelled(t *testing.T, j journal.Journal) {
	h := acquire(t, j, "広場")
	var stored, unknown, nothing int
	for i := range 60 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%20)*50*time.Microsecond)
		id := fmt.Sprintf("m%d", i)
		nh, err := j.Append(ctx, "広場", h, message(id, "やめた"))
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("append: %v", err)
		}
		// A request may still be under way; an append after it is behind it.
		if _, err := j.Append(t.Context(), "広場", journal.Head{Epoch: h.Epoch}, message("behind", "")); !errors.Is(err, journal.ErrConflict) {
			t.Fatalf("append with a wrong head: %v", err)
		}
		e, ok, ferr := j.Find(t.Context(), "広場", id)
		if ferr != nil {
			t.Fatalf("find: %v", ferr)
		}
		switch {
		case err == nil:
			stored++
			if !ok || e.Seq != nh.Seq {
				t.Fatalf("entry %s was acknowledged and is not there", id)
			}
		case errors.Is(err, journal.ErrUnknown):
			unknown++
		default:
			nothing++
			if ok {
				t.Fatalf("entry %s is there after %v", id, err)
			}
		}
		if ok {
			h.Seq = e.Seq
		}
	}
	t.Logf("%d stored, %d unknown, %d not handed over", stored, unknown, nothing)
	intact(t, j, "広場", h.Seq)
}

// follow collects what a follower gets from after on, until it has seq last,
// and reports the first gap or repetition.
func follow(ctx context.Context, j journal.Journal, room string, after, last uint64) error {
	done := errors.New("seen all")
	at := after
	err := j.Follow(ctx, room, after, func(es []entry.Entry) error {
		if len(es) == 0 {
			return errors.New("empty batch")
		}
		for _, e := range es {
			if e.Seq != at+1 {
				return fmt.Errorf("follower from %d got seq %d after %d", after, e.Seq, at)
			}
			at = e.Seq
		}
		if at >= last {
			return done
		}
		return nil
	})
	if errors.Is(err, done) {
		return nil
	}
	return fmt.Errorf("follower from %d is at %d of %d: %w", after, at, last, err)
}

func followers(t *testing.T, j journal.Journal) {
	const before, during = 300, 200
	h := acquire(t, j, "広場")
	other := acquire(t, j, "別の部屋")
	news := make([]journal.New, before)
	for i, id := range ids("b", before) {
		news[i] = message(id, "前")
	}
	h, err := j.Append(t.Context(), "広場", h, news...)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	last := h.Seq + during
	var wg sync.WaitGroup
	for _, after := range []uint64{0, 1, before / 2, h.Seq - 1, h.Seq, h.Seq + during/2} {
		wg.Go(func() {
			if err := follow(ctx, j, "広場", after, last); err != nil {
				t.Error(err)
			}
		})
	}
	// Some join while the room grows.
	growing := make(chan uint64, during)
	for range 4 {
		wg.Go(func() {
			for seq := range growing {
				if seq%5 != 0 {
					continue
				}
				if err := follow(ctx, j, "広場", seq, last); err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	wg.Go(func() { grow(t, j, "別の部屋", other, ids("o", during)...) })
	for _, id := range ids("d", during) {
		h = grow(t, j, "広場", h, id)
		growing <- h.Seq
	}
	close(growing)
	wg.Wait()
}

func followEarly(t *testing.T, j journal.Journal) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got := make(chan error, 1)
	go func() { got <- follow(ctx, j, "まだない", 0, 3) }()
	time.Sleep(20 * time.Millisecond)
	grow(t, j, "まだない", acquire(t, j, "まだない"), "a", "b")
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}

func followEnds(t *testing.T, j journal.Journal) {
	grow(t, j, "広場", acquire(t, j, "広場"), ids("m", 5)...)
	mine := errors.New("mine")
	calls := 0
	err := j.Follow(t.Context(), "広場", 2, func(es []entry.Entry) error { calls++; return mine })
	if !errors.Is(err, mine) || calls != 1 {
		t.Fatalf("follow answered %v after %d calls, want the error of fn after 1", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	seen := make(chan struct{})
	go func() {
		ended <- j.Follow(ctx, "広場", 0, func([]entry.Entry) error { close(seen); return nil })
	}()
	<-seen
	cancel()
	select {
	case err := <-ended:
		wantErr(t, err, context.Canceled)
	case <-time.After(patience):
		t.Fatal("follow goes on after its context ended")
	}
}

func manyRooms(t *testing.T, j journal.Journal) {
	const rooms, each = 40, 25
	var wg sync.WaitGroup
	for r := range rooms {
		wg.Go(func() {
			room := fmt.Sprintf("部屋%d", r)
			h := acquire(t, j, room)
			for i := range each {
				if i == each/2 { // a take-over in the middle
					h = acquire(t, j, room)
				}
				h = grow(t, j, room, h, fmt.Sprintf("m%d", i))
			}
		})
	}
	wg.Wait()
	heads, err := Heads(t.Context(), j)
	if err != nil || len(heads) != rooms {
		t.Fatalf("%d rooms, want %d: %v", len(heads), rooms, err)
	}
	for room, h := range heads {
		if h != (journal.Head{Seq: each + 2, Epoch: 2}) {
			t.Errorf("head of %q is %v", room, h)
		}
		intact(t, j, room, each+2)
	}
}
