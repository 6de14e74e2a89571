package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

// How long a reader that is not heard of is waited for, and how many are
// remembered.
const (
	readerAway = 5 * time.Minute
	maxReaders = 1024
	recentSaid = 64
)

// readers remembers who has read how far, so that a line is judged by what its
// speaker had seen and who missed something is told again.
// A reader is an MCP session, or a token's holder where there are no sessions.
// It forgets everything when the daemon stops: agents read again then.
type readers struct {
	live func() map[string]bool // the sessions that are there

	mu      sync.Mutex
	places  map[place]*bookmark
	said    map[string][]uttered // the newest messages of a room
	answers map[string]waiting   // the last of each room, for the many who ask
}

// waiting is whether somebody waited in a room at a moment.
type waiting struct {
	at  time.Time
	yes bool
}

// freshAnswer is for how long an answer is good.
const freshAnswer = 500 * time.Millisecond

// place is where somebody reads: a room, or the URI of a companion's card.
type place struct{ reader, room string }

// bookmark is how far a reader is in a room.
type bookmark struct {
	seen    uint64 // seq of the newest entry it was shown
	said    uint64 // seq of its newest line, which it knows as well
	from    string // the name it speaks under, once it has spoken
	refused bool   // its newest line was refused, and it has not tried again
	poor    bool   // it was told last that the pool does not pay for a turn
	offer   float64
	heard   time.Time
}

type uttered struct {
	seq  uint64
	from string
}

func newReaders(live func() map[string]bool) *readers {
	return &readers{live: live, places: map[place]*bookmark{}, said: map[string][]uttered{}, answers: map[string]waiting{}}
}

// at gives a reader's bookmark, a new one where there is none; nil for nobody.
func (r *readers) at(p place, now time.Time) *bookmark {
	if p.reader == "" {
		return nil
	}
	b := r.places[p]
	if b == nil {
		if len(r.places) >= maxReaders {
			r.forgetOldest()
		}
		b = &bookmark{}
		r.places[p] = b
	}
	b.heard = now
	return b
}

func (r *readers) forgetOldest() {
	var oldest place
	for p, b := range r.places {
		if was := r.places[oldest]; was == nil || b.heard.Before(was.heard) {
			oldest = p
		}
	}
	delete(r.places, oldest)
}

// read notes that a reader was shown a room up to an entry.
func (r *readers) read(p place, seq uint64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.at(p, now); b != nil {
		b.seen = max(b.seen, seq)
	}
}

// seen gives how far a reader has read, 0 when that is not known.
func (r *readers) seen(p place) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.places[p]; b != nil {
		return b.seen
	}
	return 0
}

// basis gives what a reader's next line is judged by, 0 when it has read
// nothing.
func (r *readers) basis(p place) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.places[p]; b != nil && b.seen > 0 {
		return max(b.seen, b.said)
	}
	return 0
}

// spoke notes that a reader's line is entry seq.
func (r *readers) spoke(p place, from string, seq uint64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.at(p, now); b != nil {
		b.from, b.said, b.refused = from, seq, false
	}
}

// refused notes that a reader's line was refused; offer is what it would have
// paid, and again says whether it could be heard later.
func (r *readers) refused(p place, from string, again bool, offer float64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.at(p, now); b != nil {
		b.from, b.refused, b.offer = from, again, offer
	}
}

// told notes what a reader was told of a pool. Who found it too low for a turn is
// to be woken when it no longer is: where models are quick, all of a room's
// agents have looked before the points of one turn are back, and none would
// look again.
func (r *readers) told(p place, pool abi.Budget, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.at(p, now); b != nil {
		b.poor = pool.Level < pool.TurnPrice()
	}
}

// heard notes what was said in a room, in order; what it knows already may come
// again.
func (r *readers) heard(name string, ms []abi.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range ms {
		if n := len(r.said[name]); n == 0 || m.Seq > r.said[name][n-1].seq {
			r.said[name] = append(r.said[name], uttered{m.Seq, m.From})
		}
	}
	if n := len(r.said[name]); n > recentSaid {
		r.said[name] = append([]uttered(nil), r.said[name][n-recentSaid:]...)
	}
}

// forget forgets what was said in a room that is not followed any more.
func (r *readers) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.said, name)
	delete(r.answers, name)
}

// anyWaiting says whether somebody who reads a room has not seen what another said
// there, was refused and could be heard by now, or found the pool too low for a
// turn that it pays for by now.
func (r *readers) anyWaiting(talk rooms.Room, now time.Time) bool {
	name := talk.Name()
	if yes, known := r.answer(name, now); known {
		return yes
	}
	pool, _ := talk.Budget() // of a room that sleeps it is in the journal: nobody else waits for that
	r.mu.Lock()
	defer r.mu.Unlock()
	yes := r.anyWaits(name, pool, now)
	r.answers[name] = waiting{now, yes}
	return yes
}

// answer gives an answer that is good without a look at the room: it is fresh, or
// nobody reads there.
func (r *readers) answer(name string, now time.Time) (yes, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.answers[name]; now.Sub(a.at) < freshAnswer {
		return a.yes, true
	}
	for p := range r.places {
		if p.room == name {
			return false, false
		}
	}
	delete(r.answers, name)
	return false, true
}

func (r *readers) anyWaits(name string, pool abi.Budget, now time.Time) bool {
	live := r.live()
	for p, b := range r.places {
		if p.room != name {
			continue
		}
		_, named := cutHolder(p.reader)
		if now.Sub(b.heard) > readerAway || !named && !live[p.reader] {
			delete(r.places, p)
			continue
		}
		if b.refused && b.offer <= pool.Level || b.poor && pool.Level >= pool.TurnPrice() {
			return true
		}
		for _, s := range r.said[p.room] {
			if s.seq > b.seen && s.from != b.from {
				return true
			}
		}
	}
	return false
}

// Waiting says whether an agent that reads the room has not seen everything, was
// refused and could be heard by now, or waits for the pool, which is there again:
// chat-relay's clients are then to be woken again.
func (d *Door) Waiting(name string) bool {
	talk, err := d.cfg.Rooms.Room(context.Background(), name)
	return err == nil && d.readers.anyWaiting(talk, time.Now())
}

// liveSessions gives the sessions that are open.
func (d *Door) liveSessions() map[string]bool {
	live := map[string]bool{}
	for s := range d.server.Sessions() {
		live[s.ID()] = true
	}
	return live
}
