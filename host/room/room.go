// Package room runs conversations: one loop a room, which is the only writer of
// the room's journal stream and the only one to change its state.
//
// A door, a module's answer and a stored time all come in as events on one
// inbox. The rules (host/room/rules) turn an event into entries, the entries change
// the state there, the journal makes them durable, and only then does
// anybody hear of them. The next thing to do, be it to ask for a vote or a
// line, is read off the state, so a restart goes on where the journal ends.
//
// The loop never waits for a module, a model or a door. It never decides by
// arrival order or by anything that is not in the journal.
package room

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/body"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/glance"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/offer"
	"github.com/companiond/companiond/host/room/presence"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/room/senses"
	"github.com/companiond/companiond/host/room/voice"
	"github.com/companiond/companiond/host/room/votes"
	"github.com/companiond/companiond/host/room/words"
	"github.com/companiond/companiond/host/speech"
)

// Companion is a hosted character as a room sees it.
type Companion = call.Companion

// Config is what rooms stand on.
type Config struct {
	Journal journal.Journal
	Owner   string                            // of this run of the daemon, in the owner entries
	Find    func(id string) (Companion, bool) // a loaded companion
	NewID   func() string                     // unique ids for messages and calls
	// Blame is told of answers of a companion that break the rules of their op.
	// It is called beside the loops, also at once; nil tells nobody.
	Blame  func(companion, op string, err error)
	House  House          // nil: nobody has a name but in a room
	Bodies *action.Bodies // that are connected; nil: none ever is
	// Filter asks handlers about words of companions; nil: nobody is asked. It is called beside the loops, also at once.
	Filter words.Filter
	// Here says whether a member of a conversation has a session; nil: nobody ever has.
	Here func(project, who string) bool
	// Named says whether an AI of a project has a name, or one that a reader cannot tell from it;
	// nil: none has.
	Named func(name string) bool
	// Asks says whether an action of a companion's is a query; nil: none is.
	Asks func(companion, action string) bool
	// Kept is told what a companion is to judge that the room itself wrote down: an answer to a query. The
	// loop calls it, so that it may not wait; nil tells nobody.
	Kept func(companion string, p abi.Percept)
	// Conversed is told what is in the journal by now of a room that is for a conversation, and how
	// that stands. The loop calls it, so that it may not wait; nil tells nobody.
	Conversed func(room string, now conversation.Conversation, entries []entry.Entry)
	// Told is told what became of the history of a room, as it was loaded and whenever that changed. The
	// loop calls it, so that it may not wait; nil tells nobody.
	Told func(room string, now history.Book)
	// Heard is told of a turn of a human, once it is in the journal, and which companions were
	// there. The loop calls it, so that it may not wait; nil tells nobody.
	Heard func(room string, turn entry.Entry, said entry.Said, companions []string)
	// Wrote is told what is in the journal by now. The loop calls it, so that it may not wait; nil tells nobody.
	Wrote func(room string, entries []entry.Entry)
	Idle  time.Duration // a room with nothing to do for so long falls asleep; 0: never
	Log   *slog.Logger
}

// Settings is how a room is to be.
type Settings = glance.Settings

// Room is one conversation while it is awake: from New until Run returns.
type Room struct {
	reader.Room
	settings Settings
	anew     *Settings           // that it is to have between two turns; nil: no others
	terms    *conversation.Terms // of the conversation that it is for, nil: of none
	cfg      Config
	log      *slog.Logger
	loop     *loop.Loop

	board glance.Board
	tail  reader.Tail
	laid  atomic.Pointer[reader.Laid] // over the past, never nil

	drain atomic.Bool    // ask nobody any more
	calls sync.WaitGroup // running calls of modules
	busy  atomic.Int64   // as many as they are
	lines atomic.Int64   // speak and perceive calls whose answer is not yet in the journal

	// Owned by Run.
	present *presence.Presence
	running call.Running
	callees call.Calls
	offers  offer.Waiting
	votes   *votes.Votes
	senses  *senses.Senses
	voice   *voice.Voice
	body    *body.Body
	words   *words.Words
	members []abi.Member  // as of the newest entry that changed them
	lately  speech.Lately // said by companions and agents
}

// New makes a room that is about to wake. cast are the companions that are loaded
// now, by id; nil: that is not known yet.
func New(s Settings, c Config, cast []entry.Joined) *Room {
	s.Rules.Version = fold.Version
	if len(s.Companions) == 0 && cast == nil {
		cast = []entry.Joined{} // whoever is loaded, nobody of them lives here
	}
	r := &Room{
		settings: s, terms: s.Terms, cfg: c, running: call.Running{}, offers: offer.Waiting{},
		Room: reader.New(c.Journal, s.Name),
		log:  c.Log.With("room", s.Name),
	}
	if r.cfg.Blame == nil {
		r.cfg.Blame = func(string, string, error) {}
	}
	if r.cfg.Here == nil {
		r.cfg.Here = func(string, string) bool { return false }
	}
	if r.cfg.Named == nil {
		r.cfg.Named = func(string) bool { return false }
	}
	if r.cfg.Conversed == nil {
		r.cfg.Conversed = func(string, conversation.Conversation, []entry.Entry) {}
	}
	if r.cfg.Told == nil {
		r.cfg.Told = func(string, history.Book) {}
	}
	if r.cfg.Heard == nil {
		r.cfg.Heard = func(string, entry.Entry, entry.Said, []string) {}
	}
	if r.cfg.Bodies == nil {
		r.cfg.Bodies = new(action.Bodies)
	}
	r.laid.Store(new(reader.Laid))
	r.callees = call.Calls{Find: c.Find, NewID: c.NewID, Blame: r.cfg.Blame}
	r.present = presence.New(c.House, func(id string) bool { return r.settings.Lives(id) }, r.board.Count)
	r.present.SetCast(cast)
	r.loop = loop.New(loop.Config{
		Journal: c.Journal, Room: s.Name, Owner: c.Owner, Idle: c.Idle, Log: r.log,
		Load: r.load, Begin: r.begin, Settle: r.consequences, Dispatch: r.dispatch, Wrote: r.wrote, Dropped: r.dropped, Show: r.publish,
		Next: r.next, AtRest: r.atRest, Due: r.dueAgain,
	})
	r.votes = votes.New(votes.Config{Loop: r.loop, Running: r.running, Board: &r.board, NewID: r.cfg.NewID})
	r.senses = senses.New(senses.Config{
		Loop: r.loop, Running: r.running, Board: &r.board, Find: r.cfg.Find, NewID: r.cfg.NewID, May: r.mayPerceive, Kept: r.cfg.Kept,
	})
	r.voice = voice.New(voice.Config{
		Room: r.Name(), Loop: r.loop, Running: r.running, Bodies: r.cfg.Bodies, Board: &r.board, Log: r.log, Draining: r.drain.Load,
		Say: func(said entry.Said) { r.sayLine(said, nil) },
	})
	r.words = words.New(r.Name(), r.cfg.Filter)
	r.body = body.New(body.Config{
		Room: r.Name(), Loop: r.loop, Running: r.running, Bodies: r.cfg.Bodies, Board: &r.board, Words: r.words, Find: r.cfg.Find, NewID: r.cfg.NewID,
		Asks: r.cfg.Asks, May: r.mayPerceive, Floor: r.voice.Has, Sync: r.syncBodies, Answer: r.senses.Answer, Report: r.report,
	})
	r.publish()
	return r
}

// Loaded is closed when the room has read its journal, or could not.
func (r *Room) Loaded() <-chan struct{} { return r.loop.Loaded() }

// Inbox gives how many requests wait for the room's loop.
func (r *Room) Inbox() int { return r.loop.Inbox() }

// Gone is closed when Run has returned.
func (r *Room) Gone() <-chan struct{} { return r.loop.Gone() }

// Run is the room's loop, until ctx ends or the room falls asleep. It answers an
// error only when the journal says that the room is another daemon's.
func (r *Room) Run(ctx context.Context) error {
	defer r.calls.Wait()
	defer r.voice.Shut()
	return r.loop.Run(ctx)
}

// consequences draws what follows from requests, answers and the time.
func (r *Room) consequences() {
	r.renew()
	r.present.Dismiss(r.loop.Now())
	r.syncCast()
	r.syncBodies()
	r.dueInputs()
	r.votes.CastEarly()
	r.votes.SayBackchannels()
	r.voice.SayHeld()
	r.sayAtHand()
	r.voice.Rest()
	r.tellOffers()
	r.converse()
}

var errLoading = abi.Errorf(abi.CodeUnavailable, "the companions are being loaded; try again")

// errTwice says that a message with this id is in the journal by now.
var errTwice = abi.Field("id", abi.CodeConflict, "was used just now")

// next gives how long nothing is to be done if nobody asks.
func (r *Room) next() time.Duration {
	switch {
	case r.drain.Load():
		return time.Second
	case r.cfg.Idle > 0 && r.busy.Load() > 0: // a call tells the room what came of it shortly before it has returned
		return min(r.cfg.Idle, time.Second, r.nextDue(), r.voice.NextSound())
	}
	return min(r.nextDue(), r.voice.NextSound())
}

// nextDue gives how long until a stored time comes.
func (r *Room) nextDue() time.Duration {
	at, _, ok := r.state().NextDue()
	if away, some := r.present.NextAway(); some && (!ok || away.Before(at)) {
		at, ok = away, true
	}
	if !ok {
		return time.Hour
	}
	return max(0, at.Sub(r.loop.Clock()))
}

// state is the room's, as of all entries that were made.
func (r *Room) state() *fold.State { return r.loop.State() }

// dueInputs records every stored time that has come.
func (r *Room) dueInputs() {
	for r.loop.Trouble() == nil && !r.drain.Load() { // one that is not asked any more is not late
		at, due, ok := r.state().NextDue()
		if !ok || r.loop.Now().Before(at) {
			return
		}
		if f := r.state().Floor; f != nil && r.state().Begun(f.Token) {
			switch l := r.state().Playing; {
			case due.What == entry.DueGrant:
				r.heldTooLong(f)
				continue
			case due.What == entry.DueCut && l != nil && l.ID == f.Token:
				r.voice.BreakOff(entry.EndCut, l.By+" spoke over it")
				continue
			}
		}
		r.loop.Use()
		if due.What == entry.DueAnswer {
			r.senses.Overdue()
			continue
		}
		if due.What == entry.DueLapse {
			r.loop.Input(entry.KindConversation, conversation.Input{Kind: conversation.Lapse, Absent: r.absent()})
			continue
		}
		r.loop.Input(entry.KindDue, due)
	}
}

// dropped forgets what was not written down, and tells those who offered lines.
func (r *Room) dropped(why error) {
	r.board.Count("journal failed")
	r.offers.Drop(why)
	r.voice.LetGo()
}

func (r *Room) handleSay(l rules.Line) (res offer.Outcome, err error) {
	if r.loop.Knows(l.ID) {
		return offer.Outcome{Refused: errTwice}, nil
	}
	c := r.state().Life.Conversation
	if c == nil || l.By != abi.KindCompanion || !slices.Contains(c.Terms.Hosted, l.From) { // such a one writes in its own name
		err = r.mayBe(l.From, l.By)
	}
	if err = cmp.Or(err, r.closed()); err == nil && c != nil {
		err = faulty(r.state().Life.Refuses(l.From, l.By, r.loop.Now()))
	}
	if err == nil && l.By == abi.KindAgent {
		err = r.attend(l.From, false)
	}
	if err = cmp.Or(err, r.loop.Trouble()); err != nil {
		return res, err
	}
	if l.By == abi.KindHuman && l.Kind == "" {
		l.Kind = r.kindOf(l)
	}
	r.describe(&l)
	made, err := r.loop.Line(l)
	if err != nil {
		return res, err
	}
	if l.By == abi.KindHuman && r.present.Heard(l.From) {
		r.syncCast()
	}
	res = offer.Of(made)
	res.Pool, _ = r.state().Budget(r.loop.Now())
	return res, nil
}
