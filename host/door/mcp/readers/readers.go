// Package readers remembers which agent has read how far in which room, so that a
// line is judged by what its speaker had seen and whoever missed something is told
// again.
//
// It forgets everything when the daemon stops: agents read again then. It never
// reads a room by itself, and does not know the MCP SDK.
package readers

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

const (
	away  = 5 * time.Minute        // how long a reader that is not heard of is waited for
	most  = 1024                   // bookmarks that are remembered
	fresh = 500 * time.Millisecond // for how long an answer of Waiting is good
)

// Readers are those who read, and their bookmarks. Its methods may be called from
// many goroutines.
type Readers struct {
	live func() map[string]bool   // the sessions that are there
	said func(room string) []Line // the newest lines of a room, oldest first

	mu      sync.Mutex
	places  map[Place]*bookmark
	answers map[string]answer // the last of each room, for the many who ask
}

// Place is where somebody reads: a room, or the URI of a companion's card. The
// reader is an MCP session, or a [Holder]; empty when nothing tells calls apart.
type Place struct{ Reader, Room string }

// Line is a message as far as it matters who has seen it.
type Line struct {
	Seq  uint64
	From string
}

// bookmark is how far a reader is in a room.
type bookmark struct {
	read    bool   // it was shown the room, which may have had nothing to show
	seen    uint64 // seq of the newest entry it was shown
	said    uint64 // seq of its newest line, which it knows as well
	from    string // the name it speaks under, once it has spoken
	refused bool   // its newest line was refused and could be heard later, and it has not tried again
	poor    bool   // it was told last that the pool does not pay for a turn
	offer   float64
	heard   time.Time
}

// answer is whether somebody waited in a room at a moment.
type answer struct {
	at  time.Time
	yes bool
}

const holder = "holder "

// Holder is the reader that a token's holder is where there are no sessions.
func Holder(name string) string { return holder + name }

// New makes readers of what the functions tell: live the sessions that are there, said
// the newest lines of a room.
func New(live func() map[string]bool, said func(room string) []Line) *Readers {
	return &Readers{live: live, said: said, places: map[Place]*bookmark{}, answers: map[string]answer{}}
}

// note changes a reader's bookmark, a new one where there is none. Nobody has none.
func (r *Readers) note(p Place, change func(*bookmark)) {
	if p.Reader == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.places[p]
	if b == nil {
		if len(r.places) >= most {
			r.forgetOldest()
		}
		b = &bookmark{}
		r.places[p] = b
	}
	b.heard = time.Now()
	change(b)
}

func (r *Readers) forgetOldest() {
	var oldest Place
	for p, b := range r.places {
		if was := r.places[oldest]; was == nil || b.heard.Before(was.heard) {
			oldest = p
		}
	}
	delete(r.places, oldest)
}

// Read notes that a reader was shown a room up to an entry.
func (r *Readers) Read(p Place, seq uint64) {
	r.note(p, func(b *bookmark) { b.read, b.seen = true, max(b.seen, seq) })
}

// Told notes what a reader was told of a pool. Who found it too low for a turn is
// to be woken when it no longer is: where models are quick, all of a room's
// agents have looked before the points of one turn are back, and none would
// look again.
func (r *Readers) Told(p Place, pool abi.Budget) {
	r.note(p, func(b *bookmark) { b.poor = pool.Level < pool.TurnPrice() })
}

// Tried notes how a reader's line fared: m is what was said, err why nothing was.
func (r *Readers) Tried(p Place, u rooms.Utterance, m abi.Message, err error) {
	r.note(p, func(b *bookmark) {
		b.from, b.refused, b.offer = u.From, false, 0
		switch abi.CodeOf(err) {
		case "":
			b.said = m.Seq
		case abi.CodeExhausted, abi.CodeConflict, abi.CodeStale:
			b.refused = true
		}
		if u.Offer != nil {
			b.offer = *u.Offer
		}
	})
}

// Seen gives how far a reader has read, 0 when that is not known.
func (r *Readers) Seen(p Place) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.places[p]; b != nil {
		return b.seen
	}
	return 0
}

// Basis gives what a reader's next line is judged by, 0 when it has read nothing.
func (r *Readers) Basis(p Place) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.places[p]; b != nil && b.read {
		return max(b.seen, b.said)
	}
	return 0
}

// Waiting says whether somebody who reads a room has not seen what another said
// there, was refused and could be heard by now, or found the pool too low for a
// turn that it pays for by now.
func (r *Readers) Waiting(talk rooms.Room) bool {
	name := talk.Name()
	if yes, known := r.known(name); known {
		return yes
	}
	pool, _ := talk.Budget() // of a room that sleeps it is in the journal: nobody else waits for that
	r.mu.Lock()
	defer r.mu.Unlock()
	yes := r.anyWaits(name, pool)
	r.answers[name] = answer{time.Now(), yes}
	return yes
}

// known gives an answer that is good without a look at the room: it is fresh, or
// nobody reads there.
func (r *Readers) known(name string) (yes, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.answers, func(_ string, a answer) bool { return time.Since(a.at) >= fresh })
	if a, ok := r.answers[name]; ok {
		return a.yes, true
	}
	for p := range r.places {
		if p.Room == name {
			return false, false
		}
	}
	return false, true
}

func (r *Readers) anyWaits(name string, pool abi.Budget) bool {
	live, said := r.live(), r.said(name)
	for p, b := range r.places {
		if p.Room != name {
			continue
		}
		if time.Since(b.heard) > away || !live[p.Reader] && !strings.HasPrefix(p.Reader, holder) {
			delete(r.places, p)
			continue
		}
		if b.refused && b.offer <= pool.Level || b.poor && pool.Level >= pool.TurnPrice() {
			return true
		}
		for _, line := range said {
			if line.Seq > b.seen && line.From != b.from {
				return true
			}
		}
	}
	return false
}
