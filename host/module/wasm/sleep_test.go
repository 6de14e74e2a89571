package wasm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/js"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/module/wasm/compiler/compilertest"
)

// newGuests gives an engine that has QuickJS, which can sleep, and the engine of JavaScript on it.
func newGuests(t testing.TB) (*wasm.Engine, *js.Engine) { return newGuestsOf(t, nil) }

// forgets is a host in which words are erased while it is asked.
type forgets struct{ engine *wasm.Engine }

func (f *forgets) HostCall(context.Context, module.Caller, string, json.RawMessage) (json.RawMessage, error) {
	f.engine.Forget()
	return json.RawMessage(`{"found":false}`), nil
}

func newGuestsOf(t testing.TB, calls module.HostCalls) (*wasm.Engine, *js.Engine) {
	t.Helper()
	npm := "../js/npm/node_modules/"
	image, err := os.ReadFile(npm + "quickjs-wasi/quickjs.wasm")
	if err != nil {
		t.Skipf("no JavaScript: %v (make npm)", err)
	}
	e, err := wasm.New(wasm.Config{CacheDir: filepath.Join(wasm.Scratch(), "js"), Compiler: []string{compilertest.Program()}, Interpreter: js.Interpreter(image), Host: calls})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e, js.New(e, os.DirFS(npm+"sucrase/dist/esm"))
}

func loadJS(t testing.TB, e *js.Engine, text string) module.Module {
	t.Helper()
	m, err := e.Load(t.Context(), module.Source{ID: "mio", Name: "mio.js", Data: []byte(text), Generation: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

// counts is a character that remembers in variables alone.
const counts = `
let n = 0;
const seen = new Map(), again = /a+/g;
let settle;
const waits = new Promise(r => settle = r);
waits.then(v => seen.set("promise", v));
class Cat { #name = "ミケ"; get name() { return this.#name } }
const cat = new Cat(), count = () => ++n;
export function event({ kind }) {
  if (kind === "settle") settle("settled");
  if (kind === "ask") kv.delete("a");
  seen.set(kind, (seen.get(kind) ?? 0) + 1);
  again.test("aaa");
  return { n: count(), kinds: [...seen.keys()].join(" "), cat: cat.name, promise: seen.get("promise"), last: again.lastIndex, stack: depth(0) };
}
const depth = d => d < 50 ? depth(d + 1) : d;
export function vote() { n++; return { state: "listen" } }
`

type told struct {
	N                         int
	Kinds, Cat, Promise, Call string
	Last, Stack               int
}

func event(t testing.TB, m module.Module, kind string) (is told) {
	t.Helper()
	data, err := m.Call(t.Context(), abi.Request{Op: abi.OpEvent, Data: json.RawMessage(fmt.Sprintf(`{"kind":%q}`, kind))})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &is); err != nil {
		t.Fatal(err)
	}
	return is
}

// TestSleep: an instance that nobody asks for sleeps, and takes next to nothing; asked again it has all its variables, a promise
// that was not settled too, and this as often as it sleeps.
func TestSleep(t *testing.T) {
	e, scripts := newGuests(t)
	m := loadJS(t, scripts, counts)
	event(t, m, "a")
	alive := m.Memory()
	e.Rest(wasm.SleepTime - time.Second)
	if e.Kept() != 0 {
		t.Fatal("it sleeps early")
	}
	for n := range 20 {
		e.Rest(wasm.SleepTime)
		if e.Alive() != 0 || e.Kept() == 0 || alive-m.Memory() < 1<<20 {
			t.Fatalf("%d instances are there, %d bytes are kept, %d of %d taken", e.Alive(), e.Kept(), m.Memory(), alive)
		}
		e.Rest(2 * wasm.IdleTime) // it is not let go of
		kind := fmt.Sprint("k", n)
		if n == 10 {
			kind = "settle"
		}
		is := event(t, m, kind)
		if is.N != n+2 || len(strings.Fields(is.Kinds)) != n+2+min(1, max(0, n-10)) || is.Cat != "ミケ" || is.Stack != 50 {
			t.Errorf("then it says %+v", is)
		}
		if n > 10 && is.Promise != "settled" {
			t.Errorf("the promise is %q", is.Promise)
		}
	}
	if err := m.Close(t.Context()); err != nil || e.Kept() != 0 || e.Alive() != 0 {
		t.Errorf("closed: %v, %d bytes, %d instances", err, e.Kept(), e.Alive())
	}
}

// TestClosedAsleep: with a generation its image goes, and another of the same file has nothing of it.
func TestClosedAsleep(t *testing.T) {
	e, scripts := newGuests(t)
	m := loadJS(t, scripts, counts)
	event(t, m, "a")
	e.Rest(wasm.SleepTime)
	next := loadJS(t, scripts, counts)
	if wasm.KeptOf(m) == 0 {
		t.Fatal("it does not sleep")
	}
	if err := m.Close(t.Context()); err != nil || wasm.KeptOf(m) != 0 {
		t.Errorf("closed: %v, %d bytes", err, wasm.KeptOf(m))
	}
	if is := event(t, next, "b"); is.N != 1 {
		t.Errorf("the next says %+v", is)
	}
}

// TestAskedWhileFallingAsleep: a call that comes while an instance is put to sleep is served by it.
func TestAskedWhileFallingAsleep(t *testing.T) {
	e, scripts := newGuests(t)
	m := loadJS(t, scripts, counts)
	event(t, m, "a")
	answered := make(chan error, 1)
	var asked bool
	wasm.Sleep(m, func() bool {
		if !asked {
			asked = true
			go func() {
				_, err := m.Call(context.Background(), abi.Request{Op: abi.OpVote})
				answered <- err
			}()
		}
		for wasm.Waiting(m) == 0 {
			time.Sleep(time.Millisecond)
		}
		return wasm.Waiting(m) > 0
	})
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if e.Kept() != 0 || e.Alive() != 1 {
		t.Errorf("%d bytes are kept, %d instances", e.Kept(), e.Alive())
	}
	if is := event(t, m, "b"); is.N != 3 {
		t.Errorf("then it says %+v", is)
	}
}

// TestSleepBesideCalls: none of the calls that eight callers make while it is put to sleep again and again fails, and none is
// forgotten.
func TestSleepBesideCalls(t *testing.T) {
	e, scripts := newGuests(t)
	m := loadJS(t, scripts, counts)
	var callers sync.WaitGroup
	const each = 100
	for range 8 {
		callers.Go(func() {
			for range each {
				if _, err := m.Call(context.Background(), abi.Request{Op: abi.OpVote}); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
			}
		})
	}
	over, slept := make(chan struct{}), 0
	go func() { callers.Wait(); close(over) }()
	for done := false; !done; {
		select {
		case <-over:
			done = true
		default:
			e.Rest(wasm.SleepTime)
			if e.Alive() == 0 {
				slept++
			}
		}
	}
	if is := event(t, m, "a"); is.N != 8*each+1 || slept == 0 {
		t.Errorf("of %d calls it knows %d; it was seen asleep %d times", 8*each+1, is.N, slept)
	}
}

// TestForget: what was asleep when words were erased is gone, and so is what was awake.
func TestForget(t *testing.T) {
	e, scripts := newGuests(t)
	asleep, awake := loadJS(t, scripts, counts), loadJS(t, scripts, counts)
	event(t, asleep, "a")
	e.Rest(wasm.SleepTime)
	event(t, awake, "a")
	if e.Kept() == 0 {
		t.Fatal("none sleeps")
	}
	e.Forget()
	if e.Kept() != 0 || e.Alive() != 0 {
		t.Errorf("%d bytes are kept, %d instances", e.Kept(), e.Alive())
	}
	for _, m := range []module.Module{asleep, awake} {
		if is := event(t, m, "b"); is.N != 1 || is.Kinds != "b" {
			t.Errorf("then it says %+v", is)
		}
	}
}

// TestForgetWhileFallingAsleep: what falls asleep when words are erased is not kept.
func TestForgetWhileFallingAsleep(t *testing.T) {
	e, scripts := newGuests(t)
	m := loadJS(t, scripts, counts)
	event(t, m, "a")
	wasm.Sleep(m, func() bool { e.Forget(); return false })
	if e.Kept() != 0 || e.Alive() != 0 {
		t.Error("it sleeps, or is as it was")
	}
	if is := event(t, m, "b"); is.N != 1 {
		t.Errorf("then it says %+v", is)
	}
}

// TestForgetWhileAsked: what is being asked when words are erased answers, and begins anew with the next call.
func TestForgetWhileAsked(t *testing.T) {
	calls := &forgets{}
	e, scripts := newGuestsOf(t, calls)
	calls.engine = e
	m := loadJS(t, scripts, counts)
	event(t, m, "a")
	if is := event(t, m, "ask"); is.N != 2 {
		t.Errorf("asked meanwhile it says %+v", is)
	}
	if is := event(t, m, "b"); is.N != 1 {
		t.Errorf("then it says %+v", is)
	}
}

// TestTooLargeToSleep: an instance with too much in it stays awake until it is let go of, and is tried once; one with as much as may be sleeps.
func TestTooLargeToSleep(t *testing.T) {
	e, scripts := newGuests(t)
	const fills = `
let n = 0; const all = [], noise = new Uint8Array(65536).map(() => Math.random() * 256);
export function event({ kind }) {
  if (Number(kind)) for (let at = 0; at < Number(kind); at += noise.length) all.push(noise.slice());
  return { n: ++n, last: all.length }
}`
	large, fits := loadJS(t, scripts, fills), loadJS(t, scripts, fills)
	if is := event(t, large, fmt.Sprint(50<<20)); is.Last != 800 {
		t.Fatalf("it says %+v", is)
	}
	event(t, fits, fmt.Sprint(7<<20))
	began := time.Now()
	e.Rest(wasm.SleepTime)
	t.Logf("it rests after %v with %d bytes kept", time.Since(began), e.Kept())
	if e.Alive() != 1 || e.Kept() < 7<<20 {
		t.Fatalf("%d are awake, %d bytes are kept", e.Alive(), e.Kept())
	}
	began = time.Now()
	if is := event(t, fits, "x"); is.N != 2 || is.Last != 112 {
		t.Errorf("what fits says %+v", is)
	}
	t.Logf("7 MiB of noise is back after %v", time.Since(began))
	if is := event(t, large, "x"); is.N != 2 || is.Last != 800 {
		t.Errorf("what does not says %+v", is)
	}
	e.Rest(wasm.IdleTime)
	if is := event(t, large, "x"); is.N != 1 {
		t.Errorf("it was let go of, and says %+v", is)
	}
}

// TestOutOfMemoryNeverSleeps: an instance that ran out of memory is lost, and nothing of it is kept.
func TestOutOfMemoryNeverSleeps(t *testing.T) {
	e, scripts := newGuests(t)
	m := loadJS(t, scripts, "let n = 0\nexport function event() { return { n: ++n } }\nexport function vote() { n++; const all = []; for (;;) all.push(new Uint8Array(100000).fill(n)) }")
	event(t, m, "a")
	e.Rest(wasm.SleepTime)
	var fault *module.Fault
	if _, err := m.Call(t.Context(), abi.Request{Op: abi.OpVote}); !errors.As(err, &fault) {
		t.Fatalf("it gives %v", err)
	}
	e.Rest(wasm.SleepTime)
	if is := event(t, m, "b"); is.N != 1 {
		t.Errorf("then it says %+v", is)
	}
}

// TestOneGlobal: beside its memory QuickJS changes nothing but what is kept of it.
func TestOneGlobal(t *testing.T) {
	image, err := os.ReadFile("../js/npm/node_modules/quickjs-wasi/quickjs.wasm")
	if err != nil {
		t.Skip(err)
	}
	at := 8
	number := func() (n int) {
		for shift := 0; ; shift += 7 {
			b := image[at]
			at++
			if n |= int(b&127) << shift; b < 128 {
				return n
			}
		}
	}
	for at < len(image) {
		section := image[at]
		at++
		end := number()
		end += at
		if section == 6 {
			if n := number(); n != 1 {
				t.Errorf("QuickJS has %d globals", n)
			}
			return
		}
		at = end
	}
	t.Error("QuickJS has no globals")
}

// BenchmarkAsleep is 1,000 characters in TypeScript that have each voted and sleep: what one takes of memory then, how long it
// takes to fall asleep, and how long a vote takes that wakes one. Before, how long 50 take to be there.
func BenchmarkAsleep(b *testing.B) {
	e, scripts := newGuests(b)
	pip, err := os.ReadFile("../../../sdk/examples/typescript/pip.ts")
	if err != nil {
		b.Fatal(err)
	}
	load := func(n int) module.Module {
		m, err := scripts.Load(b.Context(), module.Source{ID: "pip", Name: "pip.ts", Data: []byte(strings.Replace(string(pip), "Pip", fmt.Sprint("Pip", n), 1)), Generation: 1})
		if err != nil {
			b.Fatal(err)
		}
		return m
	}
	vote := func(m module.Module) {
		if _, err := m.Call(b.Context(), abi.Request{Op: abi.OpVote, Data: json.RawMessage(`{"addressed":true}`)}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		load(0)
		before, began := resident(b), time.Now()
		const many = 1000
		all := make([]module.Module, many)
		for n := range all {
			all[n] = load(n)
			vote(all[n])
			if n == 49 {
				b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/50")
			}
			if n%100 == 99 { // as they do who are not asked
				began := time.Now()
				e.Rest(wasm.SleepTime)
				b.ReportMetric(float64(time.Since(began).Microseconds())/100/1000, "ms/to-sleep")
			}
		}
		b.ReportMetric(float64(resident(b)-before)/(1<<20), "MiB")
		b.ReportMetric(float64(e.Kept())/many/1024, "KiB/image")
		var took []time.Duration
		for _, m := range all {
			began := time.Now()
			vote(m)
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[many/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[many*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(resident(b)-before)/(1<<20), "MiB-awake")
		for _, m := range all {
			if err := m.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// resident is what the process takes of memory, in bytes, when what loading took is given back.
func resident(b *testing.B) int64 {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// TestFallsAsleepByItself: three minutes after the last call it sleeps, ten and it still does.
func TestFallsAsleepByItself(t *testing.T) {
	_, scripts := newGuests(t)
	loadJS(t, scripts, counts) // so that its machine code is in the cache
	synctest.Test(t, func(t *testing.T) {
		e, scripts := newGuests(t)
		m := loadJS(t, scripts, counts)
		event(t, m, "a")
		time.Sleep(wasm.SleepTime - 10*time.Second)
		if e.Kept() != 0 {
			t.Error("it sleeps early")
		}
		time.Sleep(20 * time.Second)
		if e.Kept() == 0 || e.Alive() != 0 {
			t.Error("it does not sleep")
		}
		time.Sleep(2 * wasm.IdleTime)
		if is := event(t, m, "b"); is.N != 2 {
			t.Errorf("then it says %+v", is)
		}
	})
}
