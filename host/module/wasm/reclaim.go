package wasm

import (
	"cmp"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"time"
)

const (
	// tendEvery is how often the engine looks whether memory can be given back; a house in
	// which nothing was called for as long is quiet.
	tendEvery = 5 * time.Second
	// idleTime is after how long without a call an instance gives its memory back: the next
	// call starts another, which takes some milliseconds. Where memory is short it need
	// only be that old.
	idleTime  = 10 * time.Minute
	shortTime = tendEvery
	// leastHeap is what the collector is left to work with, however little memory there is.
	leastHeap = 64 << 20
)

// tend gives memory back to the system until the engine closes: what loading took, and
// what calls took in a house that has fallen quiet. The runtime would keep most of it for
// minutes.
func (e *Engine) tend() {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	var used, loaded quiet
	for {
		select {
		case <-e.closing:
			return
		case now := <-tick.C:
			e.dropIdle(now, idleTime)
			e.keepWithin(now)
		}
		// What loading took is given back though others talk: it is most of it.
		if rest, left := used.comes(e.used.Load()), loaded.comes(e.loaded.Load()); rest || left {
			debug.FreeOSMemory()
		}
	}
}

// quiet finds out when something has stopped that is counted.
type quiet struct{ seen, told int64 }

// comes says, once, that the count stands as it did the last time.
func (q *quiet) comes(n int64) bool {
	now := n == q.seen && n != q.told
	q.seen = n
	if now {
		q.told = n
	}
	return now
}

// dropIdle takes the instances away that nobody asked for so long.
func (e *Engine) dropIdle(now time.Time, idle time.Duration) {
	e.mu.Lock()
	modules := make([]*Module, 0, len(e.modules))
	for m := range e.modules {
		modules = append(modules, m)
	}
	e.mu.Unlock()
	for _, m := range modules {
		if now.Sub(time.Unix(0, m.asked.Load())) < idle || m.guestMemory() == 0 {
			continue
		}
		select {
		case m.turn <- struct{}{}:
			m.drop()
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
	if used := outside + heap(); used <= total {
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
	e.dropIdle(now, shortTime)
}

// outside is what modules take beside the Go heap: guests' memory and machine code.
func (e *Engine) outside() (sum int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for m := range e.modules {
		sum += m.guestMemory()
	}
	for _, f := range e.forms {
		sum += f.bytes
	}
	return sum
}

// largest names the module that takes most, "" for none.
func (e *Engine) largest() string {
	e.mu.Lock()
	modules := make([]*Module, 0, len(e.modules))
	for m := range e.modules {
		modules = append(modules, m)
	}
	e.mu.Unlock()
	if len(modules) == 0 {
		return ""
	}
	return slices.MaxFunc(modules, func(a, b *Module) int { return cmp.Compare(a.Memory(), b.Memory()) }).id
}

// heap is what the Go runtime has of the system.
func heap() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
