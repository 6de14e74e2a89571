// Package room runs conversations: one loop a room, which is the only writer of
// the room's journal stream and the only one to change its state.
//
// A door, a module's answer and a stored time all come in as events on one
// inbox. The rules (host/room/rules) turn an event into entries, the entries change
// the state there, the journal makes them durable, and only then does
// anybody hear of them. What is to be done next, whom to ask for a vote or a
// line, is read off the state, so a restart goes on where the journal ends.
//
// The loop never waits for a module, a model or a door. It never decides by
// arrival order or by anything that is not in the journal.
package room

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/turn"
)

// Companion is a hosted character as a room sees it.
type Companion interface {
	Describe() abi.Description
	Call(ctx context.Context, req abi.Request) (json.RawMessage, error)
	// Permit checks an action against the companion's card, where it has one. A
	// warning says that it is played all the same.
	Permit(a abi.ActionAsk) (warning string, err error)
}

// Config is what rooms stand on.
type Config struct {
	Journal journal.Journal
	Owner   string                            // of this run of the daemon, in the owner entries
	Find    func(id string) (Companion, bool) // a loaded companion
	NewID   func() string                     // unique ids for messages and calls
	// Blame is told of answers of a companion that break the rules of their op.
	// It is called beside the loops, also at once; nil tells nobody.
	Blame  func(companion, op string, err error)
	House  House         // nil: nobody has a name but in a room
	Bodies *Bodies       // that are connected; nil: none ever is
	Idle   time.Duration // a room with nothing to do for so long falls asleep; 0: never
	Log    *slog.Logger
}

// Settings is how a room is to be.
type Settings struct {
	Name       string
	Companions []string // ids, or "*" for every companion
	Rules      entry.Rules
	// Open is written down where the room was never opened, Reopen where it was
	// archived. Nil: nothing is.
	Open, Reopen *entry.Opened
	// Unknown says why the settings cannot be read, "" where they can. Then nothing
	// of them is written down, and the room takes nothing new.
	Unknown string
	Closed  bool // at a door
}

// Refuses says why the room takes nothing new, whatever its journal holds; nil where
// that may tell another reason.
func (s Settings) Refuses() error {
	switch {
	case s.Closed:
		return abi.Field("room", abi.CodeDenied, "%s was closed; what was said can still be read", s.Name)
	case s.Unknown != "":
		return abi.Field("room", abi.CodeUnavailable, "%s takes nothing new: %s", s.Name, s.Unknown)
	}
	return nil
}

// Lives says whether a companion lives in the room.
func (s Settings) Lives(id string) bool {
	return contains(s.Companions, "*") || contains(s.Companions, id)
}

// waits says whether companions of the room may be among those that are being
// loaded: cast is nil until it is known who is.
func (s Settings) waits(cast []entry.Joined) bool { return cast == nil && len(s.Companions) > 0 }

const (
	inboxSize     = 256
	batchSize     = 64          // events handled before the journal is written
	snapshotEvery = 500         // entries
	readChunk     = 500         // entries a read
	journalRetry  = time.Second // between tries while the journal takes no writes
)

// event is what comes in by the inbox.
type event any

type (
	sayEvent struct {
		a    rules.Line
		done chan sayResult
	}
	sayResult struct {
		msg  abi.Message
		pool abi.Budget // right afterwards
		err  error
	}
	attendEvent struct {
		who   string
		votes bool
		done  chan error
	}
	stopEvent struct {
		from string
		done chan sayResult
	}
	castEvent struct {
		cast []entry.Joined
		done chan struct{}
	}
	votedEvent struct {
		round uint64
		who   string
		vote  abi.Vote
		err   error
	}
	outsideVote struct {
		about uint64
		who   string
		vote  abi.Vote
		done  chan error
	}
	spokeEvent struct {
		grant string
		basis uint64
		who   string
		line  abi.Line
		wish  *rules.Wish // the line came with it
		err   error
	}
	segmentEvent struct {
		who, call, text string
		done            chan error
	}
	perceiveEvent struct {
		who  string
		p    abi.Percept
		kept entry.Perceived
		done chan judged
	}
	judgedEvent struct {
		of        perception
		judgement abi.Judgement
		err       error
	}
	actEvent struct {
		a    entry.Action
		by   Player
		done chan actResult
	}
	doneEvent struct {
		d    entry.Done
		done chan error
	}
	usageEvent  struct{ u entry.Usage }
	settleEvent struct {
		s    Settings
		done chan error
	}
	archiveEvent struct {
		by   string
		done chan error
	}
)

// Room is one conversation while it is awake: from New until Run returns.
type Room struct {
	Reader
	settings Settings
	cfg      Config
	log      *slog.Logger

	inbox  chan event
	awake  sync.RWMutex // held shared while something is put into the inbox
	asleep bool
	gone   chan struct{} // closed when Run returns
	loaded chan struct{} // closed when the journal was read, or could not be
	info   atomic.Pointer[Info]
	pool   atomic.Pointer[poolView]
	tail   tail
	counts counts

	drain atomic.Bool    // ask nobody any more
	calls sync.WaitGroup // running calls of modules
	busy  atomic.Int64   // as many as they are
	lines atomic.Int64   // speak and perceive calls whose answer is not yet in the journal

	// Owned by Run.
	m            rules.Machine
	cast         []entry.Joined // the companions that are loaded now, by id; nil: not known yet
	agents       map[string]agent
	backchannels map[uint64]map[string]string // backchannels that came with votes, by round and voter
	head         journal.Head
	acks         []ack
	asking       map[string]bool   // voters with a call running
	speaking     map[string]bool   // grant tokens with a call running, "token@basis"
	judging      []perception      // to be asked about once they are in the journal
	judgedBy     map[string]uint64 // seqs of perceptions that are judged, by the call
	acts         acts
	running      running
	early        turn.Early
	ids          idRing
	members      []abi.Member // as of the newest entry that changed them
	names        names
	seen         struct{ mono, room time.Time } // the clocks when they were last looked at
	used         time.Time                      // by the process's clock: when something was last asked or done here
	spoken       int64                          // speak calls whose answers came in this round of the loop
	trouble      error                          // why the journal takes nothing; nil when it does
	snapped      uint64
}

// ack is somebody who waits for the entries so far to be durable.
type ack struct {
	id   string // of the message, to look it up when the outcome is unknown
	tell func(error)
}

// New makes a room that is about to wake. cast are the companions that are loaded
// now, by id; nil: that is not known yet.
func New(s Settings, c Config, cast []entry.Joined) *Room {
	s.Rules.Version = rules.Version
	if len(s.Companions) == 0 && cast == nil {
		cast = []entry.Joined{} // whoever is loaded, nobody of them lives here
	}
	r := &Room{
		settings: s, cfg: c, cast: cast,
		Reader: Reader{journal: c.Journal, name: s.Name},
		log:    c.Log.With("room", s.Name),
		inbox:  make(chan event, inboxSize),
		asking: map[string]bool{}, speaking: map[string]bool{}, running: running{}, judgedBy: map[string]uint64{},
		agents: map[string]agent{}, backchannels: map[uint64]map[string]string{},
		trouble: errNotLoaded, used: time.Now(),
		loaded: make(chan struct{}), gone: make(chan struct{}),
	}
	if r.cfg.Blame == nil {
		r.cfg.Blame = func(string, string, error) {}
	}
	if r.cfg.House == nil {
		r.cfg.House = nobody{}
	}
	if r.cfg.Bodies == nil {
		r.cfg.Bodies = new(Bodies)
	}
	r.m.State = rules.New()
	r.publish()
	return r
}

// Loaded is closed when the room has read its journal, or could not.
func (r *Room) Loaded() <-chan struct{} { return r.loaded }

// Run is the room's loop, until ctx ends or the room falls asleep. It answers an
// error only when the journal says that the room is another daemon's.
func (r *Room) Run(ctx context.Context) error {
	defer close(r.gone)
	defer r.calls.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	r.recover(ctx) // a speaker that comes meanwhile waits in the inbox
	r.publish()
	close(r.loaded)
	for {
		select {
		case <-ctx.Done():
			r.rest(context.WithoutCancel(ctx))
			return nil
		case e := <-r.inbox:
			r.take(e)
		case <-timer.C:
			select { // what waits there goes into the same write
			case e := <-r.inbox:
				r.take(e)
			default:
			}
		}
		if r.trouble != nil {
			r.recover(ctx)
		}
		if r.trouble == nil {
			r.dismiss()
			r.syncCast()
			r.dueInputs()
			r.castEarly()
			r.sayBackchannels()
			r.sayAtHand()
			r.flush(ctx)
		}
		if errors.Is(r.trouble, journal.ErrFenced) {
			return fmt.Errorf("room %s: %w", r.name, r.trouble)
		}
		if r.trouble == nil {
			r.dispatch(ctx)
		}
		r.lines.Add(-r.spoken)
		r.spoken = 0
		r.publish()
		if r.fallAsleep() {
			r.rest(context.WithoutCancel(ctx))
			return nil
		}
		timer.Reset(r.wait())
	}
}

var errLoading = abi.Errorf(abi.CodeUnavailable, "the companions are being loaded; try again")

// errTwice says that a message with this id is in the journal by now.
var errTwice = abi.Field("id", abi.CodeConflict, "was used just now")

var errNotLoaded = errors.New("not loaded yet")

// take handles an event and those that wait behind it, up to a batch.
func (r *Room) take(e event) {
	for n := 1; ; n++ {
		if _, told := e.(castEvent); !told {
			r.used = time.Now()
		}
		r.handle(e)
		if n == batchSize {
			return
		}
		select {
		case e = <-r.inbox:
		default:
			return
		}
	}
}

// now is the room's clock: whole milliseconds, never back.
func (r *Room) now() time.Time {
	return r.clock().Truncate(time.Millisecond)
}

// clock is the wall's, and where that ran back, or is behind the journal, goes
// on from where the room is: times that are stored come all the same.
func (r *Room) clock() time.Time {
	now := time.Now()
	at := now.UTC().Round(0)
	if on := r.seen.room.Add(now.Sub(r.seen.mono)); !r.seen.mono.IsZero() && on.After(at) {
		at = on
	}
	at = later(at, r.m.State.At)
	r.seen.mono, r.seen.room = now, at
	return at
}

// real puts a time of the room's clock on the process's own, for timers.
func (r *Room) real(at time.Time) time.Time { return time.Now().Add(at.Sub(r.clock())) }

// wait gives how long until a stored time comes.
func (r *Room) wait() time.Duration {
	if r.trouble != nil || r.drain.Load() {
		return journalRetry
	}
	at, _, ok := r.m.State.NextDue()
	if away, some := r.nextAway(); some && (!ok || away.Before(at)) {
		at, ok = away, true
	}
	if idle := r.idleFor(); idle > 0 && (!ok || idle < at.Sub(r.clock())) {
		return idle
	}
	if !ok {
		return time.Hour
	}
	return max(0, at.Sub(r.clock()))
}

// dueInputs records every stored time that has come.
func (r *Room) dueInputs() {
	for r.trouble == nil && !r.drain.Load() { // one that is not asked any more is not late
		at, due, ok := r.m.State.NextDue()
		if !ok || r.now().Before(at) {
			return
		}
		if f := r.m.State.Floor; due.What == entry.DueGrant && f != nil && r.m.State.Begun(f.Token) {
			r.breakOff()
			continue
		}
		r.used = time.Now()
		r.must(r.m.Input(entry.KindDue, later(r.now(), at), due))
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// must turns a rule that failed into journal trouble: what is not durable yet is
// dropped and the state is folded anew.
func (r *Room) must(err error) {
	if err != nil {
		r.log.Error("rules failed", "err", err)
		r.drop(err)
	}
}

// drop gives up what is not in the journal, and tells those who wait for it.
func (r *Room) drop(why error) {
	r.trouble = why
	r.publish() // before anybody is woken to look
	r.tell(DoorError(why))
	r.m.Take()
	r.ids = idRing{} // a message that was not kept may come again
}

// handle turns one event into entries. Nothing is durable yet.
func (r *Room) handle(e event) {
	switch e := e.(type) {
	case sayEvent:
		r.handleSay(e)
	case stopEvent:
		r.handleStop(e)
	case castEvent:
		r.cast, r.names.stale = e.cast, true
		if r.trouble != nil {
			close(e.done)
		} else {
			r.acks = append(r.acks, ack{tell: func(error) { close(e.done) }})
		}
	case attendEvent:
		r.answer(e.done, r.handleAttend(e))
	case votedEvent:
		delete(r.asking, e.who)
		r.handleVote(e)
	case outsideVote:
		r.answer(e.done, r.handleOutsideVote(e))
	case segmentEvent:
		r.answer(e.done, r.handleSegment(e))
	case perceiveEvent:
		r.handlePerceive(e)
	case judgedEvent:
		r.handleJudged(e)
	case actEvent:
		r.handleAct(e)
	case doneEvent:
		r.answer(e.done, r.handleDone(e))
	case settleEvent:
		r.answer(e.done, r.handleSettle(e.s))
	case archiveEvent:
		r.answer(e.done, r.handleArchive(e))
	case usageEvent:
		if r.trouble == nil {
			r.must(r.m.Input(entry.KindUsage, r.now(), e.u))
		}
	case spokeEvent:
		delete(r.speaking, speakKey(e.grant, e.basis))
		r.running.over(callID(r.name, e.grant, e.basis))
		r.spoken++
		r.handleLine(e)
	}
}

// answer tells a refusal at once, and success when the journal has what it led
// to: who is told that its vote counts looks at the room next.
func (r *Room) answer(done chan error, err error) {
	if err != nil {
		done <- err
		return
	}
	r.acks = append(r.acks, ack{tell: func(err error) { done <- err }})
}

func (r *Room) refuseWhileTroubled(tell func(error)) bool {
	if r.trouble == nil {
		return false
	}
	tell(DoorError(r.trouble))
	return true
}

func (r *Room) handleSay(e sayEvent) {
	if r.refuseWhileTroubled(func(err error) { e.done <- sayResult{err: err} }) {
		return
	}
	if r.ids.has(e.a.ID) {
		r.acks = append(r.acks, ack{tell: func(err error) {
			if err == nil {
				err = errTwice
			}
			e.done <- sayResult{err: err}
		}})
		return
	}
	err := r.mayBe(e.a.From, e.a.By)
	if err == nil {
		err = r.closed()
	}
	if err == nil && e.a.By == abi.KindAgent {
		err = r.attend(e.a.From, false)
	}
	if err != nil {
		e.done <- sayResult{err: err}
		return
	}
	if r.refuseWhileTroubled(func(err error) { e.done <- sayResult{err: err} }) {
		return
	}
	e.a.Addressed = r.addressed(e.a.Said)
	made, err := r.m.Say(e.a, r.now())
	if err != nil {
		r.must(err)
		e.done <- sayResult{err: DoorError(err)}
		return
	}
	r.ids.add(e.a.ID)
	if e.a.By == abi.KindHuman {
		r.heard(e.a.From)
	}
	res := sayResult{}
	res.pool, _ = r.m.State.Budget(r.now())
	if msg, ok := made.Message(); ok {
		res.msg = msg
	} else {
		res.err = refusal(made)
	}
	r.acks = append(r.acks, ack{id: made.ID, tell: func(err error) {
		if err != nil {
			res = sayResult{err: err}
		}
		e.done <- res
	}})
}

// refusal turns a refused entry into the error its speaker sees.
func refusal(e entry.Entry) error {
	var b entry.Refused
	if err := json.Unmarshal(e.Body, &b); err != nil {
		return abi.AsError(err)
	}
	return abi.Errorf(b.Code, "%s", b.Why)
}
