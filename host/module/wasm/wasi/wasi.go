// Package wasi is WASI preview 1 for guests that may do nothing but compute: clocks,
// randomness, output to the log. There is no file, environment, argument or socket behind
// any of its functions, and no sleep takes time.
//
// It never runs a guest, and it knows nothing of companions.
package wasi

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/companiond/companiond/host/module/guestlog"
	"github.com/tetratelabs/wazero/api"
)

// Name is the module that guests import WASI from.
const Name = "wasi_snapshot_preview1"

// The WASI errnos used here.
const (
	OK    = 0
	Badf  = 8  // no such descriptor
	Fault = 21 // the pointer is bad
	Inval = 28
	Nosys = 52
	Spipe = 70 // cannot seek
)

// Process is a guest as WASI sees it. All fields are needed.
type Process struct {
	Born   time.Time       // zero of its steady clock
	Said   *guestlog.Log   // gets what it writes
	Check  func()          // does not return when the call may not go on
	Charge func(units int) // counts work, of 3 ns each; does not return when that was too much
	Trap   func(error)     // ends the call, and never returns

	slept int64 // ns by which the steady clock is ahead, see poll
}

// Func is one function guests may import. Its types are written one letter each: i for
// i32, l for i64. Run finds its parameters on the stack, and leaves its result there.
type Func struct {
	Name            string
	Params, Results string
	Run             func(p *Process, mem api.Memory, stack []uint64)
}

// Bounds on one WASI call, so that each ends soon. Larger writes are short, as
// POSIX lets them be; more vectors or subscriptions are an error.
const (
	MaxVectors = 1024
	maxWrite   = 64 << 10 // bytes of one fd_write
	randChunk  = 64 << 10 // bytes of randomness between two checks
)

// What is charged beside the call itself, in units of 3 ns, as measured.
const (
	unitsOfVector       = 10
	unitsOfByte         = 4 // of output
	unitsOfRandomByte   = 1
	unitsOfSubscription = 30
)

// Funcs is all of WASI preview 1. It is written here, and not taken from
// wazero, for two reasons: a guest has no file system code under it at all, and
// each function is bounded and asks whether the call may go on (wazero's
// poll_oneoff and fd_write work through arrays of millions at a guest's word).
func Funcs() []Func {
	return slices.Concat([]Func{
		{"args_get", "ii", "i", success},
		{"args_sizes_get", "ii", "i", none},
		{"environ_get", "ii", "i", success},
		{"environ_sizes_get", "ii", "i", none},
		{"clock_res_get", "ii", "i", clockRes},
		{"clock_time_get", "ili", "i", clockTime},
		{"fd_close", "i", "i", onStdio(success)},
		{"fd_fdstat_get", "ii", "i", onStdio(fdstat)},
		{"fd_fdstat_set_flags", "ii", "i", onStdio(success)},
		{"fd_filestat_get", "ii", "i", onStdio(filestat)},
		{"fd_read", "iiii", "i", onStdio(readStdin)},
		{"fd_write", "iiii", "i", onStdio(writeOutput)},
		{"poll_oneoff", "iiii", "i", poll},
		{"proc_exit", "i", "", exit},
		{"random_get", "ii", "i", random},
		{"sched_yield", "", "i", success},
	}, refused(Spipe, map[string]string{
		"fd_pread": "iiili", "fd_pwrite": "iiili", "fd_seek": "ilii", "fd_tell": "ii",
	}), refused(Nosys, map[string]string{
		"proc_raise": "i",
	}), refused(Badf, map[string]string{
		"fd_advise": "illi", "fd_allocate": "ill", "fd_datasync": "i", "fd_fdstat_set_rights": "ill",
		"fd_filestat_set_size": "il", "fd_filestat_set_times": "illi", "fd_prestat_get": "ii",
		"fd_prestat_dir_name": "iii", "fd_readdir": "iiili", "fd_renumber": "ii", "fd_sync": "i",
		"path_create_directory": "iii", "path_filestat_get": "iiiii", "path_filestat_set_times": "iiiilli",
		"path_link": "iiiiiii", "path_open": "iiiiillii", "path_readlink": "iiiiii", "path_remove_directory": "iii",
		"path_rename": "iiiiii", "path_symlink": "iiiii", "path_unlink_file": "iii",
		"sock_accept": "iii", "sock_recv": "iiiiii", "sock_send": "iiiii", "sock_shutdown": "ii",
	}))
}

// refused makes functions that always answer errno.
func refused(errno uint64, params map[string]string) []Func {
	funcs := make([]Func, 0, len(params))
	for name, p := range params {
		funcs = append(funcs, Func{name, p, "i", func(_ *Process, _ api.Memory, stack []uint64) { stack[0] = errno }})
	}
	return funcs
}

// onStdio answers Badf unless the first parameter is descriptor 0, 1 or 2.
func onStdio(run func(*Process, api.Memory, []uint64)) func(*Process, api.Memory, []uint64) {
	return func(p *Process, mem api.Memory, stack []uint64) {
		if uint32(stack[0]) > 2 {
			stack[0] = Badf
			return
		}
		run(p, mem, stack)
	}
}

func success(_ *Process, _ api.Memory, stack []uint64) { stack[0] = OK }

// none answers that there are 0 strings of 0 bytes.
func none(_ *Process, mem api.Memory, stack []uint64) {
	ok := mem.WriteUint32Le(uint32(stack[0]), 0) && mem.WriteUint32Le(uint32(stack[1]), 0)
	stack[0] = errnoIf(ok)
}

func errnoIf(ok bool) uint64 {
	if ok {
		return OK
	}
	return Fault
}

// clock reads the guest's clock id: 0 is the time of day, 1 a steady one, which
// jumps ahead by what the guest asked to sleep.
func (p *Process) clock(id uint32) (ns int64, ok bool) {
	switch id {
	case 0:
		return time.Now().UnixNano(), true
	case 1:
		return max(1, int64(time.Since(p.Born))+p.slept), true // Go's runtime takes 0 for a clock that stands still
	}
	return 0, false
}

func clockTime(p *Process, mem api.Memory, stack []uint64) {
	now, ok := p.clock(uint32(stack[0]))
	if !ok {
		stack[0] = Inval
		return
	}
	stack[0] = errnoIf(mem.WriteUint64Le(uint32(stack[2]), uint64(now)))
}

func clockRes(_ *Process, mem api.Memory, stack []uint64) {
	if uint32(stack[0]) > 1 {
		stack[0] = Inval
		return
	}
	stack[0] = errnoIf(mem.WriteUint64Le(uint32(stack[1]), 1000))
}

// fdstat says that a descriptor is a character device, to be read if it is
// 0 and to be written if it is 1 or 2.
func fdstat(_ *Process, mem api.Memory, stack []uint64) {
	var stat [24]byte
	stat[0] = 2 // character device
	stat[8] = 1 << 6
	if uint32(stack[0]) == 0 {
		stat[8] = 1 << 1
	}
	stack[0] = errnoIf(mem.Write(uint32(stack[1]), stat[:]))
}

func filestat(_ *Process, mem api.Memory, stack []uint64) {
	var stat [64]byte
	stat[16] = 2 // character device
	stack[0] = errnoIf(mem.Write(uint32(stack[1]), stat[:]))
}

// readStdin finds standard input at its end, and the others closed for reading.
func readStdin(_ *Process, mem api.Memory, stack []uint64) {
	if uint32(stack[0]) != 0 {
		stack[0] = Badf
		return
	}
	stack[0] = errnoIf(mem.WriteUint32Le(uint32(stack[3]), 0))
}

// writeOutput logs what is written to 1 and 2.
func writeOutput(p *Process, mem api.Memory, stack []uint64) {
	fd, vectors, count, result := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	to := &p.Said.Out
	switch {
	case fd == 0:
		stack[0] = Badf
		return
	case fd == 2:
		to = &p.Said.Err
	}
	if count > MaxVectors {
		stack[0] = Inval
		return
	}
	p.Charge(int(count) * unitsOfVector)
	list, ok := mem.Read(vectors, count*8)
	var total uint32
	for ; ok && len(list) > 0 && total < maxWrite; list = list[8:] {
		var part []byte
		if part, ok = mem.Read(binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:])); ok {
			part = part[:min(len(part), int(maxWrite-total))]
			p.Charge(len(part) * unitsOfByte)
			p.Said.Write(to, part)
			total += uint32(len(part))
		}
	}
	stack[0] = errnoIf(ok && mem.WriteUint32Le(result, total))
}

func exit(p *Process, _ api.Memory, stack []uint64) {
	p.Trap(fmt.Errorf("the module called exit(%d)", uint32(stack[0])))
}

func random(p *Process, mem api.Memory, stack []uint64) {
	view, ok := mem.Read(uint32(stack[0]), uint32(stack[1]))
	stack[0] = errnoIf(ok)
	for len(view) > 0 {
		p.Check()
		n := min(len(view), randChunk)
		p.Charge(n * unitsOfRandomByte)
		if _, err := rand.Read(view[:n]); err != nil { // never: crypto/rand ends the program instead
			p.Trap(fmt.Errorf("no randomness: %w", err))
		}
		view = view[n:]
	}
}

// poll answers at once. A guest that waits for a time finds its steady
// clock there already: sleeping costs nobody anything. Descriptors 0, 1 and 2
// are always ready.
func poll(p *Process, mem api.Memory, stack []uint64) {
	in, out, count, result := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	if count == 0 || count > MaxVectors {
		stack[0] = Inval
		return
	}
	p.Charge(int(count) * unitsOfSubscription)
	subs, ok := mem.Read(in, count*48)
	if !ok {
		stack[0] = Fault
		return
	}
	events, wait := pollReady(slices.Clone(subs), p.pollWait)
	if wait > 0 && wait != math.MaxInt64 {
		p.slept += min(wait, math.MaxInt64/2-p.slept)
	}
	ok = mem.Write(out, events) && mem.WriteUint32Le(result, uint32(len(events)/32))
	stack[0] = errnoIf(ok)
}

// pollReady gives the events of subscriptions: those of descriptors or, if
// there is none, those of the clocks that ring first and after how many ns.
func pollReady(subs []byte, waitOf func(sub []byte) int64) (events []byte, wait int64) {
	wait = math.MaxInt64
	var rings []byte
	for ; len(subs) > 0; subs = subs[48:] {
		event := make([]byte, 32)
		copy(event, subs[:8]) // user data
		event[10] = subs[8]   // type
		if subs[8] == 0 {
			if w := waitOf(subs[:48]); w < wait {
				wait, rings = w, event
			} else if w == wait {
				rings = append(rings, event...)
			}
			continue
		}
		if fd := binary.LittleEndian.Uint32(subs[16:]); subs[8] > 2 || fd > 2 {
			event[8] = Badf
		}
		events = append(events, event...)
	}
	if len(events) > 0 {
		return events, 0
	}
	return rings, wait
}

// pollWait gives the ns until a clock subscription is due, 0 if it is.
func (p *Process) pollWait(sub []byte) int64 {
	at := int64(min(binary.LittleEndian.Uint64(sub[24:]), math.MaxInt64-1))
	if absolute := sub[40]&1 != 0; absolute {
		now, ok := p.clock(binary.LittleEndian.Uint32(sub[16:]))
		if !ok {
			return 0
		}
		at -= now
	}
	return max(at, 0)
}
