package handler

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
)

var (
	errLate = abi.Errorf(abi.CodeTimeout, "it took too long")
	errMany = abi.Errorf(abi.CodeExhausted, "%d actions after it are out with the handler (MaxLater)", abi.MaxLater)
	errMore = abi.Errorf(abi.CodeExhausted, "%d actions of the companion after it are out with the handler (MaxLaterOfOne)", abi.MaxLaterOfOne)
)

// work is an action that a handler carries out. It is out until its result is told, once.
type work struct {
	talk       rooms.Room
	p          *post
	generation uint64 // of the module that was asked
	action     entry.Action
	log        *slog.Logger
	later      bool          // the module has answered that it goes on; under the stage's lock
	fail       chan error    // why it is to fail; holds one
	told       chan struct{} // closed when its result was told
}

// begin notes that an action is out.
func (s *Stage) begin(talk rooms.Room, p *post, a entry.Action, log *slog.Logger) *work {
	w := &work{talk: talk, p: p, generation: p.module.Generation(), action: a, log: log, fail: make(chan error, 1), told: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = append(s.out, w)
	return w
}

// goesOn notes that a work is told of later. Of too many of a handler the oldest fails.
func (s *Stage) goesOn(w *work) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.later = true
	var all, mine []*work
	for _, one := range s.out {
		if !one.later || one.p.Name != w.p.Name {
			continue
		}
		if all = append(all, one); one.action.Who == w.action.Who {
			mine = append(mine, one)
		}
	}
	switch {
	case len(mine) > abi.MaxLaterOfOne:
		mine[0].end(errMore)
	case len(all) > abi.MaxLater:
		all[0].end(errMany)
	}
}

// end has a work that goes on fail. The first reason stands.
func (w *work) end(why error) {
	w.later = false // it is counted no more
	select {
	case w.fail <- why:
	default:
	}
}

// outlive ends what modules were asked that are replaced by now.
func (s *Stage) outlive(posts []*post) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.out {
		if w.later && slices.ContainsFunc(posts, func(p *post) bool { return p.Name == w.p.Name && p.generation > w.generation }) {
			w.end(errLeft)
		}
	}
}

// await waits until the result of a work that goes on was told, and has it fail where none comes.
func (s *Stage) await(here context.Context, w *work) {
	late := time.NewTimer(abi.MaxLaterTime * time.Millisecond)
	defer late.Stop()
	var why error
	select {
	case <-w.told:
		return
	case why = <-w.fail:
	case <-here.Done():
		why = errLeft
	case <-late.C:
		why = errLate
	}
	_ = s.finish(w, "", why) // it was told meanwhile, or the log has why it cannot be
	<-w.told
}

// finish tells what came of a work, unless that was told.
//
// # Errors
//
// CodeNotFound where it was, and those of the room.
func (s *Stage) finish(w *work, message string, why error) error {
	s.mu.Lock()
	i := slices.Index(s.out, w)
	if i >= 0 {
		s.out = slices.Delete(s.out, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		return notOut(w.action.ID)
	}
	defer close(w.told)
	return s.tell(w.talk, w.p, w.action, message, why, w.log)
}

func notOut(id string) error {
	return abi.Field("id", abi.CodeNotFound, "no action %.64q is out with the handler for this companion: its result was told, it took too long, or it was another handler's", id)
}

// Result tells what came of an action that the handler in whose call it is asked was to carry out.
//
// # Errors
//
// Those of May; CodeNotFound for an action that is not out with the handler, and so for each result after the first;
// and those of the companion's room, which is not told again.
func (s *Stage) Result(c module.Caller, a abi.ResultAsk) error {
	if err := s.May(c, a.Companion); err != nil {
		return err
	}
	by, _ := s.caller(c) // May has found it
	w := s.workOf(by.Name, a)
	if w == nil {
		return notOut(a.ID)
	}
	var why error
	if !a.OK {
		why = abi.Errorf(abi.CodeUnavailable, "%s", cmp.Or(by.hide(a.Message), "nothing came of it"))
	}
	return s.finish(w, by.hide(a.Message), why)
}

// workOf gives the work of a handler that a result is about, nil where none is out.
func (s *Stage) workOf(handler string, a abi.ResultAsk) *work {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.out, func(w *work) bool {
		return w.action.ID == a.ID && w.action.Who == a.Companion && w.p.Name == handler
	})
	if i < 0 {
		return nil
	}
	return s.out[i]
}
