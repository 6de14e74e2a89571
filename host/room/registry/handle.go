package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/glance"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

// handle is a room as doors have it: it reads from the journal, and wakes the room
// to do something there.
type handle struct {
	reader.Room
	of *Registry
}

var _ rooms.Room = handle{}

func (g *Registry) handle(name string) handle { return handle{reader.New(g.journal, name), g} }

// Room gives a room that exists, asleep or not.
func (g *Registry) Room(ctx context.Context, name string) (rooms.Room, error) {
	h := g.handle(name)
	if _, ok := g.rooms()[name]; ok || g.awakeNow(name) != nil {
		return h, nil
	}
	if _, known, err := g.journal.Room(ctx, name); err != nil {
		return nil, journal.Coded(err)
	} else if !known || !journal.IsRoom(name) {
		return nil, notFound(name)
	}
	return h, nil
}

// with does something in a room, unless it sleeps and takes nothing new: that is no
// reason to wake it, for to wake writes down who did.
func with[T any](ctx context.Context, h handle, do func(*room.Room) (T, error)) (T, error) {
	return within(ctx, h, room.Settings.Refuses, do)
}

// within does something in a room that is awake, or that may be woken. One that falls
// asleep in the same moment has not done it.
func within[T any](ctx context.Context, h handle, unless refusal, do func(*room.Room) (T, error)) (T, error) {
	for {
		r, err := h.of.wake(ctx, h.Name(), unless)
		if err != nil {
			var nothing T
			return nothing, err
		}
		v, err := do(r)
		if !errors.Is(err, loop.ErrAsleep) {
			return v, err
		}
		h.of.forget(h.Name(), r)
	}
}

// forget lets go of a room that fell asleep, should run not have done so yet.
func (g *Registry) forget(name string, r *room.Room) {
	<-r.Gone()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.awake[name] == r {
		delete(g.awake, name)
		delete(g.quiet, name)
	}
}

// none is what an act without a result gives.
type none struct{}

func (h handle) Say(ctx context.Context, u rooms.Utterance) (abi.Message, error) {
	return with(ctx, h, func(r *room.Room) (abi.Message, error) { return r.Say(ctx, u) })
}

func (h handle) Consume(ctx context.Context, u rooms.Utterance) (abi.Message, abi.Budget, error) {
	return paying(ctx, h, func(r *room.Room) (abi.Message, abi.Budget, error) { return r.Consume(ctx, u) })
}

func (h handle) Offer(ctx context.Context, u rooms.Utterance, importance float64) (abi.Message, abi.Budget, error) {
	return paying(ctx, h, func(r *room.Room) (abi.Message, abi.Budget, error) { return r.Offer(ctx, u, importance) })
}

// paying is with for what answers a message and the pool after it.
func paying(ctx context.Context, h handle, do func(*room.Room) (abi.Message, abi.Budget, error)) (m abi.Message, b abi.Budget, err error) {
	_, err = with(ctx, h, func(r *room.Room) (none, error) {
		m, b, err = do(r)
		return none{}, err
	})
	return m, b, err
}

func (h handle) Attend(ctx context.Context, who string, votes bool) error {
	_, err := with(ctx, h, func(r *room.Room) (none, error) { return none{}, r.Attend(ctx, who, votes) })
	return err
}

func (h handle) Vote(ctx context.Context, who string, about uint64, v abi.Vote) error {
	_, err := with(ctx, h, func(r *room.Room) (none, error) { return none{}, r.Vote(ctx, who, about, v) })
	return err
}

func (h handle) Mute(ctx context.Context, from, who string, on bool) error {
	_, err := with(ctx, h, func(r *room.Room) (struct{}, error) { return struct{}{}, r.Mute(ctx, from, who, on) })
	return err
}

func (h handle) Stop(ctx context.Context, from string) (uint64, error) {
	return with(ctx, h, func(r *room.Room) (uint64, error) { return r.Stop(ctx, from) })
}

func (h handle) Keep(ctx context.Context, who string, p abi.Percept, kept func(abi.Percept)) error {
	_, err := with(ctx, h, func(r *room.Room) (none, error) { return none{}, r.Keep(ctx, who, p, kept) })
	return err
}

func (h handle) Perceive(ctx context.Context, who string, all ...abi.Percept) (abi.Judged, error) {
	return with(ctx, h, func(r *room.Room) (abi.Judged, error) { return r.Perceive(ctx, who, all...) })
}

func (h handle) Act(ctx context.Context, who string, by rooms.Player, a abi.ActionAsk) (abi.ActionPlayed, error) {
	return with(ctx, h, func(r *room.Room) (abi.ActionPlayed, error) { return r.Act(ctx, who, by, a) })
}

func (h handle) Done(ctx context.Context, who, by string, d abi.Result, answer json.RawMessage) error {
	_, err := with(ctx, h, func(r *room.Room) (none, error) { return none{}, r.Done(ctx, who, by, d, answer) })
	return err
}

func (h handle) Embody(b entry.Body) (id string, leave func()) {
	id, gone := h.of.bodies.Embody(h.Name(), b)
	h.of.stir(h.Name())
	return id, func() {
		gone()
		h.of.stir(h.Name())
	}
}

func (h handle) Plug(who, owner string) (g *action.Game, leave func()) {
	return h.of.bodies.Plug(h.Name(), who, owner, func() { h.of.stir(h.Name()) })
}

func (h handle) Retract(ctx context.Context, who string, seqs []uint64) error {
	_, err := with(ctx, h, func(r *room.Room) (none, error) { return none{}, r.Retract(ctx, who, seqs) })
	return err
}

func (h handle) Note(ctx context.Context, who string, p abi.Percept) error {
	_, err := with(ctx, h, func(r *room.Room) (none, error) { return none{}, r.Note(ctx, who, p) })
	return err
}

func (h handle) Handled(ctx context.Context, e entry.Handled) error {
	_, err := with(ctx, h, func(r *room.Room) (none, error) { return none{}, r.Handled(ctx, e) })
	return err
}

// stir has a room that is awake look at what has changed around it.
func (g *Registry) stir(name string) {
	if r := g.awakeNow(name); r != nil {
		r.Stir()
	}
}

func (h handle) Played(ctx context.Context, p entry.Played) error {
	_, err := with(ctx, h, func(r *room.Room) (none, error) { return none{}, r.Played(ctx, p) })
	return err
}

func (h handle) Sound(ctx context.Context, who, by string, s abi.Sound) error {
	_, err := with(ctx, h, func(r *room.Room) (none, error) { return none{}, r.Sound(ctx, who, by, s) })
	return err
}

func (h handle) Converse(ctx context.Context, in conversation.Input) (conversation.Conversation, error) {
	return with(ctx, h, func(r *room.Room) (conversation.Conversation, error) { return r.Converse(ctx, in) })
}

func (h handle) Happens(ctx context.Context, in history.Input) (history.Proposal, error) {
	return with(ctx, h, func(r *room.Room) (history.Proposal, error) { return r.Happens(ctx, in) })
}

func (h handle) Speaking(ctx context.Context, from string, on bool) error {
	_, err := with(ctx, h, func(r *room.Room) (none, error) { return none{}, r.Speaking(ctx, from, on) })
	return err
}

// Bodies tells how many bodies of a companion are connected to a room.
func (g *Registry) Bodies(name, companion string) int { return g.bodies.Count(name, companion) }

// Info is the room at a glance; of one that sleeps it is read from the journal.
func (h handle) Info() rooms.Info {
	info, _ := h.of.look(context.Background(), h.Name())
	return info
}

func (h handle) Budget() (abi.Budget, bool) {
	pool := h.Info().Pool
	if pool == nil {
		return abi.Budget{}, false
	}
	return *pool, true
}

func (h handle) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	if r := h.of.awakeNow(h.Name()); r != nil && loaded(r) {
		return r.History(ctx, ask) // the newest are at hand
	}
	return h.Room.History(ctx, ask)
}

func (h handle) Told(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	if r := h.of.awakeNow(h.Name()); r != nil && loaded(r) {
		return r.Told(ctx, ask)
	}
	return h.Room.Told(ctx, ask)
}

func loaded(r *room.Room) bool {
	select {
	case <-r.Loaded():
		return true
	default:
		return false
	}
}

// maxQuiet is of how many rooms that sleep it is remembered how they look.
const maxQuiet = 256

// quiet is how a room looks that sleeps: nil until it was looked at. What changes that
// takes it out of Registry.quiet.
type quiet struct{ board *glance.Board }

// look gives a room at a glance, found false where there is none.
func (g *Registry) look(ctx context.Context, name string) (info rooms.Info, found bool) {
	g.mu.Lock()
	r, fenced, cast, q := g.awake[name], g.fenced[name], g.cast, g.quiet[name]
	var board *glance.Board
	if q != nil {
		board = q.board
	} else if r == nil {
		if q = new(quiet); len(g.quiet) >= maxQuiet {
			clear(g.quiet)
		}
		g.quiet[name] = q
	}
	g.mu.Unlock()
	switch {
	case fenced != nil:
	case r != nil && loaded(r):
		return g.withHead(ctx, r.Info()), true
	case r == nil && board != nil && g.journal.Health() == nil:
		return board.Info(), true
	}
	set, err := g.settings(ctx, name)
	if err == nil {
		if board, err = glance.Asleep(ctx, g.journal, set, cast); err == nil {
			info = board.Info()
		}
	}
	if abi.CodeOf(err) == abi.CodeNotFound {
		return rooms.Info{Name: name}, false
	}
	if err = cmp.Or(fenced, err); err != nil {
		info.Name, info.State, info.Error = name, "unavailable", abi.AsError(err).Message
		return g.withHead(ctx, info), true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if q != nil && g.quiet[name] == q {
		q.board = board
	}
	return info, true
}

// withHead says how far a room is that cannot be loaded: its entries can be read.
func (g *Registry) withHead(ctx context.Context, info rooms.Info) rooms.Info {
	if info.State == "unavailable" && info.Head == 0 {
		row, _, _ := g.journal.Room(ctx, info.Name) // it says so already
		info.Head = row.Head.Seq
	}
	return info
}
