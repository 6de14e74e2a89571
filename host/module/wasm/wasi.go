package wasm

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/tetratelabs/wazero/api"
)

const wasiName = "wasi_snapshot_preview1"

// The WASI errnos used here.
const (
	wasiOK    = 0
	wasiBadf  = 8  // no such descriptor
	wasiFault = 21 // the pointer is bad
	wasiInval = 28
	wasiNosys = 52
	wasiSpipe = 70 // cannot seek
)

// Bounds on one WASI call, so that each ends soon. Larger writes are short, as
// POSIX lets them be; more vectors or subscriptions are an error.
const (
	maxVectors = 1024
	maxWrite   = 64 << 10 // bytes of one fd_write
	randChunk  = 64 << 10 // bytes of randomness between two checks
)

// wasiFuncs is all of WASI preview 1. It is written here, and not taken from
// wazero, for two reasons: a guest has no file system code under it at all, and
// each function is bounded and asks whether the call may go on (wazero's
// poll_oneoff and fd_write work through arrays of millions at a guest's word).
func wasiFuncs() []hostFunc {
	return slices.Concat([]hostFunc{
		{"args_get", "ii", "i", wasiSuccess},
		{"args_sizes_get", "ii", "i", wasiNone},
		{"environ_get", "ii", "i", wasiSuccess},
		{"environ_sizes_get", "ii", "i", wasiNone},
		{"clock_res_get", "ii", "i", wasiClockRes},
		{"clock_time_get", "ili", "i", wasiClock},
		{"fd_close", "i", "i", onStdio(wasiSuccess)},
		{"fd_fdstat_get", "ii", "i", onStdio(wasiFdstat)},
		{"fd_fdstat_set_flags", "ii", "i", onStdio(wasiSuccess)},
		{"fd_filestat_get", "ii", "i", onStdio(wasiFilestat)},
		{"fd_read", "iiii", "i", onStdio(wasiRead)},
		{"fd_write", "iiii", "i", onStdio(wasiWrite)},
		{"poll_oneoff", "iiii", "i", wasiPoll},
		{"proc_exit", "i", "", wasiExit},
		{"random_get", "ii", "i", wasiRandom},
		{"sched_yield", "", "i", wasiSuccess},
	}, refused(wasiSpipe, map[string]string{
		"fd_pread": "iiili", "fd_pwrite": "iiili", "fd_seek": "ilii", "fd_tell": "ii",
	}), refused(wasiNosys, map[string]string{
		"proc_raise": "i",
	}), refused(wasiBadf, map[string]string{
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
func refused(errno uint64, params map[string]string) []hostFunc {
	funcs := make([]hostFunc, 0, len(params))
	for name, p := range params {
		funcs = append(funcs, hostFunc{name, p, "i", func(_ *instance, _ api.Memory, stack []uint64) { stack[0] = errno }})
	}
	return funcs
}

// onStdio answers wasiBadf unless the first parameter is descriptor 0, 1 or 2.
func onStdio(run func(*instance, api.Memory, []uint64)) func(*instance, api.Memory, []uint64) {
	return func(i *instance, mem api.Memory, stack []uint64) {
		if uint32(stack[0]) > 2 {
			stack[0] = wasiBadf
			return
		}
		run(i, mem, stack)
	}
}

func wasiSuccess(_ *instance, _ api.Memory, stack []uint64) { stack[0] = wasiOK }

// wasiNone answers that there are 0 strings of 0 bytes.
func wasiNone(_ *instance, mem api.Memory, stack []uint64) {
	ok := mem.WriteUint32Le(uint32(stack[0]), 0) && mem.WriteUint32Le(uint32(stack[1]), 0)
	stack[0] = errnoIf(ok)
}

func errnoIf(ok bool) uint64 {
	if ok {
		return wasiOK
	}
	return wasiFault
}

// clock reads the guest's clock id: 0 is the time of day, 1 a steady one, which
// jumps ahead by what the guest asked to sleep.
func (i *instance) clock(id uint32) (ns int64, ok bool) {
	switch id {
	case 0:
		return time.Now().UnixNano(), true
	case 1:
		return int64(time.Since(i.m.engine.born)) + i.slept, true
	}
	return 0, false
}

func wasiClock(i *instance, mem api.Memory, stack []uint64) {
	now, ok := i.clock(uint32(stack[0]))
	if !ok {
		stack[0] = wasiInval
		return
	}
	stack[0] = errnoIf(mem.WriteUint64Le(uint32(stack[2]), uint64(now)))
}

func wasiClockRes(_ *instance, mem api.Memory, stack []uint64) {
	if uint32(stack[0]) > 1 {
		stack[0] = wasiInval
		return
	}
	stack[0] = errnoIf(mem.WriteUint64Le(uint32(stack[1]), 1000))
}

// wasiFdstat says that a descriptor is a character device, to be read if it is
// 0 and to be written if it is 1 or 2.
func wasiFdstat(_ *instance, mem api.Memory, stack []uint64) {
	var stat [24]byte
	stat[0] = 2 // character device
	stat[8] = 1 << 6
	if uint32(stack[0]) == 0 {
		stat[8] = 1 << 1
	}
	stack[0] = errnoIf(mem.Write(uint32(stack[1]), stat[:]))
}

func wasiFilestat(_ *instance, mem api.Memory, stack []uint64) {
	var stat [64]byte
	stat[16] = 2 // character device
	stack[0] = errnoIf(mem.Write(uint32(stack[1]), stat[:]))
}

// wasiRead finds standard input at its end, and the others closed for reading.
func wasiRead(_ *instance, mem api.Memory, stack []uint64) {
	if uint32(stack[0]) != 0 {
		stack[0] = wasiBadf
		return
	}
	stack[0] = errnoIf(mem.WriteUint32Le(uint32(stack[3]), 0))
}

// wasiWrite logs what is written to 1 and 2.
func wasiWrite(i *instance, mem api.Memory, stack []uint64) {
	fd, vectors, count, result := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	to := &i.m.log.out
	switch {
	case fd == 0:
		stack[0] = wasiBadf
		return
	case fd == 2:
		to = &i.m.log.err
	}
	if count > maxVectors {
		stack[0] = wasiInval
		return
	}
	list, ok := mem.Read(vectors, count*8)
	var total uint32
	for ; ok && len(list) > 0 && total < maxWrite; list = list[8:] {
		var part []byte
		if part, ok = mem.Read(binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:])); ok {
			part = part[:min(len(part), int(maxWrite-total))]
			i.m.log.write(to, part)
			total += uint32(len(part))
		}
	}
	stack[0] = errnoIf(ok && mem.WriteUint32Le(result, total))
}

func wasiExit(_ *instance, _ api.Memory, stack []uint64) {
	panic(trapf("the module called exit(%d)", uint32(stack[0])))
}

func wasiRandom(i *instance, mem api.Memory, stack []uint64) {
	view, ok := mem.Read(uint32(stack[0]), uint32(stack[1]))
	stack[0] = errnoIf(ok)
	for len(view) > 0 {
		i.check()
		n := min(len(view), randChunk)
		if _, err := rand.Read(view[:n]); err != nil { // never: crypto/rand ends the program instead
			panic(trapf("no randomness: %w", err))
		}
		view = view[n:]
	}
}

// wasiPoll answers at once. A guest that waits for a time finds its steady
// clock there already: sleeping costs nobody anything. Descriptors 0, 1 and 2
// are always ready.
func wasiPoll(i *instance, mem api.Memory, stack []uint64) {
	in, out, count, result := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	if count == 0 || count > maxVectors {
		stack[0] = wasiInval
		return
	}
	subs, ok := mem.Read(in, count*48)
	if !ok {
		stack[0] = wasiFault
		return
	}
	events, wait := pollReady(slices.Clone(subs), i.pollWait)
	if wait > 0 && wait != math.MaxInt64 {
		i.slept += min(wait, math.MaxInt64/2-i.slept)
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
			event[8] = wasiBadf
		}
		events = append(events, event...)
	}
	if len(events) > 0 {
		return events, 0
	}
	return rings, wait
}

// pollWait gives the ns until a clock subscription is due, 0 if it is.
func (i *instance) pollWait(sub []byte) int64 {
	at := int64(min(binary.LittleEndian.Uint64(sub[24:]), math.MaxInt64-1))
	if absolute := sub[40]&1 != 0; absolute {
		now, ok := i.clock(binary.LittleEndian.Uint32(sub[16:]))
		if !ok {
			return 0
		}
		at -= now
	}
	return max(at, 0)
}
