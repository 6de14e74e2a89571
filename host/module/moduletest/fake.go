// Package moduletest helps to test what has to do with modules: a suite that
// every engine passes, and an engine without a guest for tests of what stands
// on modules. It never belongs in the daemon itself.
package moduletest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// Module is a module made of functions. It keeps the promises of
// [module.Module]: Close waits for calls, then ends them by force, and after it
// there are none. The zero value answers every op with null.
type Module struct {
	Desc   abi.Description
	OnCall func(ctx context.Context, req abi.Request) (json.RawMessage, error) // its ctx ends with a Close by force
	Bytes  int64

	calls  module.Calls
	closed atomic.Bool
	late   atomic.Int64
	engine *Engine
}

// Describe gives Desc.
func (m *Module) Describe() abi.Description { return m.Desc }

// Memory gives Bytes.
func (m *Module) Memory() int64 { return m.Bytes }

// Call runs OnCall.
func (m *Module) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	ctx, end, err := m.calls.Begin(ctx)
	if err != nil {
		m.late.Add(1)
		return nil, err
	}
	defer end()
	if m.OnCall == nil {
		return json.RawMessage("null"), nil
	}
	return m.OnCall(ctx, req)
}

// Close ends the module. OnCall has to heed its ctx for the force to work.
func (m *Module) Close(ctx context.Context) error {
	m.closed.Store(true)
	idle, first := m.calls.Close(ctx)
	if !first {
		return abi.Errorf(abi.CodeInternal, "module closed twice")
	}
	<-idle
	if m.engine != nil {
		m.engine.closed.Add(1)
	}
	return nil
}

// Closed says whether Close was called.
func (m *Module) Closed() bool { return m.closed.Load() }

// Late gives how many calls came after Close; a companion makes none.
func (m *Module) Late() int { return int(m.late.Load()) }

// Engine is an engine without a guest. Its zero value takes ".fake" files that
// hold a [Script], and no folders.
type Engine struct {
	Ext    string                                                            // ".fake" if empty
	Entry  string                                                            // a folder with this file is taken whole
	Kind   string                                                            // its name, "fake" if empty
	OnLoad func(ctx context.Context, s module.Source) (module.Module, error) // reads a Script if nil

	mu             sync.Mutex
	loads          []module.Source
	opened, closed atomic.Int64
}

// Name gives Kind.
func (e *Engine) Name() string { return cmp.Or(e.Kind, "fake") }

// Match takes what ends in Ext.
func (e *Engine) Match(file string) (name string, ok bool) {
	return strings.CutSuffix(file, cmp.Or(e.Ext, ".fake"))
}

// MatchFolder takes a folder with an Entry.
func (e *Engine) MatchFolder(files []string) bool { return slices.Contains(files, e.Entry) }

// Load runs OnLoad, or makes a module of a Script.
func (e *Engine) Load(ctx context.Context, s module.Source) (module.Module, error) {
	e.mu.Lock()
	e.loads = append(e.loads, s)
	e.mu.Unlock()
	load := e.OnLoad
	if load == nil {
		load = LoadScript
	}
	m, err := load(ctx, s)
	if err != nil || m == nil {
		return nil, err
	}
	e.opened.Add(1)
	if fake, ok := m.(*Module); ok {
		fake.engine = e
	}
	return m, nil
}

// Loads gives the sources Load was called with, oldest first.
func (e *Engine) Loads() []module.Source {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.loads)
}

// Opened and Closed count modules that Load gave, and those of type *Module
// that were closed since.
func (e *Engine) Opened() int { return int(e.opened.Load()) }

// Closed counts as Opened says.
func (e *Engine) Closed() int { return int(e.closed.Load()) }

// Script is a companion that always says the same, as a JSON file:
// {"name":"Aya","answers":{"vote":{"state":"speak","importance":5}}}
type Script struct {
	Name    string                     `json:"name"`
	Aliases []string                   `json:"aliases,omitempty"`
	Answers map[string]json.RawMessage `json:"answers"` // by op
}

// LoadScript makes a [Module] of a file that holds a [Script]. It answers
// describe, and what the script has an answer for.
func LoadScript(_ context.Context, src module.Source) (module.Module, error) {
	var s Script
	if err := json.Unmarshal(src.Data, &s); err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "not a script: %w", err)
	}
	if s.Name == "" {
		return nil, abi.Errorf(abi.CodeInvalid, "name: must not be empty")
	}
	desc := abi.Description{ABI: "1", Name: s.Name, Aliases: s.Aliases, Ops: []string{abi.OpDescribe}}
	for op := range s.Answers {
		desc.Ops = append(desc.Ops, op)
	}
	slices.Sort(desc.Ops[1:])
	return &Module{Desc: desc, Bytes: int64(len(src.Data)), OnCall: func(_ context.Context, req abi.Request) (json.RawMessage, error) {
		if req.Op == abi.OpDescribe {
			return json.Marshal(desc)
		}
		if a, ok := s.Answers[req.Op]; ok {
			return a, nil
		}
		return nil, abi.Errorf(abi.CodeUnknownOp, "no op %q", req.Op)
	}}, nil
}
