package wasm

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/meter"
	"github.com/companiond/companiond/host/waittest"
)

// tireless guests never return, each in its own way.
func tireless() map[string]tiny {
	const whole = 1024 // pages of the memory limit
	drop := func(fn int, args ...int32) []byte { return code(call(fn, args...), opDrop) }
	return map[string]tiny{
		"loop":        {vote: forever()},
		"memory.grow": {vote: forever(i32(1), opMemoryGrow, 0, opDrop)},
		"memory.fill": {pages: whole, vote: forever(i32(0), i32(1), i32(whole*pageSize-1), 0xfc, 11, 0)},
		"memory.copy": {pages: whole, vote: forever(i32(0), i32(32<<20), i32(32<<20), 0xfc, 10, 0, 0)},
		"table.grow": {table: code(0x70, 0, 0), vote: forever(0xd2, fnDeep, i32(1<<20), 0xfc, 15, 0, opDrop),
			exports: [][]byte{code(text("f"), 0, fnDeep)}},
		"random_get":      {pages: whole, vote: forever(drop(fnRandom, 0, whole*pageSize-1))},
		"random_get of 1": {vote: forever(drop(fnRandom, 0, 1))},
		"poll_oneoff":     {pages: whole, vote: forever(drop(fnPoll, 0, 0, 1<<20, 8), drop(fnPoll, 0, 1<<20, 1024, 8))},
		"sched_yield":     {vote: forever(drop(fnYield))},
		"read flood":      {vote: forever(call(fnRead, atScratch))},
		"write flood":     {pages: whole, vote: forever(call(fnWrite, 0, 1<<20))},
		"host_call flood": {pages: whole, vote: forever(drop(fnHostCall, 0, 1<<20))},
		"small host_call": {vote: forever(drop(fnHostCall, 0, 2))},
		"log flood":       {pages: whole, vote: forever(call(fnLog, 3, 0, 32<<20))},
		"log of nothing":  {vote: forever(call(fnLog, 3, 0, 0))},
		"fd_write flood":  {pages: whole, vote: forever(drop(fnFdWrite, 1, 1<<20, 1024, 8))},
	}
}

// Whatever a guest does for ever uses up its budget, about as fast as code does, which
// is what tells it from one that waits or gets too little of the machine.
func TestWhatNeverEndsIsWork(t *testing.T) {
	budget := int64(60_000_000) // 0.2 s of ordinary code
	if waittest.RaceDetector {  // which is in the host functions
		budget /= 10
	}
	e := newTestEngine(t, func(c *Config) { c.FuelPerCall, c.Host = budget, &fakeHost{} })
	for name, guest := range tireless() {
		t.Run(name, func(t *testing.T) {
			m := load(t, e, tinyFile(guest))
			begun := time.Now()
			fault(t, vote(within(t, waittest.Long), m), module.FaultFuel, "more than")
			took := time.Since(begun)
			t.Logf("%.0f million units a second", float64(budget)/took.Seconds()/1e6)
			if waittest.Late(took, 2*time.Second) && !waittest.RaceDetector {
				t.Errorf("a budget of %d units lasted %v", budget, took)
			}
		})
	}
}

// Each host function charges for what it did, also where no processor time is known.
func TestHostFunctionsCharge(t *testing.T) {
	e := newTestEngine(t, func(c *Config) { c.Host = &fakeHost{} })
	used := func(before []byte) int64 {
		m := load(t, e, tinyFile(tiny{pages: 64, vote: code(before, call(fnWrite, atReply, int32(len(tinyReply))), i32(0))}))
		if err := vote(within(t, waittest.Long), m); err != nil {
			t.Fatal(err)
		}
		return m.inst.did.Done().Units
	}
	without := used(nil)
	if without < 2*unitsOfImport || without > 100 {
		t.Errorf("%d units for a read and a write", without)
	}
	drop := func(fn int, args ...int32) []byte { return code(call(fn, args...), opDrop) }
	for name, c := range map[string]struct {
		call []byte
		own  int64
	}{
		"sched_yield": {drop(fnYield), 0},
		"log":         {call(fnLog, 0, 0, 100), 0},
		"read":        {call(fnRead, atScratch), 2}, // of 86 bytes
		"write":       {call(fnWrite, 0, 1<<20), 1 << 20 / bytesOfUnit},
		"random_get":  {drop(fnRandom, 1<<20, 1<<20), 1 << 20},
		"poll_oneoff": {drop(fnPoll, 1<<20, 2<<20, 1024, 8), 1024 * 30},
		"fd_write":    {drop(fnFdWrite, 1, 1<<20, 1024, 8), 1024 * 10}, // of nothing
		"host_call":   {drop(fnHostCall, 0, 1000), unitsOfHostCall + 1000*unitsOfJSON},
	} {
		if got, least := used(c.call)-without, unitsOfImport+c.own; got < least || got > least+1000 {
			t.Errorf("%s: %d units, want %d", name, got, least)
		}
	}
}

// aside is a companion with a guest that hangs, asked four times.
func aside(t *testing.T, m module.Module, within time.Duration) (s module.Status, last error) {
	t.Helper()
	c := module.NewCompanion("tiny", module.NewGeneration(1, "wasm", m), module.Limits{}, slog.New(slog.DiscardHandler))
	for range 4 {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		_, last = c.Call(ctx, abi.Request{Op: abi.OpVote, Data: json.RawMessage(`{}`)})
		cancel()
	}
	return c.Status(time.Now()), last
}

// A guest that hangs is put aside for what it did.
func TestWorkIsCounted(t *testing.T) {
	m := load(t, newTestEngine(t, func(c *Config) { c.FuelPerCall = 10_000_000 }), tinyFile(tiny{vote: forever()}))
	s, last := aside(t, m, waittest.Long)
	if s.State != module.StateQuarantined || s.Faults != 3 || abi.CodeOf(last) != abi.CodeUnavailable || !strings.Contains(s.Error, "fuel") {
		t.Errorf("%v, status %+v", last, s)
	}
}

// A filter hangs sooner than others, in its own time, and one that answers between two hangs is put aside all the same: nothing
// is owed by then.
func TestAFilterThatHangsIsPutAside(t *testing.T) {
	m := load(t, newTestEngine(t, func(c *Config) { c.FuelPerCall = 500_000_000 }), tinyFile(tiny{vote: forever()}))
	c := module.NewCompanion("tiny", module.NewGeneration(1, "wasm", m), module.Limits{}, slog.New(slog.DiscardHandler))
	for i := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
		_, err := c.Call(ctx, abi.Request{Op: abi.OpLine, Data: json.RawMessage(`{}`)})
		cancel()
		fault(t, err, module.FaultFuel, "more than 100000000 units")
		if _, err = c.Call(t.Context(), abi.Request{Op: abi.OpDescribe}); (i == 2) != (abi.CodeOf(err) == abi.CodeUnavailable) {
			t.Errorf("after %d hangs: %v", i+1, err)
		}
	}
	if s := c.Status(time.Now()); s.State != module.StateQuarantined || s.Faults != 3 {
		t.Errorf("status %+v", s)
	}
}

// One that waits for the host past every limit is not, and neither is one that computes
// where the machine lets it do too little in the time: its call has burned what a fast
// one burns, and less than it may.
func TestTimeIsNotCounted(t *testing.T) {
	host := &fakeHost{hook: func(ctx context.Context, _ string) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	const ask = `{"v":1,"op":"test.wait"}`
	waits := tiny{reply: ask, vote: code(call(fnHostCall, atReply, int32(len(ask))), opDrop, i32(0))}
	for name, guest := range map[string]tiny{"waits": waits, "computes": {vote: forever()}} {
		e := untiring(t, func(c *Config) { c.Host = host })
		s, last := aside(t, load(t, e, tinyFile(guest)), 50*time.Millisecond)
		if s.State != module.StateReady || s.Faults != 0 || faultKind(last) != module.FaultTimeout {
			t.Errorf("%s: %v, status %+v", name, last, s)
		}
	}
}

// On a machine that is so slow that time ends each call first, several together are too
// much, unless one of them answers.
func TestWorkOfSeveralCalls(t *testing.T) {
	e := untiring(t, nil)
	loops := code(i32(atRequest), opI32Load8U, 0, 0, opIf, void, forever(), opEnd, call(fnWrite, atReply, int32(len(tinyReply))), i32(0))
	m := load(t, e, tinyFile(tiny{vote: loops}))
	cut := func() module.FaultKind {
		waitForInstance(m)
		before := m.debt.Units
		for {
			kind := faultKind(vote(within(t, short), m))
			waitForInstance(m)
			if kind != module.FaultTimeout || m.debt.Units > before {
				return kind
			}
		}
	}
	cut()
	first := m.debt
	if cut(); first.Units == 0 || m.debt.Units <= first.Units {
		t.Fatalf("%+v after one call, %+v after two", first, m.debt)
	}
	if runtime.GOOS == "linux" && (first.Time == 0 || m.debt.Time <= first.Time) {
		t.Errorf("%+v after one call, %+v after two", first, m.debt)
	}
	e.cfg.FuelPerCall = m.debt.Units + slice // what a third has left
	if kind := faultKind(vote(within(t, waittest.Long), m)); kind != module.FaultFuel {
		t.Errorf("the third call gives %q", kind)
	}
	waitForInstance(m)
	if m.debt != (meter.Debt{}) {
		t.Errorf("%+v after a fault", m.debt)
	}
	e.cfg.FuelPerCall = math.MaxInt64
	cut()
	if _, err := m.Call(t.Context(), abi.Request{Op: abi.OpDescribe}); err != nil || m.debt != (meter.Debt{}) {
		t.Errorf("%v, %+v after an answer", err, m.debt)
	}
}

// The guard that counts nothing goes by processor time too.
func TestWorkUnderContextGuard(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell the processor time of a thread")
	}
	e := newTestEngine(t, func(c *Config) { c.Guard = GuardContext })
	m := load(t, e, tinyFile(tiny{vote: forever()}))
	fault(t, vote(within(t, short), m), module.FaultTimeout, "deadline")
	waitForInstance(m)
	e.cfg.FuelPerCall = 10_000 // 0.1 ms
	for cut := short; ; cut *= 2 {
		waitForInstance(m)
		err := vote(within(t, cut), m)
		if faultKind(err) == module.FaultTimeout && cut < waittest.Long {
			continue // it had not come as far
		}
		fault(t, err, module.FaultFuel, "computed for more than")
		return
	}
}

// What an interpreted call has no time for is done in machine code, and what hangs there
// is at fault then.
func TestInterpretedWorkIsNoFault(t *testing.T) {
	e, free := busyEngine(t, true)
	e.cfg.FuelPerCall = 50_000_000 // a million where it is interpreted
	m := load(t, e, tinyFile(tiny{vote: forever()}))
	if m.form.machine {
		t.Fatal("it is machine code already")
	}
	failed := make(chan error, 1)
	go func() { failed <- vote(within(t, waittest.Long), m) }()
	waitForCall(t, m)
	select {
	case err := <-failed:
		t.Fatalf("before there is machine code: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	free()
	fault(t, <-failed, module.FaultFuel, "50000000 units")
}
