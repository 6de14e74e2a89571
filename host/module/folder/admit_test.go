package folder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
)

// TestABadCardReplacesNothing: the module that is loaded serves on, and the bad module is closed.
func TestABadCardReplacesNothing(t *testing.T) {
	var bad *moduletest.Module
	bubble(t, func(r *rig, _ *folder.Config) {
		r.engine.OnLoad = func(_ context.Context, f module.Source) (module.Module, error) {
			m := &moduletest.Module{Desc: abi.Description{ABI: "1", Name: "Dancer", Card: json.RawMessage(f.Data)}}
			if f.Generation == 2 {
				bad = m
			}
			return m, nil
		}
	}, func(t *testing.T, r *rig) {
		write(t, r.path("dancer.fake"), `{"name":"Dancer"}`)
		r.begin()
		r.save("dancer.fake", `{"name":"","actions":[]}`)
		r.settle()
		s := r.folder.Status()[0]
		if s.State != module.StateReady || s.Generation != 1 || !strings.Contains(s.Error, "name") || bad == nil || !bad.Closed() {
			t.Errorf("%+v; the refused module is closed: %v", s, bad != nil && bad.Closed())
		}
	})
}

// A file that needs more than it is granted is refused, whatever its engine, and
// what it needs is named as one key.
func TestNeedsAreHeldToGrants(t *testing.T) {
	needing := func(ops ...string) func(context.Context, module.Source) (module.Module, error) {
		return func(context.Context, module.Source) (module.Module, error) {
			return &moduletest.Module{Desc: abi.Description{ABI: "1", Name: "Ken", Needs: ops}}, nil
		}
	}
	for says, load := range map[string]func(context.Context, module.Source) (module.Module, error){
		"": needing(abi.HostSay, abi.HostKVGet),
		`describe.needs: "action.emit", "model.generate" is not granted to ken; to grant it, write under [module.ken] in the configuration: grant = ["say", "action.emit", "model.generate"]`: needing(abi.HostSay, abi.HostActionEmit, abi.HostModelGenerate),
		`describe.needs: there is no op "launch.rockets"`: needing("launch.rockets", abi.HostKVGet),
	} {
		bubble(t, func(r *rig, c *folder.Config) {
			r.engine.OnLoad, c.Grants = load, func(string) []string { return []string{abi.HostSay} }
		}, func(t *testing.T, r *rig) {
			write(t, r.path("ken.fake"), "x")
			r.begin()
			if says == "" {
				checkStatus(t, r.folder, "ken", module.StateReady, 1, "")
				return
			}
			checkStatus(t, r.folder, "ken", module.StateFailed, 0, "ken.fake: "+says)
		})
	}
}

// Only a character can live in a room: a handler does not even replace one.
func TestHandlersLiveInNoRoom(t *testing.T) {
	kind := abi.Character
	bubble(t, func(r *rig, _ *folder.Config) {
		r.engine.OnLoad = func(context.Context, module.Source) (module.Module, error) {
			return &moduletest.Module{Desc: abi.Description{ABI: "1", Name: "Aya", Kind: kind}}, nil
		}
	}, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), "0")
		r.begin()
		for i, k := range []abi.ModuleKind{abi.PerceptionHandler, abi.ActionHandler, abi.LineHandler} {
			kind = k
			r.save("aya.fake", fmt.Sprint(i+1))
			r.save(fmt.Sprint("h", i, ".fake"), "x")
			r.settle()
			says := fmt.Sprintf("describe.kind: %q: only a character can live in a room", k)
			checkStatus(t, r.folder, "aya", module.StateReady, 1, says)
			checkStatus(t, r.folder, fmt.Sprint("h", i), module.StateFailed, 0, says)
		}
		r.checkTold("joined aya")
	})
}

// TestABadHandlerReplacesNothing: whatever kind of handler it is, one whose actions or settings cannot be read is refused.
func TestABadHandlerReplacesNothing(t *testing.T) {
	for _, kind := range []abi.ModuleKind{abi.Handler, abi.ActionHandler, abi.LineHandler} {
		for _, d := range []abi.Description{
			{Actions: []abi.Offer{{Name: "lamp", Schema: json.RawMessage(`{"type":"nonsense"}`)}}}, {Settings: json.RawMessage(`{"type":"nonsense"}`)},
		} {
			d.ABI, d.Name, d.Kind = "1", "Lamp", kind
			if err := folder.Admit("lamp", d, true, nil); abi.CodeOf(err) != abi.CodeInvalid {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
}
