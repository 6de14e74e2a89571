package moduletest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// actor is an engine whose files name how to misbehave: the suite must pass an
// engine that keeps the promises.
func actor() *Engine {
	return &Engine{OnLoad: func(ctx context.Context, f module.Source) (module.Module, error) {
		desc := abi.Description{ABI: "1", Name: "Aya", Ops: []string{abi.OpDescribe, abi.OpVote}}
		switch g := Guest(f.Data); g {
		case HangsAtLoad:
			<-ctx.Done()
			return nil, abi.Errorf(abi.CodeTimeout, "describe did not end")
		case Good, Hang, Trap, Exit, Grow, BadReply, HugeReply:
			return &Module{Desc: desc, OnCall: func(ctx context.Context, req abi.Request) (json.RawMessage, error) {
				return act(ctx, g, desc, req)
			}}, nil
		case Scribe:
			desc.Ops = []string{abi.OpDescribe, abi.OpCompress, abi.OpVerify}
			return &Module{Desc: desc, OnCall: func(_ context.Context, req abi.Request) (json.RawMessage, error) { return write(req) }}, nil
		default:
			return nil, abi.Errorf(abi.CodeInvalid, "no companion")
		}
	}}
}

func act(ctx context.Context, g Guest, desc abi.Description, req abi.Request) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch {
	case req.Op == abi.OpDescribe:
		return json.Marshal(desc)
	case req.Op != abi.OpVote:
		return nil, abi.Errorf(abi.CodeUnknownOp, "no op %q", req.Op)
	}
	kind := module.FaultReply
	switch g {
	case Good:
		return json.RawMessage(`{"state":"listen","importance":0}`), nil
	case Hang:
		<-ctx.Done()
		kind = module.FaultTimeout
	case Trap, Exit, Grow:
		kind = module.FaultTrap
	}
	return nil, &module.Fault{Kind: kind, Cause: errors.New(string(g))}
}

// write answers as the echo does.
func write(req abi.Request) (json.RawMessage, error) {
	switch req.Op {
	case abi.OpCompress:
		return module.Answer(req.Data, func(c abi.Compressing) (abi.Compressed, error) {
			var said []string
			for _, t := range c.Turns {
				said = append(said, t.From+": "+t.Text)
			}
			text := []rune(strings.Join(said, " / "))
			return abi.Compressed{Text: string(text[:min(len(text), c.Length)])}, nil
		})
	case abi.OpVerify:
		return module.Answer(req.Data, func(v abi.Verifying) (abi.Verified, error) {
			verdict := abi.Verified{Verdict: abi.VerdictYes}
			for _, k := range v.Keep {
				item := abi.VerifiedItem{ID: k.ID, Status: abi.StatusKept}
				if !strings.Contains(v.Draft, k.Text) {
					item.Status, verdict.Verdict = abi.StatusMissing, abi.VerdictNo
				}
				verdict.Items = append(verdict.Items, item)
			}
			return verdict, nil
		})
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "no op %q", req.Op)
}

func guests() map[Guest][]byte {
	m := map[Guest][]byte{}
	for _, g := range []Guest{Good, Hang, Trap, Exit, Grow, BadReply, HugeReply,
		WrongABI, HangsAtLoad, NotDescribing, Scribe} {
		m[g] = []byte(g)
	}
	return m
}

func TestSuitePassesAnEngineThatKeepsItsPromises(t *testing.T) {
	e := actor()
	Run(t, broken{Engine: e}, "aya.fake", guests()) // broken in nothing
	if e.Opened() == 0 || e.Opened() != e.Closed() {
		t.Errorf("%d modules opened, %d closed", e.Opened(), e.Closed())
	}
}

func TestScript(t *testing.T) {
	var e Engine
	m, err := e.Load(t.Context(), module.Source{ID: "aya", Data: []byte(`{"name":"Aya","aliases":["あや"],"answers":{"vote":{"state":"speak","importance":5},"speak":{"text":"hi"}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	if d := m.Describe(); d.Name != "Aya" || len(d.Ops) != 3 || d.Ops[1] != "speak" {
		t.Errorf("Describe gives %+v", d)
	}
	if data, err := m.Call(t.Context(), abi.Request{Op: "speak"}); err != nil || string(data) != `{"text":"hi"}` {
		t.Errorf("speak gives %s, %v", data, err)
	}
	if _, err := m.Call(t.Context(), abi.Request{Op: "act"}); abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("act gives %v", err)
	}
	if e.Opened() != 1 || e.Closed() != 0 || len(e.Loads()) != 1 || e.Loads()[0].ID != "aya" {
		t.Errorf("opened %d, closed %d, loads %v", e.Opened(), e.Closed(), e.Loads())
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := m.Call(t.Context(), abi.Request{Op: "speak"}); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("a call after Close gives %v", err)
	}
	fake := m.(*Module)
	if !fake.Closed() || fake.Late() != 1 || e.Closed() != 1 {
		t.Errorf("closed %v, late %d, %d closed", fake.Closed(), fake.Late(), e.Closed())
	}
	for _, broken := range []string{`{"name":"Aya"`, `{}`} {
		if _, err := e.Load(t.Context(), module.Source{Data: []byte(broken)}); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("%s gives %v", broken, err)
		}
	}
}
