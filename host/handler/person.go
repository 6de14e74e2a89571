package handler

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/module"
)

// mostBusy is how long a person waits for a module that carries out another action.
const mostBusy = 8 * time.Second

// Listed is a handler as people are shown it.
type Listed struct {
	Name       string
	Module     string
	Why        string   // it can do nothing now; empty where it can
	Companions []string // that are loaded, and that it acts for
	Actions    []card.Action
}

// List gives the handlers of the configuration, in its order, as they are now.
func (s *Stage) List() (all []Listed) {
	for _, h := range s.handlers() {
		l := Listed{Name: h.Name, Module: h.Module, Companions: s.loadedFor(h)}
		p, why := s.post(h)
		if l.Why = why; p != nil {
			l.Actions, _ = p.actions() // the folder admitted them
			if st := p.module.Status(time.Now()); st.State == module.StateQuarantined {
				l.Why = st.Error
			}
		}
		all = append(all, l)
	}
	return all
}

// loadedFor gives the companions that are loaded and that a handler acts for.
func (s *Stage) loadedFor(h Handler) (ids []string) {
	for _, c := range s.cfg.Companions() {
		if h.For(c.ID()) {
			ids = append(ids, c.ID())
		}
	}
	return ids
}

// actions gives what a handler can do.
func (p *post) actions() ([]card.Action, error) {
	if !p.answers(abi.OpAct) {
		return nil, nil
	}
	return module.HandledActions(p.module.Describe())
}

// Act has a handler carry out an action that a person asks for, as it does a companion's: in its turn, with parameters held to
// the action's schema. The message is the handler's. Nothing of it stands in a journal: it is of no room. What has begun goes
// on where ctx ends, for as long as Patience.
//
// # Errors
//
// CodeNotFound for a handler or an action that is not there, with the names of those that are; those of [card.Action.Check];
// CodeUnavailable for a handler that can do nothing now, or is busy; CodeTimeout for one that took too long; and what the
// handler refuses with.
func (s *Stage) Act(ctx context.Context, by, name, action string, parameters json.RawMessage) (message string, err error) {
	p, err := s.able(name, action, parameters)
	if err != nil {
		return "", err
	}
	here, end, err := s.enter()
	if err != nil {
		return "", err
	}
	defer end()
	turn := s.turn(p.Module)
	wait, stop := context.WithTimeout(ctx, mostBusy)
	defer stop()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-wait.Done():
		return "", cmp.Or[error](ctx.Err(), abi.Errorf(abi.CodeUnavailable, "%s is busy with other actions; try again", name))
	case <-here.Done():
		return "", errLeft
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
	defer cancel()
	defer context.AfterFunc(here, func() { time.AfterFunc(grace, cancel) })()
	did, err := s.carryOut(ctx, "", p, abi.Acting{ID: "p-" + rand.Text(), By: by, Action: action, Parameters: parameters})
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		err = errLeft
	}
	log := s.cfg.Log.With("handler", name, "action", action, "by", by)
	if err != nil {
		err = p.refusal(err)
		log.Info("an action of a handler, which a person asked for, failed", "error", err)
		return "", err
	}
	log.Info("a handler carried out what a person asked for", "later", did.Later)
	if did.Later {
		return untold, nil
	}
	return short(p.hide(did.Message)), nil
}

// untold is what a person is told of work that goes on: nobody would hear how it ends.
const untold = "it has begun, and goes on; how it ends is told to nobody here"

// able finds the handler that has an action, and holds the parameters to its schema.
func (s *Stage) able(name, action string, parameters json.RawMessage) (*post, error) {
	all := s.handlers()
	i := slices.IndexFunc(all, func(h Handler) bool { return h.Name == name })
	if i < 0 {
		var names []string
		for _, h := range all {
			names = append(names, h.Name)
		}
		return nil, abi.Field("handler", abi.CodeNotFound, "there is no %.64q; %s", name, those(names))
	}
	p, why := s.post(all[i])
	if p == nil {
		return nil, abi.Field("handler", abi.CodeUnavailable, "%s can do nothing now: %s", name, why)
	}
	p.companions = s.loadedFor(p.Handler) // what it may emit and take back meanwhile
	actions, err := p.actions()
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, a := range actions {
		if a.Title == action {
			return p, a.Check(parameters)
		}
		titles = append(titles, a.Title)
	}
	return nil, abi.Field("action", abi.CodeNotFound, "%s has no %.64q; %s", name, action, those(titles))
}

func those(names []string) string {
	if len(names) == 0 {
		return "there are none"
	}
	return "there are: " + strings.Join(names, ", ")
}

// open lets people have something done, as long as here and until shut.
func (s *Stage) open(here context.Context) (shut func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.here = here
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.here = nil
	}
}

// enter begins something that a person has done; Run does not end before it does.
func (s *Stage) enter() (here context.Context, end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.here == nil || s.here.Err() != nil {
		return nil, nil, abi.Errorf(abi.CodeUnavailable, "the daemon is starting or ending; try again")
	}
	s.acting.Add(1)
	return s.here, s.acting.Done, nil
}

// refusal gives why nothing came of an action to whoever asked for it, without secrets.
func (p *post) refusal(err error) error {
	why := p.why(err)
	var fault *module.Fault
	var e *abi.Error
	switch faulty := errors.As(err, &fault); {
	case faulty && (fault.Kind == module.FaultTimeout || fault.Kind == module.FaultFuel), errors.Is(err, context.DeadlineExceeded):
		return abi.Errorf(abi.CodeTimeout, "%s", why)
	case faulty || !errors.As(err, &e) || e.Code == abi.CodeInternal: // its fault, not the door's
		return abi.Errorf(abi.CodeUnavailable, "%s", why)
	}
	return &abi.Error{Code: e.Code, Field: e.Field, Message: why, Retry: e.Retry}
}
