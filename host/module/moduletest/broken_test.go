package moduletest

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// broken is an engine that keeps all promises but those its functions break. Each
// function may be nil.
type broken struct {
	module.Engine
	match func(file string) bool
	load  func(ctx context.Context, s module.Source) (module.Module, error)
	call  func(ctx context.Context, m module.Module, req abi.Request) (json.RawMessage, error)
	close func(ctx context.Context, m module.Module) error
}

func (b broken) Match(file string) (string, bool) {
	if b.match != nil {
		return strings.TrimSuffix(file, ".fake"), b.match(file)
	}
	return b.Engine.Match(file)
}

func (b broken) Load(ctx context.Context, s module.Source) (module.Module, error) {
	if b.load != nil {
		return b.load(ctx, s)
	}
	m, err := b.Engine.Load(ctx, s)
	if err != nil {
		return nil, err
	}
	return brokenModule{m, b}, nil
}

type brokenModule struct {
	module.Module
	b broken
}

func (m brokenModule) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	if m.b.call != nil {
		return m.b.call(ctx, m.Module, req)
	}
	return m.Module.Call(ctx, req)
}

func (m brokenModule) Close(ctx context.Context) error {
	if m.b.close != nil {
		return m.b.close(ctx, m.Module)
	}
	return m.Module.Close(ctx)
}

// verdict is a test that notes whether it failed.
type verdict struct {
	testing.TB
	failed atomic.Bool
}

func (v *verdict) Helper()               {}
func (v *verdict) Errorf(string, ...any) { v.failed.Store(true) }
func (v *verdict) Fatalf(string, ...any) { v.failed.Store(true); runtime.Goexit() }

// fails runs one case of the suite and says whether it failed.
func fails(t *testing.T, c promise) bool {
	v := &verdict{TB: t}
	over := make(chan struct{})
	go func() {
		defer close(over)
		c.run(v)
	}()
	<-over
	return v.failed.Load()
}

// The ways in which an engine can be broken, by the case that must catch them.
func brokenEngines(t *testing.T) map[string][]broken {
	loadsAll := broken{load: func(context.Context, module.Source) (module.Module, error) { return &Module{}, nil }}
	mumbles := broken{load: func(context.Context, module.Source) (module.Module, error) { return nil, errors.New("broken pipe") }}
	neverLoads := broken{load: func(context.Context, module.Source) (module.Module, error) { <-t.Context().Done(); return nil, nil }}
	ownError := broken{call: func(_ context.Context, _ module.Module, req abi.Request) (json.RawMessage, error) {
		return nil, abi.Errorf(abi.CodeInternal, "the guest is gone")
	}}
	// dies answers nothing more after a fault.
	dies := func() broken {
		var dead atomic.Bool
		return broken{call: func(ctx context.Context, m module.Module, req abi.Request) (json.RawMessage, error) {
			if dead.Load() {
				return nil, abi.Errorf(abi.CodeInternal, "the guest is gone")
			}
			data, err := m.Call(ctx, req)
			dead.Store(errors.As(err, new(*module.Fault)))
			return data, err
		}}
	}
	// swaps answers with one word for another.
	swaps := func(old, new string) broken {
		return broken{call: func(ctx context.Context, m module.Module, req abi.Request) (json.RawMessage, error) {
			data, err := m.Call(ctx, req)
			return json.RawMessage(strings.ReplaceAll(string(data), old, new)), err
		}}
	}
	var busy atomic.Bool
	return map[string][]broken{
		"match": {{match: func(string) bool { return true }}, {match: func(string) bool { return false }}},
		"good": {ownError, loadsAll, mumbles,
			{call: func(ctx context.Context, m module.Module, req abi.Request) (json.RawMessage, error) {
				data, err := m.Call(ctx, req)
				if abi.CodeOf(err) == abi.CodeUnknownOp {
					err = &module.Fault{Kind: module.FaultTrap, Cause: err}
				}
				return data, err
			}},
			{close: func(context.Context, module.Module) error { return nil }},
			{close: func(context.Context, module.Module) error { return errors.New("broken pipe") }}},
		"many callers": {{call: func(ctx context.Context, m module.Module, req abi.Request) (json.RawMessage, error) {
			if !busy.CompareAndSwap(false, true) {
				return nil, abi.Errorf(abi.CodeUnavailable, "busy")
			}
			defer busy.Store(false)
			time.Sleep(time.Millisecond)
			return m.Call(ctx, req)
		}}},
		"gives up waiting": {{call: func(ctx context.Context, m module.Module, req abi.Request) (json.RawMessage, error) {
			return m.Call(context.WithoutCancel(ctx), req)
		}}},
		"close while calling": {
			{close: func(ctx context.Context, m module.Module) error { // does not wait
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return m.Close(ctx)
			}},
			{close: func(_ context.Context, m module.Module) error { return m.Close(t.Context()) }}, // knows no force
			{call: func(ctx context.Context, m module.Module, req abi.Request) (json.RawMessage, error) {
				data, err := m.Call(ctx, req)
				if errors.As(err, new(*module.Fault)) { // makes an answer up
					return json.RawMessage(`{"state":"listen","importance":0}`), nil
				}
				return data, err
			}}},
		"empty file": {loadsAll, mumbles, neverLoads}, "noise": {loadsAll, mumbles, neverLoads},
		string(Scribe):   {ownError, loadsAll, swaps("円", "ドル"), swaps("YES", "NO"), swaps(`"M2"`, `"M1"`), swaps("missing", "gone")},
		string(WrongABI): {loadsAll, mumbles, neverLoads}, string(HangsAtLoad): {loadsAll, mumbles, neverLoads}, string(NotDescribing): {loadsAll, mumbles, neverLoads},
		string(Hang): {ownError, dies()}, string(Trap): {ownError, dies()}, string(Exit): {ownError, dies()}, string(Grow): {ownError, dies()}, string(BadReply): {ownError, dies()}, string(HugeReply): {ownError, dies()},
	}
}

// TestTheSuiteCatchesBrokenEngines: no case is there that cannot fail.
func TestTheSuiteCatchesBrokenEngines(t *testing.T) {
	engines := brokenEngines(t)
	var names []string
	var all sync.WaitGroup // of which many wait for what never ends
	for _, c := range (suite{name: "aya.fake"}).cases() {
		names = append(names, c.name)
		if len(engines[c.name]) == 0 {
			t.Errorf("no broken engine shows that %q can fail", c.name)
		}
		for i, b := range engines[c.name] {
			b.Engine = actor()
			s := suite{b, "aya.fake", guests(), time.Second}
			at := slices.IndexFunc(s.cases(), func(o promise) bool { return o.name == c.name })
			all.Go(func() {
				if !fails(t, s.cases()[at]) {
					t.Errorf("%q passes broken engine %d", c.name, i)
				}
			})
		}
	}
	all.Wait()
	for name := range engines {
		if !slices.Contains(names, name) {
			t.Errorf("the suite has no case %q", name)
		}
	}
}
