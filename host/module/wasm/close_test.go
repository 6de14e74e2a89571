package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/waittest"
)

func TestCloseDrains(t *testing.T) {
	e := newTestEngine(t, nil)
	m := load(t, e, guestFile(t, "aya"))
	var wg sync.WaitGroup
	started := make(chan struct{}, 4)
	for range 4 { // one runs, three wait for their turn
		wg.Go(func() {
			started <- struct{}{}
			if _, err := do(within(t, waittest.Long), m, "work", ""); err != nil && abi.CodeOf(err) != abi.CodeUnavailable {
				t.Errorf("call in flight at Close: %v", err)
			}
		})
	}
	for range cap(started) {
		<-started
	}
	waitForCall(t, m)
	if err := m.Close(within(t, waittest.Long)); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	wantRefusal(t, vote(t.Context(), m), abi.CodeUnavailable, "closed")
	if m.Memory() != 0 {
		t.Errorf("memory %d after Close", m.Memory())
	}
	if err := m.Close(t.Context()); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

func TestCloseForces(t *testing.T) {
	e := newTestEngine(t, nil)
	retry(t, func(b *timing) { closeForces(t, e, b) })
}

func closeForces(t *testing.T, e *Engine, b *timing) {
	t.Helper()
	m := load(t, e, guestFile(t, "aya"))
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := do(within(t, waittest.Long), m, "loop", "")
		if faultKind(err) != module.FaultTimeout || !strings.Contains(err.Error(), module.ErrClosed.Error()) {
			t.Errorf("running call ended with %v", err)
		}
	})
	waitForCall(t, m)
	wg.Go(func() {
		if err := vote(within(t, waittest.Long), m); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("waiting call ended with %v", err)
		}
	})
	start := time.Now()
	if err := m.Close(within(t, 100*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	if took < 100*time.Millisecond {
		t.Errorf("Close took %v: it did not wait for the call", took)
	}
	b.atMost("Close took", took, closeGrace)
	wg.Wait()
}

func TestHostCallEndsWithItsCall(t *testing.T) {
	inside := make(chan struct{}, 2)
	host := &fakeHost{hook: func(ctx context.Context, _ string) (json.RawMessage, error) {
		inside <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	m := load(t, newTestEngine(t, func(c *Config) {
		c.Host = host
	}), guestFile(t, "aya"))
	retry(t, func(b *timing) {
		for cut := 50 * time.Millisecond; ; cut *= 2 {
			mustDo(t, m, "count", "") // an instance is there
			start := time.Now()
			_, err := do(within(t, cut), m, "host", `{"op":"test.wait"}`)
			if faultKind(err) != module.FaultTimeout {
				t.Errorf("got %v, want a timeout", err)
			}
			b.atMost("the call took", time.Since(start), cut+slack)
			select {
			case <-inside:
				return
			default: // cut off before it called the host
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-inside
		cancel()
	}()
	if _, err := do(ctx, m, "host", `{"op":"test.wait"}`); faultKind(err) != module.FaultTimeout || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call: %v", err)
	}
	mustDo(t, m, "count", "")
}

func TestHostFunctionThatDoesNotReturn(t *testing.T) {
	release := make(chan struct{})
	host := &fakeHost{hook: func(context.Context, string) (json.RawMessage, error) { <-release; return nil, nil }}
	e := newTestEngine(t, func(c *Config) {
		c.Host = host
	})
	m := load(t, e, guestFile(t, "aya"))
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = do(within(t, waittest.Long), m, "host", `{"op":"test.stuck"}`) })
	waitForCall(t, m)
	err := m.Close(within(t, 10*time.Millisecond))
	if err == nil || !strings.Contains(err.Error(), "host function does not return") {
		t.Errorf("Close gave %v", err)
	}
	if e.instances.Load() != 1 {
		t.Error("the memory went away under a running guest")
	}
	close(release)
	wg.Wait()
	<-m.over
}

// A bug of the host is told to the log, and costs neither guest nor daemon.
func TestHostPanics(t *testing.T) {
	host := &fakeHost{hook: func(context.Context, string) (json.RawMessage, error) { panic("a bug of ours") }}
	log := &logtest.Log{}
	m := load(t, newTestEngine(t, func(c *Config) {
		c.Host, c.Log = host, log.Logger()
	}), guestFile(t, "aya"))
	if got := mustDo(t, m, "host", `{"op":"test.panic"}`); got != `{"error":{"code":"internal","message":"internal error"}}` {
		t.Errorf("the guest was told %s", got)
	}
	if !strings.Contains(log.String(), "a bug of ours") || !strings.Contains(log.String(), "close_test.go") {
		t.Errorf("the log does not tell of the bug:\n%s", log.String())
	}
	if got := mustDo(t, m, "count", ""); got != "3" {
		t.Errorf("count %s, want 3: the instance was not kept", got)
	}
}

func TestEngineCloseClosesModules(t *testing.T) {
	e := newTestEngine(t, nil)
	a, b := load(t, e, guestFile(t, "a")), load(t, e, tinyFile(tiny{vote: forever()}))
	var wg sync.WaitGroup
	wg.Go(func() { _ = vote(within(t, waittest.Long), b) })
	waitForCall(t, b)
	if err := e.Close(within(t, 50*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for _, m := range []*Module{a, b} {
		wantRefusal(t, vote(t.Context(), m), abi.CodeUnavailable)
	}
	_, err := e.Load(t.Context(), tinyFile(tiny{}))
	wantRefusal(t, err, abi.CodeUnavailable, "closing")
}

// A Load that gives up leaves nothing behind, and its file can be loaded later.
func TestLoadGivesUp(t *testing.T) {
	e, free := busyEngine(t, false)
	_, err := e.Load(within(t, 30*time.Millisecond), tinyFile(tiny{}))
	wantRefusal(t, err, abi.CodeTimeout, "not there in time")
	free()
	load(t, e, tinyFile(tiny{}))
}

// Two generations of the same bytes share compiled code; closing one leaves
// the other alone.
func TestSameBytesTwice(t *testing.T) {
	e := newTestEngine(t, nil)
	first, second := load(t, e, guestFile(t, "aya")), load(t, e, guestFile(t, "aya"))
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustDo(t, second, "count", "")
	if _, err := do(t.Context(), second, "panic", ""); faultKind(err) != module.FaultTrap {
		t.Errorf("got %v", err)
	}
	mustDo(t, second, "count", "")
}

// Many reloads and faults leave neither instances nor mappings nor goroutines.
func TestNothingLeaks(t *testing.T) {
	e := newTestEngine(t, nil)
	keep := load(t, e, guestFile(t, "keep"))
	m := load(t, e, guestFile(t, "aya"))
	_, _ = do(t.Context(), m, "panic", "")
	mustDo(t, m, "count", "")
	_, _ = do(t.Context(), m, "exit", "")
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	round := func() { // the same with a guest that is loaded sooner
		m := load(t, e, tinyFile(tiny{vote: code(opUnreachable)}))
		for range 2 {
			if err := vote(t.Context(), m); faultKind(err) != module.FaultTrap {
				t.Fatalf("got %v, want a trap", err)
			}
			if _, err := m.Call(t.Context(), abi.Request{Op: abi.OpDescribe}); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	goroutines, mappings, rss := runtime.NumGoroutine(), countMappings(), residentKiB()
	const rounds = 50
	for range rounds {
		round()
	}
	mustDo(t, keep, "count", "")
	if n := e.instances.Load(); n != 1 {
		t.Errorf("%d instances, want only the one kept", n)
	}
	if n := e.reserved.Load(); n != defaultMaxMemory {
		t.Errorf("%d bytes reserved, want %d", n, defaultMaxMemory)
	}
	if n := runtime.NumGoroutine(); n > goroutines+2 {
		t.Errorf("%d goroutines, were %d", n, goroutines)
	}
	waittest.Until(t, "memory mappings are given back", func() bool {
		runtime.GC() // wazero leaves machine code to it
		return countMappings() <= mappings+20
	})
	t.Logf("RSS %d KiB before, %d KiB after %d reloads with two faults each; mappings %d, %d",
		rss, residentKiB(), rounds, mappings, countMappings())
}

func countMappings() int {
	b, _ := os.ReadFile("/proc/self/maps")
	return strings.Count(string(b), "\n")
}

// residentKiB is the memory this process has in RAM, 0 where it is not known.
func residentKiB() int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.Atoi(strings.Fields(string(b))[1])
	return pages * os.Getpagesize() / 1024
}

// A machine without memory costs the call, not the daemon.
func TestNoMemoryToBeHad(t *testing.T) {
	e := newTestEngine(t, nil)
	m := load(t, e, tinyFile(tiny{}))
	m.drop()
	e.cfg.MaxMemory = 0 // nothing can be reserved any more
	if err := vote(t.Context(), m); faultKind(err) != module.FaultTrap {
		t.Errorf("got %v, want a trap", err)
	}
	m.turn <- struct{}{} // wait for the attempt to replace the instance
	e.cfg.MaxMemory = defaultMaxMemory
	<-m.turn
	if err := vote(t.Context(), m); err != nil {
		t.Errorf("with memory again: %v", err)
	}
}
