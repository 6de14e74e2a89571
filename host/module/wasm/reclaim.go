package wasm

import (
	"cmp"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/companiond/companiond/host/child"
	"github.com/companiond/companiond/host/module/wasm/meter"
)

const (
	// tendEvery is how often the engine looks whether memory can be given back; a house in
	// which nothing was called for as long is quiet.
	tendEvery = 5 * time.Second
	// idleTime is after how long without a call an instance gives its memory back: the next
	// call starts another, which takes some milliseconds. One that can be put to sleep loses
	// nothing, and is so sooner. Where memory is short they need only be that old.
	idleTime  = 10 * time.Minute
	sleepTime = 3 * time.Minute
	shortTime = tendEvery
	// atOnce is how long instances are put to sleep in one go: a tenth of a core's time.
	atOnce = tendEvery / 10
	// leastHeap is what the collector is left to work with, however little memory there is.
	leastHeap = 64 << 20
)

// tend gives memory back to the system until the engine closes: what loading took, and
// what calls took in a house that has fallen quiet. The runtime would keep most of it for
// minutes.
func (e *Engine) tend() {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	var used, loaded meter.Quiet
	for {
		select {
		case <-e.closing:
			return
		case now := <-tick.C:
			e.rest(now, sleepTime, idleTime, atOnce)
			e.keepWithin(now)
		}
		// What loading took is given back though others talk: it is most of it.
		if rest, left := used.Comes(e.used.Load()), loaded.Comes(e.loaded.Load()); rest || left {
			debug.FreeOSMemory()
		}
	}
}

// rest puts instances to sleep, or takes them away, that nobody asked for so long: for within at most.
func (e *Engine) rest(now time.Time, sleep, idle, within time.Duration) {
	began := time.Now()
	for _, m := range e.open() {
		asked := m.asked.Load()
		age := now.Sub(time.Unix(0, asked))
		sleeps := m.sleeps() && age >= sleep && m.awake.Load() != asked
		if !sleeps && age < idle || m.guestMemory() == 0 {
			continue
		}
		if time.Since(began) > within {
			return
		}
		select {
		case <-e.closing:
			return
		case m.turn <- struct{}{}:
			if sleeps {
				m.sleep(func() bool { return m.waiting.Load() > 0 })
			}
			if age >= idle && m.asked.Load() == asked && m.waiting.Load() == 0 {
				m.drop()
			}
			m.endTurn()
			e.loaded.Add(1)
		default: // it is being asked
		}
	}
}

// keepWithin keeps the process within Config.MemoryTotal: the collector is told what the
// guests leave it, and where that is not enough instances go that wait.
func (e *Engine) keepWithin(now time.Time) {
	total := e.cfg.MemoryTotal
	if total == 0 {
		return
	}
	outside := e.outside()
	debug.SetMemoryLimit(max(total-outside, leastHeap))
	if used := outside + child.UsedMemory(); used <= total {
		e.short = false
		return
	} else if !e.short {
		args := []any{"MiB", used >> 20, "wasm.memory_total", total >> 20}
		if id := e.largest(); id != "" {
			args = append(args, "largest", id)
		}
		e.cfg.Log.Warn("memory is short: characters that wait give theirs back, and the next word of each takes longer", args...)
		e.short = true
	}
	e.rest(now, shortTime, shortTime, tendEvery)
}

// outside is what modules take beside the Go heap: guests' memory and machine code.
func (e *Engine) outside() (sum int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for m := range e.modules {
		sum += m.guestMemory()
	}
	return sum + e.codeBytes()
}

// open gives the modules that are not closed.
func (e *Engine) open() []*Module {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.modules))
}

// codeBytes is what all machine code takes that is loaded. The caller has the lock.
func (e *Engine) codeBytes() (sum int64) {
	for _, f := range e.forms {
		sum += f.bytes
	}
	return sum
}

// largest names the module that takes most, "" for none.
func (e *Engine) largest() string {
	modules := e.open()
	if len(modules) == 0 {
		return ""
	}
	return slices.MaxFunc(modules, func(a, b *Module) int { return cmp.Compare(a.Memory(), b.Memory()) }).id
}
