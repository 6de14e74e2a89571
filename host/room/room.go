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
	"github.com/companiond/companiond/host/address"
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

// Settings is how a room is to be.
type Settings struct {
	Name       string
	Companions []string // ids, or "*" for every companion
	Rules      entry.Rules
}

const (
	inboxSize     = 256
	batchSize     = 64            // events handled before the journal is written
	snapshotEvery = 500           // entries
	readChunk     = 500           // entries a read
	journalRetry  = time.Second   // between tries while the journal takes no writes
	ownerName     = "companiond/" // and an id of this run: who the owner entries say has the room
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
	usageEvent struct{ u entry.Usage }
)

// Room is one conversation.
type Room struct {
	settings Settings
	free     bool // turns may be paid for instead of granted
	journal  journal.Journal
	find     func(id string) (Companion, bool)
	blame    func(who, op string, err error)
	newID    func() string
	log      *slog.Logger

	inbox  chan event
	info   atomic.Pointer[Info]
	purse  atomic.Pointer[purse]
	tail   tail
	counts counts
	bodies connected

	drain atomic.Bool     // ask nobody any more
	calls sync.WaitGroup  // running vote and speak calls
	lines atomic.Int64    // speak calls whose answer is not yet in the journal
	gone  <-chan struct{} // closed when the lobby no longer runs

	loaded chan struct{} // closed when the journal was read, or could not be

	// Owned by Run.
	m        rules.Machine
	cast     []entry.Joined // the companions that are loaded now, by id
	agents   map[string]agent
	asides   map[uint64]map[string]string // backchannels that came with votes, by round and voter
	head     journal.Head
	owner    string // of this run, in the owner entries
	acks     []ack
	asking   map[string]bool // voters with a call running
	speaking map[string]bool // grant tokens with a call running, "token@basis"
	judging  []perception    // to be asked about once they are in the journal
	acts     acts
	live     live
	early    turn.Early
	ids      idRing
	seen     struct{ mono, room time.Time } // the clocks when they were last looked at
	spoken   int64                          // speak calls whose answers came in this round of the loop
	trouble  error                          // why the journal takes nothing; nil when it does
	snapped  uint64
}

// ack is somebody who waits for the entries so far to be durable.
type ack struct {
	id   string // of the message, to look it up when the outcome is unknown
	tell func(error)
}

func newRoom(s Settings, c Config) *Room {
	r := &Room{
		settings: s, journal: c.Journal, find: c.Find, blame: c.Blame, newID: c.NewID,
		log:    c.Log.With("room", s.Name),
		inbox:  make(chan event, inboxSize),
		asking: map[string]bool{}, speaking: map[string]bool{}, live: live{},
		agents: map[string]agent{}, asides: map[uint64]map[string]string{},
		owner:   ownerName + c.NewID(),
		trouble: errNotLoaded,
		loaded:  make(chan struct{}),
	}
	if r.blame == nil {
		r.blame = func(string, string, error) {}
	}
	r.m.State = rules.New()
	r.publish()
	return r
}

// run owns the room until ctx ends. It answers an error only when the journal
// says that the room is another daemon's.
func (r *Room) run(ctx context.Context) error {
	defer r.calls.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	r.recover(ctx) // who speaks meanwhile waits in the inbox
	r.publish()
	close(r.loaded)
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-r.inbox:
			r.take(e)
		case <-timer.C:
		}
		if r.trouble != nil {
			r.recover(ctx)
		}
		if r.trouble == nil {
			r.dismiss()
			r.syncCast()
			r.dueInputs()
			r.castEarly()
			r.sayAsides()
			r.sayAtHand()
			r.flush(ctx)
		}
		if errors.Is(r.trouble, journal.ErrFenced) {
			return fmt.Errorf("room %s: %w", r.settings.Name, r.trouble)
		}
		if r.trouble == nil {
			r.dispatch(ctx)
		}
		r.lines.Add(-r.spoken)
		r.spoken = 0
		r.publish()
		timer.Reset(r.wait())
	}
}

var errLoading = abi.Errorf(abi.CodeUnavailable, "the companions are being loaded; try again")

// errTwice says that a message with this id is in the journal by now.
var errTwice = abi.Errorf(abi.CodeConflict, "id: was used just now")

var errNotLoaded = errors.New("not loaded yet")

// take handles an event and those that wait behind it, up to a batch.
func (r *Room) take(e event) {
	for n := 1; ; n++ {
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
	if !ok {
		return time.Hour
	}
	return max(0, at.Sub(r.clock()))
}

// dueInputs records every stored time that has come.
func (r *Room) dueInputs() {
	for r.trouble == nil && !r.drain.Load() { // who is not asked any more is not late
		at, due, ok := r.m.State.NextDue()
		if !ok || r.now().Before(at) {
			return
		}
		if f := r.m.State.Floor; due.What == entry.DueGrant && f != nil && r.m.State.Begun(f.Token) {
			r.breakOff()
			continue
		}
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
	r.tell(doorError(why))
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
		r.cast = e.cast
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
	case usageEvent:
		if r.trouble == nil {
			r.must(r.m.Input(entry.KindUsage, r.now(), e.u))
		}
	case spokeEvent:
		delete(r.speaking, speakKey(e.grant, e.basis))
		r.live.over(callID(r.settings.Name, e.grant, e.basis))
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
	tell(doorError(r.trouble))
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
	if r.cast == nil { // whose names are taken is not known yet
		e.done <- sayResult{err: errLoading}
		return
	}
	err := r.mayBe(e.a.From, e.a.By)
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
	made, err := r.m.Say(e.a, r.now())
	if err != nil {
		r.must(err)
		e.done <- sayResult{err: doorError(err)}
		return
	}
	r.ids.add(e.a.ID)
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

// mayBe says why nobody from outside may talk under a name: it is that of a
// companion of the house, also of one that is in other rooms only, or that of
// somebody else who is here.
func (r *Room) mayBe(who string, by abi.ParticipantKind) error {
	for _, cast := range [][]entry.Joined{r.cast, r.m.State.Cast} {
		for _, c := range cast {
			if c.Kind == abi.KindAgent && by == abi.KindAgent && c.ID == who {
				continue // itself
			}
			for _, name := range append([]string{c.ID, c.Name}, c.Aliases...) {
				if address.Same(name, who) {
					return abi.Errorf(abi.CodeDenied, "from: %q is %s here; take another name", who, a(c.Kind))
				}
			}
		}
	}
	return nil
}

func a(kind abi.ParticipantKind) string {
	if kind == abi.KindAgent {
		return "an agent"
	}
	return "a companion"
}
