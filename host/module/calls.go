package module

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/companiond/companiond/abi"
)

// ErrClosed refuses a call after Close, and is the cause that ends the ctx of one
// that ran too long for it.
var ErrClosed error = abi.Errorf(abi.CodeUnavailable, "the module is closed")

// Calls are the calls that run in a module, for engines: with it they close as
// [Module] promises. Its zero value is ready.
type Calls struct {
	mu      sync.Mutex
	running int
	closed  bool
	idle    chan struct{} // closed when no call runs and none will
	killed  context.Context
	kill    context.CancelCauseFunc
}

// Killed ends when calls are ended by force, or when there were none to end.
func (c *Calls) Killed() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.make()
	return c.killed
}

func (c *Calls) make() {
	if c.killed == nil {
		c.idle = make(chan struct{})
		c.killed, c.kill = context.WithCancelCause(context.Background())
	}
}

// Begin lets a call begin, under a ctx that ends with ErrClosed when it is ended by
// force. The caller says with end when it has ended. The error is ErrClosed.
func (c *Calls) Begin(ctx context.Context) (_ context.Context, end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	c.make()
	c.running++
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(c.killed, func() { cancel(ErrClosed) })
	return ctx, func() {
		unhook()
		cancel(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.running--; c.closed && c.running == 0 {
			close(c.idle)
		}
	}, nil
}

// Close lets no call begin any more, lets those that run end until ctx does, and
// then ends them by force. It does not wait for that: idle is closed when none is
// left. first is false when it was closed before.
func (c *Calls) Close(ctx context.Context) (idle <-chan struct{}, first bool) {
	c.mu.Lock()
	c.make()
	if first = !c.closed; first && c.running == 0 {
		close(c.idle)
	}
	c.closed = true
	c.mu.Unlock()
	select {
	case <-c.idle:
	case <-ctx.Done():
	}
	c.kill(ErrClosed)
	return c.idle, first
}

// Answer answers an op in Go: it decodes the data, which may be absent, runs the op
// and encodes what that gives.
func Answer[Ask, Given any](data json.RawMessage, run func(Ask) (Given, error)) (json.RawMessage, error) {
	var ask Ask
	if len(data) > 0 {
		if err := json.Unmarshal(data, &ask); err != nil {
			return nil, abi.Errorf(abi.CodeInvalid, "data: %v", err)
		}
	}
	given, err := run(ask)
	if err != nil {
		return nil, err
	}
	return json.Marshal(given)
}

// during is the key of a context.
type during struct{}

// During says that what is done under a context is done in a call of the module with an id.
func During(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, during{}, id)
}

// DuringOf gives the module in whose call something is done, empty where that is none or not known.
func DuringOf(ctx context.Context) string {
	id, _ := ctx.Value(during{}).(string)
	return id
}
