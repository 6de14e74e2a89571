package perception_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/perception"
)

func gift(n int) card.Percept { return object("gift", fmt.Sprintf(`{"n":%d}`, n)) }

// give offers gifts of many viewers at once, each of whom tries again when it is told
// to, and gives those that were taken, in the order of their entries.
func (h *house) give(t *testing.T, from, to int) {
	t.Helper()
	var all sync.WaitGroup
	for n := from; n < to; n++ {
		all.Go(func() {
			for tries := 0; ; tries++ {
				taken, err := h.Offer(context.Background(), "nikoni", gift(n), fmt.Sprint("viewer", n))
				var full *perception.Full
				switch {
				case err == nil && taken.Seq == 0:
					t.Errorf("gift %d was taken and is nowhere", n)
					return
				case err == nil:
					return
				case abi.CodeOf(err) == abi.CodeExhausted && errors.As(err, &full):
					time.Sleep(full.After << min(tries, 8)) // longer than it has to
				default:
					t.Errorf("gift %d: %v", n, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// once says that so many gifts were judged, each once but for those that may be twice, and none before
// one that was written down before it.
func (h *house) once(t *testing.T, want, twice int) {
	t.Helper()
	seen := map[string]int{}
	last := uint64(0)
	again := 0
	for _, p := range h.perceived() {
		seen[string(p.Body)]++
		if p.Seq <= last {
			again++
		}
		last = p.Seq
	}
	if len(seen) != want || again > twice {
		t.Errorf("%d of %d gifts were judged, %d not in their order", len(seen), want, again)
	}
}

// TestGiftsOfTwoThousandViewers: of 2,000 gifts, each of another viewer, all were
// answered that they are taken, 77 were judged and the rest was replaced by
// newer ones and gone. Now none is: those that do not fit are told to come again.
func TestGiftsOfTwoThousandViewers(t *testing.T) {
	for _, several := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, 0)
			h.takes, h.several, h.slow = 3*time.Second, several, time.Millisecond
			defer h.run()()
			h.give(t, 0, 2000)
			n := h.Counts("nikoni")
			if n["taken"] != 2000 || n["refused"] == 0 || n["replaced"] != 0 || n["waiting"] > 1000+abi.MaxMore+1 {
				t.Errorf("%v", n)
			}
			time.Sleep(2 * time.Hour)
			h.once(t, 2000, 0)
			n = h.Counts("nikoni")
			if n["judged"] != 2000 || n["taken"] != 2000 || n["waiting"]+n["failed"]+n["replaced"] != 0 || h.left() != 0 || h.twice {
				t.Errorf("%v, %d left", n, h.left())
			}
			if most := map[bool]int{false: 2000, true: 100}[several]; h.calls > most {
				t.Errorf("%d judgements", h.calls)
			}
		})
	}
}

// TestGiftsOutliveARestart: what was taken is judged by the next run of the daemon,
// before what comes to that.
func TestGiftsOutliveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.takes = 3 * time.Second
		stop := h.run()
		h.give(t, 0, 500)
		waits := h.must(t, gift(500))
		time.Sleep(time.Minute + time.Second)
		stop()
		if o := <-waits.Outcome; abi.CodeOf(o.Err) != abi.CodeUnavailable || !strings.Contains(o.Err.Error(), "kept") {
			t.Errorf("%+v", o)
		}
		n := h.Counts("nikoni")
		if n["judged"] != 20 || n["failed"] != 0 || n["waiting"] != 481 || h.left() != 481 {
			t.Fatalf("%v, %d left", n, h.left())
		}
		next := newHouseWith(t, 0, h.book)
		next.takes, next.seen = 3*time.Second, h.seen
		defer next.run()()
		last := next.must(t, gift(501))
		next.expect(t, map[string]int{"taken": 482, "waiting": 482})
		<-last.Outcome
		next.once(t, 502, 1) // the one that was being judged comes again
		next.expect(t, map[string]int{"taken": 482, "judged": 482})
	})
}

// TestWakeReadsOnce: nothing has to be offered for what waits to be judged.
func TestWakeReadsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newHouse(t, 0)
		old.give(t, 0, 3)
		h := newHouseWith(t, 0, old.book)
		h.breaks(errors.New("the disk is away"))
		defer h.run()()
		h.Wake("nikoni", "momo")
		h.Wake("nikoni")
		time.Sleep(10 * time.Second)
		if _, err := h.Offer(nobody, "nikoni", gift(7), "mika"); err == nil || len(h.perceived()) != 0 {
			t.Errorf("taken while it is not known what waits: %v", err)
		}
		h.breaks(nil)
		time.Sleep(time.Minute)
		h.Wake("nikoni")
		time.Sleep(time.Minute)
		h.once(t, 3, 0)
		h.expect(t, map[string]int{"taken": 3, "judged": 3, "refused": 1})
	})
}

// TestWhatCannotBeJudgedWaits: a judge that could not be asked is asked again, ever
// more seldom, and at once when somebody has come; more that is offered hurries nothing.
func TestWhatCannotBeJudgedWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		var away atomic.Bool
		away.Store(true)
		h.judge = func(context.Context, abi.Percept) (abi.Judged, error) {
			if away.Load() {
				return abi.Judged{}, abi.Errorf(abi.CodeUnavailable, "is being loaded")
			}
			return abi.Judged{}, nil
		}
		defer h.run()()
		for n := range 60 {
			h.must(t, gift(n))
			time.Sleep(time.Second)
		}
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if h.calls > 11 { // after 1, 3, 7, 15, 31, 63 s, and each minute
			t.Errorf("asked %d times in five minutes", h.calls)
		}
		h.expect(t, map[string]int{"taken": 60, "waiting": 60})
		h.mu.Lock()
		h.seen = nil
		h.mu.Unlock()
		away.Store(false)
		h.Wake("nikoni")
		synctest.Wait()
		h.once(t, 60, 0)
		h.expect(t, map[string]int{"taken": 60, "judged": 60})
	})
}

// TestSomeHaveEnded: of those that are judged together some have ended meanwhile, for
// somebody said STOP. The others are judged.
func TestSomeHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.several = true
		stopped := abi.Errorf(abi.CodeDenied, "a human said STOP")
		calls := 0
		h.judge = func(context.Context, abi.Percept) (abi.Judged, error) {
			if calls++; calls == 1 {
				return abi.Judged{}, &perception.Ended{Seqs: []uint64{1, 3}, Cause: stopped}
			}
			return abi.Judged{Wish: 9}, nil
		}
		var all []perception.Taken
		for n := range 4 {
			all = append(all, h.must(t, gift(n)))
		}
		defer h.run()()
		for i, taken := range all {
			o := <-taken.Outcome
			if ended := i%2 == 0; errors.Is(o.Err, stopped) != ended || !ended && (o.Judged.Wish != 9 || o.Judged.Seq != uint64(i+1)) {
				t.Errorf("%d: %+v", i, o)
			}
		}
		h.expect(t, map[string]int{"taken": 4, "judged": 2, "failed": 2})
	})
}

// TestKeptImages: an image that nothing replaces is judged by itself, and every one is.
func TestKeptImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.several = true
		picture := card.Percept{Title: "gift", Format: "image", Body: []byte(`"data:image/png;base64,` + pixel + `"`)}
		for _, p := range []card.Percept{gift(0), picture, picture, gift(1), object("vision", "1"), gift(2), gift(3)} {
			h.must(t, p)
		}
		stop := h.run()
		synctest.Wait()
		stop()
		if got := h.bodies(); !slices.Equal(got, []string{`{"n":0}`, "", "", `{"n":1}`, "1", `{"n":2}`, `{"n":3}`}) || h.calls != 6 {
			t.Errorf("%q in %d calls", got, h.calls)
		}
		h.expect(t, map[string]int{"taken": 7, "judged": 7})
	})
}

// TestWhatIsNotWrittenIsNotTaken: it takes no place either, and one that is written after
// all is judged.
func TestWhatIsNotWrittenIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 2)
		h.breaks(nil)
		defer h.run()()
		h.slow = time.Minute
		for range 5 {
			if _, err := h.Offer(nobody, "nikoni", gift(0), "mika"); err == nil {
				t.Fatal("taken")
			}
		}
		h.expect(t, map[string]int{"refused": 5})
		h.slow = 0
		// Whoever sends it does not have to stay.
		gone, leave := context.WithCancel(context.Background())
		leave()
		if _, err := h.Offer(gone, "nikoni", gift(1), "mika"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		h.expect(t, map[string]int{"refused": 5, "taken": 1, "judged": 1})
	})
}

// TestAStopWhileItIsWritten: what is written down as the daemon stops was taken, and is
// judged when it is back.
func TestAStopWhileItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.slow = time.Second
		stop := h.run()
		written := make(chan perception.Taken, 1)
		go func() { written <- h.must(t, gift(1)) }()
		synctest.Wait()
		stop()
		if o := <-(<-written).Outcome; abi.CodeOf(o.Err) != abi.CodeUnavailable || h.left() != 1 {
			t.Errorf("%+v, %d written down", o, h.left())
		}
		h.expect(t, map[string]int{"taken": 1, "waiting": 1})
	})
}

// TestWhatWaitedGoesFirst: a frame that came since is newer.
func TestWhatWaitedGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newHouse(t, 0)
		old.give(t, 0, 2)
		h := newHouseWith(t, 0, old.book)
		h.must(t, object("touch", `{"n":9}`))
		stop := h.run()
		synctest.Wait()
		stop()
		if got := h.bodies(); len(got) != 3 || got[2] != `{"n":9}` {
			t.Errorf("%v", got)
		}
	})
}
