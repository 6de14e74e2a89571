// Package handler lets modules that are handlers act for companions: what an action handler can do is
// lent to companions in their own rooms, as games lend actions, and what they play of it is asked of the handler's
// module, whose answer is the result.
//
// Everything that happens is in the rooms' journals: what is offered, what is played, and what came of it. The
// package decides nothing about turns, loads no module, and a handler that hangs costs its own actions alone.
package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/force"
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

	mu    sync.Mutex
	turns map[string]chan struct{} // of modules that carry out an action
}

// New makes a stage.
func New(cfg Config) *Stage {
	return &Stage{cfg: cfg, changed: make(chan struct{}, 1), said: map[string]string{}, turns: map[string]chan struct{}{}}
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

// taken is a seat that is taken.
type taken struct {
	leave context.CancelFunc
	renew chan struct{} // has a value when what is offered may be another
}

// wanted is a seat that can be taken, with whose module.
type wanted struct {
	seat
	h Handler
	m *module.Companion
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
			if !slices.ContainsFunc(want, func(w wanted) bool { return w.seat == at }) {
				t.leave()
				delete(seats, at)
				continue
			}
			select { // also where nothing changed: a name that was another's may be free
			case t.renew <- struct{}{}:
			default:
			}
		}
		first := map[string]chan struct{}{} // by companion, closed when the handler before has offered
		for _, w := range want {
			if _, has := seats[w.seat]; has {
				continue
			}
			before, offered := first[w.companion], make(chan struct{})
			first[w.companion] = offered
			inner, leave := context.WithCancel(ctx)
			t := taken{leave, make(chan struct{}, 1)}
			seats[w.seat] = t
			busy.Go(func() {
				if before != nil {
					select {
					case <-before:
					case <-time.After(again): // it does not get to it
					case <-inner.Done():
					}
				}
				s.sit(inner, w.h, w.companion, w.m, t.renew, sync.OnceFunc(func() { close(offered) }))
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
		case <-look.C:
		}
	}
}

// wanted gives the seats that can be taken now, in the order of the configuration: of two handlers with one name the
// first has it.
func (s *Stage) wanted() (all []wanted) {
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
				all = append(all, wanted{seat{h.Name, id}, h, m})
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
func (s *Stage) sit(ctx context.Context, h Handler, companion string, m *module.Companion, renew <-chan struct{}, offered func()) {
	defer offered()
	log := s.cfg.Log.With("handler", h.Name, "companion", companion)
	for ctx.Err() == nil {
		talk, err := s.cfg.Home(ctx, companion)
		if err == nil {
			err = s.follow(ctx, talk, h, companion, m, renew, offered, log)
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
func (s *Stage) follow(ctx context.Context, talk rooms.Room, h Handler, companion string, m *module.Companion, renew <-chan struct{}, offered func(), log *slog.Logger) error {
	_, head, err := talk.Entries(ctx, 0, 1)
	if err != nil {
		return err
	}
	lent, leave := talk.Plug(companion, "handler "+h.Name)
	var acting sync.WaitGroup
	defer acting.Wait()
	defer leave()
	lent.Start(h.Name)
	had := offer(lent, nil, m.Describe(), log)
	offered()
	acting.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-renew:
				had = offer(lent, had, m.Describe(), log)
			}
		}
	})
	waiting := make(chan struct{}, mostWaiting)
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
			select {
			case waiting <- struct{}{}:
			default:
				acting.Go(func() { s.tell(talk, h, a, "", errFull, log) })
				continue
			}
			before, mine := last, make(chan struct{})
			last = mine
			acting.Go(func() {
				defer close(mine)
				<-before
				s.act(ctx, talk, h, a, m, log)
				<-waiting
			})
		}
		return nil
	})
}

// offered is what a handler lends, and which of it somebody else has.
type offered struct {
	actions []card.Action
	refused map[string]string
}

// offer lends what a module can do now, in place of what it could before, as far as the names are to be had. Whoever
// was refused a name is told once.
func offer(lent *action.Game, had *offered, d abi.Description, log *slog.Logger) *offered {
	all, err := module.HandledActions(d)
	if err != nil { // the folder admitted it
		log.Error("the actions of a handler cannot be read", "error", err)
		return had
	}
	now := &offered{actions: all, refused: map[string]string{}}
	if had == nil {
		had = &offered{}
	}
	var gone []string
	for _, a := range had.actions {
		if !slices.ContainsFunc(all, func(b card.Action) bool {
			return a.Title == b.Title && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
		}) {
			gone = append(gone, a.Title)
		}
	}
	if len(gone) > 0 {
		lent.Withdraw(gone)
	}
	for _, r := range lent.Offer(all) {
		if r.Rule == force.RegisterAgain {
			continue // it has it
		}
		now.refused[r.Name] = r.Reason()
		if had.refused[r.Name] != r.Reason() {
			log.Warn("an action of a handler is not offered", "action", r.Name, "why", r.Reason())
		}
	}
	return now
}

func closedChan() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// mostWaiting is how many actions of a companion wait for one handler; more fail at once.
const mostWaiting = 64

var (
	errLeft = abi.Errorf(abi.CodeUnavailable, "the handler has left")
	errFull = abi.Errorf(abi.CodeExhausted, "%d actions wait for the handler already", mostWaiting)
)

// act has an action carried out, and tells the room what came of it. It may still end when the handler's time, here,
// has. A module carries out one action at a time, and while others wait for it their time does not run.
func (s *Stage) act(here context.Context, talk rooms.Room, h Handler, a entry.Action, m *module.Companion, log *slog.Logger) {
	turn := s.turn(h.Module)
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-here.Done():
	}
	if here.Err() != nil {
		s.tell(talk, h, a, "", errLeft, log)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	defer context.AfterFunc(here, func() { time.AfterFunc(grace, cancel) })()
	did, err := carryOut(ctx, talk.Name(), h, a, m)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		err = errLeft
	}
	s.tell(talk, h, a, did.Message, err, log)
}

// turn gives what holds a token while a module carries out an action.
func (s *Stage) turn(id string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns[id] == nil {
		s.turns[id] = make(chan struct{}, 1)
	}
	return s.turns[id]
}

// tell tells the room what came of an action.
func (s *Stage) tell(talk rooms.Room, h Handler, a entry.Action, message string, why error, log *slog.Logger) {
	r := abi.Result{ID: a.ID, OK: why == nil, Reason: short(message)}
	if why != nil {
		r.Reason = reason(why)
		log.Info("an action of a handler failed", "action", a.Action, "id", a.ID, "error", r.Reason)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
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

// short keeps a text to its bound, and to what shows: no sign that moves or hides what stands beside it.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
	if len(s) > abi.MaxActed {
		s = strings.ToValidUTF8(s[:abi.MaxActed-len("…")], "") + "…"
	}
	return s
}
