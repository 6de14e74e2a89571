// Package perception takes what comes in through a companion's senses (the AI Companion Protocol): it
// holds it to the companion's card, puts it in order, and has it judged, one by
// one or several in one call.
//
// A person's words are not queued: they are said at once, for no human message may be
// lost. Everything else waits in one queue a companion. Of frames, which are what the
// card lets coalesce, the newest takes the place of one that waits, and a title may have
// a cool-down, so that a camera does not cost a judgement a frame. All others are kept:
// they are written down before they count as taken, and read back after a restart, so
// that each is judged once at least. The queue is bounded in number and in bytes; one
// that does not fit is refused, with how long to wait.
//
// The package knows no room: it is given the means to say, to keep and to judge. It
// never decides what a perception means, and writes nothing down itself.
package perception

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// Config is what the senses are connected to.
type Config struct {
	// Card gives the card of a companion, nil when it has none. It refuses with
	// CodeNotFound when there is no such companion, and with CodeUnavailable when
	// its file is there and not loaded.
	Card func(companion string) (*card.Card, error)
	// Judge lets a companion perceive something and answers when it has judged
	// it: a frame, or what was kept, of which there may be several, oldest first. It is
	// called once for a companion at a time. With an [Ended] in the chain of its error what was kept
	// waits no more; after any other error that is judged again later.
	Judge func(ctx context.Context, companion string, all ...abi.Percept) (abi.Judged, error)
	// Keep writes a perception down and calls kept with it, which has its Seq then, in
	// the order in which they are written. kept does not wait, and may be called after Keep has
	// answered an error where ctx ended.
	Keep func(ctx context.Context, companion string, p abi.Percept, kept func(abi.Percept)) error
	// Kept gives what was kept and is not judged yet, oldest first.
	Kept func(ctx context.Context, companion string) ([]abi.Percept, error)
	// Retract writes down that some of what was kept is taken back: nobody judges it any more.
	Retract func(ctx context.Context, companion string, seqs []uint64) error
	// Several says whether a companion judges several in one call; nil: none does.
	Several func(companion string) bool
	// Say says to a companion what a person put in, as p.From, and answers once it
	// is in the journal. ctx is that of [Queues.Offer].
	Say func(ctx context.Context, companion string, p abi.Percept, text string) (abi.Message, error)
	// Filter asks handlers about what is offered and fits the card, and gives what they leave of it; an error says why it is
	// not perceived. nil: nobody is asked.
	Filter func(ctx context.Context, companion string, p abi.Percept) (abi.Percept, error)
	// Pending is how many perceptions of one companion may wait. Zero means 1,000.
	Pending int
	// NewID makes the ids of sessions: random, for a caller that knows one may use it.
	NewID func() string
	Log   *slog.Logger
}

const (
	defaultPending = 1000            // minutes of gifts, for a model that takes some seconds for 32 of them
	maxBytes       = 32 << 20        // of what waits or is judged, of one companion
	batchBytes     = 32 << 10        // of what is judged in one call: a small model reads all of it
	judgePatience  = 2 * time.Minute // longer than a room's
	keepPatience   = 30 * time.Second
	retryFirst     = time.Second // until what was kept is judged again, and twice that the next time
	retryLast      = time.Minute
)

// The states of what was taken.
const (
	StateSaid    = "said"    // it was input, and is a message now
	StateQueued  = "queued"  // it is judged as soon as its turn comes
	StateCooling = "cooling" // it is judged when the cool-down of its title ends
)

// Taken says what became of a perception at first.
type Taken struct {
	State   string         // said, queued or cooling
	Seq     uint64         // of the entry, where it is kept
	Message *abi.Message   // with said
	Outcome <-chan Outcome // gives one value and is closed; nil with said
}

// Outcome is what became of a perception in the end: it was judged, a newer one
// took its place, or it could not be judged.
type Outcome struct {
	Judged   abi.Judged
	Replaced bool
	Err      error
}

// Ended is the cause of an error with which perceptions that were kept have ended, in
// the journal, too.
type Ended struct {
	Seqs  []uint64 // of their entries
	Cause error
}

// Error says why they ended.
func (e *Ended) Error() string { return e.Cause.Error() }

// Unwrap gives why they ended.
func (e *Ended) Unwrap() error { return e.Cause }

// Queues are those of all companions. Make them with [New]; nothing is judged
// before Run. All methods are safe for concurrent use.
type Queues struct {
	cfg      Config
	sessions sessions

	mu      sync.Mutex
	of      map[string]*backlog // by companion
	ctx     context.Context     // of Run; nil before it
	stopped bool                // Run has ended, or is about to
	workers sync.WaitGroup
}

// backlog is all of one companion's.
type backlog struct {
	queue
	counts  map[string]int
	working bool          // a worker judges what waits
	wake    chan struct{} // tells it that more came
	woken   bool          // what was kept is to be read back

	reading sync.Mutex    // held while what was kept is read back
	read    bool          // it was
	found   []abi.Percept // that rooms wrote down before it was
}

// New makes the senses of a house. It starts nothing.
func New(c Config) *Queues {
	c.Pending = cmp.Or(c.Pending, defaultPending)
	return &Queues{cfg: c, of: map[string]*backlog{}, sessions: sessions{all: map[string]*session{}}}
}

// Offer holds a perception to the companion's card and takes it; from says who
// sent it.
//
// Input is said at once and answered when it is in the journal, and what no newer one
// replaces when it is kept there. They join the companion's queue; their Outcome comes
// when they were judged, whether anybody waits for it or not.
//
// # Errors
//
// Those of Config.Card; CodeNotFound for what the companion does not perceive;
// CodeInvalid and CodeTooLarge for what its card does not allow, with the field. CodeExhausted when
// too much waits already: a [Full] is in the chain. CodeUnavailable when the
// daemon is stopping. And those of Config.Filter, Config.Say, Config.Keep and Config.Kept.
func (s *Queues) Offer(ctx context.Context, companion string, p card.Percept, from string) (Taken, error) {
	c, err := s.cfg.Card(companion)
	if err != nil {
		return Taken{}, err
	}
	if c == nil {
		s.count(companion, "refused")
		return Taken{}, abi.Field("title", abi.CodeNotFound, "%s has no card, which would say what it perceives", companion)
	}
	if p, err = c.Check(p); err != nil {
		s.count(companion, "refused")
		return Taken{}, err
	}
	p.Seq, p.From, p.At = 0, from, time.Now().UTC()
	if s.cfg.Filter != nil {
		if err := s.room(companion, p, c); err != nil {
			return Taken{}, err
		}
		if p, err = s.cfg.Filter(ctx, companion, p); err != nil {
			s.count(companion, "refused")
			return Taken{}, err
		}
	}
	kind, _ := c.Perception(p.Title)
	if kind.Input {
		return s.say(ctx, companion, p)
	}
	it := newItem(p, kind)
	if !it.frame {
		return s.keep(ctx, companion, it)
	}
	return s.put(companion, it)
}

// room says why there is none for a perception: nobody is asked about one that is not taken anyway.
func (s *Queues) room(companion string, p card.Percept, c *card.Card) error {
	kind, _ := c.Perception(p.Title)
	if kind.Input {
		return nil
	}
	it := newItem(p, kind)
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.backlog(companion)
	var gone *item
	if i := q.replaces(it); it.frame && i >= 0 {
		gone = q.waiting[i]
	}
	err := q.fits(it, gone, time.Now())
	if err != nil {
		q.counts["refused"]++
	}
	return err
}

// Tell takes what a game tells a companion, which is kept and judged as what its card lets it
// perceive. The card need not know of games.
//
// # Errors
//
// Those of Offer, but for what a card does not allow.
func (s *Queues) Tell(ctx context.Context, companion string, p abi.Percept) error {
	p.Seq, p.At = 0, time.Now().UTC()
	_, err := s.keep(ctx, companion, newItem(p, nil))
	return err
}

// newItem makes an item of a perception, of which the card says kind.
func newItem(p abi.Percept, kind *card.Perception) *item {
	it := &item{p: p, done: make(chan Outcome, 1)}
	if kind != nil { // the card may have changed since it was kept
		it.coolDown, it.frame = kind.CoolDown, p.Seq == 0 && kind.Coalesces(p.Format)
	}
	return it
}

// say makes a message of what a person put in.
func (s *Queues) say(ctx context.Context, companion string, p abi.Percept) (Taken, error) {
	text, err := words(p)
	if err != nil {
		s.count(companion, "refused")
		return Taken{}, err
	}
	m, err := s.cfg.Say(ctx, companion, p, text)
	if err != nil {
		s.count(companion, "refused")
		return Taken{}, err
	}
	s.count(companion, "said")
	return Taken{State: StateSaid, Message: &m}, nil
}

// words gives what a person says with an input. Its body is a text, whatever its
// format says; of other JSON it is the JSON.
func words(p abi.Percept) (string, error) {
	if len(p.Image) > 0 {
		return "", abi.Field("format", abi.CodeInvalid, "%q is what people say, which is no image", p.Title)
	}
	var text string
	if json.Unmarshal(p.Body, &text) != nil {
		text = string(p.Body)
	}
	return text, abi.CheckText("body", text)
}

func (s *Queues) put(companion string, it *item) (Taken, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return Taken{}, errStopping
	}
	q := s.backlog(companion)
	state, replaced, err := q.put(it, time.Now())
	if err != nil {
		q.counts["refused"]++
		return Taken{}, err
	}
	q.counts["taken"]++
	if state == StateCooling {
		q.counts["cooled"]++
	}
	if replaced != nil {
		q.counts["replaced"]++
		replaced.tell(Outcome{Replaced: true})
	} else {
		s.start(companion, q)
	}
	return Taken{State: state, Outcome: it.done}, nil
}

var (
	errStopping = abi.Errorf(abi.CodeUnavailable, "the daemon is stopping")
	errKept     = abi.Errorf(abi.CodeUnavailable, "the daemon is stopping; what was perceived is kept, and judged when it is back")
)

// backlog gives what waits of a companion. The lock is held.
func (s *Queues) backlog(companion string) *backlog {
	q := s.of[companion]
	if q == nil {
		waits := queue{max: s.cfg.Pending, maxBytes: maxBytes, ready: map[string]time.Time{}}
		q = &backlog{queue: waits, counts: map[string]int{}, wake: make(chan struct{}, 1)}
		s.of[companion] = q
	}
	return q
}

func (s *Queues) count(companion, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog(companion).counts[what]++
}

// Counts tells how much of a companion's was, since the daemon started:
//
//	taken     into its queue, or back into it after a restart; these are judged, replaced, failed or waiting
//	judged    by the companion
//	failed    to be judged
//	replaced  by a newer one
//	waiting   or being judged, now
//	cooled    taken while the title had its cool-down
//	refused   for the card, for want of room, by a handler, or by the room
//	said      as input; it is in no queue
func (s *Queues) Counts(companion string) map[string]int {
	n := map[string]int{"taken": 0, "judged": 0, "failed": 0, "replaced": 0, "waiting": 0, "cooled": 0, "refused": 0, "said": 0}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.of[companion]; q != nil {
		maps.Copy(n, q.counts)
		n["waiting"] = n["taken"] - n["judged"] - n["failed"] - n["replaced"]
	}
	return n
}
