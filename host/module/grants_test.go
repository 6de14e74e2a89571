package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// granted lets everybody say and aya ask the model.
func granted(id string) []string {
	if id == "aya" {
		return []string{abi.HostSay, abi.HostModelGenerate}
	}
	return []string{abi.HostSay}
}

// anything answers every op, and notes which were asked.
type anything struct{ asked []string }

func (a *anything) HostCall(_ context.Context, c module.Caller, op string, _ json.RawMessage) (json.RawMessage, error) {
	a.asked = append(a.asked, c.Companion+" "+op)
	return json.RawMessage(`"yes"`), nil
}

// Each module gets what it is granted by its own name, and a denial names the key
// that would grant the op, with what is granted already.
func TestGrantsHoldForEachModule(t *testing.T) {
	for _, tt := range []struct {
		grants module.Grants
		id, op string
		code   abi.Code
		says   string
	}{
		{granted, "aya", abi.HostModelGenerate, "", ""},
		{granted, "ken", abi.HostSay, "", ""},
		{granted, "ken", abi.HostModelGenerate, abi.CodeDenied,
			`host_call: "model.generate" is not granted to ken; to grant it, write under [module.ken] in the configuration: grant = ["say", "model.generate"]`},
		{granted, "京子.x", abi.HostActionEmit, abi.CodeDenied,
			`host_call: "action.emit" is not granted to 京子.x; to grant it, write under [module."京子.x"] in the configuration: grant = ["say", "action.emit"]`},
		{nil, "aya", abi.HostSay, abi.CodeDenied,
			`host_call: "say" is not granted to aya; to grant it, write under [module.aya] in the configuration: grant = ["say"]`},
		{granted, "aya", "launch_rockets", abi.CodeUnknownOp, `host_call: there is no op "launch_rockets"`},
	} {
		host := &anything{}
		data, err := tt.grants.Guard(host).HostCall(t.Context(), module.Caller{Companion: tt.id}, tt.op, nil)
		if abi.CodeOf(err) != tt.code || err != nil && abi.AsError(err).Message != tt.says {
			t.Errorf("%s %s gives %v\nwant %s: %s", tt.id, tt.op, err, tt.code, tt.says)
		}
		if asked := len(host.asked) == 1; asked != (tt.code == "") || asked != (string(data) == `"yes"`) {
			t.Errorf("%s %s: the host was asked %q and gave %s", tt.id, tt.op, host.asked, data)
		}
		if errors.Is(err, module.ErrNotGranted) != (tt.code == abi.CodeDenied) {
			t.Errorf("%s %s: %v", tt.id, tt.op, err)
		}
	}
}

// An op that every module may use needs no grant; the others are denied without.
func TestEveryHostOpIsGrantedOrDenied(t *testing.T) {
	host := &anything{}
	guard := module.Grants(nil).Guard(host)
	for _, op := range slices.Concat(abi.AlwaysGranted(), abi.GrantedOnly()) {
		want := abi.Code("")
		if slices.Contains(abi.GrantedOnly(), op) {
			want = abi.CodeDenied
		}
		if _, err := guard.HostCall(t.Context(), module.Caller{Companion: "aya"}, op, nil); abi.CodeOf(err) != want {
			t.Errorf("%s gives %v, want %q", op, err, want)
		}
	}
}
