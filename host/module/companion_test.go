package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/moduletest"
)

func TestCompanionAnswersFromItsGeneration(t *testing.T) {
	var book logtest.Log
	first, second := moduletest.Answering("one"), moduletest.Answering("two")
	c := begin(first, module.Limits{}, &book)
	mustVote(t, c, "one")
	if s := c.Status(time.Now()); s.ID != "aya" || s.Name != "one" || s.Engine != "fake" || s.Generation != 1 || s.State != module.StateReady || s.MemoryBytes != 7 || s.LoadedAt.IsZero() {
		t.Errorf("status %+v", s)
	}
	if drained, err := swap(c, 2, second)(time.Minute); !drained || err != nil || !first.Closed() {
		t.Errorf("retire gives %v, %v; closed %v", drained, err, first.Closed())
	}
	mustVote(t, c, "two")
	if c.ID() != "aya" || c.Engine() != "fake" || c.Generation() != 2 || c.Describe().Name != "two" {
		t.Errorf("%s %s %d %+v", c.ID(), c.Engine(), c.Generation(), c.Describe())
	}
	if err := c.Close(); err != nil || !second.Closed() {
		t.Errorf("Close gives %v; closed %v", err, second.Closed())
	}
	if err := c.Close(); err != nil {
		t.Errorf("a second Close gives %v", err)
	}
	if _, err := moduletest.Vote(c); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "aya: closed") {
		t.Errorf("a call after Close gives %v", err)
	}
	if swap(c, 3, moduletest.Answering("three")) != nil {
		t.Error("a closed companion takes a generation")
	}
	if s := c.Status(time.Now()); s.State != module.StateFailed || s.Name != "two" {
		t.Errorf("status %+v", s)
	}
}

func TestSwapWaitsForRunningCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		old := moduletest.Held("old", let)
		c := begin(old, module.Limits{}, new(logtest.Log))
		answers := make(chan string, 3)
		for range 3 {
			go func() {
				s, err := moduletest.Vote(c)
				answers <- s
				if err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		retire := swap(c, 2, moduletest.Answering("new"))
		go func() {
			if drained, err := retire(5 * time.Second); !drained || err != nil {
				t.Errorf("retire gives %v, %v", drained, err)
			}
		}()
		time.Sleep(4999 * time.Millisecond)
		mustVote(t, c, "new") // beside those that run
		if old.Closed() {
			t.Error("closed while calls run")
		}
		close(let)
		for range 3 {
			if s := <-answers; s != "old" {
				t.Errorf("a call that began before the swap is answered %q", s)
			}
		}
		synctest.Wait()
		if !old.Closed() || old.Late() != 0 {
			t.Errorf("closed %v, %d late calls", old.Closed(), old.Late())
		}
	})
}

func TestGraceEndsCallsByForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := moduletest.Held("old", nil)
		c := begin(old, module.Limits{Faults: 1}, new(logtest.Log))
		failed := make(chan error)
		go func() { _, err := moduletest.Vote(c); failed <- err }()
		synctest.Wait()
		begin := time.Now()
		go func() {
			if drained, err := swap(c, 2, moduletest.Answering("new"))(5 * time.Second); drained || err != nil {
				t.Errorf("retire gives %v, %v", drained, err)
			}
		}()
		err := <-failed
		if abi.CodeOf(err) != abi.CodeUnavailable || !abi.AsError(err).Retry || !strings.Contains(err.Error(), "generation 1 was replaced") {
			t.Errorf("the call gives %v", err)
		}
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("it ended after %v", took)
		}
		mustVote(t, c, "new") // the old one's end is no fault of the new one
		if s := c.Status(time.Now()); s.Faults != 0 || s.State != module.StateReady {
			t.Errorf("status %+v", s)
		}
		synctest.Wait()
	})
}

func TestQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book logtest.Log
		sick, asked := true, 0
		m := moduletest.Answering("well")
		well := m.OnCall
		m.OnCall = func(ctx context.Context, r abi.Request) (json.RawMessage, error) {
			asked++
			if sick {
				return nil, &module.Fault{Kind: module.FaultTrap, Cause: errors.New("unreachable\nand where")}
			}
			return well(ctx, r)
		}
		c := begin(m, module.Limits{}, &book)
		fail := func(n int, gap time.Duration) {
			for range n {
				var f *module.Fault
				if _, err := moduletest.Vote(c); !errors.As(err, &f) {
					t.Fatalf("vote gives %v", err)
				}
				time.Sleep(gap)
			}
		}
		fail(4, 31*time.Second) // never three within a minute
		time.Sleep(time.Minute)
		fail(3, 30*time.Second) // three in exactly one
		asked = 0
		const why = "quarantined: 3 faults in 60s, last: module fault: trap: unreachable"
		if _, err := moduletest.Vote(c); asked != 0 || abi.CodeOf(err) != abi.CodeUnavailable || abi.AsError(err).Message != why {
			t.Errorf("asked %d times, %v", asked, err)
		}
		if s := c.Status(time.Now()); s.State != module.StateQuarantined || s.Faults != 7 || !strings.HasPrefix(s.Error, why+"; until 2000-01-01T") {
			t.Errorf("status %+v", s)
		}
		time.Sleep(5*time.Minute - 30*time.Second - time.Nanosecond)
		if _, err := moduletest.Vote(c); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("just before the end: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if s := c.Status(time.Now()); s.State != module.StateReady || s.Error != "" {
			t.Errorf("status %+v", s)
		}
		fail(2, time.Second) // the count began anew
		sick = false
		mustVote(t, c, "well")
		if book.Count("quarantine is over") != 1 || book.Count("msg=quarantined") != 1 {
			t.Errorf("the log says:\n%s", &book)
		}
		sick = true
		fail(1, 0)
		if s := c.Status(time.Now()); s.State != module.StateQuarantined {
			t.Errorf("status %+v", s)
		}
		swap(c, 2, moduletest.Answering("healed"))(time.Second)
		mustVote(t, c, "healed")
		if s := c.Status(time.Now()); s.State != module.StateReady || s.Faults != 0 {
			t.Errorf("status %+v", s)
		}
	})
}

func TestWhatIsNoFault(t *testing.T) {
	ask := func(ctx context.Context, l module.Limits, err error) module.Status {
		m := moduletest.Answering("")
		m.OnCall = func(context.Context, abi.Request) (json.RawMessage, error) { return nil, err }
		c := begin(m, l, new(logtest.Log))
		if _, got := c.Call(ctx, abi.Request{}); !errors.Is(got, err) {
			t.Errorf("Call gives %v, want %v", got, err)
		}
		return c.Status(time.Now())
	}
	one := module.Limits{Faults: 1}
	kind := func(k module.FaultKind) error { return &module.Fault{Kind: k, Cause: errors.New("x")} }
	for _, k := range []module.FaultKind{module.FaultFuel, module.FaultTrap, module.FaultReply} {
		if s := ask(t.Context(), one, kind(k)); s.Faults != 1 || s.State != module.StateQuarantined {
			t.Errorf("a fault of kind %s: %+v", k, s)
		}
	}
	if s := ask(t.Context(), one, kind(module.FaultTimeout)); s.Faults != 0 || s.State != module.StateReady {
		t.Errorf("the clock: %+v", s)
	}
	if s := ask(t.Context(), one, abi.Errorf(abi.CodeInvalid, "no")); s.Faults != 0 {
		t.Errorf("the module's own error: %+v", s)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for k, want := range map[module.FaultKind]int{module.FaultTimeout: 0, module.FaultTrap: 0, module.FaultFuel: 1} {
		if s := ask(gone, one, kind(k)); s.Faults != want {
			t.Errorf("a caller that gave up, and %s: %+v", k, s)
		}
	}
	if s := ask(t.Context(), module.Limits{Faults: -1}, kind(module.FaultTrap)); s.Faults != 1 || s.State != module.StateReady {
		t.Errorf("no limit: %+v", s)
	}
}

// A machine that gives a call too little until its limit is no reason to put a
// companion aside, however often.
func TestSlowIsNotFaulty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begin(moduletest.Held("x", nil), module.Limits{}, new(logtest.Log))
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := c.Call(ctx, abi.Request{})
			cancel()
			if f := new(*module.Fault); !errors.As(err, f) || (*f).Kind != module.FaultTimeout {
				t.Errorf("the call gives %v", err)
			}
		}
		if s := c.Status(time.Now()); s.State != module.StateReady || s.Faults != 0 {
			t.Errorf("status %+v", s)
		}
	})
}

// Calls that time ended count as time in which nothing could go wrong.
func TestFaultsAmongSlowCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := moduletest.Answering("")
		m.OnCall = func(context.Context, abi.Request) (json.RawMessage, error) {
			kind := module.FaultTimeout
			if n++; n%3 == 0 {
				kind = module.FaultFuel
			}
			time.Sleep(time.Minute)
			return nil, &module.Fault{Kind: kind, Cause: errors.New("x")}
		}
		c := begin(m, module.Limits{}, new(logtest.Log))
		for range 9 {
			_, _ = c.Call(t.Context(), abi.Request{})
			time.Sleep(5 * time.Second)
		}
		if s := c.Status(time.Now()); s.State != module.StateQuarantined || s.Faults != 3 {
			t.Errorf("status %+v", s)
		}
	})
}

// Whoever hangs is put aside on a slow machine too, where it takes each call longer to
// do too much than faults are remembered.
func TestWorkIsAFaultHoweverSlow(t *testing.T) {
	for _, c := range []struct {
		took, gap time.Duration
		aside     bool
	}{{time.Second, 29 * time.Second, true}, {time.Second, 31 * time.Second, false}, {10 * time.Minute, 29 * time.Second, true}, {10 * time.Minute, 31 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			m := moduletest.Answering("")
			m.OnCall = func(context.Context, abi.Request) (json.RawMessage, error) {
				time.Sleep(c.took)
				return nil, &module.Fault{Kind: module.FaultFuel, Cause: errors.New("used more than 10 units")}
			}
			aya := begin(m, module.Limits{}, new(logtest.Log))
			for range 3 {
				_, _ = aya.Call(t.Context(), abi.Request{})
				if s := aya.Status(time.Now()); s.Faults == 3 && (s.State == module.StateQuarantined) != c.aside {
					t.Errorf("calls of %v, %v apart: %+v", c.took, c.gap, s)
				}
				time.Sleep(c.gap)
			}
		})
	}
}

// Whoever observes a companion sees each call that ends, however it does, also of generations that come.
func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book logtest.Log
		m := moduletest.Answering("one")
		c := begin(m, module.Limits{}, &book)
		mustVote(t, c, "one") // nobody sees
		var ends []string
		c.Observe(func(op string, took time.Duration, err error) {
			ends = append(ends, fmt.Sprint(op, " ", took, " ", abi.CodeOf(err)))
		})
		m.OnCall = func(context.Context, abi.Request) (json.RawMessage, error) {
			time.Sleep(time.Second)
			return nil, abi.Errorf(abi.CodeInvalid, "no")
		}
		_, _ = moduletest.Vote(c)
		if _, err := swap(c, 2, moduletest.Answering("two"))(time.Minute); err != nil {
			t.Error(err)
		}
		mustVote(t, c, "two")
		_ = c.Close()
		_, _ = moduletest.Vote(c)
		if want := []string{"vote 1s invalid", "vote 0s ", "vote 0s unavailable"}; !slices.Equal(ends, want) {
			t.Errorf("%q", ends)
		}
	})
}

func TestPanicOfAnEngineIsAFault(t *testing.T) {
	var book logtest.Log
	m := moduletest.Answering("")
	m.OnCall = func(context.Context, abi.Request) (json.RawMessage, error) { panic("index out of range") }
	c := begin(m, module.Limits{}, &book)
	var f *module.Fault
	if _, err := moduletest.Vote(c); !errors.As(err, &f) || f.Kind != module.FaultTrap || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("vote gives %v", err)
	}
	if book.Count("companion_test.go") == 0 {
		t.Errorf("the log does not say where:\n%s", &book)
	}
	if err := c.Close(); err != nil || !m.Closed() {
		t.Errorf("the call kept its share: %v", err)
	}
}

// slot is the model of a companion: which generations there are, and which
// calls run in which.
type slot struct {
	c       *module.Companion
	mods    []*moduletest.Module // by generation, from 1
	retired []chan bool          // gives drained; nil for the current one
	entered chan int
	running []*running
	ended   bool
}

type running struct {
	generation int
	let        chan struct{}
	result     chan error
}

type letKey struct{}

func (s *slot) add() *moduletest.Module {
	n := len(s.mods) + 1
	m := moduletest.Answering("")
	m.OnCall = func(ctx context.Context, _ abi.Request) (json.RawMessage, error) {
		s.entered <- n
		select {
		case <-ctx.Value(letKey{}).(chan struct{}):
			return nil, nil
		case <-ctx.Done():
			return nil, &module.Fault{Kind: module.FaultTimeout, Cause: context.Cause(ctx)}
		}
	}
	s.mods, s.retired = append(s.mods, m), append(s.retired, nil)
	return m
}

func (s *slot) in(generation int) (n int) {
	for _, r := range s.running {
		if r.generation == generation {
			n++
		}
	}
	return n
}

func (s *slot) begin(t *rapid.T) {
	r := &running{let: make(chan struct{}), result: make(chan error, 1)}
	ctx := context.WithValue(context.Background(), letKey{}, r.let)
	go func() { _, err := s.c.Call(ctx, abi.Request{}); r.result <- err }()
	if s.ended {
		if err := <-r.result; abi.CodeOf(err) != abi.CodeUnavailable {
			t.Fatalf("a call after the end gives %v", err)
		}
		return
	}
	select {
	case r.generation = <-s.entered:
	case err := <-r.result:
		t.Fatalf("a call did not begin: %v", err)
	}
	if r.generation != len(s.mods) {
		t.Fatalf("a call went to generation %d of %d", r.generation, len(s.mods))
	}
	s.running = append(s.running, r)
}

func (s *slot) finish(t *rapid.T) {
	if len(s.running) == 0 {
		return
	}
	i := rapid.IntRange(0, len(s.running)-1).Draw(t, "call")
	if r, err := s.let(i); err != nil {
		t.Fatalf("a call to generation %d failed: %v", r.generation, err)
	}
}

// let ends a call.
func (s *slot) let(i int) (*running, error) {
	r := s.running[i]
	s.running = append(s.running[:i:i], s.running[i+1:]...)
	close(r.let)
	return r, <-r.result
}

// stop ends all calls and generations, also of a run that was given up.
func (s *slot) stop() {
	for len(s.running) > 0 {
		_, _ = s.let(0)
	}
	_ = s.c.Close()
	for i, m := range s.mods {
		if done := s.retired[i]; done != nil && !m.Closed() {
			<-done
		}
	}
}

// swap retires with more grace than the test lasts, or with none.
func (s *slot) swap(t *rapid.T) {
	force := rapid.Bool().Draw(t, "force")
	old := len(s.mods)
	retire := swap(s.c, uint64(old+1), s.add())
	if (retire == nil) != s.ended {
		t.Fatalf("ended %v, but the swap says otherwise", s.ended)
	}
	if s.ended {
		s.mods, s.retired = s.mods[:old], s.retired[:old]
		return
	}
	s.retire(t, old, retire, force)
}

func (s *slot) retire(t *rapid.T, old int, retire func(time.Duration) (bool, error), force bool) {
	done := make(chan bool, 1)
	grace := time.Hour
	if force {
		grace = time.Nanosecond
	}
	go func() { drained, _ := retire(grace); done <- drained }()
	s.retired[old-1] = done
	if !force || s.in(old) == 0 {
		return
	}
	var stay []*running
	for _, r := range s.running {
		if r.generation != old {
			stay = append(stay, r)
		} else if err := <-r.result; abi.CodeOf(err) != abi.CodeUnavailable {
			t.Fatalf("a call ended by force gives %v", err)
		}
	}
	s.running = stay
}

func (s *slot) check(t *rapid.T) {
	for i, m := range s.mods {
		n := i + 1
		switch {
		case s.retired[i] == nil || s.in(n) > 0:
			if m.Closed() {
				t.Fatalf("generation %d of %d is closed under %d calls", n, len(s.mods), s.in(n))
			}
		case !m.Closed():
			<-s.retired[i] // must come, or the test hangs here
			if !m.Closed() {
				t.Fatalf("generation %d is retired and open", n)
			}
		}
		if m.Late() != 0 {
			t.Fatalf("generation %d was called after its end", n)
		}
	}
}

func TestSlotProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &slot{entered: make(chan int)}
		s.c = begin(s.add(), module.Limits{Grace: time.Hour, Faults: 1}, new(logtest.Log))
		defer s.stop()
		t.Repeat(map[string]func(*rapid.T){
			"call":   s.begin,
			"call2":  s.begin,
			"finish": s.finish,
			"swap":   s.swap,
			"end": func(t *rapid.T) {
				if s.ended || rapid.IntRange(0, 9).Draw(t, "rarely") > 0 {
					return
				}
				s.ended = true
				done := make(chan bool, 1)
				go func() { _ = s.c.Close(); done <- true }()
				for !strings.Contains(s.c.Status(time.Now()).Error, "closed") {
					time.Sleep(time.Microsecond)
				}
				s.retired[len(s.mods)-1] = done
			},
			"": s.check,
		})
		s.stop()
		for i, m := range s.mods {
			if !m.Closed() {
				t.Fatalf("generation %d stays open", i+1)
			}
		}
	})
}
