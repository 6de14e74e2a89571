package readers

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

// Who waits is looked for at each address: a notice reaches those who have a socket there.
// An agent reads on when it is told, and takes its time between two calls. Who has only
// read once is one of those to be woken where sockets are left for it, and where these are
// not far too few: so whoever read and left costs the others nothing.
const (
	away    = 5 * time.Minute        // how long a reader that reads on is waited for when it is not heard of
	trial   = 65 * time.Second       // how long one is that has not done so; time for five notices
	regular = 2                      // so many times has read on who reads on
	step    = 250 * time.Millisecond // a model takes longer from one call to the next
	passing = 4                      // so many readers a socket are more than listen there: they passed by
	fresh   = 500 * time.Millisecond // for how long an answer of Waiting is good
)

// answer is whether somebody waited in a room at a moment.
type answer struct {
	at     time.Time
	yes    bool
	newest uint64 // seq of the newest line then
}

// upTo gives the answer for whoever was told of all up to a line: what is newer is on its way.
func (a answer) upTo(told uint64) bool { return a.yes && a.newest <= told }

// ears are the sockets at an address at which notices of a room are taken.
type ears struct {
	open int
	left []time.Time // when others were closed and none came for it, oldest first
}

// Listens notes that a socket is open at which notices of a room are taken, until leave
// is called.
func (r *Readers) Listens(room, address string) (leave func()) {
	at := spot{room, address}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.sockets[at]
	if e == nil {
		if len(r.sockets) >= crowds { // where nobody reads, nobody looks which closed long ago
			maps.DeleteFunc(r.sockets, func(_ spot, e *ears) bool { return e.open == 0 })
		}
		e = &ears{}
		r.sockets[at] = e
	}
	e.open++
	e.left = e.left[:max(0, len(e.left)-1)]
	if c := r.crowds[at]; c != nil {
		c.sized = false
	}
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		e.open--
		e.left = append(e.left, time.Now())
		if len(e.left) > marks {
			e.left = e.left[1:]
		}
	})
}

// listening gives the sockets of a room by address, and forgets those that closed long ago.
func (r *Readers) listening(room string) (at map[string]ears, all int) {
	at = map[string]ears{}
	for s, e := range r.sockets {
		for len(e.left) > 0 && time.Since(e.left[0]) > away {
			e.left = e.left[1:]
		}
		if e.open == 0 && len(e.left) == 0 {
			delete(r.sockets, s)
		} else if s.room == room {
			at[s.address] = *e
			all += e.open
		}
	}
	return at, all
}

// Waiting says whether somebody who reads a room and can be told has not seen what
// another said there, was refused and could be heard by now, or found the pool too low
// for a turn that it pays for by now. A line behind told is about to be told, and is
// no reason to repeat an older one.
func (r *Readers) Waiting(talk rooms.Room, told uint64) bool {
	name := talk.Name()
	if a, known := r.known(name); known {
		return a.upTo(told)
	}
	pool, _ := talk.Budget() // of a room that sleeps it is in the journal: nobody else waits for that
	r.mu.Lock()
	defer r.mu.Unlock()
	said := r.said(name)
	a := answer{at: time.Now(), yes: r.anyWaits(name, said, pool)}
	if n := len(said); n > 0 {
		a.newest = said[n-1].Seq
	}
	r.answers[name] = a
	if a.upTo(told) {
		for at, c := range r.crowds {
			if at.room == name {
				c.woken = a.at
			}
		}
	}
	return a.upTo(told)
}

// known gives an answer that is good without a look at the room: it is fresh, or
// nobody reads there.
func (r *Readers) known(name string) (a answer, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.answers, func(_ string, a answer) bool { return time.Since(a.at) >= fresh })
	if a, ok := r.answers[name]; ok {
		return a, true
	}
	for k := range r.places {
		if k.room == name {
			return a, false
		}
	}
	for at := range r.crowds {
		if at.room == name {
			return a, false
		}
	}
	return a, true
}

// here is who reads at an address.
type here struct {
	calm     int         // agents who have seen everything
	waiting  []time.Time // when others were heard of
	regulars int         // of those
	once     struct{ calm, waiting int }

	spoke   []spoken // of the crowd
	refused int
}

// spoken is the newest line of a name.
type spoken struct {
	from string
	seq  uint64
}

// gone gives how many of those who wait left with their sockets, as far as that can be:
// they were not heard of since.
func (h *here) gone(left []time.Time) (n int) {
	slices.SortFunc(h.waiting, time.Time.Compare)
	for _, at := range left {
		if n < len(h.waiting) && h.waiting[n].Before(at) {
			n++
		}
	}
	return n
}

func (r *Readers) anyWaits(room string, said []Line, pool abi.Budget) bool {
	sockets, all := r.listening(room)
	places := r.reading(room, said, pool, all > 0)
	elsewhere := all // sockets where nobody reads: who reads elsewhere may listen there
	for address := range places {
		elsewhere -= sockets[address].open
	}
	for address, h := range places {
		e := sockets[address]
		waiting := len(h.waiting) - h.gone(e.left)
		switch {
		case all == 0: // nobody is told, but somebody may want to know
			if waiting > 0 || h.once.waiting > 0 {
				return true
			}
			continue
		case e.open == 0:
			if min(waiting, h.regulars) > 0 && elsewhere > 0 {
				return true
			}
			continue
		case waiting > 0:
			return true
		}
		left := max(0, e.open-h.calm)
		if c := r.crowds[spot{room, address}]; c != nil {
			var yes bool
			if yes, left = c.waits(said, h, left, len(e.left)); yes || c.affords(pool) {
				return true
			}
		}
		if o := h.once; o.waiting > 0 && o.calm < left && o.calm+o.waiting <= passing*left {
			return true
		}
	}
	return false
}

// reading gives who reads a room and is not gone, by address. Who waits for its turn
// needs no notices where there are any.
func (r *Readers) reading(room string, said []Line, pool abi.Budget, notices bool) map[string]*here {
	places := map[string]*here{}
	at := func(address string) *here {
		if places[address] == nil {
			places[address] = &here{}
		}
		return places[address]
	}
	live := r.live()
	r.scatter(room, live)
	for c := range r.crowds {
		if c.room == room {
			at(c.address)
		}
	}
	for k, b := range r.places {
		if k.room != room || k.kind == ofSession && (!live[k.caller] || b.first != "") || b.waits && notices {
			continue
		}
		seq, read := r.position(k, b, "")
		heard, again, steps := b.heard, b.again, b.steps
		if s := r.places[key{ofSession, b.session, "", room}]; k.kind == ofName && b.session != "" && s != nil {
			heard, again, steps = later(heard, s.heard), max(again, s.again), max(steps, s.steps)
		}
		h, regular := at(b.address), again >= regular
		if since := time.Since(heard); since > away || !regular && since > trial {
			continue
		}
		refused := b.refused && b.offer <= pool.Level || b.short && b.need <= pool.Level || (b.poor || r.reads(k, b, b.session).poor) && pool.TurnPrice() <= pool.Level
		switch {
		case k.kind == ofName && !b.named && (b.session == "" || !read && !live[b.session]): // the crowd reads for it
			h.spoke = append(h.spoke, spoken{k.name, b.said})
			if refused {
				h.refused++
			}
		case k.kind == ofName && !b.named && !live[b.session]:
		default:
			h.add(heard, regular, steps > 1, refused || read && behind(said, seq, k.name))
		}
	}
	return places
}

// add notes a reader: when it was heard of, whether it reads on, goes on step by step,
// and waits.
func (h *here) add(heard time.Time, regular, steps, waits bool) {
	switch {
	case regular && waits:
		h.regulars++
		h.waiting = append(h.waiting, heard)
	case steps && waits:
		h.waiting = append(h.waiting, heard)
	case regular, steps:
		h.calm++
	case waits:
		h.once.waiting++
	default:
		h.once.calm++
	}
}

// behind says whether there is a line of another behind seq.
func behind(said []Line, seq uint64, name string) bool {
	for _, line := range slices.Backward(said) {
		if line.Seq <= seq {
			return false
		}
		if line.From != name {
			return true
		}
	}
	return false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
