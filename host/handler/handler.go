// Package handler lets modules that are handlers act for companions: what an action handler can do is
// lent to companions in their own rooms, as games lend actions, and what they play of it is asked of the handler's
// module, whose answer is the result.
//
// Everything that happens is in the rooms' journals: what is offered, what is played, and what came of it. The
// package decides nothing about turns, loads no module, and a handler that hangs costs its own actions alone.
package handler

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
)

// Handler is a table [handler.NAME] of the configuration.
type Handler struct {
	Name       string
	Module     string          // the id of its module
	Companions []string        // for whom it acts; Everyone is all of them
	Settings   json.RawMessage // an object; nil is none
}

// Everyone stands for all companions.
const Everyone = "*"

// Config is what a stage of handlers needs.
type Config struct {
	Handlers   []Handler
	Home       func(ctx context.Context, companion string) (rooms.Room, error)
	Companions func() []string // the ids of those that are loaded
	Module     func(id string) (*module.Companion, bool)
	Log        *slog.Logger
}

// Patience is how long a handler may take to carry out an action; then it has failed.
const Patience = 20 * time.Second

// grace is how long an action that is being carried out may still take when the handler leaves; those that wait
// behind it have failed.
const grace = 3 * time.Second

// again is how long a seat waits that could not be taken, and lookEvery how often the stage looks whether all
// are, beside when it is told to.
const (
	again     = time.Second
	lookEvery = 10 * time.Second
)

// Stage has the handlers in the rooms. Make one with New; it does nothing before Run.
type Stage struct {
	cfg     Config
	changed chan struct{}
	said    map[string]string // what the log was told last of a handler; Run's alone
}

// New makes a stage.
func New(cfg Config) *Stage {
	return &Stage{cfg: cfg, changed: make(chan struct{}, 1), said: map[string]string{}}
}

// Changed says that modules or companions came, changed or went.
func (s *Stage) Changed() {
	select {
	case s.changed <- struct{}{}:
	default: // it will look
	}
}

// seat is one handler beside one companion.
type seat struct{ handler, companion string }

// taken is a seat that is taken, by a generation of the handler's module.
type taken struct {
	generation uint64
	leave      context.CancelFunc
}

// Run has the handlers act until ctx ends. When it returns, nothing of it runs any more.
func (s *Stage) Run(ctx context.Context) error {
	var busy sync.WaitGroup
	defer busy.Wait()
	seats := map[seat]taken{}
	defer func() {
		for _, t := range seats {
			t.leave()
		}
	}()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		want := s.wanted()
		for at, t := range seats {
			if m, ok := want[at]; !ok || m.Generation() != t.generation {
				t.leave()
				delete(seats, at)
			}
		}
		for at, m := range want {
			if _, has := seats[at]; has {
				continue
			}
			h := s.handler(at.handler)
			inner, leave := context.WithCancel(ctx)
			seats[at] = taken{m.Generation(), leave}
			busy.Go(func() { s.sit(inner, h, at.companion, m) })
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
		case <-look.C:
		}
	}
}

func (s *Stage) handler(name string) Handler {
	return s.cfg.Handlers[slices.IndexFunc(s.cfg.Handlers, func(h Handler) bool { return h.Name == name })]
}

// wanted gives the seats that can be taken now, with whose module.
func (s *Stage) wanted() map[seat]*module.Companion {
	all := map[seat]*module.Companion{}
	for _, h := range s.cfg.Handlers {
		m, why := s.module(h)
		if s.said[h.Name] != why && why != "" {
			s.cfg.Log.Warn("a handler acts for nobody", "handler", h.Name, "module", h.Module, "error", why)
		}
		s.said[h.Name] = why
		if m == nil {
			continue
		}
		for _, id := range s.cfg.Companions() {
			if slices.Contains(h.Companions, Everyone) || slices.Contains(h.Companions, id) {
				all[seat{h.Name, id}] = m
			}
		}
	}
	return all
}

// module gives the module of a handler, or why it is none.
func (s *Stage) module(h Handler) (m *module.Companion, why string) {
	m, ok := s.cfg.Module(h.Module)
	if !ok {
		return nil, "its module is not loaded"
	}
	d := m.Describe()
	if d.Kind != abi.ActionHandler {
		return nil, "its module is no action handler but a " + string(orCharacter(d.Kind))
	}
	if err := module.CheckSettings(d, h.Settings); err != nil {
		return nil, module.Reason(err)
	}
	return m, ""
}

func orCharacter(k abi.ModuleKind) abi.ModuleKind {
	if k == "" {
		return abi.Character
	}
	return k
}

// sit has a handler act for a companion until ctx ends.
func (s *Stage) sit(ctx context.Context, h Handler, companion string, m *module.Companion) {
	log := s.cfg.Log.With("handler", h.Name, "companion", companion)
	for ctx.Err() == nil {
		talk, err := s.cfg.Home(ctx, companion)
		if err == nil {
			err = s.follow(ctx, talk, h, companion, m, log)
		}
		if err != nil && ctx.Err() == nil && abi.CodeOf(err) != abi.CodeNotFound { // one that lives in no room may yet
			log.Debug("a handler is not in the room", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

// follow lends the handler's actions in a room, and carries out what is played.
func (s *Stage) follow(ctx context.Context, talk rooms.Room, h Handler, companion string, m *module.Companion, log *slog.Logger) error {
	_, head, err := talk.Entries(ctx, 0, 1)
	if err != nil {
		return err
	}
	lent, leave := talk.Plug(companion, "handler "+h.Name)
	var acting sync.WaitGroup
	defer acting.Wait()
	defer leave()
	offer(lent, h.Name, m.Describe(), log)
	last := closedChan() // when the action before has ended: they are carried out in the order in which they were played
	return talk.Follow(ctx, head, func(es []entry.Entry) error {
		for _, e := range es {
			if e.Kind != entry.KindAction {
				continue
			}
			a, err := entry.Decode[entry.Action](e)
			if err != nil || a.Body != lent.ID() {
				continue
			}
			before, mine := last, make(chan struct{})
			last = mine
			acting.Go(func() {
				defer close(mine)
				<-before
				s.act(ctx, talk, h, a, m, log)
			})
		}
		return nil
	})
}

// offer lends the actions, as far as their names are to be had.
func offer(lent *action.Game, name string, d abi.Description, log *slog.Logger) {
	lent.Start(name)
	all, err := module.HandledActions(d)
	if err != nil { // the folder admitted it
		log.Error("the actions of a handler cannot be read", "error", err)
		return
	}
	for _, r := range lent.Offer(all) {
		log.Warn("an action of a handler is not offered", "action", r.Name, "why", r.Reason())
	}
}

func closedChan() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

var errLeft = abi.Errorf(abi.CodeUnavailable, "the handler has left")

// act has an action carried out, and tells the room what came of it. It may still end when the handler's time, here,
// has.
func (s *Stage) act(here context.Context, talk rooms.Room, h Handler, a entry.Action, m *module.Companion, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	defer context.AfterFunc(here, func() { time.AfterFunc(grace, cancel) })()
	r := abi.Result{ID: a.ID, OK: true}
	did, err := abi.Acted{}, error(errLeft)
	if here.Err() == nil {
		did, err = carryOut(ctx, talk.Name(), h, a, m)
	}
	if err != nil {
		r.OK, r.Reason = false, reason(err)
		log.Info("an action of a handler failed", "action", a.Action, "id", a.ID, "error", r.Reason)
	} else {
		r.Reason = short(did.Message)
	}
	ctx, cancel = context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := talk.Done(ctx, a.Who, h.Name, r, nil); err != nil {
		log.Warn("what came of an action cannot be told", "action", a.Action, "id", a.ID, "error", err)
	}
}

// carryOut asks the handler's module.
func carryOut(ctx context.Context, room string, h Handler, a entry.Action, m *module.Companion) (did abi.Acted, err error) {
	data, err := json.Marshal(abi.Acting{ID: a.ID, Companion: a.Who, Action: a.Action, Parameters: a.Parameters, Perception: a.Perception, Settings: h.Settings})
	if err != nil {
		return did, err
	}
	answer, err := m.Call(ctx, abi.Request{V: abi.Version, Op: abi.OpAct, ID: a.ID, Self: h.Module, Room: room, Now: time.Now().UTC(), Data: data})
	if err != nil {
		return did, err
	}
	if err := json.Unmarshal(answer, &did); err != nil {
		m.Blame(abi.OpAct, abi.Errorf(abi.CodeInvalid, "the answer is no object with a message: %v", err))
		return did, abi.Errorf(abi.CodeInvalid, "%s answered nonsense", h.Module)
	}
	return did, nil
}

// reason gives why nothing came of an action, in words that may be shown.
func reason(err error) string {
	var fault *module.Fault
	switch {
	case errors.As(err, &fault) && (fault.Kind == module.FaultTimeout || fault.Kind == module.FaultFuel), errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	case errors.As(err, &fault):
		return "the handler failed: " + string(fault.Kind)
	}
	return short(module.Reason(err))
}

// short keeps a text to its bound.
func short(s string) string {
	if len(s) > abi.MaxActed {
		s = strings.ToValidUTF8(s[:abi.MaxActed-len("…")], "") + "…"
	}
	return s
}
