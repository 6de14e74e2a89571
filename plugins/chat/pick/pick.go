// Package pick decides which of a chat's lines a companion perceives, where viewers write faster than anybody can answer: a
// pool in which lines wait, out of which one is taken at a time, and no more often than a rule says.
//
// Gifts come first, in their order, and none falls out. Of comments those that ask come first, then those of viewers who have
// not been picked yet, then the newest; an old one falls out, and so does the last in this order where too many wait. A
// viewer who is muted is not heard, and neither is one in between who writes faster than the rule allows.
//
// The package is pure: the time comes in with each call, and everything that it keeps is bounded. It is not safe for concurrent
// use, and knows neither companions nor platforms.
package pick

import (
	"cmp"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/chat/line"
)

// Rule is how lines are picked.
type Rule struct {
	Every   time.Duration // at least between two that are taken
	Stale   time.Duration // after which a comment that waits falls out; a gift never does
	Slow    time.Duration // at least between two comments of one viewer; 0 is no bound
	Waiting int           // how many comments may wait, at least 1
}

// Bounds of what a pool keeps.
const (
	MaxGifts   = 1000 // that wait; more than that are refused, and Add says so
	MaxEach    = 3    // comments of one viewer that wait
	MaxViewers = 4096 // that are remembered as picked, and for the slow mode
	MaxSeen    = 4096 // ids of lines, by which one that comes again is known
	MaxMuted   = 1000 // viewers
)

// Fate is what becomes of a line that is added.
type Fate string

// The fates of lines.
const (
	Waits   Fate = "waits"
	Known   Fate = "known"    // it was there before
	Past    Fate = "past"     // it was written before anybody listened
	Silent  Fate = "silent"   // nothing is in it
	Muted   Fate = "muted"    // its viewer is
	TooSoon Fate = "too soon" // its viewer wrote just before, and there is slow mode
	Full    Fate = "full"     // those that wait come before it
)

// Pool holds lines that wait. Make one with New.
type Pool struct {
	rule     Rule
	comments []Picked // in the order in which they came
	gifts    []Picked
	added    uint64
	next     time.Time // when one may be taken again
	seen     *recent[struct{}]
	viewers  *recent[viewer]
	muted    map[string]time.Time // by folded name: until when; zero is for ever
}

// Picked is a line that was taken, and its place, should it have to go back.
type Picked struct {
	line.Line
	came  time.Time
	n     uint64 // which one it is
	who   string
	asks  bool
	fresh bool // its viewer had not been picked before
}

type viewer struct {
	wrote  time.Time // the last comment that was not too soon
	picked bool
}

// New makes an empty pool.
func New(r Rule) *Pool {
	return &Pool{rule: r, seen: newRecent[struct{}](MaxSeen), viewers: newRecent[viewer](MaxViewers), muted: map[string]time.Time{}}
}

// Follow makes r the rule from now on.
func (p *Pool) Follow(r Rule) { p.rule = r }

// Add gives a line to the pool, and says what becomes of it.
func (p *Pool) Add(l line.Line, now time.Time) Fate {
	if l.ID != "" && !p.seen.add(l.Platform+" "+l.ID) {
		return Known
	}
	switch {
	case l.Past:
		return Past
	case !l.Says():
		return Silent
	case p.isMuted(l, now):
		return Muted
	}
	p.added++
	e := Picked{Line: l, came: now, n: p.added, who: l.Author(), asks: line.Asks(l.Text)}
	if l.Gift != nil {
		if len(p.gifts) >= MaxGifts {
			return Full
		}
		p.gifts = append(p.gifts, e)
		return Waits
	}
	who := p.viewers.of(e.who)
	if p.rule.Slow > 0 && !who.wrote.IsZero() && now.Sub(who.wrote) < p.rule.Slow {
		return TooSoon
	}
	who.wrote = now
	p.fallOut(now)
	p.comments = append(p.comments, e)
	if p.shorten(e) {
		return Full
	}
	return Waits
}

// shorten leaves out the last of a viewer's comments, and of all, where too many wait. It says whether that was e.
func (p *Pool) shorten(e Picked) (gone bool) {
	mine := 0
	for _, c := range p.comments {
		if c.who == e.who {
			mine++
		}
	}
	last := -1
	switch {
	case mine > MaxEach:
		last = p.last(func(c Picked) bool { return c.who == e.who })
	case len(p.comments) > max(1, p.rule.Waiting):
		last = p.last(func(Picked) bool { return true })
	default:
		return false
	}
	gone = p.comments[last].n == e.n
	p.comments = slices.Delete(p.comments, last, last+1)
	return gone
}

// last gives the place of the comment that would be picked last among some, -1 where there is none.
func (p *Pool) last(among func(Picked) bool) int {
	at := -1
	for i, c := range p.comments {
		if among(c) && (at < 0 || p.before(p.comments[at], c) < 0) {
			at = i
		}
	}
	return at
}

// before orders comments: negative where a is to be picked before b.
func (p *Pool) before(a, b Picked) int {
	return cmp.Or(
		first(a.asks, b.asks),
		first(!p.wasPicked(a), !p.wasPicked(b)),
		cmp.Compare(b.n, a.n),
	)
}

// first orders by something that one has and another has not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (p *Pool) wasPicked(l Picked) bool {
	who, ok := p.viewers.look(l.who)
	return ok && who.picked
}

func (p *Pool) fallOut(now time.Time) {
	p.comments = slices.DeleteFunc(p.comments, func(c Picked) bool { return now.Sub(c.came) >= p.rule.Stale })
}

// Next takes the line that is to be perceived now, where it is time and one waits.
func (p *Pool) Next(now time.Time) (next Picked, ok bool) {
	p.fallOut(now)
	if now.Before(p.next) || len(p.gifts)+len(p.comments) == 0 {
		return next, false
	}
	if len(p.gifts) > 0 {
		next = p.gifts[0]
		p.gifts = slices.Delete(p.gifts, 0, 1)
	} else {
		at := 0
		for i, c := range p.comments {
			if p.before(c, p.comments[at]) < 0 {
				at = i
			}
		}
		next = p.comments[at]
		p.comments = slices.Delete(p.comments, at, at+1)
	}
	next.fresh = !p.wasPicked(next)
	p.viewers.of(next.who).picked = true
	p.next = now.Add(p.rule.Every)
	return next, true
}

// Back puts a line where it was, as nobody perceived it. The time until the next runs all the same.
func (p *Pool) Back(l Picked) {
	if l.fresh {
		p.viewers.of(l.who).picked = false
	}
	list := &p.comments
	if l.Gift != nil {
		list = &p.gifts
	}
	at, _ := slices.BinarySearchFunc(*list, l, func(a, b Picked) int { return cmp.Compare(a.n, b.n) })
	*list = slices.Insert(*list, at, l)
}

// Wait says how long it is until Next may have a line; ok is false while none waits.
func (p *Pool) Wait(now time.Time) (d time.Duration, ok bool) {
	return max(0, p.next.Sub(now)), len(p.gifts)+len(p.comments) > 0
}

// Gone takes out what is not there any more, gifts too, and says how many lines that were.
func (p *Pool) Gone(g line.Gone) int { return p.drop(func(l line.Line) bool { return g.Has(l) }) }

func (p *Pool) drop(is func(line.Line) bool) int {
	had := len(p.comments) + len(p.gifts)
	gone := func(e Picked) bool { return is(e.Line) }
	p.comments, p.gifts = slices.DeleteFunc(p.comments, gone), slices.DeleteFunc(p.gifts, gone)
	return had - len(p.comments) - len(p.gifts)
}

// Mute has a viewer say nothing until then, for ever where that is zero, and takes out what waits of theirs. A viewer is
// named by id, login or name.
func (p *Pool) Mute(name string, until, now time.Time) error {
	folded := line.Fold(name)
	if folded == "" {
		return abi.Field("viewer", abi.CodeInvalid, "must not be empty; name the viewer as the chat does")
	}
	p.forgive(now)
	if _, has := p.muted[folded]; !has && len(p.muted) >= MaxMuted {
		return abi.Field("viewer", abi.CodeExhausted, "%d viewers are muted already; take one of them back first", MaxMuted)
	}
	p.muted[folded] = until
	p.drop(func(l line.Line) bool { return l.Called(folded) })
	return nil
}

// Unmute lets a viewer speak again.
func (p *Pool) Unmute(name string) { delete(p.muted, line.Fold(name)) }

func (p *Pool) isMuted(l line.Line, now time.Time) bool {
	for _, name := range []string{l.Viewer, l.Handle, l.Name} {
		if until, has := p.muted[line.Fold(name)]; has && name != "" && (until.IsZero() || now.Before(until)) {
			return true
		}
	}
	return false
}

// forgive forgets those whose time is over.
func (p *Pool) forgive(now time.Time) {
	for name, until := range p.muted {
		if !until.IsZero() && !now.Before(until) {
			delete(p.muted, name)
		}
	}
}

// Size is how much a pool keeps.
type Size struct{ Comments, Gifts, Viewers, Seen, Muted int }

// Size gives how much is kept, for whoever wants to see that it is bounded.
func (p *Pool) Size() Size {
	return Size{len(p.comments), len(p.gifts), p.viewers.size(), p.seen.size(), len(p.muted)}
}
