package wasm

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/companiond/companiond/abi"

	"github.com/companiond/companiond/host/logtest"
)

// Our table of WASI must have the functions and types that everybody's has.
func TestWASIIsComplete(t *testing.T) {
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	b := rt.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(b)
	theirs, err := b.Compile(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if wasiName != wasi_snapshot_preview1.ModuleName {
		t.Errorf("module name %q", wasiName)
	}
	ours := make(map[string]string)
	for _, f := range wasiFuncs() {
		if _, twice := ours[f.name]; twice {
			t.Errorf("%s is there twice", f.name)
		}
		ours[f.name] = signature(valueTypes(f.params), valueTypes(f.results))
	}
	for name, def := range theirs.ExportedFunctions() {
		if got, want := ours[name], typeOf(def); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		delete(ours, name)
	}
	for name := range ours {
		t.Errorf("%s is no function of WASI", name)
	}
}

func TestSleepCostsNothing(t *testing.T) {
	m := load(t, newTestEngine(t, nil), guestFile(t, "aya"))
	for _, d := range []string{"2s", "1h", "87600h"} {
		retry(t, func(b *timing) {
			start := time.Now()
			slept, err := strconv.ParseFloat(mustDo(t, m, "sleep", d), 64)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := time.ParseDuration(d)
			if slept < want.Seconds() {
				t.Errorf("the guest slept %s and saw %.3f s pass", d, slept)
			}
			took := time.Since(start)
			b.atMost("a sleep of "+d+" took", took, time.Second)
			// The time that passes for the guest is what it slept and what really passed.
			if slept > want.Seconds()+took.Seconds()+0.001 {
				t.Errorf("the guest slept %s and saw %.3f s pass within %v", d, slept, took)
			}
		})
	}
}

func TestNoFilesNoEnvironment(t *testing.T) {
	t.Setenv("COMPANIOND_SECRET", "hidden")
	m := load(t, newTestEngine(t, nil), guestFile(t, "aya"))
	for _, path := range []string{"/etc/passwd", ".", "/", "../../../etc/passwd", "/dev/stdin"} {
		if data, err := do(t.Context(), m, "file", path); err == nil {
			t.Errorf("the guest read %s: %s", path, data)
		}
	}
	if got := mustDo(t, m, "env", ""); got != "[]" && got != "null" {
		t.Errorf("environment and arguments are %s", got)
	}
	if got := mustDo(t, m, "count", ""); got != "8" {
		t.Errorf("count %s, want 8: trying costs nothing", got)
	}
}

func TestOutputIsLogged(t *testing.T) {
	log := &logtest.Log{}
	m := load(t, newTestEngine(t, func(c *Config) { c.Log = log.Logger() }), guestFile(t, "aya"))
	mustDo(t, m, "say", "やあ")
	for _, want := range []string{
		`companion=aya generation=1 stream=stdout line="to stdout: やあ"`,
		`stream=stderr line="to stderr: やあ"`,
		`stream=stdout line="no end"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, log.String())
		}
	}
}

// clockSub is a subscription to a clock.
func clockSub(data byte, clock uint32, timeout uint64, flags byte) []byte {
	sub := make([]byte, 48)
	sub[0] = data
	binary.LittleEndian.PutUint32(sub[16:], clock)
	binary.LittleEndian.PutUint64(sub[24:], timeout)
	sub[40] = flags
	return sub
}

func fdSub(data, kind byte, fd uint32) []byte {
	sub := make([]byte, 48)
	sub[0], sub[8] = data, kind
	binary.LittleEndian.PutUint32(sub[16:], fd)
	return sub
}

func TestPoll(t *testing.T) {
	i := &instance{m: &Module{engine: &Engine{born: time.Now().Add(-time.Hour)}}}
	now, _ := i.clock(1)
	for name, c := range map[string]struct {
		subs   [][]byte
		events string // user data of each, and its errno
		wait   int64  // at most
	}{
		"one clock":       {[][]byte{clockSub('a', 1, 500, 0)}, "a0", 500},
		"earlier clock":   {[][]byte{clockSub('a', 1, 500, 0), clockSub('b', 1, 300, 0), clockSub('c', 0, 900, 0)}, "b0", 300},
		"same time":       {[][]byte{clockSub('a', 1, 500, 0), clockSub('b', 0, 500, 0)}, "a0b0", 500},
		"absolute, past":  {[][]byte{clockSub('a', 1, 5, 1)}, "a0", 0},
		"absolute":        {[][]byte{clockSub('a', 1, uint64(now)+1e12, 1)}, "a0", 1e12},
		"no such clock":   {[][]byte{clockSub('a', 9, 5, 1)}, "a0", 0},
		"for ever":        {[][]byte{clockSub('a', 1, math.MaxUint64, 0)}, "a0", math.MaxInt64},
		"descriptor":      {[][]byte{clockSub('a', 1, 500, 0), fdSub('b', 2, 1)}, "b0", 0},
		"bad descriptor":  {[][]byte{fdSub('b', 1, 7)}, "b8", 0},
		"strange kind":    {[][]byte{fdSub('b', 9, 1)}, "b8", 0},
		"two descriptors": {[][]byte{fdSub('a', 1, 0), fdSub('b', 2, 3)}, "a0b8", 0},
	} {
		var subs []byte
		for _, s := range c.subs {
			subs = append(subs, s...)
		}
		events, wait := pollReady(subs, i.pollWait)
		var got strings.Builder
		for ; len(events) > 0; events = events[32:] {
			got.WriteByte(events[0])
			got.WriteString(strconv.Itoa(int(events[8])))
		}
		if got.String() != c.events || wait > c.wait || wait < c.wait/2 {
			t.Errorf("%s: events %s after %d, want %s after %d", name, got.String(), wait, c.events, c.wait)
		}
	}
}

// errnoOf lets a tiny guest call a WASI function with i32 parameters, and gives
// the errno it saw: the guest says it in its reply, as two digits.
func errnoOf(t *testing.T, e *Engine, name string, params int, args ...int32) int {
	t.Helper()
	const (
		reply      = `{"ok":"00"}`
		tens, ones = atReply + 7, atReply + 8
		fn         = fnCall // the first import of tiny.imports comes right after its own
		digit      = '0'
		remU, add  = 0x70, 0x6a
	)
	typ := map[int]byte{0: typ_I, 1: typI_I, 2: typII_I, 4: typIIII_I}[params]
	vote := code(
		i32(tens), call(fn, args...), i32(10), opI32DivU, i32(digit), add, opI32Store8, 0, 0,
		i32(ones), call(fn, args...), i32(10), remU, i32(digit), add, opI32Store8, 0, 0,
		call(fnWrite, atReply, int32(len(reply))), i32(0))
	m := load(t, e, tinyFile(tiny{vote: vote, reply: reply, imports: [][]byte{importOf(wasiName, name, typ)}}))
	defer m.Close(context.Background())
	data, err := m.Call(t.Context(), abi.Request{Op: abi.OpVote})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	n, err := strconv.Atoi(strings.Trim(string(data), `"`))
	if err != nil {
		t.Fatalf("%s answered %s", name, data)
	}
	return n
}

func TestErrnos(t *testing.T) {
	e := newTestEngine(t, nil)
	for _, c := range []struct {
		name string
		want int
		args []int32
	}{
		{"args_sizes_get", wasiOK, []int32{8, 12}},
		{"args_sizes_get", wasiFault, []int32{8, -1}},
		{"environ_get", wasiOK, []int32{0, 0}},
		{"clock_res_get", wasiOK, []int32{1, 8}},
		{"clock_res_get", wasiInval, []int32{2, 8}},
		{"clock_res_get", wasiFault, []int32{0, -4}},
		{"fd_close", wasiOK, []int32{1}},
		{"fd_close", wasiBadf, []int32{3}},
		{"fd_fdstat_get", wasiOK, []int32{0, 64}},
		{"fd_fdstat_get", wasiFault, []int32{1, pageSize - 8}},
		{"fd_fdstat_get", wasiBadf, []int32{-1, 64}},
		{"fd_filestat_get", wasiOK, []int32{2, 64}},
		{"fd_prestat_get", wasiBadf, []int32{3, 64}},
		{"fd_read", wasiOK, []int32{0, 64, 1, 128}},
		{"fd_read", wasiBadf, []int32{1, 64, 1, 128}},
		{"fd_write", wasiBadf, []int32{0, 64, 1, 128}},
		{"fd_write", wasiOK, []int32{1, 2048, 0, 128}},
		{"fd_write", wasiInval, []int32{1, 2048, maxVectors + 1, 128}},
		{"fd_write", wasiFault, []int32{1, -8, 1, 128}},
		{"fd_write", wasiFault, []int32{1, 2048, 0, -2}},
		{"poll_oneoff", wasiInval, []int32{0, 0, 0, 0}},
		{"poll_oneoff", wasiInval, []int32{0, 0, maxVectors + 1, 0}},
		{"poll_oneoff", wasiFault, []int32{-1, 0, 1, 0}},
		{"proc_raise", wasiNosys, []int32{9}},
		{"fd_tell", wasiSpipe, []int32{1, 64}},
		{"random_get", wasiOK, []int32{2048, 100}},
		{"random_get", wasiFault, []int32{2048, pageSize}},
		{"sched_yield", wasiOK, nil},
		{"sock_shutdown", wasiBadf, []int32{3, 0}},
	} {
		if got := errnoOf(t, e, c.name, len(c.args), c.args...); got != c.want {
			t.Errorf("%s%v gave errno %d, want %d", c.name, c.args, got, c.want)
		}
	}
}
