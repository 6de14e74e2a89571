package handler

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// keeper keeps what a handler does for all its companions at once: its timers, and its run.
type keeper struct {
	p     *post
	leave context.CancelFunc
	gone  chan struct{} // closed when nothing of it runs any more
}

// keepers are by the handler's name.
type keepers map[string]keeper

func (all keepers) leave() {
	for _, k := range all {
		k.leave()
	}
}

// fill has a keeper for each handler that wants one. One whose module, companions or settings are others now
// is another keeper, which begins when the one before has ended.
func (all keepers) fill(ctx context.Context, busy *sync.WaitGroup, s *Stage, posts []*post) {
	here := map[string]*post{}
	for _, p := range posts {
		if p.answers(abi.OpRun) || p.answers(abi.OpTimer) {
			here[p.Name] = p
		}
	}
	before := map[string]chan struct{}{}
	for name, k := range all {
		if p := here[name]; p == nil || !p.same(k.p) {
			k.leave()
			before[name] = k.gone
			delete(all, name)
		}
	}
	for name, p := range here {
		if _, has := all[name]; has {
			continue
		}
		inner, leave := context.WithCancel(ctx)
		k := keeper{p, leave, make(chan struct{})}
		all[name] = k
		busy.Go(func() {
			defer close(k.gone)
			defer leave()
			if last := before[name]; last != nil {
				<-last
			}
			s.keep(inner, p)
		})
	}
}

// keep has the timers and the run of a handler until ctx ends.
func (s *Stage) keep(ctx context.Context, p *post) {
	var both sync.WaitGroup
	if p.answers(abi.OpTimer) {
		both.Go(func() { s.keepTime(ctx, p) })
	}
	if p.answers(abi.OpRun) {
		both.Go(func() { s.run(ctx, p) })
	}
	both.Wait()
}

// longestAgain is how long a run that ended waits at most until it is begun again.
const longestAgain = 30 * time.Second

// run has a program run beside its other calls.
func (s *Stage) run(ctx context.Context, p *post) {
	if p.module.Engine() == "wasm" {
		s.cfg.Log.Warn("a handler in WebAssembly cannot run by itself; make it a program, or set timers", "handler", p.Name, "module", p.Module)
		return
	}
	told := ""
	for wait := again; ctx.Err() == nil; wait = min(2*wait, longestAgain) {
		begun := time.Now()
		_, err := s.call(ctx, p, abi.OpRun, "", abi.Running{Companions: p.companions, Settings: p.settings})
		if ctx.Err() != nil {
			return
		}
		why := "it ended by itself"
		if err != nil {
			why = p.why(err)
		}
		if why != told {
			s.cfg.Log.Warn("the run of a handler ended; it is begun again", "handler", p.Name, "error", why)
		}
		if told = why; time.Since(begun) > longestAgain {
			wait = again
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// timers are those of a handler that are set. The zero value has none, and takes none before it is opened.
type timers struct {
	mu  sync.Mutex
	set map[string]*timer // nil while nobody keeps them
	due chan *timer
}

type timer struct {
	name string
	data json.RawMessage
	at   *time.Timer
	gone chan struct{} // closed when it is not due any more
}

// stop takes a timer back.
func (t *timer) stop() {
	t.at.Stop()
	close(t.gone)
}

// open has timers be set. They are due at the channel.
func (t *timers) open() <-chan *timer {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set, t.due = map[string]*timer{}, make(chan *timer)
	return t.due
}

// close stops all timers.
func (t *timers) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.set {
		one.stop()
	}
	t.set = nil
}

// take takes a timer that is due, unless it was set anew or taken back meanwhile.
func (t *timers) take(one *timer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.set[one.name] != one {
		return false
	}
	delete(t.set, one.name)
	return true
}

// put sets a timer.
func (t *timers) put(ask abi.TimerAsk) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	had := t.set[ask.Name]
	switch {
	case t.set == nil:
		return abi.Errorf(abi.CodeUnavailable, "the handler is leaving, or its module does not answer %s", abi.OpTimer)
	case ask.After != 0 && had == nil && len(t.set) >= abi.MaxTimers:
		return abi.Errorf(abi.CodeExhausted, "%d timers are set, at most %d (MaxTimers)", len(t.set), abi.MaxTimers)
	}
	if had != nil {
		had.stop()
		delete(t.set, ask.Name)
	}
	if ask.After == 0 {
		return nil
	}
	one, due := &timer{name: ask.Name, data: ask.Data, gone: make(chan struct{})}, t.due
	one.at = time.AfterFunc(time.Duration(ask.After)*time.Millisecond, func() {
		select {
		case due <- one:
		case <-one.gone:
		}
	})
	t.set[ask.Name] = one
	return nil
}

// keepTime asks a handler when its timers are due, one after the other, and once at the start.
func (s *Stage) keepTime(ctx context.Context, p *post) {
	due := p.timers.open()
	defer p.timers.close()
	s.ring(ctx, p, &timer{})
	for {
		select {
		case <-ctx.Done():
			return
		case one := <-due:
			if ctx.Err() == nil && p.timers.take(one) {
				s.ring(ctx, p, one)
			}
		}
	}
}

// ring tells a handler that a timer is due.
func (s *Stage) ring(ctx context.Context, p *post, one *timer) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	_, err := s.call(ctx, p, abi.OpTimer, "", abi.Timer{Name: one.name, Data: one.data, Companions: p.companions, Settings: p.settings})
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		s.cfg.Log.Info("a handler failed when a timer was due", "handler", p.Name, "timer", one.name, "error", p.why(err))
	}
}

// SetTimer sets a timer of the handler in whose call it is asked.
//
// # Errors
//
// CodeDenied where that is none, CodeInvalid for a time or a name that cannot be, CodeTooLarge for data, CodeExhausted for too
// many timers, CodeUnavailable for a handler without any.
func (s *Stage) SetTimer(c module.Caller, ask abi.TimerAsk) error {
	p, err := s.caller(c)
	switch {
	case err != nil:
		return err
	case ask.Name == "" || len(ask.Name) > abi.MaxName:
		return abi.Field("name", abi.CodeInvalid, "%d bytes; it must have 1 to %d", len(ask.Name), abi.MaxName)
	case ask.After != 0 && (ask.After < abi.MinTimer || ask.After > int64(maxTimer/time.Millisecond)):
		return abi.Field("after_ms", abi.CodeInvalid, "%d is outside %d..%d, and is not 0", ask.After, abi.MinTimer, int64(maxTimer/time.Millisecond))
	case len(ask.Data) > abi.MaxKVValue:
		return abi.Field("data", abi.CodeTooLarge, "%d bytes, at most %d", len(ask.Data), abi.MaxKVValue)
	}
	return p.timers.put(ask)
}

// maxTimer is the longest a timer may take.
const maxTimer = 366 * 24 * time.Hour
