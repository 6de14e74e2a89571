package room

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/turn"
)

// Config is what a lobby needs.
type Config struct {
	Journal journal.Journal
	Find    func(id string) (Companion, bool) // a loaded companion
	NewID   func() string                     // unique ids for messages and calls
	// Blame is told of answers of a companion that break the rules of their op.
	// It is called beside the loops, also at once; nil tells nobody.
	Blame func(companion, op string, err error)
	Log   *slog.Logger
	Rooms []Settings
}

// Lobby has all rooms.
type Lobby struct {
	rooms map[string]*Room
	names []string
	done  chan struct{} // closed when Run's ctx ends
}

var (
	_ Directory = (*Lobby)(nil)
	_ Talk      = (*Room)(nil)
)

// NewLobby makes the rooms; nothing runs yet.
func NewLobby(c Config) (*Lobby, error) {
	l := &Lobby{rooms: map[string]*Room{}, done: make(chan struct{})}
	for _, s := range c.Rooms {
		if err := abi.CheckName("room", s.Name); err != nil {
			return nil, err
		}
		if l.rooms[s.Name] != nil {
			return nil, abi.Errorf(abi.CodeInvalid, "room: %q is there twice", s.Name)
		}
		policy, err := turn.New(s.Rules.Policy, s.Rules.PolicyRaw)
		if err != nil {
			return nil, err
		}
		r := newRoom(s, c)
		r.free = policy.FreeTurns()
		r.gone = l.done
		l.rooms[s.Name] = r
		l.names = append(l.names, s.Name)
	}
	slices.Sort(l.names)
	return l, nil
}

// Run runs every room until ctx ends, or until one finds that it is another
// daemon's, and returns when all their goroutines are gone.
func (l *Lobby) Run(ctx context.Context) error {
	defer close(l.done)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	errs := make([]error, len(l.names))
	for i, name := range l.names {
		wg.Go(func() {
			if errs[i] = l.rooms[name].run(ctx); errs[i] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Loaded waits until every room has read its journal, or could not.
func (l *Lobby) Loaded(ctx context.Context) {
	for _, r := range l.rooms {
		select {
		case <-r.loaded:
		case <-l.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// SetCast tells every room which companions are loaded now, ordered by id, and
// answers when they know it.
// Each takes those it is to have.
func (l *Lobby) SetCast(ctx context.Context, cast []entry.Joined) {
	if cast == nil {
		cast = []entry.Joined{}
	}
	var told []chan struct{}
	for _, r := range l.rooms {
		e := castEvent{cast, make(chan struct{})}
		select {
		case r.inbox <- e:
			told = append(told, e.done)
		case <-l.done:
		case <-ctx.Done():
		}
	}
	for _, done := range told {
		select {
		case <-done:
		case <-l.done:
		case <-ctx.Done():
		}
	}
}

// Drain asks nobody any more and waits until the lines that are being made are
// in the journal, or ctx ends.
func (l *Lobby) Drain(ctx context.Context) {
	for _, r := range l.rooms {
		r.drain.Store(true)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		busy := false
		for _, r := range l.rooms {
			busy = busy || r.lines.Load() > 0 || len(r.inbox) > 0
		}
		if !busy {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-l.done:
			return
		case <-tick.C:
		}
	}
}

// Room answers abi.CodeNotFound for a room that does not exist.
func (l *Lobby) Room(name string) (Talk, error) {
	if r, ok := l.rooms[name]; ok {
		return r, nil
	}
	return nil, abi.Errorf(abi.CodeNotFound, "room: there is no %q", name)
}

// History answers a companion's history.get about a room.
func (l *Lobby) History(ctx context.Context, room string, ask abi.HistoryAsk) (abi.History, error) {
	r, ok := l.rooms[room]
	if !ok {
		return abi.History{}, abi.Errorf(abi.CodeNotFound, "room: there is no %q", room)
	}
	return r.History(ctx, ask)
}

// Segment shows a part of the line that a companion is speaking; see [Room.Segment].
func (l *Lobby) Segment(ctx context.Context, room, who, call, text string) error {
	r, ok := l.rooms[room]
	if !ok {
		return abi.Errorf(abi.CodeInvalid, "say: this call is about no room")
	}
	return r.Segment(ctx, who, call, text)
}

// Used writes down what a language model was asked for, in the room for which it
// was asked.
func (l *Lobby) Used(ctx context.Context, room string, u entry.Usage) {
	if r, ok := l.rooms[room]; ok {
		_ = r.put(ctx, usageEvent{u})
	}
}

// Rooms gives every room at a glance, by name.
func (l *Lobby) Rooms() []Info {
	infos := make([]Info, 0, len(l.names))
	for _, name := range l.names {
		infos = append(infos, l.rooms[name].Info())
	}
	return infos
}

// Name is the room's name.
func (r *Room) Name() string { return r.settings.Name }

// Info is the room at a glance.
func (r *Room) Info() Info {
	i := *r.info.Load()
	i.FreeTurns = r.free
	if b, ok := r.Budget(); ok {
		i.Pool = &b
	}
	return i
}

// Say records a message and answers once it is durable.
//
// # Errors
//
// CodeInvalid and CodeTooLarge name the field; CodeDenied when From is a
// companion hosted here; CodeUnavailable while the journal takes nothing.
func (r *Room) Say(ctx context.Context, u Utterance) (abi.Message, error) {
	m, _, err := r.Consume(ctx, u)
	return m, err
}

// Consume is Say, and gives the room's pool right afterwards.
//
// # Errors
//
// Those of Say; CodeExhausted where the pool cannot pay, CodeStale where
// somebody spoke since Basis, CodeConflict while another has the turn.
func (r *Room) Consume(ctx context.Context, u Utterance) (abi.Message, abi.Budget, error) {
	if err := u.check(); err != nil {
		return abi.Message{}, r.budget(), err
	}
	if u.ID != "" {
		if m, found, err := r.saidBefore(ctx, u); found || err != nil {
			return m, r.budget(), err
		}
	} else {
		u.ID = r.newID()
	}
	e := sayEvent{done: make(chan sayResult, 1), a: rules.Line{ID: u.ID, Offer: u.Offer, Said: entry.Said{
		From: u.From, By: u.By, To: u.To, Text: u.Text, Kind: u.Kind, Basis: u.Basis, Grant: u.Grant,
	}}}
	res := r.send(ctx, e, e.done)
	if res.err == error(errTwice) { // sent twice at once
		if was, found, ferr := r.saidBefore(ctx, u); found || ferr != nil {
			res.msg, res.err = was, ferr
		}
	}
	if res.pool.Size == 0 { // it did not come as far as the pool
		res.pool = r.budget()
	}
	return res.msg, res.pool, res.err
}

// saidBefore finds a message that was sent with the same id.
func (r *Room) saidBefore(ctx context.Context, u Utterance) (abi.Message, bool, error) {
	e, found, err := r.journal.Find(ctx, r.settings.Name, u.ID)
	if err != nil || !found {
		return abi.Message{}, false, doorError(err)
	}
	m, ok := e.Message()
	if !ok || m.From != u.From || m.Text != u.Text {
		return abi.Message{}, true, abi.Errorf(abi.CodeConflict, "id: %q is another message", u.ID)
	}
	return m, true, nil
}

// Stop takes the floor from whoever has it; the room rests until a human
// speaks again.
func (r *Room) Stop(ctx context.Context, from string) (uint64, error) {
	if err := abi.CheckName("from", from); err != nil {
		return 0, err
	}
	e := stopEvent{from: from, done: make(chan sayResult, 1)}
	res := r.send(ctx, e, e.done)
	return res.msg.Seq, res.err
}

// Vote counts the vote of a member whom no module call asks (an agent) about
// the message with seq about; a message that has not come yet is waited for.
func (r *Room) Vote(ctx context.Context, from string, about uint64, v abi.Vote) error {
	if err := v.Check(); err != nil {
		return err
	}
	e := outsideVote{about: about, who: from, vote: v, done: make(chan error, 1)}
	return r.answered(ctx, e, e.done)
}

// Attend says that an agent is here. It is in the cast until it has not been
// heard of for a while; with votes it takes part in rounds.
//
// # Errors
//
// CodeDenied for a name that somebody else has; CodeExhausted where the room
// is full of agents.
func (r *Room) Attend(ctx context.Context, who string, votes bool) error {
	if err := abi.CheckName("from", who); err != nil {
		return err
	}
	e := attendEvent{who: who, votes: votes, done: make(chan error, 1)}
	return r.answered(ctx, e, e.done)
}

// answered puts an event into the inbox and waits until it was handled.
func (r *Room) answered(ctx context.Context, e event, done chan error) error {
	if err := r.put(ctx, e); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-r.gone:
		return errStopping
	case <-ctx.Done():
		return abi.Wrap(abi.CodeTimeout, ctx.Err(), "the room did not answer in time")
	}
}

var errStopping = abi.Errorf(abi.CodeUnavailable, "the daemon is stopping")

func (r *Room) put(ctx context.Context, e event) error {
	select {
	case r.inbox <- e:
		return nil
	case <-r.gone:
		return errStopping
	case <-ctx.Done():
		return abi.Wrap(abi.CodeTimeout, ctx.Err(), "the room did not answer in time")
	}
}

// send puts an event into the inbox and waits for its outcome.
func (r *Room) send(ctx context.Context, e event, done chan sayResult) sayResult {
	if err := r.put(ctx, e); err != nil {
		return sayResult{err: err}
	}
	select {
	case res := <-done:
		return res
	case <-r.gone:
		select {
		case res := <-done:
			return res
		default:
			return sayResult{err: errStopping}
		}
	case <-ctx.Done():
		return sayResult{err: abi.Wrap(abi.CodeTimeout, ctx.Err(), "the room did not answer in time; the message may still be recorded")}
	}
}

// check normalises an utterance and reports the first field that is wrong.
func (u *Utterance) check() error {
	if u.By == "" {
		u.By = abi.KindHuman
	}
	if u.Kind == "" && u.By == abi.KindHuman {
		u.Kind = abi.KindTurn
	}
	if err := abi.CheckName("from", u.From); err != nil {
		return err
	}
	if u.ID != "" {
		if err := abi.CheckName("id", u.ID); err != nil {
			return err
		}
	}
	if err := abi.CheckText("text", u.Text); err != nil {
		return err
	}
	if len(u.To) > abi.MaxTo {
		return abi.Errorf(abi.CodeTooLarge, "to: %d addressees, at most %d", len(u.To), abi.MaxTo)
	}
	for _, to := range u.To {
		if err := abi.CheckName("to", to); err != nil {
			return err
		}
	}
	if u.Offer != nil && !(*u.Offer >= 0 && *u.Offer <= math.MaxInt32) {
		return abi.Errorf(abi.CodeInvalid, "amount: %v is outside 0..%d", *u.Offer, math.MaxInt32)
	}
	if u.Kind != "" && u.Kind != abi.KindTurn && u.Kind != abi.KindBackchannel {
		return abi.Errorf(abi.CodeInvalid, "kind: %q is neither %q nor %q", u.Kind, abi.KindTurn, abi.KindBackchannel)
	}
	return nil
}
