// Package fanout gives what happens in a room to all who follow it. The room's journal
// is followed once, an entry is encoded once for all to whom it looks alike, and the
// frames of those who have caught up are written from there, without waiting for anybody.
//
// A client that does not take its frames at once is behind: it goes on by itself, at its own
// pace, first with what the room still has at hand and else from the journal, and joins
// the others again when it has caught up. Whatever it does, each entry comes to it once and in order.
//
// The package keeps at most some hundred entries a room, and nothing for a client. It changes nothing in a room,
// and knows nothing of connections.
package fanout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sort"
	"sync"

	"github.com/companiond/companiond/host/door/socket/plain"
	"github.com/companiond/companiond/host/entry"
)

// How much of a room is kept at hand, for clients that are a little behind: what lies
// before the newest so many entries, or bytes of their bodies, is read from the journal.
const (
	maxEntries = 512
	maxBytes   = 1 << 20
)

// Room is what can be followed. rooms.Room implements it.
type Room interface {
	Name() string
	// Entries gives up to limit entries with Seq > since and the room's head.
	Entries(ctx context.Context, since uint64, limit int) ([]entry.Entry, uint64, error)
	// Follow calls fn with entries with Seq > since, in order, none missing, none twice,
	// until ctx ends or fn answers an error, which it returns.
	Follow(ctx context.Context, since uint64, fn func([]entry.Entry) error) error
}

// Coding is how entries become messages. Equal codings give the same ones, and must be of a type
// that can be compared.
type Coding interface {
	// Message gives the message for an entry, nil for none.
	Message(e entry.Entry) ([]byte, error)
}

// Client is who follows a room.
type Client interface {
	// Push takes a batch without waiting for anything; all others in the room wait for it. It
	// says how many entries it took, and whether it has caught up: if not it is asked to Settle,
	// and written what is left. It is called while neither of the other two is.
	Push(b Batch) (taken int, all bool)
	// Settle ends what Push has begun.
	Settle() error
	// Write takes a batch, and may take its time. An error ends [Hub.Follow].
	Write(ctx context.Context, b Batch) error
}

// Batch is some entries, one behind the other.
type Batch struct {
	Entries []entry.Entry
	room    *room
	of      *burst // all that came at once; nil: they are one client's alone
	skipped int    // how many of it are left out before Entries
}

// Head is the seq of the newest entry of the room, as far as those have it who have caught up.
func (b Batch) Head() uint64 {
	b.room.mu.Lock()
	defer b.room.mu.Unlock()
	return b.room.head
}

// Frames are those of a batch: the i-th entry's lies between the end of the one before and
// Ends[i], and may be empty.
type Frames struct {
	Bytes []byte
	Ends  []int
	Err   error // why there is none for the entry behind the last, if so
}

// burst is what the journal gave at once.
type burst struct {
	entries []entry.Entry
	mu      sync.Mutex
	frames  map[Coding]Frames
}

// Frames gives the frames of a batch. For one that clients share they are made once.
func (b Batch) Frames(c Coding) Frames {
	if b.of == nil {
		return encode(b.Entries, c)
	}
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	f, ok := b.of.frames[c]
	if !ok {
		f = encode(b.of.entries, c)
		b.of.frames[c] = f
	}
	return f.behind(b.skipped)
}

// Frame gives the i-th frame, nil for none. For a batch that is one client's alone it is made
// only now: much that is old is not encoded long before it is sent.
func (b Batch) Frame(c Coding, i int) ([]byte, error) {
	if b.of != nil {
		return b.Frames(c).frame(i)
	}
	message, err := c.Message(b.Entries[i])
	if message == nil || err != nil {
		return nil, err
	}
	return plain.Text(message), nil
}

func encode(entries []entry.Entry, c Coding) (f Frames) {
	for _, e := range entries {
		message, err := c.Message(e)
		if err != nil {
			f.Err = err
			return f
		}
		if message != nil {
			f.Bytes = plain.AppendText(f.Bytes, message)
		}
		f.Ends = append(f.Ends, len(f.Bytes))
	}
	return f
}

// behind leaves the first frames out.
func (f Frames) behind(skipped int) Frames {
	if skipped == 0 {
		return f
	}
	if skipped >= len(f.Ends) {
		return Frames{Err: f.Err}
	}
	start := f.Ends[skipped-1]
	ends := slices.Clone(f.Ends[skipped:])
	for i := range ends {
		ends[i] -= start
	}
	return Frames{f.Bytes[start:], ends, f.Err}
}

// frame gives the i-th frame, nil for none; those behind the last cannot be made.
func (f Frames) frame(i int) ([]byte, error) {
	if i >= len(f.Ends) {
		return nil, f.Err
	}
	start := 0
	if i > 0 {
		start = f.Ends[i-1]
	}
	if start == f.Ends[i] {
		return nil, nil
	}
	return f.Bytes[start:f.Ends[i]], nil
}

// Newest gives the newest of the first n entries that has a frame, -1 if none has.
func (f Frames) Newest(n int) int {
	for i := n - 1; i >= 0; i-- {
		if frame, _ := f.frame(i); frame != nil {
			return i
		}
	}
	return -1
}

// last is the seq of the newest entry.
func (b *burst) last() uint64 { return b.entries[len(b.entries)-1].Seq }

// behind gives what comes behind an entry.
func (b *burst) behind(r *room, seen uint64) Batch {
	n := sort.Search(len(b.entries), func(i int) bool { return b.entries[i].Seq > seen })
	return Batch{b.entries[n:], r, b, n}
}

// Hub is the rooms that are followed. The zero value is ready.
type Hub struct {
	Log *slog.Logger // takes panics. Nil means nothing is logged

	mu    sync.Mutex
	rooms map[string]*room
}

// room is one that somebody follows. One goroutine follows its journal, from when the first
// client comes until the last has left.
type room struct {
	clients int           // guarded by the hub
	end     func()        // ends the goroutine
	ready   chan struct{} // closes when it has begun
	done    chan struct{} // closes when it has ended

	mu     sync.Mutex // held while the clients are given a burst
	recent []*burst   // the newest, at hand
	bytes  int        // of their bodies
	from   uint64     // the seq before the first of them
	head   uint64     // the seq of the last
	joined []*place   // who has caught up
	err    error      // why it has ended
	torn   bool       // that was a panic: nobody knows what the joined were given
}

// place is a client's among those who have caught up.
type place struct {
	client Client
	seen   uint64
	at     int           // in joined
	behind chan struct{} // gets a value when the place is lost
}

// Follow gives a client what happens in a room behind since, until ctx ends, whose error
// it then returns, or there is another error: the client's, or the journal's. A panic is one:
// it ends the client that is written to, or where it comes to all at once, those of the room.
// When it returns nothing of the client is called any more.
func (h *Hub) Follow(ctx context.Context, talk Room, since uint64, c Client) (err error) {
	r := h.enter(talk)
	defer h.leave(talk.Name(), r)
	defer h.catch(talk.Name(), &err)
	select {
	case <-r.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	p := &place{client: c, seen: since, behind: make(chan struct{}, 1)}
	for {
		next, where, err := r.next(p)
		switch {
		case err != nil:
			return err
		case where == old:
			err = p.catchUp(ctx, talk, r)
		case where == recent:
			if err = c.Write(ctx, next); err == nil {
				p.seen = next.Entries[len(next.Entries)-1].Seq
			}
		case where == caughtUp:
			err = p.wait(ctx, r)
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// errPanic is what those who followed a room end with where there was a panic.
var errPanic = errors.New("panic in the fan-out")

// catch makes an error of a panic, and logs where it was. It is to be deferred itself.
func (h *Hub) catch(room string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	*err = fmt.Errorf("%w: %v", errPanic, p)
	if h.Log != nil {
		h.Log.Error(errPanic.Error(), "room", room, "panic", p, "stack", string(debug.Stack()))
	}
}

var (
	errCaughtUp = errors.New("caught up") // ends what a client reads from the journal by itself
	errEnded    = errors.New("the journal is followed no longer")
)

// catchUp reads from the journal what the room has no longer at hand.
func (p *place) catchUp(ctx context.Context, talk Room, r *room) error {
	err := talk.Follow(ctx, p.seen, func(es []entry.Entry) error {
		if err := p.client.Write(ctx, Batch{Entries: es, room: r}); err != nil {
			return err
		}
		p.seen = es[len(es)-1].Seq
		if r.has(p.seen) {
			return errCaughtUp
		}
		return nil
	})
	if errors.Is(err, errCaughtUp) {
		return nil
	}
	return err
}

// wait lets the client be pushed what comes, until it is behind.
func (p *place) wait(ctx context.Context, r *room) error {
	select {
	case <-p.behind:
		return p.client.Settle()
	case <-r.done:
		return nil // next says why, behind what the client has not yet
	case <-ctx.Done():
		r.part(p)
		return ctx.Err()
	}
}

// enter gives the room, followed from now on if it was not.
func (h *Hub) enter(talk Room) *room {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.rooms[talk.Name()]
	if r == nil || r.ended() {
		ctx, end := context.WithCancel(context.Background())
		r = &room{end: end, ready: make(chan struct{}), done: make(chan struct{})}
		if h.rooms == nil {
			h.rooms = map[string]*room{}
		}
		h.rooms[talk.Name()] = r
		go h.run(ctx, talk, r)
	}
	r.clients++
	return r
}

// leave ends what enter began. A room of which nobody is left, or that has ended, is
// another one for who comes next.
func (h *Hub) leave(name string, r *room) {
	h.mu.Lock()
	r.clients--
	last := r.clients == 0
	if h.rooms[name] == r && (last || r.ended()) {
		delete(h.rooms, name)
	}
	h.mu.Unlock()
	if last {
		r.end()
		<-r.done
	}
}

func (r *room) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// run follows a room's journal until ctx ends, or there is trouble.
func (h *Hub) run(ctx context.Context, talk Room, r *room) {
	defer close(r.done)
	began := sync.OnceFunc(func() { close(r.ready) })
	defer began()
	err := h.follow(ctx, talk, r, began)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.torn, r.joined = cmp.Or(err, errEnded), errors.Is(err, errPanic), nil
}

// follow begins at the room's head: what is before is for those who ask.
func (h *Hub) follow(ctx context.Context, talk Room, r *room, began func()) (err error) {
	defer h.catch(talk.Name(), &err)
	_, head, err := talk.Entries(ctx, 0, 0) // none: the first may be one that nobody can read
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.from, r.head = head, head
	r.mu.Unlock()
	began()
	return talk.Follow(ctx, head, func(es []entry.Entry) error {
		r.spread(es)
		return nil
	})
}

// spread gives a burst to all who have caught up.
func (r *room) spread(es []entry.Entry) {
	b := &burst{entries: slices.Clone(es), frames: map[Coding]Frames{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(b)
	for i := 0; i < len(r.joined); {
		p := r.joined[i]
		next := b.behind(r, p.seen)
		if len(next.Entries) == 0 { // it came with a since that the room was told of later
			i++
			continue
		}
		taken, all := p.client.Push(next)
		if taken > 0 {
			p.seen = next.Entries[taken-1].Seq
		}
		if all {
			i++
			continue
		}
		r.remove(p)
		p.behind <- struct{}{}
	}
}

// keep has a burst at hand, and drops what is too old or too much.
func (r *room) keep(b *burst) {
	r.recent, r.head = append(r.recent, b), b.last()
	r.bytes += b.size()
	for len(r.recent) > 1 && (r.head-r.from > maxEntries || r.bytes > maxBytes) {
		oldest := r.recent[0]
		r.recent[0] = nil // the array stays
		r.recent = r.recent[1:]
		r.from, r.bytes = oldest.last(), r.bytes-oldest.size()
	}
}

func (b *burst) size() (n int) {
	for _, e := range b.entries {
		n += len(e.Body)
	}
	return n
}

// Where the next entry of a client is.
type where int

const (
	caughtUp where = iota // it has not happened yet; the client has joined
	recent                // at hand
	old                   // in the journal
)

// next gives what a client is to be written, or lets it join.
func (r *room) next(p *place) (Batch, where, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.torn:
		return Batch{}, caughtUp, r.err
	case p.seen < r.from:
		return Batch{}, old, nil
	case p.seen < r.head:
		i := sort.Search(len(r.recent), func(i int) bool { return r.recent[i].last() > p.seen })
		return r.recent[i].behind(r, p.seen), recent, nil
	case r.err != nil:
		return Batch{}, caughtUp, r.err
	}
	p.at = len(r.joined)
	r.joined = append(r.joined, p)
	return Batch{}, caughtUp, nil
}

// has says whether what comes behind an entry is at hand.
func (r *room) has(seen uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return seen >= r.from
}

// part lets a client go that has joined, if it is still there.
func (r *room) part(p *place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.at < len(r.joined) && r.joined[p.at] == p {
		r.remove(p)
	}
}

// remove takes a place out, with the last in its stead.
func (r *room) remove(p *place) {
	last := len(r.joined) - 1
	r.joined[p.at] = r.joined[last]
	r.joined[p.at].at = p.at
	r.joined[last] = nil
	r.joined = r.joined[:last]
}
