package wasm

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/waittest"
)

// The most that hostile guests may cost others. Other work on the machine makes every
// figure worse and none better, so a bound counts as broken when it is broken
// in each of several tries, by more than all work is slower just then; the logs
// tell what was measured.
const (
	patience = 300 * time.Millisecond // a hostile call's deadline, if it needs time to do its worst
	short    = 120 * time.Millisecond // and if it does not
	slack    = 150 * time.Millisecond // how late it may end
	worstGap = 500 * time.Millisecond // how long another goroutine or module may stand still
	tries    = 4
)

// timing notes bounds that were broken in one try.
type timing []late

// late is a bound that was broken.
type late struct {
	what      string
	got, most time.Duration
}

func (b *timing) atMost(what string, got, want time.Duration) {
	if got > want {
		*b = append(*b, late{what, got, want})
	}
}

// slowness is by how much the bounds that were broken were, at the most.
func (b timing) slowness() (worst float64) {
	for _, l := range b {
		worst = max(worst, float64(l.got)/float64(l.most))
	}
	return worst
}

func (b timing) String() string {
	var all []string
	for _, l := range b {
		all = append(all, fmt.Sprintf("%s %v, at most %v", l.what, l.got.Round(time.Millisecond), l.most))
	}
	return strings.Join(all, "; ")
}

// retry runs f until no bound is broken but by a machine that is as slow as that
// for everybody, or tries are over.
func retry(t *testing.T, f func(b *timing)) {
	t.Helper()
	for n := 1; ; n++ {
		var b timing
		f(&b)
		if len(b) == 0 || t.Failed() {
			return
		}
		machine := waittest.Slowness()
		switch {
		case b.slowness() <= machine*raceSlowness():
			t.Logf("late, on a machine that is %.1f times slower than it could be: %v", machine, b)
			return
		case n == tries:
			t.Errorf("in each of %d tries something was late, the last time on a machine %.1f times slower than it could be: %v", n, machine, b)
			return
		}
		t.Logf("late, try again: %v (slowness %.1f)", b, machine)
		time.Sleep(200 * time.Millisecond)
	}
}

// either is a trap or a timeout: filling wazero's call stack takes 200 ms.
const either = ""

// deadline gives a hostile call that ends by itself all the time it needs, for it
// is to show how, and any other what it is to be cut off at.
func deadline(want module.FaultKind, cut time.Duration) time.Duration {
	if want == module.FaultTimeout || want == either {
		return cut
	}
	return waittest.Long
}

// fault checks what a hostile call came to.
func fault(t *testing.T, err error, want module.FaultKind, says string) {
	t.Helper()
	switch kind := faultKind(err); {
	case want == either && (kind == module.FaultTimeout || kind == module.FaultTrap):
	case kind != want:
		t.Errorf("got %v, want a fault of kind %s", err, want)
	case !strings.Contains(err.Error(), says):
		t.Errorf("the fault %q does not say %q", err, says)
	}
}

// neighbour is everything else in the daemon: a goroutine that wants to run
// every millisecond, another module that votes all the time, and garbage
// collections.
type neighbour struct {
	stop               chan struct{}
	wg                 sync.WaitGroup
	gap, call, collect time.Duration // the worst seen
	calls              int
	err                error
}

func watch(m *Module) *neighbour {
	n := &neighbour{stop: make(chan struct{})}
	loop := func(pause time.Duration, step func(last time.Duration)) {
		n.wg.Go(func() {
			for last := time.Now(); ; {
				select {
				case <-n.stop:
					return
				case <-time.After(pause):
				}
				now := time.Now()
				step(now.Sub(last) - pause)
				last = time.Now()
			}
		})
	}
	loop(time.Millisecond, func(gap time.Duration) { n.gap = max(n.gap, gap) })
	loop(5*time.Millisecond, func(time.Duration) {
		start := time.Now()
		if err := vote(context.Background(), m); err != nil {
			n.err = err
		}
		n.call = max(n.call, time.Since(start))
		n.calls++
	})
	loop(50*time.Millisecond, func(time.Duration) {
		start := time.Now()
		runtime.GC()
		n.collect = max(n.collect, time.Since(start))
	})
	return n
}

func (n *neighbour) check(t *testing.T, b *timing, took time.Duration) {
	t.Helper()
	close(n.stop)
	n.wg.Wait()
	t.Logf("took %v; neighbours: gap %v, worst of %d calls %v, GC %v",
		took.Round(time.Millisecond), n.gap.Round(time.Millisecond/10), n.calls, n.call.Round(time.Millisecond/10), n.collect.Round(time.Millisecond/10))
	if n.err != nil {
		t.Errorf("a neighbour's call failed: %v", n.err)
	}
	b.atMost("goroutine stood still", n.gap, worstGap)
	b.atMost("another module's call took", n.call, worstGap)
	b.atMost("a garbage collection took", n.collect, worstGap)
}

// untiring is an engine in which only time ends a call.
func untiring(t *testing.T, set func(*Config)) *Engine {
	t.Helper()
	return newTestEngine(t, func(c *Config) {
		c.FuelPerCall = math.MaxInt64
		if set != nil {
			set(c)
		}
	})
}

func TestHostileGo(t *testing.T) {
	log := &logtest.Log{}
	e := untiring(t, func(c *Config) { c.Log = log.Logger() })
	m, other := load(t, e, guestFile(t, "aya")), load(t, e, guestFile(t, "ken"))
	for _, c := range []struct {
		do   string
		want module.FaultKind
		says string
	}{
		{"loop", module.FaultTimeout, "deadline"},
		{"recurse", module.FaultTimeout, "deadline"}, // its stack grows in its own memory, slowly
		{"hoard", module.FaultTrap, "out of memory"},
		{"exit", module.FaultTrap, "exit(3)"},
		{"panic", module.FaultTrap, "boom"},
		{"deadlock", module.FaultTrap, "deadlock"},
		{"big", module.FaultReply, "at most 1048576"},
		{"stdout", module.FaultTimeout, "deadline"},
		{"log", module.FaultTimeout, "deadline"},
	} {
		t.Run(c.do, func(t *testing.T) {
			retry(t, func(b *timing) {
				mustDo(t, m, "count", "")
				n := watch(other)
				start := time.Now()
				_, err := do(within(t, deadline(c.want, patience)), m, c.do, "")
				took := time.Since(start)
				n.check(t, b, took)
				fault(t, err, c.want, c.says)
				b.atMost("the call took", took, patience+slack)
				if got := mustDo(t, m, "count", ""); got != "1" {
					t.Errorf("next call counted %s, want 1 of a new instance", got)
				}
			})
		})
	}
	if err := m.Close(t.Context()); err != nil { // and says what it dropped of a flood
		t.Error(err)
	}
	if n := len(log.String()); n > 1<<20 {
		t.Errorf("floods made %d bytes of log", n)
	}
	if !strings.Contains(log.String(), "some was dropped") {
		t.Error("the log does not say that something was dropped")
	}
}

func TestHostileTiny(t *testing.T) {
	const whole = 1024 // pages of the memory limit
	lie := func(fn int, args ...int32) []byte { return code(call(fn, args...), i32(0)) }
	drop := func(fn int, args ...int32) []byte { return code(call(fn, args...), opDrop) }
	e := untiring(t, nil)
	other := load(t, e, guestFile(t, "ken"))
	for name, c := range map[string]struct {
		m    tiny
		want module.FaultKind
		says string
	}{
		"loop":                 {tiny{vote: forever()}, module.FaultTimeout, "deadline"},
		"recursion":            {tiny{vote: code(opCall, fnDeep, i32(0)), deep: code(opCall, fnDeep)}, either, "stack overflow"},
		"recursion, branching": {tiny{vote: code(opCall, fnDeep, opUnreachable), deep: code(opCall, fnDeep, opCall, fnDeep)}, either, "stack overflow"},
		"unreachable":          {tiny{vote: code(opUnreachable)}, module.FaultTrap, "unreachable"},
		"division by zero":     {tiny{vote: code(i32(1), i32(0), opI32DivU)}, module.FaultTrap, "divide by zero"},
		"load out of bounds":   {tiny{vote: code(i32(-1), opI32Load, 2, 0)}, module.FaultTrap, "out of bounds"},
		"memory.grow":          {tiny{vote: forever(i32(1), opMemoryGrow, 0, opDrop)}, module.FaultTimeout, "deadline"},
		"memory.fill":          {tiny{pages: whole, vote: forever(i32(0), i32(1), i32(whole*pageSize-1), 0xfc, 11, 0)}, module.FaultTimeout, "deadline"},
		"table.grow": {tiny{table: code(0x70, 0, 0), vote: forever(0xd2, fnDeep, i32(1<<20), 0xfc, 15, 0, opDrop),
			exports: [][]byte{code(text("f"), 0, fnDeep)}}, module.FaultTimeout, "deadline"},
		"random_get":         {tiny{pages: whole, vote: forever(drop(fnRandom, 0, whole*pageSize-1))}, module.FaultTimeout, "deadline"},
		"poll_oneoff":        {tiny{pages: whole, vote: forever(drop(fnPoll, 0, 0, 1<<20, 8), drop(fnPoll, 0, 1<<20, 1024, 8))}, module.FaultTimeout, "deadline"},
		"sched_yield":        {tiny{vote: forever(drop(fnYield), drop(fnYield), drop(fnYield))}, module.FaultTimeout, "deadline"},
		"read flood":         {tiny{vote: forever(call(fnRead, atScratch))}, module.FaultTimeout, "deadline"},
		"write flood":        {tiny{pages: whole, vote: forever(call(fnWrite, 0, 1<<20))}, module.FaultTimeout, "deadline"},
		"host_call flood":    {tiny{pages: whole, vote: forever(drop(fnHostCall, 0, 1<<20))}, module.FaultTimeout, "deadline"},
		"log flood":          {tiny{pages: whole, vote: forever(call(fnLog, 3, 0, 32<<20))}, module.FaultTimeout, "deadline"},
		"fd_write flood":     {tiny{pages: whole, vote: forever(drop(fnFdWrite, 1, 1<<20, 1024, 8))}, module.FaultTimeout, "deadline"},
		"exit(0)":            {tiny{vote: code(call(fnExit, 0), i32(0))}, module.FaultTrap, "exit(0)"},
		"abort":              {tiny{vote: code(call(fnAbort, 2, -8, 7, 9), i32(0))}, module.FaultTrap, "abort: ? at ?:7:9"},
		"lying read":         {tiny{vote: lie(fnRead, -4)}, module.FaultTrap, "do not fit"},
		"lying write":        {tiny{vote: lie(fnWrite, -16, 100)}, module.FaultTrap, "write(4294967280, 100)"},
		"lying host_call":    {tiny{vote: code(call(fnHostCall, pageSize-1, 2), opDrop, i32(0))}, module.FaultTrap, "host_call(65535, 2)"},
		"lying log":          {tiny{vote: lie(fnLog, 0, 1, -1)}, module.FaultTrap, "log(1, 4294967295)"},
		"reply of 2 MiB":     {tiny{pages: whole, vote: lie(fnWrite, 0, 2<<20)}, module.FaultReply, "2097152 bytes"},
		"reply of 4 GiB":     {tiny{vote: lie(fnWrite, 0, -1)}, module.FaultReply, "at most 1048576"},
		"garbage reply":      {tiny{vote: lie(fnWrite, atScratch, 100)}, module.FaultReply, "no JSON"},
		"loop without words": {tiny{vote: code(opLoop, void, opBr, 0, opEnd, i32(0))}, module.FaultTimeout, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			m := load(t, e, tinyFile(c.m))
			retry(t, func(b *timing) {
				n := watch(other)
				var took time.Duration
				for range 2 { // the second call shows that the module still works
					waitForInstance(m)
					start := time.Now()
					err := vote(within(t, deadline(c.want, short)), m)
					took = time.Since(start)
					fault(t, err, c.want, c.says)
					b.atMost("the call took", took, short+slack)
				}
				n.check(t, b, took)
			})
		})
	}
}

// A guest may also be hostile before it was ever asked anything.
func TestHostileStart(t *testing.T) {
	for name, c := range map[string]struct {
		m    tiny
		says string
	}{
		"unreachable in _initialize": {tiny{init: code(opUnreachable)}, "unreachable"},
		"endless _initialize":        {tiny{init: forever()}, "in time"},
		"endless start function":     {tiny{init: forever(), start: true}, "in time"},
		"trap in start function":     {tiny{init: code(opUnreachable), start: true}, "unreachable"},
		"exit(0) in _initialize":     {tiny{init: call(fnExit, 0)}, "exit(0)"},
		"exit(1) in start function":  {tiny{init: call(fnExit, 1), start: true}, "exit(1)"},
		"data beyond the memory":     {tiny{describe: strings.Repeat("x", pageSize)}, "out of bounds"},
		"endless describe":           {tiny{describe: "{}", vote: forever()}, "describe"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newTestEngine(t, nil)
			retry(t, func(b *timing) {
				for cut := short; ; cut *= 2 {
					start := time.Now()
					_, err := e.Load(within(t, cut), tinyFile(c.m))
					b.atMost("the load took", time.Since(start), cut+slack)
					if err != nil && strings.Contains(err.Error(), c.says) {
						return
					}
					if abi.CodeOf(err) != abi.CodeTimeout || cut > waittest.Long {
						t.Errorf("got %v, want a refusal that says %q", err, c.says)
						return
					}
					t.Logf("not as far as that in %v: %v", cut, err)
				}
			})
			if n, b := e.instances.Load(), e.reserved.Load(); n != 0 || b != 0 {
				t.Errorf("a refused module left %d instances and %d bytes", n, b)
			}
		})
	}
}

// Files that hang when they start do not keep another one from starting: each has a short
// try, and a long one behind all others.
func TestHungStarts(t *testing.T) {
	e := untiring(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for n := range 40 {
		hung := tinyFile(tiny{init: forever(), pages: uint32(1 + n)})
		all.Go(func() {
			if _, err := e.Load(ctx, hung); abi.CodeOf(err) != abi.CodeTimeout {
				t.Errorf("%d: %v", n, err)
			}
		})
	}
	waittest.Until(t, "they hang", func() bool { return len(e.slowStarts) == cap(e.slowStarts) })
	begun := time.Now()
	load(t, e, tinyFile(tiny{}))
	took := time.Since(begun)
	if n := e.instances.Load(); n > quickStarts+slowStarts+1 {
		t.Errorf("%d instances at once", n)
	}
	if waittest.Late(took, 2*time.Second) {
		t.Errorf("another file was loaded after %v", took)
	}
	cancel()
	all.Wait()
}

// A guest that never answers costs an instance each time, and no more.
func TestTrapsInARow(t *testing.T) {
	e := newTestEngine(t, nil)
	m := load(t, e, tinyFile(tiny{vote: code(opUnreachable)}))
	for range 20 {
		if err := vote(within(t, waittest.Long), m); faultKind(err) != module.FaultTrap {
			t.Fatalf("got %v, want a trap", err)
		}
		if n := e.instances.Load(); n > 1 {
			t.Errorf("%d instances alive", n)
		}
	}
}

// With the other guard the same promises hold but for recursion.
func TestHostileUnderContextGuard(t *testing.T) {
	e := newTestEngine(t, func(c *Config) { c.Guard = GuardContext })
	other := load(t, e, tinyFile(tiny{}))
	for name, m := range map[string]tiny{
		"loop":       {vote: forever()},
		"random_get": {pages: 1024, vote: forever(call(fnRandom, 0, 1024*pageSize-1), opDrop)},
	} {
		t.Run(name, func(t *testing.T) {
			m := load(t, e, tinyFile(m))
			retry(t, func(b *timing) {
				n := watch(other)
				var took time.Duration
				for range 2 {
					waitForInstance(m)
					start := time.Now()
					fault(t, vote(within(t, short), m), module.FaultTimeout, "deadline")
					took = time.Since(start)
					b.atMost("the call took", took, short+slack)
				}
				n.check(t, b, took)
			})
		})
	}
	if u := other.units.Load(); u != 0 {
		t.Errorf("%d units without fuel", u)
	}
}

// Several hostile guests at once leave no processor idle, and still end.
func TestManyHostile(t *testing.T) {
	e := untiring(t, nil)
	other := load(t, e, guestFile(t, "ken"))
	var hostile []*Module
	for k := range 6 {
		hostile = append(hostile, load(t, e, tinyFile(tiny{vote: forever(), reply: fmt.Sprint(k)})))
	}
	retry(t, func(b *timing) {
		for _, m := range hostile {
			waitForInstance(m)
		}
		n := watch(other)
		var wg sync.WaitGroup
		var took [6]time.Duration
		for k, m := range hostile {
			wg.Go(func() {
				start := time.Now()
				if err := vote(within(t, short), m); faultKind(err) != module.FaultTimeout {
					t.Errorf("got %v, want a timeout", err)
				}
				took[k] = time.Since(start)
			})
		}
		wg.Wait()
		b.atMost("the last of six calls took", slices.Max(took[:]), short+2*slack)
		n.check(t, b, slices.Max(took[:]))
	})
}

// raceSlowness is how many times longer host functions may take: the race detector is
// in them. make test runs this package once more without it.
func raceSlowness() float64 {
	if waittest.RaceDetector {
		return 10
	}
	return 1
}
