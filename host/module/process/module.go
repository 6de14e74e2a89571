package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// closeGrace is how long a program may take to end when it is asked to, and its module is closed.
const closeGrace = 2 * time.Second

// Module is one loaded file, of which a program runs most of the time. It is what Engine.Load returns.
type Module struct {
	engine     *Engine
	id         string
	generation uint64
	dir, path  string // of the module, and of its copy of the file
	desc       abi.Description
	log        *slog.Logger
	said       *said
	calls      module.Calls
	busy       sync.WaitGroup // whatever runs beside the calls
	started    atomic.Int64   // how many programs were

	mu       sync.Mutex
	current  *program // nil while none runs
	starting *starting
	settling int           // calls that were given up, of which it is not known yet whether the program did so too
	settled  chan struct{} // closed when there are none of them any more
	closed   bool          // no program is to run any more
	failures int           // of programs in a row, without a call between them that ended well
	why      string        // the last of them failed
	notUntil time.Time     // when the next may be started
	debt     time.Duration // processor time of calls that were given up, in a row
}

// starting is a start that is under way.
type starting struct {
	done chan struct{}
	err  error // set before done is closed
}

var _ module.Module = (*Module)(nil)

func newModule(e *Engine, s module.Source, dir string) *Module {
	log := e.cfg.Log.With("companion", s.ID, "generation", s.Generation)
	return &Module{
		engine: e, id: s.ID, generation: s.Generation, dir: dir, path: filepath.Join(dir, filepath.Base(s.Name)),
		log: log, said: newSaid(log, e.cfg.LogBytesPerSecond),
	}
}

// Hide implements [module.Hider].
func (m *Module) Hide(secrets func(text string) string) { m.said.log.Hide(secrets) }

// Describe gives what the module said of itself when it was loaded.
func (m *Module) Describe() abi.Description { return m.desc }

// Memory gives the bytes that its program holds, where the system says so.
func (m *Module) Memory() int64 {
	m.mu.Lock()
	p := m.current
	m.mu.Unlock()
	if p == nil {
		return 0
	}
	_, memory := p.running.Usage()
	return memory
}

// Trouble says why there is no program that could answer, "" where there is one or soon will be.
func (m *Module) Trouble() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failures < 2 {
		return ""
	}
	return fmt.Sprintf("its program failed %d times in a row, the last time: %.300s", m.failures, strings.ToValidUTF8(m.why, ""))
}

// begin starts the first program and lets it describe itself.
func (m *Module) begin(ctx context.Context) error {
	ctx, end, err := m.calls.Begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	p, err := m.take(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return abi.Errorf(abi.CodeTimeout, "the program did not start in time: %w", err)
		}
		return again(abi.CodeInvalid, "%w", err)
	}
	req := abi.Request{Op: abi.OpDescribe, ID: fmt.Sprintf("load-%s-%d", m.id, m.generation)}
	data, err := m.ask(ctx, p, req, false)
	var fault *module.Fault
	switch {
	case errors.As(err, &fault) && fault.Kind == module.FaultTimeout:
		return abi.Errorf(abi.CodeTimeout, "the program did not describe itself in time: %w", fault.Cause)
	case err != nil && errors.As(err, &fault):
		return again(abi.CodeInvalid, "the program failed when asked to describe itself: %s: %w", fault.Kind, fault.Cause)
	case err != nil:
		return abi.Errorf(abi.CodeInvalid, "the program answered describe with an error: %w", err)
	}
	m.desc, err = abi.ReadDescription(data)
	return err
}

// Call runs one op. Calls go to the program as they come, which answers them one after the other or
// several at once, as it likes. The request's V is set, and its Self if it is empty. A call of abi.OpRun has no
// time of its own: it lasts until ctx or the program ends, or it does, and may compute as much as it wants.
//
// # Errors
//
// As module.Module says. A call whose ctx ends is of kind timeout; its program is ended unless it gives
// the call up too, within Config.Settle. It is of kind fuel where calls that ended so have taken more
// processor time than Config.CPUPerCall.
func (m *Module) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	ctx, end, err := m.calls.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if _, ok := ctx.Deadline(); !ok && req.Op != abi.OpRun {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.engine.cfg.CallTimeout)
		defer cancel()
	}
	p, err := m.take(ctx)
	var no notStarted
	switch {
	case errors.As(err, &no):
		return nil, abi.Errorf(abi.CodeUnavailable, "%s: %w", m.id, no)
	case err != nil:
		return nil, err
	}
	return m.ask(ctx, p, req, true)
}

// notStarted is the error of a program that does not start.
type notStarted struct{ error }

func (n notStarted) Error() string { return "the program does not start: " + n.error.Error() }
func (n notStarted) Unwrap() error { return n.error }

// take gives a program that runs, started if need be. Its errors are ctx's, a notStarted, or an
// *abi.Error that says when it is tried again.
func (m *Module) take(ctx context.Context) (*program, error) {
	for ctx.Err() == nil {
		m.mu.Lock()
		var wait <-chan struct{}
		start := m.starting
		switch {
		case m.settling > 0:
			wait, start = m.settled, nil
		case m.current != nil && !m.current.gone():
			p := m.current
			m.mu.Unlock()
			return p, nil
		case start != nil:
		case time.Now().Before(m.notUntil):
			err := abi.Errorf(abi.CodeUnavailable, "%s: its program failed %d times in a row and is started again in %v", m.id, m.failures, time.Until(m.notUntil).Round(time.Second/10))
			m.mu.Unlock()
			return nil, err
		default:
			start = m.launch()
		}
		m.mu.Unlock()
		if start != nil {
			wait = start.done
		}
		select {
		case <-wait:
			if start != nil && start.err != nil {
				return nil, notStarted{start.err}
			}
		case <-ctx.Done():
		}
	}
	if context.Cause(ctx) == module.ErrClosed {
		return nil, module.ErrClosed
	}
	return nil, ctx.Err()
}

// launch begins to start a program. The caller holds mu.
func (m *Module) launch() *starting {
	s := &starting{done: make(chan struct{})}
	m.starting = s
	m.busy.Go(func() {
		ctx, cancel := context.WithTimeout(m.calls.Killed(), m.engine.cfg.StartTimeout)
		defer cancel()
		p, err := m.start(ctx)
		m.mu.Lock()
		late := m.closed && p != nil
		if late {
			p.ending.Store(true)
			err = module.ErrClosed
		} else if p != nil {
			m.current = p
		} else if m.calls.Killed().Err() == nil {
			m.failed(err.Error())
		}
		m.starting, s.err = nil, err
		m.mu.Unlock()
		if late {
			p.end(context.Background(), 0)
		} else if p != nil {
			m.busy.Go(func() { m.watch(p) })
		}
		close(s.done)
	})
	return s
}

// firstWait and longestWait are how long a module waits before it starts a program again, when one
// failed for the second time in a row, and at most.
const (
	firstWait   = 200 * time.Millisecond
	longestWait = 30 * time.Second
)

// failed notes that a program ended that was not to, and why. The caller holds mu.
func (m *Module) failed(why string) {
	m.failures++
	m.why = why
	if m.failures < 3 {
		return
	}
	wait := min(firstWait<<min(m.failures-3, 10), longestWait)
	m.notUntil = time.Now().Add(wait)
}

// well notes that a call ended well.
func (m *Module) well() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures, m.debt = 0, 0
}

// drop has a program ended that is of no use any more. It does not wait for that.
func (m *Module) drop(p *program, why string) {
	p.ending.Store(true)
	p.dropped.Store(true)
	m.mu.Lock()
	if m.current == p {
		m.current = nil
		m.failed(why)
	}
	m.mu.Unlock()
	m.busy.Go(func() { p.end(context.Background(), 0) })
}

// watch sees to a program until it has ended, and has the next one started where it was not to end.
func (m *Module) watch(p *program) {
	look := time.NewTicker(m.engine.cfg.Health)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			m.look(p)
			continue
		case <-p.running.Gone():
		}
		break
	}
	if !p.ending.Load() {
		why := p.how(context.Background(), m.said).Error()
		m.mu.Lock()
		if m.current == p {
			m.current = nil
			m.failed(why)
		}
		m.mu.Unlock()
		p.end(context.Background(), 0) // of which there is nothing left but what it held
		m.log.Warn("the program of a module ended", "how", why)
	}
	m.revive()
}

// look asks a program whether it lives, and ends one that did not say so for long.
func (m *Module) look(p *program) {
	if p.health.Add(1) > 2 {
		m.log.Warn("the program of a module does not answer; it is ended", "for", 2*m.engine.cfg.Health)
		m.drop(p, "it did not answer")
		return
	}
	m.busy.Go(func() {
		rpc, err := p.client.Client()
		if err == nil && rpc.Ping() == nil {
			p.health.Store(0)
		}
	})
}

// revive starts the next program when it is time, unless the module is closed or somebody did.
func (m *Module) revive() {
	m.mu.Lock()
	wait := time.Until(m.notUntil)
	m.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-m.calls.Killed().Done():
		return
	}
	if _, err := m.take(m.calls.Killed()); err != nil && m.calls.Killed().Err() == nil {
		m.log.Warn("the program of a module does not start again", "error", err)
		m.busy.Go(m.revive)
	}
}

// Close refuses new calls, lets those that run end until ctx does, ends them by force then, and ends the
// program. It is safe to call once.
func (m *Module) Close(ctx context.Context) error {
	idle, _ := m.calls.Close(ctx)
	<-idle // calls that were ended by force do end
	m.mu.Lock()
	settled := m.settled
	if m.settling == 0 {
		settled = nil
	}
	m.mu.Unlock()
	if settled != nil { // a run that was given up may have to put something away
		select {
		case <-settled:
		case <-ctx.Done():
		}
	}
	m.mu.Lock()
	m.closed = true
	p := m.current
	m.current = nil
	m.mu.Unlock()
	if p != nil {
		p.end(ctx, closeGrace)
	}
	m.busy.Wait()
	m.engine.remove(m)
	if err := os.RemoveAll(m.dir); err != nil {
		return fmt.Errorf("process: close %s generation %d: %w", m.id, m.generation, err)
	}
	return nil
}
