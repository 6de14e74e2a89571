package handler

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/moduletest"
)

// errGoesOn is what a handler of a test answers where the work goes on.
var errGoesOn = errors.New("it goes on")

// newDesk is a tower that acts: on answers what it is asked, and may be nil.
func newDesk(t *testing.T, h Handler, settings string, on func(context.Context, abi.Acting) (string, error)) *tower {
	x := newTower(h, settings, nil)
	acts := &moduletest.Module{Desc: abi.Description{
		ABI: "1", Name: "Tower", Kind: abi.Handler, Ops: []string{abi.OpAct}, Settings: json.RawMessage(settings),
		Actions: []abi.Offer{
			{Name: "lamp.set", Description: "Switches it.", Schema: json.RawMessage(`{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}`)}, {Name: "lamp.break"},
		},
	}}
	acts.OnCall = func(ctx context.Context, req abi.Request) (json.RawMessage, error) {
		x.mu.Lock()
		x.asked = append(x.asked, req.Op+" "+req.Room+" "+string(req.Data))
		x.mu.Unlock()
		var a abi.Acting
		if err := json.Unmarshal(req.Data, &a); err != nil || on == nil {
			return json.RawMessage(`{"message":"done"}`), err
		}
		message, err := on(ctx, a)
		if errors.Is(err, errGoesOn) {
			return json.RawMessage(`{"later":true}`), nil
		}
		out, _ := json.Marshal(abi.Acted{Message: message})
		return out, err
	}
	x.module = acts
	m := module.NewCompanion("tower", module.NewGeneration(1, "process", acts), module.Limits{}, x.log.Logger())
	x.cfg.Module = func(id string) (*module.Companion, bool) { return m, id == "tower" }
	return x
}

// runs has the stage run until the test has what it wants.
func (x *tower) runs(t *testing.T) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = x.Run(ctx) }()
	synctest.Wait()
	return func() { cancel(); <-ended }
}

func (x *tower) acts(t *testing.T, handler, action, parameters string) (string, error) {
	return x.Act(t.Context(), "mika", handler, action, json.RawMessage(parameters))
}

// TestAPersonHasOneAct: the handler is told who asks, and no companion; the log is told what was asked for, and no parameters.
func TestAPersonHasOneAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newDesk(t, Handler{}, "", nil)
		if _, err := x.acts(t, "tower", "lamp.break", ""); abi.CodeOf(err) != abi.CodeUnavailable || len(x.asked) != 0 {
			t.Errorf("before it runs: %v %s", err, x.asked)
		}
		end := x.runs(t)
		for _, parameters := range []string{`{"on":true}`, `{"on":false}`} {
			if got, err := x.acts(t, "tower", "lamp.set", parameters); got != "done" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		}
		ids := map[string]bool{}
		for _, asked := range x.asked {
			var a abi.Acting
			if err := json.Unmarshal([]byte(strings.TrimPrefix(asked, "act  ")), &a); err != nil || a.By != "mika" || a.Companion != "" || a.Perception != "" || a.Action != "lamp.set" || len(a.Parameters) == 0 {
				t.Errorf("asked %s: %v", asked, err)
			}
			ids[a.ID] = true
		}
		if log := x.log.String(); len(ids) != 2 || !strings.Contains(log, "by=mika") || !strings.Contains(log, "action=lamp.set") || strings.Contains(log, "on") && strings.Contains(log, "true") {
			t.Errorf("%v\n%s", ids, log)
		}
		end()
		if _, err := x.acts(t, "tower", "lamp.break", ""); abi.CodeOf(err) != abi.CodeUnavailable || len(x.asked) != 2 {
			t.Errorf("when it has ended: %v %s", err, x.asked)
		}
	})
}

// TestAPersonIsRefused: of what cannot be nobody is asked, and the person is told what there is.
func TestAPersonIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newDesk(t, Handler{}, "", nil)
		x.Replace(append(slices.Clone(x.cfg.Handlers), Handler{Name: "desk", Module: "gone"}))
		defer x.runs(t)()
		for _, c := range []struct {
			handler, action, parameters string
			code                        abi.Code
			want                        string
		}{
			{"lamp", "lamp.set", `{"on":true}`, abi.CodeNotFound, `handler: there is no "lamp"; there are: tower, desk`},
			{"desk", "lamp.set", `{"on":true}`, abi.CodeUnavailable, "handler: desk can do nothing now: its module is not loaded"},
			{"tower", "lamp", `{}`, abi.CodeNotFound, `action: tower has no "lamp"; there are: lamp.set, lamp.break`},
			{"tower", "lamp.set", `{"on":"yes"}`, abi.CodeInvalid, "parameters.on: is a string"},
			{"tower", "lamp.set", ``, abi.CodeInvalid, "parameters.on: "},
			{"tower", "lamp.set", `[]`, abi.CodeInvalid, "parameters: is an array"},
			{"tower", "lamp.break", `{"how":1}`, abi.CodeInvalid, "parameters.how"},
		} {
			if _, err := x.acts(t, c.handler, c.action, c.parameters); abi.CodeOf(err) != c.code || !strings.HasPrefix(abi.AsError(err).Message, c.want) {
				t.Errorf("%s %s %s: %v", c.handler, c.action, c.parameters, err)
			}
		}
		if len(x.asked) != 0 {
			t.Errorf("asked %s", x.asked)
		}
		list := x.List()
		if len(list) != 2 || list[0].Why != "" || len(list[0].Actions) != 2 || strings.Join(list[0].Companions, " ") != "aya" || list[1].Why != notLoaded || len(list[1].Actions) != 0 {
			t.Errorf("%+v", list)
		}
	})
}

// TestAPersonIsToldWhatFailed: what the handler refuses with, its own fault as that, and no secret.
func TestAPersonIsToldWhatFailed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	where, _ := json.Marshal(map[string]string{"password": file})
	synctest.Test(t, func(t *testing.T) {
		var fails error
		says := ""
		x := newDesk(t, Handler{Secrets: where}, `{"type":"object","properties":{"password":{"type":"string"}}}`, func(context.Context, abi.Acting) (string, error) { return says, fails })
		defer x.runs(t)()
		fails = errGoesOn
		if got, err := x.acts(t, "tower", "lamp.break", ""); got != untold || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		fails = nil
		says = "with hunter2\x1b"
		if got, err := x.acts(t, "tower", "lamp.break", ""); got != "with (secret)" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		for _, c := range []struct {
			err   error
			code  abi.Code
			field string
			want  string
		}{
			{abi.Field("parameters.viewer", abi.CodeInvalid, "hunter2 is nobody"), abi.CodeInvalid, "parameters.viewer", "parameters.viewer: (secret) is nobody"},
			{abi.Errorf(abi.CodeInternal, "hunter2 broke"), abi.CodeUnavailable, "", "(secret) broke"},
			{&module.Fault{Kind: module.FaultFuel}, abi.CodeTimeout, "", "it took too long"},
			{&module.Fault{Kind: module.FaultTrap}, abi.CodeUnavailable, "", "the handler failed: trap"},
		} {
			fails = c.err
			_, err := x.acts(t, "tower", "lamp.break", "")
			if e := abi.AsError(err); e.Code != c.code || e.Field != c.field || e.Message != c.want {
				t.Errorf("%v: %+v", c.err, err)
			}
		}
		for says, want := range map[string]string{
			"with hun\u200bter2":                  "with (secret)",
			strings.Repeat("x", 993) + " hunter2": strings.Repeat("x", 993) + " (se…",
		} {
			fails = abi.Errorf(abi.CodeUnavailable, "%s", says)
			if _, err := x.acts(t, "tower", "lamp.break", ""); abi.AsError(err).Message != want {
				t.Errorf("%q: %v", says, err)
			}
		}
		x.module.OnCall = func(context.Context, abi.Request) (json.RawMessage, error) {
			return json.RawMessage(`["hunter2"]`), nil
		}
		_, err := x.acts(t, "tower", "lamp.break", "")
		if e := abi.AsError(err); e.Code != abi.CodeUnavailable || e.Message != "the handler is at fault: tower answered nonsense" {
			t.Errorf("nonsense: %+v", err)
		}
		if log := x.log.String(); strings.Contains(log, "hunter2") {
			t.Error(log)
		}
	})
}

// TestAPersonWaitsForTheModule: it does one thing at a time, and whoever waits too long is told to try again.
func TestAPersonWaitsForTheModule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let, out := make(chan struct{}), 0
		x := newDesk(t, Handler{}, "", func(ctx context.Context, a abi.Acting) (string, error) {
			if out++; out > 1 {
				t.Error("two at a time")
			}
			defer func() { out-- }()
			select {
			case <-let:
				return "let", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})
		end := x.runs(t)
		told := make(chan string, 2)
		asks := func(ctx context.Context) {
			message, err := x.Act(ctx, "mika", "tower", "lamp.break", nil)
			told <- message + string(abi.CodeOf(err))
		}
		gone, leave := context.WithCancel(t.Context())
		go asks(gone)
		synctest.Wait()
		go asks(t.Context())
		time.Sleep(mostBusy - time.Second)
		leave() // what has begun goes on
		synctest.Wait()
		close(let)
		for range 2 {
			if got := <-told; got != "let" {
				t.Error(got)
			}
		}
		let = make(chan struct{})
		began := time.Now()
		go asks(t.Context())
		synctest.Wait()
		go asks(t.Context())
		if got := <-told; got != string(abi.CodeUnavailable) || time.Since(began) != mostBusy {
			t.Errorf("%s after %v", got, time.Since(began))
		}
		if got := <-told; got != string(abi.CodeTimeout) || time.Since(began) != Patience {
			t.Errorf("%s after %v", got, time.Since(began))
		}
		go asks(t.Context())
		synctest.Wait()
		began = time.Now()
		end() // waits for it, and not for ever
		if got := <-told; got != string(abi.CodeUnavailable) || time.Since(began) != grace {
			t.Errorf("%s after %v", got, time.Since(began))
		}
	})
}

// TestAPersonsHandIsTheHandlers: in a call that a person asked for, a handler may do for its companions what it may otherwise, and one that
// is set aside for its faults is listed as that.
func TestAPersonsHandIsTheHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x *tower
		faults := false
		x = newDesk(t, Handler{Companions: []string{"*"}}, "", func(ctx context.Context, a abi.Acting) (string, error) {
			if faults {
				return "", &module.Fault{Kind: module.FaultTrap, Cause: errors.New("it broke")}
			}
			id := ""
			x.Stage.mu.Lock()
			for call := range x.Stage.calls {
				id = call
			}
			x.Stage.mu.Unlock()
			for _, who := range []string{"aya", "nobody"} {
				err := x.May(module.Caller{Companion: "tower", Call: id, Op: abi.HostPerceptionEmit}, who)
				if (err == nil) != (who == "aya") {
					t.Errorf("%s: %v", who, err)
				}
			}
			return "done", nil
		})
		defer x.runs(t)()
		if got, err := x.acts(t, "tower", "lamp.break", ""); got != "done" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		faults = true
		for range 3 {
			_, _ = x.acts(t, "tower", "lamp.break", "")
		}
		if all := x.List(); len(all) != 1 || !strings.Contains(all[0].Why, "quarantined: 3 faults") || len(all[0].Actions) != 2 {
			t.Errorf("%+v", all)
		}
	})
}
