// Package readers remembers who has read how far in which room, so that a line is
// judged by what its speaker had seen and whoever missed something is told again.
//
// A reader is a name in a room: that of a token's holder, or the one that a guest
// names at its address. Where a guest names nobody, its session reads for the names that
// are spoken under in it. Without a session either, nothing tells calls apart: such
// clients are a crowd, which is counted.
//
// It forgets everything when the daemon stops: agents read again then. It never
// reads a room by itself, and does not know the MCP SDK.
package readers

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

// marks is how many bookmarks are remembered.
const marks = 4096

// Readers are those who read, and their bookmarks. Its methods may be called from
// many goroutines.
type Readers struct {
	live func() map[string]bool   // the sessions that are there
	said func(room string) []Line // the newest lines of a room, oldest first

	mu      sync.Mutex
	places  map[key]*bookmark
	crowds  map[spot]*crowd
	sockets map[spot]*ears
	answers map[string]answer // the last of each room, for the many who ask
}

// Who is a caller as far as it is known, and the name it reads under.
type Who struct {
	Holder  string // whose token it has; empty for a guest
	Session string // the id of its MCP session; empty without one
	Address string // where it calls from
	Client  string // what it says of itself
	Name    string // under which it reads; empty where it named nobody
}

// Place is where somebody reads: a room, or the URI of a companion's card.
type Place struct {
	Who
	Room string
}

// Known says whether anything tells the reader from others.
func (p Place) Known() bool { return p.key().kind != ofNobody }

// Agent is a reader in a room, in whatever session.
type Agent struct{ holder, address, name, room string }

// Agent gives who reads there.
func (p Place) Agent() Agent {
	if p.Holder != "" {
		return Agent{holder: p.Holder, room: p.Room}
	}
	return Agent{address: p.Address, name: p.Name, room: p.Room}
}

// Line is a message as far as it matters who has seen it.
type Line struct {
	Seq  uint64
	From string
	At   time.Time
}

// key is what a bookmark is found by.
type key struct {
	kind         kind
	caller, name string
	room         string
}

type kind byte

const (
	ofNobody kind = iota
	ofHolder
	ofName    // of a guest, at an address
	ofSession // in which nobody was named
)

// spot is an address as seen from a room.
type spot struct{ room, address string }

func (p Place) key() key {
	switch {
	case p.Holder != "":
		return key{ofHolder, p.Holder, p.Holder, p.Room}
	case p.Name != "":
		return key{ofName, p.Address, p.Name, p.Room}
	case p.Session != "":
		return key{ofSession, p.Session, "", p.Room}
	}
	return key{}
}

func (p Place) spot() spot { return spot{p.Room, p.Address} }

// bookmark is how far a reader is in a room.
type bookmark struct {
	read  bool   // it was shown the room, which may have had nothing to show
	named bool   // it names itself when it reads
	waits bool   // and was told by a wait: it needs no notices
	again int    // how many times it read on
	steps int    // how many times it was heard of, with a model's pause between
	seen  uint64 // seq of the newest entry it was shown
	said  uint64 // seq of its newest line, which it knows as well

	refused bool // its newest line was refused and could be heard later, and it has not tried again
	offer   float64
	short   bool    // the pool did not pay for its newest line
	need    float64 // what that cost
	poor    bool    // it was told last that the pool does not pay for a turn
	handed  string  // what a wait told it to do last

	heard            time.Time
	address, session string // of its newest call
	client           string
	first            string // of a session: the name that was spoken under in it
	many             bool   // and there are others
}

// New makes readers of what the functions tell: live the sessions that are there, said
// the newest lines of a room.
func New(live func() map[string]bool, said func(room string) []Line) *Readers {
	return &Readers{
		live: live, said: said,
		places: map[key]*bookmark{}, crowds: map[spot]*crowd{}, sockets: map[spot]*ears{}, answers: map[string]answer{},
	}
}

// note changes a reader's bookmark, a new one where there is none. Nobody has none:
// then it is the crowd that changes. r.mu is held.
func (r *Readers) note(p Place, change func(*bookmark), many func(*crowd)) {
	now := time.Now()
	k := p.key()
	if k.kind == ofNobody {
		if c := r.crowd(p.spot()); many != nil {
			c.heard = now
			many(c)
		}
		return
	}
	b := r.mark(k)
	b.hear(now, p.Address)
	b.client = p.Client
	if k.kind == ofName {
		if p.Session != b.session { // what it was shown in the other stays
			b.seen, b.read = r.own(k, b, "")
			b.session = p.Session
		}
		if p.Session != "" {
			s := r.mark(key{ofSession, p.Session, "", p.Room})
			s.hear(now, p.Address)
			s.first = cmp.Or(s.first, p.Name)
			s.many = s.many || s.first != p.Name
		} else if c := r.crowds[p.spot()]; c != nil {
			c.heard = now // it may be who read without a name
		}
	}
	change(b)
}

func (b *bookmark) hear(now time.Time, address string) {
	if b.steps == 0 || now.Sub(b.heard) >= step {
		b.steps++
	}
	b.heard, b.address = now, address
}

func (r *Readers) mark(k key) *bookmark {
	b := r.places[k]
	if b == nil {
		if len(r.places) >= marks {
			r.forget()
		}
		b = &bookmark{heard: time.Now()}
		r.places[k] = b
	}
	return b
}

// forget makes room: sessions that are gone go first, and then who was not heard of for
// longest, of the caller that has the most.
func (r *Readers) forget() {
	live := r.live()
	for k, b := range r.places {
		if k.kind == ofName && !live[b.session] {
			b.seen, b.read = r.own(k, b, "")
			b.session = ""
		}
	}
	maps.DeleteFunc(r.places, func(k key, _ *bookmark) bool { return k.kind == ofSession && !live[k.caller] })
	owned := map[string][]aged{}
	for k, b := range r.places {
		owner := k.caller
		if k.kind == ofName {
			owner = cmp.Or(b.session, owner)
		}
		owned[owner] = append(owned[owner], aged{k, b.heard})
	}
	owners := slices.Collect(maps.Values(owned))
	for _, of := range owners {
		slices.SortFunc(of, func(a, b aged) int { return a.heard.Compare(b.heard) })
	}
	for len(r.places) > marks-marks/16 {
		most := 0
		for i, of := range owners {
			if n := len(of) - len(owners[most]); n > 0 || n == 0 && of[0].heard.Before(owners[most][0].heard) {
				most = i
			}
		}
		delete(r.places, owners[most][0].key)
		if owners[most] = owners[most][1:]; len(owners[most]) == 0 {
			owners = slices.Delete(owners, most, most+1)
		}
	}
}

// aged is a bookmark by when its reader was heard of.
type aged struct {
	key
	heard time.Time
}

// position gives how far a reader has read that calls in a session, empty for the one in
// which it was heard of last; read is false where it has not. What a session was shown
// without a name counts for a name that does not name itself when it reads, and for the
// session's only one. r.mu is held.
func (r *Readers) position(k key, b *bookmark, sess string) (seq uint64, read bool) {
	seq, read = b.seen, b.read
	for _, id := range [...]string{sess, b.session} {
		if s := r.reads(k, b, id); s.read {
			seq, read = max(seq, s.seen), true
		}
	}
	return seq, read
}

// reads gives the bookmark of a session that reads for a name, an empty one where none does.
func (r *Readers) reads(k key, b *bookmark, sess string) *bookmark {
	if s := r.places[key{ofSession, sess, "", k.room}]; k.kind == ofName && s != nil && (!b.named || !s.many) {
		return s
	}
	return &bookmark{}
}

// own is position without what another name may have been shown: of several in a session
// that do not name themselves, the first is taken for the one that reads.
func (r *Readers) own(k key, b *bookmark, sess string) (seq uint64, read bool) {
	for _, id := range [...]string{sess, b.session} {
		if s := r.places[key{ofSession, id, "", k.room}]; k.kind == ofName && s != nil && s.first != "" && s.first != k.name {
			return b.seen, b.read
		}
	}
	return r.position(k, b, sess)
}

// at gives the bookmark of a place, an empty one where there is none.
func (r *Readers) at(k key) *bookmark {
	if b := r.places[k]; b != nil {
		return b
	}
	return &bookmark{}
}

// Read notes that a reader was shown a room up to an entry.
func (r *Readers) Read(p Place, seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(p, func(b *bookmark) {
		b.shown(seq, p.Name != "", false)
		if own := r.places[key{ofName, p.Address, b.first, p.Room}]; own != nil && !b.many {
			own.waits = false
		}
	}, func(c *crowd) { c.read(look{seq, p.Client, c.woken}) })
}

func (b *bookmark) shown(seq uint64, named, waits bool) {
	if b.read && seq > b.seen {
		b.again++
	}
	b.read, b.named, b.waits, b.seen = true, b.named || named, waits, max(b.seen, seq)
}

// Told notes what a reader was told of a pool. Who found it too low for a turn is
// to be woken when it no longer is: where models are quick, all of a room's
// agents have looked before the points of one turn are back, and none would
// look again.
func (r *Readers) Told(p Place, pool abi.Budget) {
	poor := pool.Level < pool.TurnPrice()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(p, func(b *bookmark) { b.poor, b.named = poor, b.named || p.Name != "" }, func(c *crowd) { c.told(poor) })
}

// Tried notes how a reader's line fared: m is what was said, err why nothing was.
func (r *Readers) Tried(p Place, u rooms.Utterance, pool abi.Budget, m abi.Message, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(p, func(b *bookmark) {
		b.refused, b.short, b.offer = false, false, 0
		if u.Offer != nil {
			b.offer = *u.Offer
		}
		e := abi.AsError(err)
		switch {
		case err == nil:
			b.said = m.Seq
			if m.Kind == abi.KindTurn { // which there were enough for
				b.poor = false
			}
		case e.Code == abi.CodeExhausted && e.Field == "":
			b.short, b.need = true, cost(u, pool)
		case e.Code == abi.CodeExhausted, e.Code == abi.CodeConflict, e.Code == abi.CodeStale:
			b.refused = true
		}
	}, nil)
}

// cost gives what a line would have been paid with.
func cost(u rooms.Utterance, pool abi.Budget) float64 {
	if u.Offer != nil {
		return *u.Offer
	}
	n := utf8.RuneCountInString(u.Text)
	for _, p := range pool.Prices {
		if n <= p.Chars {
			return p.Cost
		}
	}
	return pool.TurnPrice()
}

// Seen gives how far a reader has read; read is false where that is not known.
func (r *Readers) Seen(p Place) (seq uint64, read bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := p.key()
	return r.own(k, r.at(k), p.Session)
}

// Basis gives what a reader's next line is judged by, 0 when it has read nothing.
func (r *Readers) Basis(p Place) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := p.key()
	b := r.at(k)
	if seq, read := r.position(k, b, p.Session); read {
		return max(seq, b.said)
	}
	return 0
}

// Standing is what a wait has to know of a reader.
type Standing struct {
	Seen   uint64  // up to where it has read
	Handed string  // what it was told to do last
	Short  bool    // it had too few points
	Need   float64 // for a line that costs so much
	Poor   bool    // for a turn
}

// Standing gives how a reader stands.
func (r *Readers) Standing(p Place) Standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.standing(p)
}

func (r *Readers) standing(p Place) Standing {
	k := p.key()
	b := r.at(k)
	seen, _ := r.own(k, b, p.Session)
	return Standing{Seen: seen, Handed: b.handed, Short: b.short, Need: b.need, Poor: b.poor || r.reads(k, b, b.session).poor}
}

// Hand notes that a reader is told, by a wait, of everything up to head and of what to
// do; with points, that the pool pays again. It does nothing and answers false where
// the reader does not stand as it did: another wait has told it meanwhile.
func (r *Readers) Hand(p Place, was Standing, head uint64, do string, points bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.standing(p) != was {
		return false
	}
	r.note(p, func(b *bookmark) {
		b.shown(head, true, true)
		b.handed = do
		if points {
			b.short, b.poor = false, false
			r.reads(p.key(), b, p.Session).poor = false
		}
	}, nil)
	return true
}
