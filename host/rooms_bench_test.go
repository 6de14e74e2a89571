package host_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal/sqlite"
)

// crowd is a daemon with rooms that were opened and talked in, and sleep now, and
// others in which people are going to talk.
type crowd struct {
	*daemon
	sleeping, talking []string
	idle              int // goroutines while no room but main is awake
	used              weight
}

// BenchmarkRooms measures what rooms cost that nobody uses: memory, the start of the
// daemon, and the first message to one of them while others talk. All were opened at
// the door, and people said something in them that nobody answered.
//
// KiB/room is what is left of a room that this daemon opened and that fell asleep, more
// than in the daemon with the fewest. The start is that of the process, until a
// message in main is durable; the others are measured after it, and no room that was
// not asked for should be awake then.
func BenchmarkRooms(b *testing.B) {
	var crowds []*crowd
	for _, n := range []int{10, 1000, 10_000} {
		crowds = append(crowds, gather(b, n))
	}
	for _, c := range crowds { // they fall asleep at the same time
		c.used = c.untilAsleep()
		c.stop()
	}
	least := crowds[0]
	for _, c := range crowds {
		b.Run(fmt.Sprintf("sleeping=%d", len(c.sleeping)), func(b *testing.B) {
			c.b = b
			for b.Loop() {
				quantiles(b, c.starts("main", 7), "ms/start")
				c.start("main")
				b.ReportMetric(float64(c.awake()-1), "woken-rooms")
				c.untilAsleep()
				quantiles(b, c.first(500), "ms/first")
				quantiles(b, c.list(50), "ms/list100")
				b.ReportMetric(ms(c.stop()), "ms/stop")
			}
			b.ReportMetric(float64(c.used.Resident)/1024, "MiB")
			b.ReportMetric(float64(c.used.Goroutines), "goroutines")
			if more := len(c.sleeping) - len(least.sleeping); more > 0 {
				b.ReportMetric(float64(c.used.Resident-least.used.Resident)/float64(more), "KiB/room")
			}
			b.ReportMetric(0, "ns/op") // of nothing
		})
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// gather opens rooms at the door, and says something in each.
func gather(b *testing.B, n int) *crowd {
	b.Helper()
	c := &crowd{daemon: newDaemon(b, "")}
	c.start("main")
	c.idle = c.weigh().Goroutines
	for i := range n {
		c.sleeping = append(c.sleeping, fmt.Sprintf("sleeping%05d", i))
	}
	for i := range min(100, n) {
		c.talking = append(c.talking, fmt.Sprintf("talking%03d", i))
	}
	all := make(chan string)
	var people sync.WaitGroup
	for range 32 {
		people.Go(func() {
			for room := range all {
				err := c.ask(http.MethodPost, "/v1/rooms", []byte(`{"name":"`+room+`","companions":[]}`), http.StatusCreated)
				for range 3 {
					if err == nil {
						err = c.say(room, "今夜は月がきれいですね。誰かいますか?")
					}
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	for _, room := range slices.Concat(c.sleeping, c.talking) {
		all <- room
	}
	close(all)
	people.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return c
}

// untilAsleep waits until no room has a goroutine, and gives what the daemon weighs
// then.
func (c *crowd) untilAsleep() (w weight) {
	c.b.Helper()
	c.http.CloseIdleConnections() // each has some, too
	for range 60 {
		if w = c.weigh(); w.Goroutines <= c.idle {
			return w
		}
		time.Sleep(2 * time.Second)
	}
	c.b.Fatalf("after two minutes rooms are still awake: %d goroutines, and %d without", w.Goroutines, c.idle)
	return w
}

// first gives how long the first message to a sleeping room took, for up to n of
// them, while people talk in others.
func (c *crowd) first(n int) (took []time.Duration) {
	c.b.Helper()
	end := c.talk()
	defer end()
	rooms := slices.Clone(c.sleeping)
	rand.Shuffle(len(rooms), func(i, j int) { rooms[i], rooms[j] = rooms[j], rooms[i] })
	for _, room := range rooms[:min(n, len(rooms))] {
		asked := time.Now()
		c.must(c.say(room, "おやすみでしたか?"))
		took = append(took, time.Since(asked))
		time.Sleep(20 * time.Millisecond)
	}
	return took
}

// talk has people say something in each of the talking rooms about once a second,
// until the function is called that it gives. It answers when all have begun.
func (c *crowd) talk() (end func()) {
	over := make(chan struct{})
	var people sync.WaitGroup
	for _, room := range c.talking {
		people.Go(func() {
			for wait := rand.N(time.Second); ; wait = time.Second/2 + rand.N(time.Second) {
				select {
				case <-over:
					return
				case <-time.After(wait):
				}
				if err := c.say(room, "それで、どうなったの?"); err != nil {
					c.b.Error(err)
					return
				}
			}
		})
	}
	time.Sleep(2 * time.Second)
	return func() { close(over); people.Wait() }
}

// list gives how long it took to list the first hundred rooms.
func (c *crowd) list(n int) (took []time.Duration) {
	c.b.Helper()
	for range n {
		asked := time.Now()
		c.must(c.ask(http.MethodGet, "/v1/rooms?limit=100", nil, http.StatusOK))
		took = append(took, time.Since(asked))
	}
	return took
}

// awake counts the rooms that are awake by the journal's account, once no more of
// them wake.
func (c *crowd) awake() (n int) {
	c.b.Helper()
	j, err := sqlite.OpenReadOnly(filepath.Join(c.dir, "state", "companiond.db"))
	c.must(err)
	defer j.Close()
	for before := -1; before != n; {
		time.Sleep(time.Second)
		rooms, err := j.Waking(c.b.Context(), time.Time{}, "", 1<<20)
		c.must(err)
		before, n = n, len(rooms)
	}
	return n
}
