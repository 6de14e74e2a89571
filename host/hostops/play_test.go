package hostops

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// handlers are those who play, and nothing else.
type handlers struct{ Handlers }

func (handlers) Play(_ context.Context, _ module.Caller, a abi.ActionAsk) (abi.ActionPlayed, error) {
	return abi.ActionPlayed{ID: "by a handler for " + a.Companion}, nil
}

func (handlers) Result(c module.Caller, a abi.ResultAsk) error {
	return abi.Errorf(abi.CodeNotFound, "%s is told %s %v", c.Companion, a.ID, a.OK)
}

// TestWhoPlays: a companion plays for itself alone, a handler for those it names; results are of handlers.
func TestWhoPlays(t *testing.T) {
	ops := &Ops{Act: func(_ context.Context, c module.Caller, _ abi.ActionAsk) (abi.ActionPlayed, error) {
		return abi.ActionPlayed{ID: "by " + c.Companion}, nil
	}}
	ask := func(who, op, host, data string) string {
		answer, err := ops.HostCall(t.Context(), module.Caller{Companion: who, Op: op}, host, json.RawMessage(data))
		if err != nil {
			return err.Error()
		}
		return string(answer)
	}
	for range 2 {
		for _, c := range []struct{ who, op, data, want string }{
			{"aya", abi.OpSpeak, `{"action":"wave"}`, `"by aya"`}, {"aya", abi.OpPerceive, `{"action":"wave","companion":"aya"}`, `"by aya"`},
			{"aya", abi.OpSpeak, `{"action":"wave","companion":"kyoko"}`, "a handler for kyoko"},
			{"lamp", abi.OpAct, `{"action":"wave","companion":"aya"}`, "a handler for aya"}, {"lamp", abi.OpTimer, `{"action":"wave"}`, `a handler for "`},
			{"aya", abi.OpRun, `{"action":"wave","companion":"aya"}`, "a handler for aya"},
		} {
			if ops.Handlers == nil && strings.Contains(c.want, "handler") {
				c.want = "unavailable: action.emit: there are no handlers here"
			}
			if got := ask(c.who, c.op, abi.HostActionEmit, c.data); !strings.Contains(got, c.want) {
				t.Errorf("%+v: %s", c, got)
			}
		}
		ops.Handlers = handlers{}
	}
	if got := ask("lamp", abi.OpRun, abi.HostActionResult, `{"id":"7","companion":"aya","ok":true}`); got != "not_found: lamp is told 7 true" {
		t.Error(got)
	}
}
