package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/sdk/go/process/wire"
)

// outcome is how a call ended.
type outcome struct {
	reply []byte
	err   error // of the stream; nil with a reply
}

// errFrame is an error of a module that breaks the rules of frames.
type errFrame struct{ error }

// ask runs one op in a program. loaded says that host ops are answered.
func (m *Module) ask(ctx context.Context, p *program, req abi.Request, loaded bool) (json.RawMessage, error) {
	request, err := module.WriteRequest(req, m.id)
	if err != nil {
		return nil, err
	}
	before := p.cpu()
	life, cancel := context.WithCancel(context.Background())
	c := &call{m: m, req: req, loaded: loaded}
	done := make(chan outcome, 1)
	m.busy.Go(func() { done <- c.run(ctx, life, p, request) })
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case o := <-done:
			cancel()
			return m.judge(ctx, p, o)
		case <-look.C:
			if req.Op == abi.OpRun || p.cpu()-before <= m.engine.cfg.CPUPerCall {
				continue
			}
		case <-ctx.Done():
		}
		break
	}
	if req.Op == abi.OpRun { // what it computed is nobody's debt
		m.settle(p, c, before, done, cancel)
		return nil, &module.Fault{Kind: module.FaultTimeout, Cause: context.Cause(ctx)}
	}
	most := m.engine.cfg.CPUPerCall
	if abi.Filters(req.Op) {
		most /= abi.FilterShare
	}
	if work := m.owe(p, before); work > most {
		m.drop(p, "it computed too long")
		cancel()
		return nil, &module.Fault{Kind: module.FaultFuel, Cause: fmt.Errorf("it has computed for %v in a call, or in several that were given up", work.Round(time.Millisecond))}
	}
	m.settle(p, c, before, done, cancel)
	return nil, &module.Fault{Kind: module.FaultTimeout, Cause: context.Cause(ctx)}
}

// lookEvery is how often it is looked how much a program computes in a call.
const lookEvery = time.Second

// owe adds the processor time that a program took since a call began to that of calls that were given up in a
// row, each moment of it once.
func (m *Module) owe(p *program, since time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := p.cpu()
	m.debt += max(now-max(since, p.owed), 0)
	p.owed = now
	return m.debt
}

// settle waits, beside the caller, for a program to give up a call that was given up, and ends it
// if it does not. What it computes meanwhile is held against it, too; before is what it had computed when the call began. Until
// then no other call begins: it might be ended with the program.
func (m *Module) settle(p *program, c *call, before time.Duration, done <-chan outcome, cancel context.CancelFunc) {
	m.mu.Lock()
	if m.settling++; m.settling == 1 {
		m.settled = make(chan struct{})
	}
	m.mu.Unlock()
	m.busy.Go(func() {
		defer func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.settling--; m.settling == 0 {
				close(m.settled)
			}
		}()
		defer cancel()
		c.giveUp()
		late := time.NewTimer(m.engine.cfg.Settle)
		defer late.Stop()
		select {
		case o := <-done:
			if o.err == nil {
				return
			}
		case <-late.C:
		case <-p.running.Gone():
		}
		m.log.Info("the program of a module did not give up a call; it is ended", "op", c.req.Op, "id", c.req.ID, "room", c.req.Room)
		if c.req.Op != abi.OpRun {
			m.owe(p, before) // it has computed meanwhile, for nobody
		}
		m.drop(p, "it did not give up a call")
	})
}

// judge says what an outcome is. All but a reply costs the program.
func (m *Module) judge(ctx context.Context, p *program, o outcome) (json.RawMessage, error) {
	if o.err == nil {
		data, guest, err := module.ReadReply(o.reply)
		switch {
		case err != nil:
			m.drop(p, err.Error())
			return nil, &module.Fault{Kind: module.FaultReply, Cause: err}
		case guest != nil:
			m.well()
			return nil, guest
		}
		m.well()
		return data, nil
	}
	var frame errFrame
	fault := &module.Fault{Kind: module.FaultTrap}
	switch code := status.Code(o.err); {
	case errors.As(o.err, &frame):
		fault.Kind, fault.Cause = module.FaultReply, frame.error
	case code == codes.ResourceExhausted:
		fault.Kind, fault.Cause = module.FaultReply, fmt.Errorf("a message of more than %d bytes", wire.MaxToDaemon)
	case p.dropped.Load():
		fault.Kind, fault.Cause = module.FaultTimeout, errors.New("the program was ended because of another call")
	case code != codes.Unavailable && !p.gone():
		fault.Cause = fmt.Errorf("the call ended without a reply: %s", status.Convert(o.err).Message())
	default:
		fault.Cause = p.how(ctx, m.said)
	}
	m.drop(p, fault.Cause.Error())
	return nil, fault
}

// call is a call that runs in a program.
type call struct {
	m      *Module
	req    abi.Request
	loaded bool

	mu     sync.Mutex // of sending
	stream wire.Stream
}

// run carries a call. It answers host calls under ctx, and ends by force with life.
func (c *call) run(ctx, life context.Context, p *program, request []byte) outcome {
	stream, err := p.rpc.Call(life)
	if err != nil {
		return outcome{err: err}
	}
	c.mu.Lock()
	c.stream = stream
	err = stream.Send(wire.Request, request)
	c.mu.Unlock()
	if err != nil && !wire.Ended(err) { // why it ended is what Recv says
		return outcome{err: err}
	}
	asking := module.Asking{Calls: c.m.engine.cfg.Host, Loaded: c.loaded, Log: c.m.log, By: module.Caller{
		Companion: c.m.id, Room: c.req.Room, Call: c.req.ID, Op: c.req.Op, Engine: c.m.engine.Name(), Generation: c.m.generation,
	}}
	for {
		kind, body, err := stream.Recv()
		switch {
		case wire.Ended(err):
			return outcome{err: errFrame{errors.New("the call ended without a reply")}}
		case err != nil:
			return outcome{err: err}
		}
		switch kind {
		case wire.Reply:
			return outcome{reply: body}
		case wire.Log:
			c.m.said.line(body)
		case wire.HostCall:
			if err := c.send(wire.Answer, asking.Answer(ctx, body, len(body))); err != nil && !wire.Ended(err) {
				return outcome{err: err}
			}
		default:
			return outcome{err: errFrame{wire.Unexpected(kind)}}
		}
	}
}

func (c *call) send(k wire.Kind, body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stream.Send(k, body)
}

// giveUp tells the program that nobody waits for the reply, unless something is being sent to it that
// does not get there.
func (c *call) giveUp() {
	if c.mu.TryLock() {
		defer c.mu.Unlock()
		if c.stream != nil {
			_ = c.stream.Send(wire.Cancel, nil)
		}
	}
}
