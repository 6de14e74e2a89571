package handler

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
)

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

// actor carries out what a companion plays of a handler's actions, in the order in which it was played.
type actor struct {
	stage   *Stage
	ctx     context.Context
	talk    rooms.Room
	now     *atomic.Pointer[post]
	log     *slog.Logger
	busy    *sync.WaitGroup
	waiting chan struct{} // holds a token for each
	last    chan struct{} // closed when the one before has ended
}

func (x *actor) take(a entry.Action) {
	s, p := x.stage, x.now.Load()
	select {
	case x.waiting <- struct{}{}:
	default:
		x.busy.Go(func() { _ = s.tell(x.talk, p, a, "", errFull, x.log) })
		return
	}
	before, mine := x.last, make(chan struct{})
	x.last = mine
	x.busy.Go(func() {
		defer close(mine)
		<-before
		if w := s.act(x.ctx, x.talk, x.now.Load(), a, x.log); w != nil {
			x.busy.Go(func() { s.await(x.ctx, w) })
		}
		<-x.waiting
	})
}

// act has an action carried out, and tells the room what came of it, or gives the work that goes on. It may still end when
// the handler's time, here, has. A module carries out one action at a time, and while others wait for it their time does not run.
func (s *Stage) act(here context.Context, talk rooms.Room, p *post, a entry.Action, log *slog.Logger) *work {
	turn := s.turn(p.Module)
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-here.Done():
	}
	if here.Err() != nil {
		_ = s.tell(talk, p, a, "", errLeft, log) // which tells the log what it cannot tell
		return nil
	}
	w := s.begin(talk, p, a, log)
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	defer context.AfterFunc(here, func() { time.AfterFunc(grace, cancel) })()
	did, err := s.carryOut(ctx, talk.Name(), p, abi.Acting{ID: a.ID, Companion: a.Who, Action: a.Action, Parameters: a.Parameters, Perception: a.Perception})
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		err = errLeft
	}
	if err == nil && did.Later {
		s.goesOn(w)
		return w
	}
	_ = s.finish(w, did.Message, err) // its result came before, or the log has why it cannot be told
	<-w.told
	return nil
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
func (s *Stage) tell(talk rooms.Room, p *post, a entry.Action, message string, why error, log *slog.Logger) error {
	r := abi.Result{ID: a.ID, OK: why == nil, Reason: short(p.hide(message))}
	if why != nil {
		r.Reason = p.why(why)
		log.Info("an action of a handler failed", "action", a.Action, "id", a.ID, "error", r.Reason)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	err := talk.Done(ctx, a.Who, p.Name, r, nil)
	if err != nil {
		log.Warn("what came of an action cannot be told", "action", a.Action, "id", a.ID, "error", err)
	}
	return err
}

// carryOut asks the handler's module.
func (s *Stage) carryOut(ctx context.Context, room string, p *post, a abi.Acting) (did abi.Acted, err error) {
	a.Settings = p.settings
	answer, err := s.call(ctx, p, abi.OpAct, room, a)
	if err != nil {
		return did, err
	}
	if err := json.Unmarshal(answer, &did); err != nil {
		p.module.Blame(abi.OpAct, abi.Errorf(abi.CodeInvalid, "the answer is no object with a message: %v", err))
		return did, abi.Errorf(abi.CodeInternal, "the handler is at fault: %s answered nonsense", p.Module) // and not whoever asked
	}
	return did, nil
}

// reason gives why nothing came of an action, in words that may be shown once [post.why] has them.
func reason(err error) string {
	var fault *module.Fault
	switch {
	case errors.As(err, &fault) && (fault.Kind == module.FaultTimeout || fault.Kind == module.FaultFuel), errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	case errors.As(err, &fault):
		return "the handler failed: " + string(fault.Kind)
	}
	return module.Reason(err)
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
