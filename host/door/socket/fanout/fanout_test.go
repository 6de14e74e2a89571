package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/door/socket/fanout"
	"github.com/companiond/companiond/host/door/socket/plain"
	"github.com/companiond/companiond/host/entry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stay is what one client does: for how long it is in which room, and from where.
type stay struct {
	room  int
	since uint64 // beyond the head: at the head
	long  time.Duration
	part  int // of a hundred frames, Push does not take so many
	pause time.Duration
}

// Each client gets each entry once and in order, whenever it comes, wherever it starts, whatever it does
// not take, and to whichever room it turns.
func TestEachEntryOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		batch := rapid.IntRange(1, 40).Draw(rt, "batch")
		before := rapid.IntRange(0, 900).Draw(rt, "before")
		bursts := rapid.SliceOfN(rapid.IntRange(1, 300), 1, 12).Draw(rt, "bursts")
		every := time.Duration(rapid.IntRange(1, 50).Draw(rt, "every")) * time.Millisecond
		plans := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) stay {
			return stay{
				room: rapid.IntRange(0, 1).Draw(t, "room"), since: rapid.Uint64Range(0, 1200).Draw(t, "since"),
				long: time.Duration(rapid.IntRange(0, 400).Draw(t, "long")) * time.Millisecond,
				part: rapid.SampledFrom([]int{0, 0, 5, 50, 100}).Draw(t, "part"), pause: time.Duration(rapid.SampledFrom([]int{0, 0, 10, 900}).Draw(t, "pause")) * time.Microsecond,
			}
		}), 1, 4), 1, 6).Draw(rt, "clients")
		seed := rapid.Uint64().Draw(rt, "seed")
		var wrong []string
		synctest.Test(t, func(*testing.T) {
			rooms := []*journal{newJournal("a"), newJournal("b")}
			var asked atomic.Int64
			for _, j := range rooms {
				j.batch = batch
				j.add(before)
			}
			var hub fanout.Hub
			var all sync.WaitGroup
			all.Go(func() {
				for _, n := range bursts {
					time.Sleep(every)
					rooms[n%2].add(n)
					if n%3 == 0 { // then whoever is behind reads on from the journal
						hub.Forget([]string{"a", "b", ""}[n/3%3])
					}
				}
			})
			wrong = make([]string, len(plans), len(plans)+len(rooms))
			for i, plan := range plans {
				all.Go(func() { wrong[i] = live(&hub, rooms, coding{&asked}, plan, rand.New(rand.NewPCG(seed, uint64(i)))) })
			}
			all.Wait()
			for _, j := range rooms {
				if j.followers != 0 {
					wrong = append(wrong, fmt.Sprintf("%d still follow room %s", j.followers, j.name))
				}
			}
		})
		for _, w := range wrong {
			if w != "" {
				rt.Fatal(w)
			}
		}
	})
}

// live lets a client do what it plans, and says what was wrong.
func live(hub *fanout.Hub, rooms []*journal, c coding, plan []stay, dice *rand.Rand) string {
	for n, s := range plan {
		j := rooms[s.room]
		since := min(s.since, j.head())
		cl := &client{coding: c, seen: since}
		cl.takes = func(n int) int {
			if dice.IntN(100) < s.part {
				return dice.IntN(n + 1)
			}
			return n
		}
		cl.slow = func() {
			if s.pause > 0 && dice.IntN(3) == 0 {
				time.Sleep(s.pause)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), s.long)
		err := hub.Follow(ctx, j, since, cl)
		cancel()
		got, seen := cl.has()
		if !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Sprintf("stay %d ended with %v", n, err)
		}
		if want := want(j.name, since, seen); !slices.Equal(got, want) {
			return fmt.Sprintf("stay %d, %+v:\ngot  %v\nwant %v", n, s, got, want)
		}
		if s.pause == 0 && s.part < 100 && s.long > 300*time.Millisecond && seen < since {
			return "nothing came"
		}
	}
	return ""
}

// Whoever stays to the end has everything, however it stalled on the way.
func TestNothingIsLeftOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		since := rapid.Uint64Range(0, 700).Draw(rt, "since")
		part := rapid.IntRange(0, 100).Draw(rt, "part")
		bursts := rapid.SliceOfN(rapid.IntRange(1, 700), 1, 12).Draw(rt, "bursts")
		stall := time.Duration(rapid.IntRange(0, 30).Draw(rt, "stall")) * time.Millisecond
		seed := rapid.Uint64().Draw(rt, "seed")
		var wrong string
		synctest.Test(t, func(*testing.T) {
			j := newJournal("a")
			j.add(700)
			var asked atomic.Int64
			dice := rand.New(rand.NewPCG(seed, 0))
			var hub fanout.Hub
			c := &client{coding: coding{&asked}, slow: func() {
				if dice.IntN(100) == 0 {
					time.Sleep(stall)
				}
			}, takes: func(n int) int {
				if dice.IntN(100) < part {
					return dice.IntN(n + 1)
				}
				return n
			}}
			ctx, cancel := context.WithCancel(context.Background())
			var all sync.WaitGroup
			all.Go(func() { _ = hub.Follow(ctx, j, since, c) })
			for _, n := range bursts {
				time.Sleep(5 * time.Millisecond)
				j.add(n)
			}
			time.Sleep(time.Hour)
			got, _ := c.has()
			if want := want("a", since, j.head()); !slices.Equal(got, want) {
				wrong = fmt.Sprintf("got %d, want %d: %v", len(got), len(want), got)
			}
			cancel()
			all.Wait()
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// The journal is followed once and an entry is encoded once, for as many as there are.
func TestOnceARoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal("a")
		j.add(10)
		var first, second atomic.Int64
		var hub fanout.Hub
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var clients []*client
		for i := range 1000 {
			c := &client{coding: coding{&first}}
			if i%2 == 0 {
				c.coding = coding{&second}
			}
			clients = append(clients, c)
			all.Go(func() { _ = hub.Follow(ctx, j, 10, c) })
		}
		synctest.Wait()
		for range 20 {
			j.add(5)
			synctest.Wait()
		}
		for _, c := range clients {
			if got, _ := c.has(); !slices.Equal(got, want("a", 10, 110)) {
				t.Fatalf("%v", got)
			}
		}
		if first.Load() != 100 || second.Load() != 100 || j.followed != 1 {
			t.Errorf("encoded %d and %d times, followed %d times", first.Load(), second.Load(), j.followed)
		}
		cancel()
		all.Wait()
	})
}

// Whoever has left is told nothing more.
func TestWhoeverHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal("a")
		var asked atomic.Int64
		var hub fanout.Hub
		var all sync.WaitGroup
		follow := func(c *client) (leave func()) {
			ctx, cancel := context.WithCancel(t.Context())
			all.Go(func() { _ = hub.Follow(ctx, j, j.head(), c) })
			synctest.Wait()
			return func() { cancel(); synctest.Wait() }
		}
		stays, goes := &client{coding: coding{&asked}}, &client{coding: coding{&asked}}
		leave, gone := follow(stays), follow(goes)
		j.add(4)
		synctest.Wait()
		gone()
		j.add(4)
		synctest.Wait()
		if _, seen := goes.has(); seen != 4 {
			t.Errorf("the one that left has seen %d", seen)
		}
		if _, seen := stays.has(); seen != 8 {
			t.Errorf("the one that stays has seen %d", seen)
		}
		leave()
		all.Wait()
	})
}

// large is a coding of frames that would be missed.
type large struct{}

func (large) Message(entry.Entry) ([]byte, error) { return make([]byte, 16<<10), nil }

// Clients that take nothing hold up nobody, and nothing is kept for them.
func TestStalledClientsCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal("a")
		var hub fanout.Hub
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var well atomic.Int64
		all.Go(func() { _ = hub.Follow(ctx, j, 0, counting{&well}) })
		for range 10 {
			all.Go(func() { _ = hub.Follow(ctx, j, 0, stalled{}) })
		}
		began := time.Now()
		synctest.Wait()
		for range 40 {
			j.add(100)
			synctest.Wait()
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > 32<<20 { // all frames are 62 MiB
			t.Errorf("%d MiB are kept", m.HeapAlloc>>20)
		}
		if well.Load() != 4000 || time.Since(began) != 0 {
			t.Errorf("the other has %d frames after %v", well.Load(), time.Since(began))
		}
		cancel()
		all.Wait()
	})
}

// stalled takes nothing, ever.
type stalled struct{}

func (stalled) Push(fanout.Batch) (int, bool) { return 0, false }

func (stalled) Settle() error { return nil }

func (stalled) Write(ctx context.Context, b fanout.Batch) error {
	_ = b.Frames(large{})
	<-ctx.Done()
	return ctx.Err()
}

// counting takes everything, and keeps nothing.
type counting struct{ n *atomic.Int64 }

func (c counting) Push(b fanout.Batch) (int, bool) {
	n := len(b.Frames(large{}).Ends)
	c.n.Add(int64(n))
	return n, true
}

func (counting) Settle() error { return nil }

func (counting) Write(context.Context, fanout.Batch) error { return errors.New("was behind") }

// Frames of a batch are those of its entries, wherever it starts.
func TestFramesLieWhereTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal("a")
		var asked atomic.Int64
		var hub fanout.Hub
		ctx, cancel := context.WithCancel(t.Context())
		c := &watching{client: &client{coding: coding{&asked}}, t: t}
		var all sync.WaitGroup
		all.Go(func() { _ = hub.Follow(ctx, j, 0, c) })
		synctest.Wait()
		j.add(10)
		synctest.Wait()
		if c.pushes != 1 {
			t.Errorf("%d pushes", c.pushes)
		}
		cancel()
		all.Wait()
	})
}

// watching looks at the frames that it is pushed.
type watching struct {
	*client
	t      *testing.T
	pushes int
}

func (w *watching) Push(b fanout.Batch) (int, bool) {
	w.pushes++
	f := b.Frames(w.coding)
	var all []byte
	for i, e := range b.Entries {
		if e.Seq%3 != 0 {
			all = append(all, plain.Text(e.Body)...)
		}
		if f.Ends[i] != len(all) {
			w.t.Errorf("entry %d ends at %d, want %d", e.Seq, f.Ends[i], len(all))
		}
	}
	if string(f.Bytes) != string(all) || f.Newest(9) != 7 || f.Newest(3) != 1 || f.Newest(0) != -1 {
		w.t.Errorf("%q", f.Bytes)
	}
	return w.client.Push(b)
}
