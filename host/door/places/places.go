// Package places shares out what a house has a bounded number of: sessions, sockets,
// event streams, calls that wait. A [House] has so many places. A caller, which is a
// token's holder or else an address, takes one and leaves it.
//
// All users and programs of one machine share an address, so that a caller is not refused
// for how many places it has but for how many it holds. A place that nobody holds or uses is
// idle, and an idle place is nobody's by right: where all are taken, the one that has been
// idle for longest is let go for who comes, first of the caller that has the most idle ones.
// So clients that come and vanish, however many, keep nobody out. A caller that has its share or more
// makes room among its own.
//
// A place that is held (a body is connected, a call waits) or used (a call runs) is never let
// go. A caller holds its share at most, so that no single one shuts the house for the others.
//
// The package knows no door and closes nothing, and but for who waits in [Entrance.Empty] starts no goroutine: whoever took a place is
// told that it was let go.
package places

import (
	"container/list"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
)

// Config is the settings of a house.
type Config struct {
	// What its places are, for refusals: "sessions".
	What string
	// Total is how many places there are. It must be above zero.
	Total int
	// Share is how many a caller may hold, and up to how many it may have at the cost of
	// others. Zero means three quarters of Total.
	Share int
	// Again is what who is refused is told to wait where nobody knows when a place is free.
	// Zero means 1 s.
	Again time.Duration
}

// House is places of one kind. Its methods may be called from many goroutines.
type House struct {
	cfg Config

	mu      sync.Mutex
	taken   int
	callers map[string]*caller
}

// caller is who has places.
type caller struct {
	name   string
	places map[*Place]bool
	held   int
	idle   list.List // of *Place, idle for longest first
}

// Place is one place of a caller. Its methods may be called from many goroutines.
type Place struct {
	house *House
	who   *caller
	gone  func()

	// The house's mutex guards these.
	left  bool          // or was let go
	held  bool          // by the caller
	until time.Time     // when it will be held no more; zero: nobody knows
	uses  int           // calls that run
	idle  *list.Element // in who.idle; nil: it is not idle
	since time.Time     // when it became idle, or was touched
}

// New makes a house in which all places are free.
func New(cfg Config) *House {
	if cfg.Share == 0 {
		cfg.Share = cfg.Total - cfg.Total/4
	}
	if cfg.Again == 0 {
		cfg.Again = time.Second
	}
	return &House{cfg: cfg, callers: map[string]*caller{}}
}

// Take takes an idle place for a caller. When it is let go, gone is called: once, by who
// takes the next place, so that it must be quick and call nothing of the house. It is not
// called for a place that was left.
//
// # Errors
//
// A [Full]: CodeUnavailable where every place is held or used, CodeExhausted where those of a
// caller are that has its share.
func (h *House) Take(who string, gone func()) (*Place, error) {
	p, _, err := h.take(who, gone, false, false, time.Time{})
	return p, err
}

// TakeUsed takes a place that is used from the start, as [Place.Use] has it, so that it
// cannot be let go before the caller knows it.
//
// # Errors
//
// A [Full], as for [House.Take].
func (h *House) TakeUsed(who string, gone func()) (p *Place, done func(), err error) {
	return h.take(who, gone, false, true, time.Time{})
}

// TakeHeld takes a place that is held from the start, until the time that is given, as far as
// anybody knows; zero means that nobody does.
//
// # Errors
//
// A [Full], as for [House.Take], and CodeExhausted where the caller holds its share.
func (h *House) TakeHeld(who string, gone func(), until time.Time) (*Place, error) {
	p, _, err := h.take(who, gone, true, false, until)
	return p, err
}

func (h *House) take(who string, gone func(), held, used bool, until time.Time) (p *Place, done func(), err error) {
	h.mu.Lock()
	p, out, err := h.place(who, held, until)
	if p != nil {
		if p.gone = gone; used {
			done = p.use()
		}
	}
	h.mu.Unlock()
	if out != nil && out.gone != nil {
		out.gone()
	}
	return p, done, err
}

// place gives a caller a place, and the one that was let go for it.
func (h *House) place(who string, held bool, until time.Time) (p, out *Place, err error) {
	c := h.callers[who]
	if c == nil {
		c = &caller{name: who, places: map[*Place]bool{}}
	}
	if held && c.held >= h.cfg.Share {
		return nil, nil, h.share(c)
	}
	if h.taken >= h.cfg.Total {
		from := c
		if len(c.places) < h.cfg.Share {
			from = h.most(c)
		}
		switch {
		case from != nil && from.idle.Len() > 0:
			out = from.idle.Front().Value.(*Place)
			h.remove(out)
		case from == c:
			return nil, nil, h.share(c)
		default:
			return nil, nil, h.full()
		}
	}
	h.callers[who] = c // also where its last place was let go
	p = &Place{house: h, who: c}
	c.places[p] = true
	h.taken++
	if held {
		p.hold(until)
	}
	p.settle(time.Now())
	return p, out, nil
}

// most gives the caller that has the most idle places; of several, the one that asks, or else
// the one whose place has been idle for longest. So who comes and goes pushes itself out and
// nobody else, however many places others hold.
func (h *House) most(asks *caller) (found *caller) {
	if asks.idle.Len() > 0 {
		found = asks
	}
	for _, c := range h.callers {
		switch {
		case c.idle.Len() == 0:
		case found == nil || c.idle.Len() > found.idle.Len():
			found = c
		case found != asks && c.idle.Len() == found.idle.Len() && c.oldest().Before(found.oldest()):
			found = c
		}
	}
	return found
}

func (c *caller) oldest() time.Time { return c.idle.Front().Value.(*Place).since }

// Taken gives how many places are taken.
func (h *House) Taken() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.taken
}

func (h *House) remove(p *Place) {
	p.left = true
	if p.held {
		p.who.held--
	}
	if p.idle != nil {
		p.who.idle.Remove(p.idle)
		p.idle = nil
	}
	delete(p.who.places, p)
	if len(p.who.places) == 0 {
		delete(h.callers, p.who.name)
	}
	h.taken--
}

// ErrGone says that a place was left or let go.
var ErrGone = abi.Errorf(abi.CodeUnavailable, "others needed the place")

// Hold keeps a place from being let go, until it is left; that will be at the time that is
// given, zero where nobody knows. A place that is held may be held for longer.
//
// # Errors
//
// [ErrGone]; a [Full] with CodeExhausted where the caller holds its share already.
func (p *Place) Hold(until time.Time) error {
	p.house.mu.Lock()
	defer p.house.mu.Unlock()
	switch {
	case p.left:
		return ErrGone
	case !p.held && p.who.held >= p.house.cfg.Share:
		return p.house.share(p.who)
	}
	p.hold(until)
	p.settle(time.Now())
	return nil
}

func (p *Place) hold(until time.Time) {
	if !p.held {
		p.held = true
		p.who.held++
	}
	p.until = until
}

// Release makes a place that was held an idle one.
func (p *Place) Release() {
	p.house.mu.Lock()
	defer p.house.mu.Unlock()
	if p.left || !p.held {
		return
	}
	p.held, p.until = false, time.Time{}
	p.who.held--
	p.settle(time.Now())
}

// Use keeps a place from being let go until done is called, which may be done again. It is for
// what is soon over and does not count as held. False means that the place was left or let go.
func (p *Place) Use() (done func(), ok bool) {
	p.house.mu.Lock()
	defer p.house.mu.Unlock()
	if p.left {
		return func() {}, false
	}
	return p.use(), true
}

// use is Use of a place that is there. The house's mutex is held.
func (p *Place) use() (done func()) {
	p.uses++
	p.settle(time.Now())
	return sync.OnceFunc(func() {
		p.house.mu.Lock()
		defer p.house.mu.Unlock()
		p.uses--
		p.settle(time.Now())
	})
}

// Touch notes that somebody is there: the place is idle from now on, where it is idle.
func (p *Place) Touch() {
	p.house.mu.Lock()
	defer p.house.mu.Unlock()
	if p.idle != nil {
		p.since = time.Now()
		p.who.idle.MoveToBack(p.idle)
	}
}

// Leave gives a place back. One that was let go is left already.
func (p *Place) Leave() {
	p.house.mu.Lock()
	defer p.house.mu.Unlock()
	if !p.left {
		p.house.remove(p)
	}
}

// settle puts a place among the idle ones or takes it out.
func (p *Place) settle(now time.Time) {
	idle := !p.left && !p.held && p.uses == 0
	switch {
	case idle && p.idle == nil:
		p.since, p.idle = now, p.who.idle.PushBack(p)
	case !idle && p.idle != nil:
		p.who.idle.Remove(p.idle)
		p.idle = nil
	}
}

// Full is a refusal: no place is free, nor will be for a while.
type Full struct {
	told  *abi.Error
	after time.Duration
}

// Error gives code and message.
func (f *Full) Error() string { return f.told.Error() }

// Unwrap gives what a door tells.
func (f *Full) Unwrap() error { return f.told }

// RetryAfter is when a place will be free, as far as anybody knows; at least 1 s.
func (f *Full) RetryAfter() time.Duration { return f.after }

// full is the refusal where every place is held or used.
func (h *House) full() *Full {
	var all []*caller
	for _, c := range h.callers {
		all = append(all, c)
	}
	after := h.free(all...)
	return &Full{abi.Errorf(abi.CodeUnavailable, "all %d %s are in use; try again in %d s", h.cfg.Total, h.cfg.What, after/time.Second), after}
}

// share is the refusal of a caller that has what one may have.
func (h *House) share(c *caller) *Full {
	after := h.free(c)
	return &Full{abi.Errorf(abi.CodeExhausted, "%d %s of yours are in use, which is all that one caller may have; try again in %d s", len(c.places)-c.idle.Len(), h.cfg.What, after/time.Second), after}
}

// free gives how long it takes, in whole seconds, until a place of these callers is free.
func (h *House) free(callers ...*caller) time.Duration {
	now, first := time.Now(), time.Duration(0)
	for _, c := range callers {
		for p := range c.places {
			if p.idle != nil {
				continue // the caller is refused for those it holds or uses
			}
			after := h.cfg.Again
			if p.held && !p.until.IsZero() {
				after = p.until.Sub(now)
			}
			if after = max(after, 1); first == 0 || after < first {
				first = after
			}
		}
	}
	return max(first+time.Second-1, time.Second).Truncate(time.Second)
}
