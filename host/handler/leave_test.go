package handler

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/handler/filter"
	"github.com/companiond/companiond/host/rooms"
)

// TestTimersEndWithTheHandler: when its settings are others, and when it leaves, none is left: neither one that is not due yet
// nor one that is due while the handler is busy. A goroutine that stayed would hang the bubble.
func TestTimersEndWithTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x *tower
		x = newTower(Handler{Settings: json.RawMessage(`{"n":1}`)}, `{"type":"object","properties":{"n":{"type":"number"}}}`, func(ctx context.Context, req abi.Request) error {
			var due abi.Timer
			if err := json.Unmarshal(req.Data, &due); err != nil || due.Name != "" {
				return err
			}
			c := x.during(abi.OpTimer)
			err := errors.Join(x.SetTimer(c, abi.TimerAsk{Name: "due", After: 100}), x.SetTimer(c, abi.TimerAsk{Name: "due too", After: 200}), x.SetTimer(c, abi.TimerAsk{Name: "not yet", After: 15_000}))
			<-ctx.Done() // it is busy for as long as it may be
			return errors.Join(err, ctx.Err())
		}, abi.OpTimer)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = x.Run(ctx) }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		const first, second = `timer {"name":"","companions":["aya"],"settings":{"n":1}}`, `timer {"name":"","companions":["aya"],"settings":{"n":2}}`
		x.has(first)(t)
		h := x.cfg.Handlers[0]
		h.Settings = json.RawMessage(`{"n":2}`)
		x.Replace([]Handler{h})
		time.Sleep(15 * time.Second) // the first one's last timer would be due by now
		synctest.Wait()
		x.has(first, second)(t)
		if n := len(x.timers["tower"].set); n != 3 {
			t.Errorf("%d timers are set", n)
		}
		cancel()
		<-ended
		if x.timers["tower"].set != nil {
			t.Errorf("set when it has left: %v", x.timers["tower"].set)
		}
	})
}

// den is a room that keeps what filters did.
type den struct {
	room
	told []entry.Handled
}

func (d *den) Handled(_ context.Context, h entry.Handled) error {
	d.told = append(d.told, h)
	return nil
}

// TestASourceThatFilters: a handler that filters perceptions is not asked about one that it emits, which it would wait for
// itself for; what it did not emit it is asked about.
func TestASourceThatFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x *tower
		var begun time.Time
		x = newTower(Handler{}, "", func(ctx context.Context, req abi.Request) error {
			if req.Op != abi.OpTimer {
				return nil
			}
			begun = time.Now()
			_, err := x.Emit(ctx, x.during(abi.OpTimer), abi.PerceptionAsk{Companion: "aya", Title: "chat", Body: json.RawMessage(`"hi"`)})
			if err != nil || time.Since(begun) > 0 {
				t.Errorf("%v, after %v", err, time.Since(begun))
			}
			return err
		}, abi.OpTimer, abi.OpSense)
		d := new(den)
		f := filter.New(filter.Config{
			Handlers: x.cfg.Handlers, Log: x.cfg.Log, NewID: func() string { return "call" }, Home: func(context.Context, string) (rooms.Room, error) { return d, nil },
			Module: func(id string) (filter.Module, bool) { m, ok := x.cfg.Module(id); return m, ok },
		})
		x.cfg.Perceive = func(ctx context.Context, who string, p abi.Percept) (uint64, error) {
			_, err := f.Admit(ctx, who, p)
			return 1, err
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = x.Run(ctx) }()
		synctest.Wait()
		x.has(`timer {"name":"",` + noSettings)(t)
		if begun.IsZero() || len(d.told) != 0 {
			t.Errorf("asked about its own: %+v", d.told)
		}
		if _, err := f.Admit(t.Context(), "aya", abi.Percept{Title: "chat", Format: "text", Body: json.RawMessage(`"ho"`)}); err != nil || len(d.told) != 1 || len(x.asked) != 2 {
			t.Errorf("%v, %+v, %q", err, d.told, x.asked)
		}
		cancel()
		synctest.Wait()
	})
}
