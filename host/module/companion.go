package module

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// Limits says how patient a companion is. A zero field means its default.
type Limits struct {
	Grace       time.Duration // how long calls to a replaced generation may take to end; 5 s
	Faults      int           // faults of one generation within FaultWindow that quarantine it; 3, negative: never
	FaultWindow time.Duration // 60 s, beside what the calls at fault took themselves
	CoolDown    time.Duration // how long a quarantine lasts; 5 min
}

// WithDefaults fills in what is zero.
func (l Limits) WithDefaults() Limits {
	l.Grace = cmp.Or(l.Grace, 5*time.Second)
	l.Faults = cmp.Or(l.Faults, 3)
	l.FaultWindow = cmp.Or(l.FaultWindow, time.Minute)
	l.CoolDown = cmp.Or(l.CoolDown, 5*time.Minute)
	return l
}

// Companion is the place of one companion: it passes calls to the generation
// that is current when they begin, and survives the change of generations. Its
// life:
//
//  1. it begins with a first generation, so there is always one to call;
//  2. a swap publishes the next generation; calls that begin later go there;
//  3. calls that run stay with the generation they began with, which is closed
//     when the last of them ends, or by force when Limits.Grace is over;
//  4. a generation that faults too often is quarantined: calls are refused at
//     once, until the cool-down ends or a new generation comes; calls that only
//     took long are no faults (see [FaultKind]);
//  5. when its file is gone, or the daemon stops, it ends for good. A file that
//     comes back makes a new Companion, whose generations count on.
//
// All methods are safe for concurrent use.
type Companion struct {
	id     string
	limits Limits
	log    *slog.Logger

	mu    sync.RWMutex
	cur   *Generation // never nil
	ended string      // why there are no more calls; empty while there are
	hides func(string) string
	seen  func(op string, took time.Duration, err error)
}

// NewCompanion makes a companion, which owns its generations.
func NewCompanion(id string, first *Generation, l Limits, log *slog.Logger) *Companion {
	c := &Companion{id: id, limits: l.WithDefaults(), log: log.With("companion", id), cur: first}
	c.hidden(first)
	return c
}

// hidden has what a generation says in the log be without secrets, whichever there are by then.
func (c *Companion) hidden(g *Generation) {
	if h, ok := g.module.(Hider); ok {
		h.Hide(c.hide)
	}
}

// Hide has secrets, which a module was told, taken out of what the log and the status say of it.
func (c *Companion) Hide(secrets func(text string) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hides = secrets
}

// Observe has somebody see each call that ends from now on: its op, how long it took, and its error. It is called beside the
// caller and may not wait.
func (c *Companion) Observe(seen func(op string, took time.Duration, err error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = seen
}

// called tells whoever sees the calls of one that has ended.
func (c *Companion) called(op string, begun time.Time, err error) {
	c.mu.RLock()
	seen := c.seen
	c.mu.RUnlock()
	if seen != nil {
		seen(op, time.Since(begun), err)
	}
}

func (c *Companion) hide(text string) string {
	c.mu.RLock()
	hides := c.hides
	c.mu.RUnlock()
	if hides == nil {
		return text
	}
	return hides(text)
}

// ID is the companion's id.
func (c *Companion) ID() string { return c.id }

// Describe gives what the current generation said of itself.
func (c *Companion) Describe() abi.Description { return c.current().desc }

// Generation is the number of the current generation, counted from 1.
func (c *Companion) Generation() uint64 { return c.current().number }

// Engine is the name of the engine that runs the current generation.
func (c *Companion) Engine() string { return c.current().engine }

func (c *Companion) current() *Generation {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.cur
}

// Call asks the current generation one op; data is the "ok" part of its reply.
//
// # Errors
//
// Those of [Module.Call]. Besides, an *abi.Error with abi.CodeUnavailable says
// that the companion has ended or is quarantined, or that its generation was
// replaced and this call did not end within Limits.Grace. The last is the only
// way a swap can end a call; asking again reaches the new generation. It is not
// done here, because the old one may have had effects already.
func (c *Companion) Call(ctx context.Context, req abi.Request) (data json.RawMessage, err error) {
	begun := time.Now()
	defer func() { c.called(req.Op, begun, err) }()
	g, during, end, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	why, over := g.faults.refusal(time.Now())
	if over {
		c.log.Info("quarantine is over", "generation", g.number)
	}
	if why != "" {
		return nil, abi.Errorf(abi.CodeUnavailable, "%s", why)
	}
	data, err = c.ask(during, g, req)
	if err != nil {
		return nil, c.judge(ctx, g, err, begun)
	}
	return data, nil
}

// Withdraw says that the line which the companion may have begun with its vote in a room
// is not wanted, and gives whether there was one.
func (c *Companion) Withdraw(room string) bool {
	d, ok := c.current().module.(Drafter)
	return ok && d.Withdraw(room)
}

// begin lets a call of the current generation begin, which cannot be closed by a
// swap before the call ends or the grace is over.
func (c *Companion) begin(ctx context.Context) (_ *Generation, during context.Context, end func(), err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.ended != "" {
		return nil, nil, nil, abi.Errorf(abi.CodeUnavailable, "%s: %s", c.id, c.ended)
	}
	during, end, err = c.cur.calls.Begin(ctx)
	return c.cur, during, end, err
}

// ask calls the module. A panic is an engine's mistake about some guest; it
// costs that call and not the daemon.
func (c *Companion) ask(ctx context.Context, g *Generation, req abi.Request) (data json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("engine panicked in a call", "engine", g.engine, "generation", g.number,
				"op", req.Op, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			data, err = nil, &Fault{Kind: FaultTrap, Cause: fmt.Errorf("engine %s panicked: %v", g.engine, p)}
		}
	}()
	return g.module.Call(ctx, req)
}

// judge counts a fault of a call and gives the error the caller is to see.
func (c *Companion) judge(ctx context.Context, g *Generation, err error, begun time.Time) error {
	var fault *Fault
	isFault := errors.As(err, &fault)
	if g.calls.Killed().Err() != nil && (isFault || abi.CodeOf(err) == abi.CodeUnavailable) {
		return abi.Errorf(abi.CodeUnavailable, "%s: generation %d was replaced and did not end within %v: %w", c.id, g.number, c.limits.Grace, err)
	}
	if !isFault {
		return err
	}
	now := time.Now()
	g.faults.took(now, now.Sub(begun))
	// The clock says nothing about the guest, and neither does a caller that gave up,
	// but that too much work was done until then.
	if fault.Kind == FaultTimeout || fault.Kind != FaultFuel && errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	if g.faults.add(now, fault, c.limits) {
		c.log.Warn("quarantined", "generation", g.number, "faults", c.limits.Faults,
			"within", c.limits.FaultWindow, "for", c.limits.CoolDown, "error", c.hide(firstLine(fault.Error())))
	} else {
		c.log.Warn("module fault", "generation", g.number, "kind", string(fault.Kind), "error", c.hide(firstLine(fault.Error())))
	}
	return err
}

// Blame notes that the current generation answered op with something that breaks
// the op's rules. It costs the companion nothing but its word: it is no fault,
// for no instance was lost. The log hears of it once a minute for each kind, and
// the status counts it.
func (c *Companion) Blame(op string, err error) {
	g := c.current()
	why := brief(c.hide(Reason(err)))
	if say, n := g.faults.blame(time.Now(), op, abi.CodeOf(err), why); say {
		c.log.Warn("an answer was of no use", "generation", g.number, "op", op, "error", why, "so_far", n)
	}
}

// Swap publishes g and gives the generation it replaces, which the caller has
// to retire. Once the companion has ended it refuses: ok is false and g stays
// the caller's.
func (c *Companion) Swap(g *Generation) (old *Generation, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != "" {
		return nil, false
	}
	old, c.cur = c.cur, g
	c.hidden(g)
	return old, true
}

// End lets no call begin any more and gives the generation to retire, nil when
// the companion had ended already.
func (c *Companion) End(why string) *Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != "" {
		return nil
	}
	c.ended = why
	return c.cur
}

// Close ends the companion: no call begins any more, running ones get Limits.Grace
// to end. Closing again does nothing. The error is the module's.
func (c *Companion) Close() error {
	g := c.End("closed")
	if g == nil {
		return nil
	}
	_, err := g.Retire(c.limits.Grace)
	return err
}

// Quarantined says whether calls are refused now because of faults.
func (c *Companion) Quarantined(now time.Time) bool {
	why, _ := c.current().faults.quarantine(now)
	return why != ""
}

// Status gives what the companion itself knows; which file it has is not its
// business.
func (c *Companion) Status(now time.Time) Status {
	c.mu.RLock()
	g, ended := c.cur, c.ended
	c.mu.RUnlock()
	s := Status{ID: c.id, Name: g.desc.Name, Engine: g.engine, Generation: g.number, State: StateReady, LoadedAt: g.loaded}
	if !IsCharacter(g.desc) {
		s.Kind = string(g.desc.Kind)
	}
	if ended != "" {
		s.State, s.Error = StateFailed, c.id+": "+ended
		return s
	}
	s.MemoryBytes = g.module.Memory()
	s.Faults = g.faults.count()
	if why, until := g.faults.quarantine(now); why != "" {
		s.State = StateQuarantined
		s.Error = fmt.Sprintf("%s; until %s, or until the file is saved again", why, until.UTC().Format(time.RFC3339))
	}
	if t, ok := g.module.(Troubled); ok {
		s.Error = Sentence(s.Error, t.Trouble())
	}
	s.Error = c.hide(Sentence(s.Error, g.faults.blamed()))
	return s
}

// Generation is one loaded version of a module.
type Generation struct {
	number uint64
	engine string
	module Module
	desc   abi.Description
	card   *card.Card // nil when it has none
	loaded time.Time

	calls  Calls // ended by force when the grace is over
	faults tally
}

// NewGeneration makes a generation of a module that an engine has loaded, and that
// described itself with a card that can be read, if with any.
func NewGeneration(number uint64, engine string, m Module) *Generation {
	g := &Generation{number: number, engine: engine, module: m, desc: m.Describe(), loaded: time.Now().UTC()}
	g.card, _ = ReadCard(g.desc)
	return g
}

// Number counts the generations of a companion from 1.
func (g *Generation) Number() uint64 { return g.number }

// Retire waits up to grace until the last call has ended, and closes the module, by
// force if need be. To be called once, after the generation was swapped out. drained
// says that no force was needed.
func (g *Generation) Retire(grace time.Duration) (drained bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	idle, _ := g.calls.Close(ctx)
	select {
	case <-idle:
		drained = true
	default:
	}
	return drained, g.module.Close(ctx)
}
