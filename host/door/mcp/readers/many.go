package readers

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
)

// crowd is those at an address who have neither a token nor a session and named nobody
// when they read. Nothing tells their calls apart, but each of chat-relay's agents has a
// socket: a line has been seen when it was read as many times as there are sockets, all
// after the same notice. Whoever is busy misses that one, and others read again at the next.
type crowd struct {
	heard time.Time
	woken time.Time // when a notice was last sent again
	reads []look    // the newest, oldest first
	poor  int       // so many were told that the pool does not pay for a turn
	rich  time.Time // since when it does; zero: it does not
	sized bool      // notices were sent for long, and no more than size read
	size  int
}

// look is one reading: up to where, what the client said of itself, and when a notice had
// been sent again before.
type look struct {
	seq    uint64
	client string
	woken  time.Time
}

// looks is how many readings are known, crowds how many crowds.
const (
	looks  = 64
	crowds = 1024
)

// crowd gives that of an address. r.mu is held.
func (r *Readers) crowd(at spot) *crowd {
	c := r.crowds[at]
	if c == nil {
		if len(r.crowds) >= crowds {
			r.forgetCrowd()
		}
		c = &crowd{}
		r.crowds[at] = c
	}
	return c
}

func (r *Readers) forgetCrowd() {
	var oldest spot
	for at, c := range r.crowds {
		if was := r.crowds[oldest]; was == nil || c.heard.Before(was.heard) {
			oldest = at
		}
	}
	delete(r.crowds, oldest)
}

func (c *crowd) read(l look) {
	if len(c.reads) >= looks {
		c.reads = slices.Delete(c.reads, 0, 1)
	}
	c.reads = append(c.reads, l)
}

func (c *crowd) told(poor bool) {
	if poor {
		c.poor = min(c.poor+1, looks)
	} else {
		c.poor = max(c.poor-1, 0)
	}
}

// scatter makes one of the crowd of who had a session for a single call, and gave no name.
func (r *Readers) scatter(room string, live map[string]bool) {
	var gone []*bookmark
	for k, b := range r.places {
		if k.room != room || k.kind != ofSession || live[k.caller] || b.first != "" {
			continue
		}
		if b.read && b.again == 0 {
			gone = append(gone, b)
		}
		delete(r.places, k)
	}
	slices.SortFunc(gone, func(a, b *bookmark) int { return a.heard.Compare(b.heard) }) // a crowd knows its newest readings
	for _, b := range gone {
		c := r.crowd(spot{room, b.address})
		c.heard = later(c.heard, b.heard)
		woken := c.woken
		if b.heard.Before(woken) { // behind one before, or none: alone in any case
			woken = b.heard
		}
		c.read(look{b.seen, b.client, woken})
	}
}

// affords says whether somebody in the crowd had too few points for a turn and the pool
// pays for it again, for as long as it may take to find that out.
func (c *crowd) affords(pool abi.Budget) bool {
	now := time.Now()
	if pool.Level < pool.TurnPrice() {
		c.rich = time.Time{}
	} else if c.rich.IsZero() {
		c.rich = now
	}
	if !c.rich.IsZero() && now.Sub(later(c.rich, c.heard)) > trial {
		c.poor = 0
	}
	return c.poor > 0 && !c.rich.IsZero()
}

// waits says whether somebody in the crowd waits behind so many sockets, of which
// gone closed lately, and gives how many of the sockets may be others'. Where agents share
// a socket, there are as many as speak. One that has not read when it was told for long is
// given up, until more read or another socket opens.
func (c *crowd) waits(said []Line, h *here, sockets, gone int) (yes bool, left int) {
	now := time.Now()
	if now.Sub(c.heard) > away || sockets == 0 || len(c.reads) == 0 {
		return false, sockets
	}
	sockets = max(sockets, len(h.spoke)-gone)
	seen := sockets
	if len(said) > 0 && c.passed(said[len(said)-1].Seq, sockets) {
		return false, sockets
	}
	active := c.heard
	if n := len(said); n > 0 {
		seen = c.seen(said, h.spoke, sockets)
		active = later(active, said[n-1].At)
	}
	size := sockets
	if c.sized {
		c.size = max(c.size, seen)
		size = min(sockets, c.size)
	}
	if seen < size && now.Sub(active) > trial {
		c.sized, c.size, size = true, seen, seen
	}
	return min(seen, size)-h.refused < size && size > 0, max(0, sockets-size)
}

// passed says whether those who read last, all before the newest line, are far more than
// have sockets.
func (c *crowd) passed(newest uint64, sockets int) bool {
	n := 0
	for _, l := range slices.Backward(c.reads) {
		if l.seq >= newest {
			return false
		}
		if l.seq == c.reads[len(c.reads)-1].seq {
			n++
		}
	}
	return n > passing*sockets
}

// seen gives how many have seen the newest line: those who read it after the same notice, and,
// after the first one, who said it, and was busy when that came. Each client that says something
// else of itself, and reads on, is one more at least.
func (c *crowd) seen(said []Line, spoke []spoken, sockets int) (n int) {
	newest := said[len(said)-1]
	before := uint64(0) // what its speaker had to know
	for _, line := range slices.Backward(said) {
		if line.From != newest.From {
			before = line.Seq
			break
		}
	}
	clients, first, knew := map[string]bool{}, map[string]uint64{}, false
	notices := map[time.Time]map[string]int{{}: {}} // who read after each, the first one at no time
	for _, l := range c.reads {
		if was, ok := first[l.client]; !ok {
			first[l.client] = l.seq
		} else if l.seq != was {
			clients[l.client] = true
		}
		switch {
		case l.seq >= newest.Seq:
			clients[l.client] = true
			at := l.woken
			if !at.After(newest.At) {
				at = time.Time{}
			}
			if notices[at] == nil {
				notices[at] = map[string]int{}
			}
			notices[at][l.client]++
		case l.seq >= before:
			knew = true
		}
	}
	each := max(1, sockets-len(clients)+1)
	for at, reads := range notices {
		here := 0
		for _, times := range reads {
			here += min(times, each)
		}
		if at.IsZero() && knew && slices.Contains(spoke, spoken{newest.From, newest.Seq}) {
			here++
		}
		n = max(n, here)
	}
	return n
}
