package module_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

func TestCallsEndBeforeClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls module.Calls
		ctx, end, err := calls.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() { time.Sleep(time.Second); end() }()
		begin := time.Now()
		idle, first := calls.Close(t.Context())
		<-idle
		if took := time.Since(begin); took != time.Second || !first {
			t.Errorf("Close took %v, first %v", took, first)
		}
		if !errors.Is(context.Cause(ctx), context.Canceled) || calls.Killed().Err() == nil {
			t.Errorf("the call ended by %v; killed %v", context.Cause(ctx), calls.Killed().Err())
		}
		if _, _, err := calls.Begin(t.Context()); err != module.ErrClosed || abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("a call after Close: %v", err)
		}
		if idle, first := calls.Close(t.Context()); first {
			t.Error("Close twice is the first twice")
		} else {
			<-idle
		}
	})
}

func TestCallsEndByForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls module.Calls
		ctx, end, err := calls.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		until, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		idle, _ := calls.Close(until)
		if <-ctx.Done(); context.Cause(ctx) != module.ErrClosed {
			t.Errorf("ended by %v", context.Cause(ctx))
		}
		select {
		case <-idle:
			t.Error("idle while a call runs")
		default:
		}
		end()
		<-idle
	})
}

// A module that was closed before it was ever called is idle.
func TestNoCalls(t *testing.T) {
	var calls module.Calls
	idle, first := calls.Close(t.Context())
	if <-idle; !first || calls.Killed().Err() == nil {
		t.Errorf("first %v, killed %v", first, calls.Killed().Err())
	}
}
