package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/border"
	"github.com/companiond/companiond/host/module/wasm/drive"
	"github.com/companiond/companiond/host/module/wasm/memory"
	"github.com/companiond/companiond/host/module/wasm/meter"
	"github.com/companiond/companiond/host/module/wasm/wasi"
)

// instance is one running copy of a module. It belongs to whoever holds the
// module's turn; only memory.Size is read by others.
type instance struct {
	m      *Module
	guest  api.Module
	call   api.Function // companion_v1_call; kept, for each api.Function owns a stack
	driver drive.Driver // or nil, and then hot is, too
	hot    map[string]api.Function
	memory memory.Memory
	wasi   wasi.Process
	era    uint64 // of its words, see [Engine.Forget]

	// Of the call that runs:
	ctx      context.Context
	deadline time.Time
	of       abi.Request // without its data
	asks     bool        // host ops are answered
	did      meter.Work
	pending  []byte // what read copies
	reply    []byte
	replied  bool
}

// instanceKey finds the instance in the ctx that wazero hands to host functions.
type instanceKey struct{}

// begin readies the instance for a call under ctx, which must have a deadline.
func (i *instance) begin(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, instanceKey{}, i)
	i.ctx = ctx
	i.deadline, _ = ctx.Deadline()
	i.pending, i.reply, i.replied = nil, nil, false
	i.did.Begin(i.m.engine.cfg.FuelPerCall, !i.m.form.machine)
	if i.m.engine.cfg.Guard == GuardContext { // whose guests burn nothing
		i.did.Pin()
	}
	i.m.said.Begin()
	return ctx
}

// end forgets what belonged to the call.
func (i *instance) end() {
	i.ctx, i.pending, i.reply, i.of = nil, nil, nil, abi.Request{}
	i.did.End()
	i.m.said.End()
}

// charge counts work of a host function, and ends the guest when its call has done too much.
func (i *instance) charge(units int) {
	if err := i.did.Add(int64(units)); err != nil {
		panic(&stop{module.FaultFuel, err})
	}
}

// check ends the guest when its call may not go on. The deadline is looked at
// beside ctx, for on a busy machine ctx's timer comes late.
func (i *instance) check() {
	cause := context.Cause(i.ctx)
	if cause == nil && time.Now().After(i.deadline) {
		cause = context.DeadlineExceeded
	}
	if cause != nil {
		panic(&stop{module.FaultTimeout, cause})
	}
}

// start makes an instance and runs its start function and _initialize, or wakes the one that sleeps, under
// ctx, which must have a deadline.
func (m *Module) start(ctx context.Context) (i *instance, fault *module.Fault) {
	if i := m.wake(ctx); i != nil {
		return i, nil
	}
	i = m.newInstance()
	err := i.instantiate(i.begin(ctx), i.ready, "_initialize")
	if err == nil {
		i.end()
		m.memory.Store(&i.memory)
		return i, nil
	}
	fault = i.fault(fmt.Errorf("start: %w", err))
	i.end()
	i.close()
	return nil, fault
}

func (m *Module) newInstance() *instance {
	e := m.engine
	i := &instance{m: m, era: e.asleep.Era(), memory: memory.Memory{Limit: uint64(e.cfg.MaxMemory), Reserved: &e.reserved}}
	i.wasi = wasi.Process{Born: e.born, Said: m.said, Check: i.check, Charge: i.charge, Trap: func(err error) { panic(trapf("%w", err)) }}
	e.instances.Add(1)
	return i
}

// ready has a new instance be as its calls want it.
func (i *instance) ready() (err error) {
	if i.m.way.drive != nil {
		i.driver = i.m.way.drive()
		err = i.driver.Start(guest{i})
	}
	return err
}

// instantiate makes the guest, calls the exports that start it, and has it made ready.
func (i *instance) instantiate(ctx context.Context, ready func() error, start ...string) (err error) {
	defer func() { // wazero panics when there is no memory to be had
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
			if why := i.memory.Err(); why != nil {
				err = why
			}
		}
	}()
	ctx = experimental.WithMemoryAllocator(ctx, &i.memory)
	cfg := wazero.NewModuleConfig().WithName("").WithStartFunctions(start...)
	i.guest, err = i.m.form.runtime.InstantiateModule(ctx, i.m.form.compiled, cfg)
	if err != nil {
		return err
	}
	if i.m.way.drive == nil {
		i.call = i.guest.ExportedFunction(abi.Export)
	}
	err = ready()
	i.hot = map[string]api.Function{} // what is called from now on is called often
	return err
}

// close gives everything back. The guest must not be running.
func (i *instance) close() {
	if i.guest != nil {
		_ = i.guest.Close(context.Background())
	}
	i.memory.Free() // wazero does not where the start failed
	i.m.engine.instances.Add(-1)
}

// run calls the guest once under ctx, which must have a deadline. The error is
// the guest's own *abi.Error, and then fault is nil.
func (i *instance) run(ctx context.Context, req abi.Request, asks bool) (json.RawMessage, *module.Fault, error) {
	request, err := module.WriteRequest(req, i.m.id)
	if err != nil {
		return nil, nil, err
	}
	ctx = i.begin(ctx)
	defer i.end()
	i.did.Owe(i.m.debt)
	i.did.Of(req.Op)
	i.pending, i.asks, i.of = request, asks, req
	i.of.Data = nil
	stack := [1]uint64{uint64(len(request))}
	if i.driver == nil {
		err = i.call.CallWithStack(ctx, stack[:])
	} else {
		stack[0] = 0
		i.reply, err = i.driver.Call(request)
		i.replied = true
		if len(i.reply) > abi.MaxReply {
			err = &stop{module.FaultReply, fmt.Errorf("reply of %d bytes, at most %d", len(i.reply), abi.MaxReply)}
		}
	}
	if err != nil {
		return nil, i.fault(err), nil
	}
	data, guestErr, err := border.Reply(uint32(stack[0]), i.reply, i.replied)
	if err != nil {
		return nil, &module.Fault{Kind: module.FaultReply, Cause: err}, nil
	}
	if guestErr != nil {
		return nil, nil, guestErr
	}
	return data, nil, nil
}

// fault says what a guest did that made its call return err. The stack
// trace that wazero adds to err goes to the log; the fault keeps the first line,
// with what the guest itself had to say.
func (i *instance) fault(err error) *module.Fault {
	var s *stop
	var exit *sys.ExitError
	switch {
	case errors.As(err, &s):
	case errors.As(err, &exit) && (exit.ExitCode() == sys.ExitCodeDeadlineExceeded || exit.ExitCode() == sys.ExitCodeContextCanceled):
		cause := context.Cause(i.ctx)
		if cause == nil {
			cause = context.DeadlineExceeded
		}
		s = &stop{module.FaultTimeout, cause}
	}
	if s != nil {
		if err := i.did.Check(); err != nil && s.kind == module.FaultTimeout {
			s = &stop{module.FaultFuel, err}
		}
		return &module.Fault{Kind: s.kind, Cause: s.cause}
	}
	var wrong *abi.Error
	if errors.As(err, &wrong) { // with a source
		return &module.Fault{Kind: module.FaultTrap, Cause: wrong}
	}
	i.m.log.LogAttrs(context.Background(), slog.LevelDebug, "module trapped", slog.Any("err", err))
	line, _, _ := strings.Cut(err.Error(), "\n")
	line = strings.ReplaceAll(line, "wasm error: ", "")
	i.m.said.End() // so that a line without an end is seen too
	if said := i.m.said.LastWords(); said != "" {
		line += ": " + said
	}
	return &module.Fault{Kind: module.FaultTrap, Cause: errors.New(line)}
}
